import { bounded } from '#judge/text.ts'
import type { Host, HostLog } from '#model/node-input.ts'
import { matchesShellGlob } from './shell-glob.ts'

/** No wildcard matches a `/`. */
export function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const parts = path.split('/')
  return (
    wanted.length === parts.length &&
    parts.every((part, index) => matchesShellGlob(wanted[index] ?? '', part))
  )
}

export type Place =
  /** Only Docker writes in this place. */
  | 'docker'
  /** Symbolic links to the logs; the kubelet makes them. */
  | 'links'
  /** The container runtime writes these logs, and the kubelet rotates them. */
  | 'pods'
  /** Below the kubelet's log folder, but at a depth without logs. */
  | 'nothing'
  | 'elsewhere'

/** Where the kubelet keeps container logs unless its `podLogsDir` says otherwise. Source: pkg/kubelet/apis/config/v1beta1/defaults.go DefaultPodLogsDir. */
export const usualPodLogs = '/var/log/pods'
/** `NAMESPACE_NAME_UID/CONTAINER/0.log` */
const podLogDepth = 3

/** Sources: pkg/kubelet/kuberuntime/helpers.go BuildPodLogsDirectory, BuildContainerLogsDirectory, legacy.go legacyLogSymlink. */
export function placeOf(pattern: string, podLogs = usualPodLogs): Place {
  if (pattern.startsWith('/var/lib/docker/containers/')) return 'docker'
  if (pattern.startsWith('/var/log/containers/')) return 'links'
  const parts = pattern.split('/')
  const folder = podLogs.split('/')
  const isBelowPods = folder.every((part, index) => matchesShellGlob(parts[index] ?? '', part))
  if (isBelowPods && parts.length === folder.length + podLogDepth) return 'pods'
  return pattern.startsWith(`${podLogs}/`) ? 'nothing' : 'elsewhere'
}

interface SeenLog {
  path: string
  bytes: number
}

export interface SeenLogs {
  biggest: SeenLog[]
  /** Whether `biggest` lists every existing file. */
  areAll: boolean
  /** Rotated logs that the kubelet did not rotate. */
  byOthers: { files: number; bytes: number; sample: SeenLog[] } | null
}

/** Null: logs were not read. */
export function seenLogsOf(host: Host): SeenLogs | null {
  if (host.logs === undefined) return null
  const { files, biggest, rotatedByOthers } = host.logs
  const logs = logsIn(biggest)
  return {
    biggest: logs,
    areAll: files !== undefined && files <= logs.length,
    byOthers:
      rotatedByOthers !== undefined &&
      isCount(rotatedByOthers.files) &&
      isCount(rotatedByOthers.bytes)
        ? {
            files: rotatedByOthers.files,
            bytes: rotatedByOthers.bytes,
            sample: logsIn(rotatedByOthers.sample),
          }
        : null,
  }
}

const mostLogs = 50

const logsIn = (logs: readonly HostLog[] = []): SeenLog[] =>
  logs
    .slice(0, mostLogs)
    .flatMap(({ path, bytes }) =>
      path !== undefined && isCount(bytes) ? [{ path: bounded(path), bytes }] : [],
    )

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0

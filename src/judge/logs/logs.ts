import { quantityOrNull } from '#model/quantity.ts'
/** Container logs as rules read them: bytes written by each running container, and the bound that rotation sets. */

import { featuresOf } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { containerLogMonitorPeriodMs } from '#facts/kubelet/periods.ts'
import type { NodeSubject } from '#judge/node-subject.ts'
import { durationMs } from '#judge/values.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import type { ContainerSummary, Summary } from '#model/node-input.ts'
import { oncePer } from '#model/once.ts'
import { asInt64 } from '#model/quantity.ts'
import { canBeMet } from '#model/watched-signals.ts'

export interface ContainerLog {
  /** `namespace/pod/container`. */
  name: string
  /** Null: no statistics. */
  usedBytes: number | null
  /** Its folder may hold the logs of a dead instance beside its own: the kubelet keeps one. */
  wasRestarted: boolean
  /** Since when all that is in its folder was written; null: not known. */
  sinceMs: number | null
}

const keyOf = (...names: (string | undefined)[]) => JSON.stringify(names)

/** By namespace, pod and name. */
const containersIn = oncePer(
  (summary: Summary): ReadonlyMap<string, ContainerSummary> =>
    new Map(
      (summary.pods ?? []).flatMap(({ podRef, containers = [] }) =>
        containers.map(each => [keyOf(podRef?.namespace, podRef?.name, each.name), each] as const),
      ),
    ),
)

/** The logs of running containers: the kubelet rotates no others. */
export function runningLogs(pods: readonly KubernetesPod[], summary: Summary): ContainerLog[] {
  const measured = containersIn(summary)
  return pods.flatMap(({ metadata, status }) =>
    [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].flatMap(
      ({ name, state, restartCount = 0 }) => {
        if (state?.running === undefined || state.running === null) return []
        const stats = measured.get(keyOf(metadata?.namespace, metadata?.name, name))
        // The folder is the container's through all its restarts: of one that was started anew it holds older logs too.
        const since =
          restartCount === 0 ? (stats?.startTime ?? state.running.startedAt) : status?.startTime
        const sinceMs = since === undefined ? Number.NaN : Date.parse(since)
        return [
          {
            name: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}/${name ?? ''}`,
            usedBytes: stats?.logs?.usedBytes ?? null,
            wasRestarted: restartCount > 0,
            sinceMs: Number.isNaN(sinceMs) ? null : sinceMs,
          },
        ]
      },
    ),
  )
}

/** What they may take at most: of one that was restarted two instances. */
export const logBound = (logs: readonly ContainerLog[], perContainerBytes: number): number =>
  logs.reduce((sum, log) => sum + boundOf(log, perContainerBytes), 0)

/** What the logs may still take of that; one without statistics counts as empty. */
export const logGrowth = (logs: readonly ContainerLog[], perContainerBytes: number): number =>
  logs.reduce(
    (sum, log) => sum + Math.max(0, boundOf(log, perContainerBytes) - (log.usedBytes ?? 0)),
    0,
  )

const boundOf = ({ wasRestarted }: ContainerLog, perContainerBytes: number): number =>
  (wasRestarted ? 2 : 1) * perContainerBytes

export interface LogRate {
  name: string
  usedBytes: number
  elapsedMs: number
  bytesPerMs: number
}

/** Less says nothing of a rate: a start is loud, and disk blocks count whole. */
const leastMs = 120_000
const leastBytes = 1024 ** 2

/**
 * How fast the logs were written at least: rotation compresses files and removes them, so what is left is no more than what came. Only the
 * blocks that a filesystem holds ready for a file that grows (xfs) can make it more. Source: pkg/kubelet/stats/host_stats_provider.go, by du.
 */
export function logRates(logs: readonly ContainerLog[], at: string): LogRate[] {
  const nowMs = Date.parse(at)
  return logs.flatMap(({ name, usedBytes, sinceMs }) => {
    const elapsedMs = sinceMs === null ? 0 : nowMs - sinceMs
    if (usedBytes === null || usedBytes < leastBytes || !(elapsedMs >= leastMs)) return []
    return [{ name, usedBytes, elapsedMs, bytesPerMs: usedBytes / elapsedMs }]
  })
}

export interface LogRotation {
  /** As written. */
  maxSize: string
  sizeBytes: number
  files: number
  perContainerBytes: number
}

/** Null: the kubelet refuses it, or rotation is off. */
export function logRotationOf({
  containerLogMaxSize,
  containerLogMaxFiles,
}: KubeletConfiguration): LogRotation | null {
  const maxSize = containerLogMaxSize ?? configurationDefaults.containerLogMaxSize ?? '10Mi'
  const files = containerLogMaxFiles ?? configurationDefaults.containerLogMaxFiles ?? 5
  const quantity = quantityOrNull(maxSize)
  const sizeBytes = Number((quantity && asInt64(quantity)) ?? -1)
  return sizeBytes < 0 || files <= 1
    ? null
    : { maxSize, sizeBytes, files, perContainerBytes: sizeBytes * files }
}

/** How often logs are looked at; the default where what is written is no duration. */
export function logMonitorMs({
  identity,
  configuration,
}: Pick<NodeSubject, 'identity' | 'configuration'>): number {
  const written = featuresOf(identity.kubeletVersion).has('containerLogWorkers')
    ? configuration?.containerLogMonitorInterval
    : undefined
  return (written === undefined ? null : durationMs(written)) ?? containerLogMonitorPeriodMs
}

/** What logs may take of nodefs before pods are evicted, 0 where they are already; null: not known. */
export function roomForLogs({
  eviction,
  filesystems,
}: Pick<NodeSubject, 'eviction' | 'filesystems'>): number | null {
  const available = filesystems.nodefs?.availableBytes ?? null
  if (available === null || eviction === null) return null
  const watching = eviction.thresholds.filter(
    ({ signal }) =>
      signal === 'nodefs.available' ||
      (signal === 'imagefs.available' && filesystems.layout === 'shared'),
  )
  return Math.max(
    0,
    available - Math.max(0, ...watching.filter(canBeMet).map(({ resolved }) => resolved ?? 0)),
  )
}

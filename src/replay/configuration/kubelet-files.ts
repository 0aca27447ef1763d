/**
 * Files and flags of the kubelet, read on the node itself (`host.kubelet` of the snapshot).
 *
 * Replays       cmd/kubelet/app/server.go mergeKubeletConfigurations, as far as it walks the folder of drop-ins
 */

import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import { type ProbePart, probePart } from '#facts/probe-parts.ts'
import type { Host, HostFile } from '#model/input/inspection.ts'

export interface KubeletFile {
  path: string
  role: string
  content: unknown
}

export interface ConfigurationFile extends KubeletFile {
  content: RawObject
}

export interface KubeletFiles {
  /** Null: none was read. */
  main: KubeletFile | null
  /** The drop-ins that the kubelet reads, in its order. */
  dropIns: KubeletFile[]
  environment: KubeletFile[]
  /** Configuration files that the kubelet does not read. */
  passedOver: PassedOver[]
  commandLine: string[]
  unread: string
}

export interface PassedOver {
  file: KubeletFile
  why: 'folder' | 'name' | 'other'
}

/** The inspect script reads 50 of a folder. */
const mostFiles = 200

export function kubeletFiles(host: Host | null): KubeletFiles {
  const { files: raw = [], commandLine = [] } = host?.kubelet ?? {}
  const files = raw.slice(0, mostFiles).flatMap(file => kubeletFile(file) ?? [])
  const mains = files.filter(({ role }) => role === 'config')
  const main =
    mains.find(({ path }) => path === flagValue(commandLine, 'config')) ?? mains[0] ?? null
  const dropIns = files
    .filter(({ role }) => role === 'drop-in')
    .map(file => ({ file, why: whyDropInUnread(file, commandLine) }))
  // Without the command line, it is unknown which files the kubelet ignores.
  const ignored = commandLine.length === 0 ? [] : files.filter(({ role }) => role === 'ignored')
  return {
    main,
    dropIns: dropIns
      .filter(({ why }) => why === null)
      .map(({ file }) => file)
      .sort(byPath),
    environment: files.filter(({ role }) => role === 'environment'),
    passedOver: [
      ...mains.filter(file => file !== main).map(file => ({ file, why: 'other' as const })),
      ...dropIns.flatMap(({ file, why }) => (why === null ? [] : [{ file, why }])),
      ...ignored.map(file => ({
        file,
        why: whyDropInUnread(file, commandLine) ?? ('folder' as const),
      })),
    ],
    commandLine,
    unread:
      unreadText(host, [...configurationParts, 'kubelet-environment']) ||
      (raw.length > mostFiles ? `more than ${mostFiles} files` : ''),
  }
}

/**
 * Why the kubelet does not read a drop-in. A command line without `--config` is incomplete: the
 * kubelet is then assumed to read the folder.
 */
function whyDropInUnread(
  { path }: KubeletFile,
  commandLine: readonly string[],
): 'folder' | 'name' | null {
  const folder = flagValue(commandLine, 'config-dir')
  const isRead =
    folder === null
      ? flagValue(commandLine, 'config') === null
      : path.startsWith(`${folder.replace(/(?<!\/)\/+$/, '')}/`)
  if (!isRead) return 'folder'
  return path.endsWith('.conf') ? null : 'name'
}

/** Whether the kubelet is known to run without a configuration file. */
export const isWithoutFile = ({ main, commandLine }: KubeletFiles): boolean =>
  main === null && commandLine.length > 0 && flagValue(commandLine, 'config') === null

export const hasDropInFolder = ({ dropIns, commandLine }: KubeletFiles): boolean =>
  dropIns.length > 0 || flagValue(commandLine, 'config-dir') !== null

/** How often the drop-ins may be loaded again: a key takes some 2 µs, and all of it less than 10 ms. Real drop-ins have few keys. */
export const mostLoadsOf = ({ dropIns }: KubeletFiles): number =>
  Math.floor(
    3_000 / dropIns.reduce((sum, { content }) => sum + 30 + Object.keys(mapOf(content)).length, 30),
  )

export const isParsedFile = (file: KubeletFile): file is ConfigurationFile =>
  isRawObject(file.content)

const kubeletFile = ({ path, role, content }: HostFile): KubeletFile | null =>
  path === undefined || role === undefined ? null : { path, role, content }

/** What decides the running configuration, if the kubelet's own is not read. */
export const configurationParts = ['kubelet', 'kubelet-file', 'drop-ins'] as const

/** The unread parts of these kinds, with their reasons, as one text. */
export const unreadText = (host: Host | null, kinds: readonly ProbePart['is'][]): string =>
  (host?.unread ?? [])
    .map(({ what = '', why = 'no reason given' }) => ({ what, why }))
    .filter(({ what }) => kinds.includes(probePart(what).is))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)

function byPath(a: KubeletFile, b: KubeletFile): number {
  const others = b.path.split('/')
  for (const [index, part] of a.path.split('/').entries()) {
    const other = others[index]
    if (other === undefined) return 1
    if (part !== other) return part < other ? -1 : 1
  }
  return 0
}

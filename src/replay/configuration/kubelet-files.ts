/**
 * What the node itself told of the files and flags of its kubelet (`host.kubelet` of the snapshot).
 *
 * Replays       cmd/kubelet/app/server.go mergeKubeletConfigurations, as far as it walks the folder of drop-ins
 */

import { flagValue } from '#facts/kubelet/flag-settings.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'

export interface KubeletFile {
  path: string
  role: string
  content: unknown
}

export interface ConfigurationFile extends KubeletFile {
  content: RawObject
}

export interface KubeletFiles {
  /** Null: none was told. */
  main: KubeletFile | null
  /** Those that upstream reads, in its order. */
  dropIns: KubeletFile[]
  environment: KubeletFile[]
  /** As the kubelet runs; empty where it was not told. */
  commandLine: string[]
  /** Which files of the kubelet the node itself could not read, with the reasons; empty: none. */
  unread: string
}

export function kubeletFiles(host: RawObject | null): KubeletFiles {
  const kubelet = objectAt(host, 'kubelet')
  const files = listAt(kubelet, 'files').filter(isKubeletFile)
  return {
    main: files.find(({ role }) => role === 'config') ?? null,
    dropIns: files.filter(({ role, path }) => role === 'drop-in' && path.endsWith('.conf')).sort(byPath),
    environment: files.filter(({ role }) => role === 'environment'),
    commandLine: listAt(kubelet, 'commandLine').filter(argument => typeof argument === 'string'),
    unread: unreadFiles(host),
  }
}

/** Whether the kubelet is known to run without a configuration file. */
export const isWithoutFile = ({ main, commandLine }: KubeletFiles): boolean =>
  main === null && commandLine.length > 0 && flagValue(commandLine, 'config') === null

export const hasDropInFolder = ({ dropIns, commandLine }: KubeletFiles): boolean =>
  dropIns.length > 0 || flagValue(commandLine, 'config-dir') !== null

export const isRead = (file: KubeletFile): file is ConfigurationFile => isRawObject(file.content)

const isKubeletFile = (file: unknown): file is KubeletFile =>
  isRawObject(file) && typeof file.path === 'string' && typeof file.role === 'string'

const unreadFiles = (host: RawObject | null): string =>
  listAt(host, 'unread')
    .map(entry => ({ what: textAt(entry, 'what') ?? '', why: textAt(entry, 'why') ?? 'no reason given' }))
    .filter(({ what }) => /kubelet|drop-in|^config|environment/i.test(what))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)

/** In the order in which a folder is walked: folder by folder. */
function byPath(a: KubeletFile, b: KubeletFile): number {
  const others = b.path.split('/')
  for (const [index, part] of a.path.split('/').entries()) {
    const other = others[index]
    if (other === undefined) return 1
    if (part !== other) return part < other ? -1 : 1
  }
  return 0
}

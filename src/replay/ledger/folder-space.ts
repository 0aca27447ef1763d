/** Sizes that the node measured of its own folders. A folder excludes the folders below it that have their own line. */

import { gibibyte } from '#base/units.ts'
import { containerOfVolumes, isImageVolume, isOfSystem } from '#facts/host-folders.ts'
import type { HostDiskUse, MeasuredFolder } from '#model/input/inspection.ts'
import type { DiskHolder, HolderOwner, HolderPart } from '#model/prediction.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import type { Entry } from './balance.ts'
import {
  type Amount,
  hostPathAt,
  localVolumesAt,
  ownersByContainer,
  type PodsByUid,
  type PodUse,
  volumeOwner,
} from './pod-use.ts'

export type Disk = 'nodefs' | 'imagefs'

const holders: Readonly<Record<string, DiskHolder>> = {
  pods: 'pod-volumes',
  podLogs: 'container-logs',
  kubelet: 'kubelet',
  content: 'image-content',
  containerd: 'other-runtime',
  docker: 'other-runtime',
  journal: 'journal',
  logs: 'host-logs',
  coreDumps: 'core-dumps',
  packages: 'package-caches',
  temporary: 'temporary-files',
  system: 'system',
  localVolume: 'local-volumes',
  unknown: 'unknown-folder',
}

/** Measured folders that are inside another one by default. */
const innerHolders: Readonly<Record<string, string[]>> = {
  kubelet: ['pods'],
  logs: ['podLogs', 'journal'],
}

/** Folders of pods, by the holder of what is left in them of deleted pods. */
const orphanHolders: Readonly<Record<string, DiskHolder>> = {
  pods: 'orphaned-pods',
  podLogs: 'log-debris',
}

/** Names of the folders that the script measures. */
export const measuredHolders = Object.keys(holders)

type FolderSize = Required<Pick<MeasuredFolder, 'holder' | 'path' | 'bytes'>> &
  Pick<MeasuredFolder, 'pod'> &
  Amount

/** Smaller logs explain no disk. */
const leastLogBytes = gibibyte

/** The measurement, with the folders of the largest logs that have no line in it. Undefined: nothing was measured. */
export function diskUseOf({ host }: Pick<PreparedNode, 'host'>): HostDiskUse | undefined {
  const use = host?.diskUse
  const logs = use?.folders?.find(({ holder }) => holder === 'logs')
  const { path: root, on, bytes: rootBytes } = logs ?? {}
  if (!use?.folders || root === undefined || rootBytes === undefined) return use
  const inner = use.folders.flatMap(({ path }) => (path?.startsWith(`${root}/`) ? [path] : []))
  const isListed = (path: string) =>
    [...inner, `${root}/pods`, `${root}/containers`].some(
      one => path === one || path.startsWith(`${one}/`),
    )
  const files = (host?.logs?.biggest ?? []).flatMap(({ path = '', bytes = 0 }) =>
    path.startsWith(`${root}/`) && !isListed(path) ? [{ path, bytes }] : [],
  )
  const placeOf = (path: string) => {
    const folder = path.slice(0, path.lastIndexOf('/'))
    return folder === root ? path : folder
  }
  const sumOf = (some: typeof files) => some.reduce((sum, { bytes }) => sum + bytes, 0)
  const large = [...Map.groupBy(files, ({ path }) => placeOf(path))].flatMap(([place, own]) => {
    const all = files.filter(({ path }) => path === place || path.startsWith(`${place}/`))
    const bytes = sumOf(all)
    return sumOf(own) < leastLogBytes || bytes > rootBytes
      ? []
      : [{ holder: 'unknown', path: place, ...(on && { on }), bytes, inodes: all.length }]
  })
  return large.length === 0 ? use : { ...use, folders: [...use.folders, ...large] }
}

export function folderEntries(
  node: PreparedNode,
  use: HostDiskUse,
  disk: Disk,
  pods: PodUse | null,
): Entry[] {
  const orphans = orphansOf(node, use)
  const all = foldersOn(use, disk)
  const deleted = use.deletedFiles?.find(({ on }) => on === disk)
  return [
    ...all.flatMap(folder =>
      entriesOf(node, folder, all, orphans, withMeasuredVolumes(pods, use)).map(entry =>
        mayIncludeInner(folder, use) ? { ...entry, lowBytes: 0 } : entry,
      ),
    ),
    {
      holder: 'deleted-open-files',
      bytes: deleted?.bytes ?? 0,
      inodes: deleted?.files ?? 0,
      source: '/proc',
    },
  ]
}

/** A part whose size was measured. */
export type MeasuredPart = Omit<HolderPart, 'lowBytes' | 'highBytes'> & { bytes: number }

/** Folders of deleted pods in place of those of existing pods, which have parts of their own. */
export function folderParts(
  node: PreparedNode,
  use: HostDiskUse,
  byUid: PodsByUid,
): MeasuredPart[] {
  const orphans = orphansOf(node, use)
  return (['nodefs', 'imagefs'] as const).flatMap(filesystem => {
    const all = foldersOn(use, filesystem)
    return all.flatMap((folder): MeasuredPart[] => {
      const { path: place } = folder
      const orphaned = orphanHolders[folder.holder]
      if (orphaned !== undefined)
        return orphans
          .filter(({ path }) => path.startsWith(`${place}/`))
          .map(({ path, bytes }) => ({
            holder: orphaned,
            filesystem,
            bytes,
            inodes: null,
            place: path,
            owner: null,
          }))
      const holder = holderOf(node, folder, all)
      if (holder === null) return []
      const { owner, claims } = ownersOf(node, folder, holder, byUid)
      const { bytes, inodes } = ownSpace(folder, all)
      const others = folder.holder === 'content' ? Math.min(bytes, sumOfContent(use)) : 0
      return [
        {
          holder,
          filesystem,
          bytes: bytes - others,
          inodes,
          place,
          owner,
          ...(claims && claims.length > 0 && { claims }),
        },
      ]
    })
  })
}

function ownersOf(
  node: PreparedNode,
  { path, pod }: FolderSize,
  holder: DiskHolder,
  byUid: PodsByUid,
): { owner: HolderOwner | null; claims?: string[] } {
  const local = holder === 'local-volumes' ? localVolumesAt(node.input, path) : null
  if (pod !== undefined) return { ...local, owner: volumeOwner(byUid, pod) }
  return (
    local ?? {
      owner: imageVolumesOwner(node, path) ?? hostPathAt(node.input.pods, path)?.owner ?? null,
    }
  )
}

function imageVolumesOwner({ input }: PreparedNode, place: string) {
  const id = containerOfVolumes(place)
  return id === null ? null : (ownersByContainer(input.pods, new Set([id])).get(id) ?? null)
}

/** PersistentVolumes in an unlisted folder hold it, or pods that mount it by hostPath. Without them, the holder of the folder around it does. */
function holderOf({ input }: PreparedNode, folder: FolderSize, all: readonly FolderSize[]) {
  const { holder, path } = folder
  if (holder !== 'unknown') return holders[holder] ?? null
  if (localVolumesAt(input, path)) return 'local-volumes'
  if (hostPathAt(input.pods, path)) return 'host-path'
  if (isImageVolume(path)) return 'image-volumes'
  if (isOfSystem(path)) return 'system'
  const around = all.find(one => one.holder !== 'unknown' && isBelow(folder, one))
  return holders[around?.holder ?? holder] ?? null
}

/** A folder that was measured twice counts once. */
const foldersOn = ({ folders = [] }: HostDiskUse, disk: Disk): FolderSize[] =>
  folders
    .filter(({ on }) => on === disk)
    .map(({ holder = '', path = '', bytes = 0, inodes = null, pod }) => ({
      holder,
      path,
      bytes,
      inodes,
      pod,
    }))
    .filter(({ path }, index, all) => all.findIndex(one => one.path === path) === index)

/** Whether the size might include a folder of another holder, because the measurement of that one failed. */
const mayIncludeInner = ({ holder }: FolderSize, { folders = [], missed }: HostDiskUse) =>
  missed !== 0 &&
  innerHolders[holder]?.some(inner => folders.every(one => one.holder !== inner)) === true

interface Orphan {
  path: string
  bytes: number
}

/** Orphaned pod folders, without those of existing pods, which might still start. */
function orphansOf({ input }: PreparedNode, { orphans = [] }: HostDiskUse): Orphan[] {
  const uids = new Set(input.pods?.map(({ metadata }) => metadata?.uid))
  return orphans
    .map(({ path = '', bytes = 0 }) => ({ path, bytes }))
    .filter(({ path }) => !uids.has(path.replace(/^.*[/_]/, '')))
}

/** The folder's size without measured folders inside it. Of nested ones only the outermost is subtracted. */
function ownSpace(folder: FolderSize, all: FolderSize[]): Amount {
  const below = all.filter(other => isBelow(other, folder))
  const outermost = below.filter(one => !below.some(other => isBelow(one, other)))
  let { bytes, inodes } = folder
  for (const one of outermost) {
    bytes -= one.bytes
    inodes = inodes === null || one.inodes === null ? null : inodes - one.inodes
  }
  return { bytes: Math.max(0, bytes), inodes: inodes && Math.max(0, inodes) }
}

const isBelow = (inner: FolderSize, outer: FolderSize) =>
  inner.path.startsWith(`${outer.path.replace(/\/$/, '')}/`)

function entriesOf(
  node: PreparedNode,
  folder: FolderSize,
  all: FolderSize[],
  orphans: Orphan[],
  pods: PodUse | null,
): Entry[] {
  const { holder, path } = folder
  const known = holderOf(node, folder, all)
  if (known === null) return []
  const own = ownSpace(folder, all)
  const orphanHolder = orphanHolders[holder]
  if (holder === 'content') return contentEntries(own, node.host?.diskUse)
  if (orphanHolder === undefined) return [{ holder: known, ...own, source: 'du' }]
  const orphaned = orphanedBytes(path, orphans)
  const ofPods = { ...own, bytes: Math.max(0, own.bytes - orphaned) }
  return [
    ...(holder === 'pods'
      ? volumeEntries(ofPods, pods, node.host?.diskUse)
      : logEntries(ofPods, pods)),
    { holder: orphanHolder, bytes: orphaned, source: 'du' },
  ]
}

/** Packed content of the kubelet's images, and that of other clients of containerd. */
function contentEntries({ bytes, inodes }: Amount, use: HostDiskUse | undefined): Entry[] {
  const others = Math.min(bytes, sumOfContent(use))
  return [
    { holder: 'image-content', bytes: bytes - others, inodes, source: 'du' },
    ...(others > 0
      ? [{ holder: 'other-namespaces', bytes: others, inodes: 0, source: 'ctr' } as const]
      : []),
  ]
}

const sumOfContent = (use: HostDiskUse | undefined) =>
  (use?.namespaces ?? []).reduce((sum, { content = 0 }) => sum + content, 0)

const orphanedBytes = (path: string, orphans: readonly Orphan[]) =>
  orphans
    .filter(orphan => orphan.path.startsWith(`${path}/`))
    .reduce((sum, { bytes }) => sum + bytes, 0)

/** Logs of running containers, from the statistics. The other logs are of dead containers. */
function logEntries({ bytes, inodes }: Amount, pods: PodUse | null): Entry[] {
  const logs = pods?.logs.isPartial === false ? pods.logs.bytes : bytes
  const alive = Math.min(bytes, logs)
  return [
    { holder: 'container-logs', bytes: alive, inodes, source: 'du' },
    {
      holder: 'dead-containers',
      bytes: bytes - alive,
      inodes: bytes === alive ? 0 : null,
      source: 'du',
    },
  ]
}

function volumeEntries(ofPods: Amount, pods: PodUse | null, use?: HostDiskUse): Entry[] {
  if (pods?.volumes.isPartial !== false) return unsortedEntries(ofPods, use)
  const { bytes, inodes } = outsideVolumes(ofPods, pods)
  const left = ofPods.inodes === null || inodes === null ? null : ofPods.inodes - inodes
  return [
    { holder: 'pod-volumes', bytes: ofPods.bytes - bytes, inodes: left, source: 'du' },
    { holder: 'pod-folders', bytes, inodes, source: 'du' },
  ]
}

/** The node lists at most so many of the largest folders in those of pods. */
const listed = 10

/** Without statistics of all pods, the largest folders alone tell volumes from the rest. If all are listed, what they lack is in no volume. */
function unsortedEntries({ bytes, inodes }: Amount, { inside }: HostDiskUse = {}): Entry[] {
  const logs = foldersOfHolder(inside, 'container-logs').length
  const isComplete = inside !== undefined && inside.length - logs < listed
  const volumes = Math.min(bytes, bytesInside(inside, 'pod-volumes'))
  const others = isComplete ? bytes - volumes : Math.min(bytes, bytesInside(inside, 'pod-folders'))
  const hasVolumes = !isComplete || volumes > 0
  const [ofVolumes, ofOthers] = hasVolumes ? [inodes, 0] : [0, inodes]
  const source = 'du'
  return [
    { holder: 'pod-volumes', bytes: bytes - others, lowBytes: volumes, inodes: ofVolumes, source },
    { holder: 'pod-folders', bytes: others, highBytes: bytes - volumes, inodes: ofOthers, source },
  ]
}

/** Volumes whose bytes the kubelet counts, or that are in memory. */
const countedPlugins: ReadonlySet<string> = new Set(
  ['configmap', 'downward-api', 'empty-dir', 'projected', 'secret'].map(
    name => `kubernetes.io~${name}`,
  ),
)

type Inside = NonNullable<HostDiskUse['inside']>

/** A folder in that of a pod: of a volume, of a container's termination logs, or of its logs. The end of the path names volume or container. */
export function folderInside({ path: place = '', bytes = 0 }: Inside[number]) {
  const [, uid = '', termination, plugin, name = ''] =
    /\/([^/]+)\/(?:(containers)\/|volumes\/([^/]+)\/)?([^/]+)$/.exec(place) ?? []
  const ofContainer = termination === undefined ? 'container-logs' : 'pod-folders'
  const ofVolume = countedPlugins.has(plugin ?? '') ? 'pod-volumes' : 'pod-folders'
  const holder: DiskHolder = plugin === undefined ? ofContainer : ofVolume
  return {
    place,
    bytes,
    uid: uid.replace(/^.*_/, ''),
    isOfVolume: plugin !== undefined,
    name,
    holder,
  }
}

const foldersOfHolder = (inside: Inside = [], wanted: DiskHolder) =>
  inside.map(folderInside).filter(({ holder }) => holder === wanted)

const bytesInside = (inside: Inside | undefined, wanted: DiskHolder) =>
  foldersOfHolder(inside, wanted).reduce((sum, { bytes }) => sum + bytes, 0)

/** The statistics leave out volumes with another capacity than nodefs, such as one with a quota. The node measured the largest. */
function withMeasuredVolumes(pods: PodUse | null, { inside }: HostDiskUse) {
  const bytes = bytesInside(inside, 'pod-volumes')
  return !pods || bytes <= pods.volumes.bytes
    ? pods
    : { ...pods, volumes: { ...pods.volumes, bytes, inodes: null } }
}

/** The usual contents of folders of pods, and what a volume grows until the kubelet counts it again. */
const usualBeside = { bytes: gibibyte, inodes: 100_000 }

/** What folders of pods hold in no volume, by the statistics. Nothing: as little as usual, or not known. */
function outsideVolumes(ofPods: Amount, pods: PodUse | null): Amount {
  if (pods?.volumes.isPartial !== false) return { bytes: 0, inodes: 0 }
  const bytes = ofPods.bytes - pods.volumes.bytes
  const inodes = (ofPods.inodes ?? 0) - (pods.volumes.inodes ?? ofPods.inodes ?? 0)
  return bytes < usualBeside.bytes && inodes < usualBeside.inodes
    ? { bytes: 0, inodes: 0 }
    : { bytes: Math.max(0, bytes), inodes: Math.max(0, inodes) }
}

/** What folders of existing pods hold in no volume, and where they are. */
export function podFolderSpace(node: PreparedNode, use: HostDiskUse, pods: PodUse | null) {
  const all = foldersOn(use, 'nodefs')
  const folder = all.find(({ holder }) => holder === 'pods')
  if (!folder) return null
  const own = ownSpace(folder, all)
  const orphaned = orphanedBytes(folder.path, orphansOf(node, use))
  return {
    ...outsideVolumes(
      { ...own, bytes: Math.max(0, own.bytes - orphaned) },
      withMeasuredVolumes(pods, use),
    ),
    path: folder.path,
  }
}

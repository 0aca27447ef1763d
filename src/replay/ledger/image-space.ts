/**
 * Bytes that images hold: by containerd's own snapshots if the node listed them, else by the runtime's used bytes and the listed
 * sizes of the images. The runtime's bytes are all snapshots: also those that no image and no container needs.
 */
import type { HostDiskUse } from '#model/input/inspection.ts'
import type { FilesystemLedger } from '#model/prediction.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { countOf } from '#replay/times.ts'
import type { Entry } from './balance.ts'
import type { Amount, PodUse } from './pod-use.ts'

/**
 * Image layers: `inUse` by a container, `pinned` by a sandbox alone, `unused` by neither. Writable layers: `running`, `dead`.
 * `leftover`: belongs to no container that the runtime knows. The node's script prints these names.
 */
type SnapshotUse = 'inUse' | 'pinned' | 'unused' | 'running' | 'dead' | 'leftover' | 'unpacking'

export const imagesDisk = ({
  filesystems: { layout },
}: PreparedNode): FilesystemLedger['filesystem'] => (layout === 'shared' ? 'nodefs' : 'imagefs')

export type ImageGroup = 'images-in-use' | 'images-unused' | 'images-pinned'
const groups: readonly ImageGroup[] = ['images-in-use', 'images-unused', 'images-pinned']

/** Entries of images, without the writable layers of running containers. */
export function imageEntries(node: PreparedNode, pods: PodUse | null): Entry[] {
  const snapshots = snapshotsOf(node)
  return snapshots
    ? [...measuredEntries(node, snapshots), ...namespaceEntries(node.host?.diskUse ?? {})]
    : estimatedEntries(node, pods)
}

type Snapshots = NonNullable<HostDiskUse['snapshots']>

export function snapshotSpace(snapshots: Snapshots, use: SnapshotUse): Amount {
  const { bytes = 0, inodes = null } = snapshots.find(one => one.use === use) ?? { inodes: 0 }
  return { bytes, inodes }
}

/** As the node listed them, but unused layers that no listed image can explain are left over: image GC does not delete them. Undefined: not listed. */
export function snapshotsOf(node: PreparedNode): Snapshots | undefined {
  const snapshots = node.host?.diskUse?.snapshots
  const sizes = sizesByGroup(node, image => !isSandboxImage(image))
  if (!snapshots || !sizes) return snapshots
  const [unused, leftover] = [
    snapshotSpace(snapshots, 'unused'),
    snapshotSpace(snapshots, 'leftover'),
  ]
  const listed = groups.reduce((sum, group) => sum + sizes[group], 0)
  const listedUnused = listed - sizes['images-in-use']
  const layers = snapshotSpace(snapshots, 'inUse').bytes + unused.bytes
  const over =
    listedUnused === 0
      ? unused.bytes
      : Math.min(
          unused.bytes - Math.ceil(node.unpacking.least * listedUnused),
          layers - Math.ceil(node.unpacking.most * listed),
        )
  if (over <= 0) return snapshots
  const inodes = Math.round(((unused.inodes ?? 0) * over) / unused.bytes)
  const withMoved = (use: SnapshotUse, { bytes, inodes: all }: Amount, sign: 1 | -1) => ({
    use,
    bytes: bytes + sign * over,
    inodes: (all ?? 0) + sign * inodes,
  })
  return [
    ...snapshots.filter(({ use }) => use !== 'unused' && use !== 'leftover'),
    withMoved('unused', unused, -1),
    withMoved('leftover', leftover, 1),
  ]
}

function measuredEntries(node: PreparedNode, snapshots: Snapshots): Entry[] {
  const spaceOf = (use: SnapshotUse) => snapshotSpace(snapshots, use)
  const entry = (holder: Entry['holder'], use: SnapshotUse): Entry => ({
    holder,
    ...spaceOf(use),
    source: 'ctr',
  })
  const unused = spaceOf('unused').bytes
  // Layers do not show that their image is pinned, so unused layers are split by the sizes in the CRI.
  const sizes = sizesByGroup(node, image => image.users.length === 0 && !isSandboxImage(image))
  const pinnedShare = shareOfSum(sizes?.['images-pinned'] ?? 0, sizes?.['images-unused'] ?? 0)
  const pinned = Math.round(unused * pinnedShare)
  const isSplit = pinned > 0 && pinned < unused
  const isMoved = snapshots !== node.host?.diskUse?.snapshots && unused > 0
  return [
    entry('images-in-use', 'inUse'),
    {
      ...entry('images-pinned', 'pinned'),
      bytes: spaceOf('pinned').bytes + pinned,
      lowBytes: spaceOf('pinned').bytes + (isSplit ? 0 : pinned),
      highBytes: spaceOf('pinned').bytes + (isSplit ? unused : pinned),
    },
    {
      ...entry('images-unused', 'unused'),
      bytes: unused - pinned,
      lowBytes: isSplit || isMoved ? 0 : unused - pinned,
      highBytes: isSplit ? unused : unused - pinned,
    },
    entry('dead-containers', 'dead'),
    {
      ...entry('leftover-snapshots', 'leftover'),
      ...(isMoved && { highBytes: spaceOf('leftover').bytes + unused }),
    },
    entry('image-content', 'unpacking'),
  ]
}

/** Snapshots of other clients of containerd. Their content has an entry beside the folder of all content. */
const namespaceEntries = ({ namespaces = [] }: HostDiskUse): Entry[] =>
  namespaces.map(({ bytes = 0, inodes = null }) => ({
    holder: 'other-namespaces',
    bytes,
    inodes,
    source: 'ctr',
  }))

/** Listed images explain a part of the runtime's bytes. What they cannot explain is `not-images`. */
function estimatedEntries(node: PreparedNode, pods: PodUse | null): Entry[] {
  const total = snapshotBytes(node)
  const isSized = node.imageEvidence.images?.some(({ sizeBytes }) => sizeBytes !== null)
  if (total === null || isSized !== true) return []
  const containersHere = node.filesystems.layout === 'split' ? 0 : (pods?.layers.bytes ?? 0)
  const bytes = Math.max(0, total - containersHere)
  const source = node.summary?.node?.runtime?.imageFs ? 'stats summary' : 'crictl'
  const [low, high] = imageBounds(node, bytes)
  const entries: Omit<Entry, 'source'>[] = imageGroups(node, [low, high])
  // A writable layer that was not measured might hold the rest.
  if (high < bytes && pods?.layers.isPartial === false)
    entries.push({
      holder: 'not-images',
      bytes: bytes - high,
      lowBytes: bytes - high,
      highBytes: bytes - low,
    })
  const inodes = entries.length === 1 ? imageInodes(node, pods) : null
  return entries.map(entry => ({ ...entry, inodes, source }))
}

/** Null: not read, a part is of unread writable layers, or the runtime has counted the disk. */
function imageInodes({ summary, filesystems: { layout } }: PreparedNode, pods: PodUse | null) {
  const { inodes, inodesFree, inodesUsed } = summary?.node?.runtime?.imageFs ?? {}
  const [all, free, used] = [countOf(inodes), countOf(inodesFree), countOf(inodesUsed)]
  if (all === null || free === null || used === null || pods?.layers.isPartial !== false)
    return null
  if (used >= (layout === 'shared' ? wholeDisk : 1) * (all - free)) return null
  const layers = layout === 'split' ? 0 : pods.layers.inodes
  return layers === null ? null : Math.max(0, used - layers)
}

/**
 * Low and high bound of all images' unpacked layers. Without a complete list of images there is no bound but `bytes`. Unlisted writable
 * layers and leftover snapshots might hold the rest.
 */
function imageBounds({ imageEvidence, unpacking }: PreparedNode, bytes: number): [number, number] {
  const { images, isComplete } = imageEvidence
  const sizes = images?.map(({ sizeBytes }) => sizeBytes) ?? []
  const largest = Math.max(0, ...sizes.map(size => size ?? 0))
  const listed = sizes.reduce<number>((sum, size) => sum + (size ?? Number.POSITIVE_INFINITY), 0)
  const most = isComplete ? unpacking.most * listed : Number.POSITIVE_INFINITY
  const high = Math.min(bytes, Math.ceil(most))
  return [Math.min(high, Math.floor(unpacking.least * largest)), high]
}

/** The images' part, divided into use groups by their listed sizes. Shared layers might belong to any group. */
function imageGroups(
  node: PreparedNode,
  [lowBytes, highBytes]: [number, number],
): Omit<Entry, 'source'>[] {
  const sizes = sizesByGroup(node, () => true)
  const known = sizes ? groups.filter(group => sizes[group] > 0) : []
  if (!sizes || known.length === 0)
    return [{ holder: 'images', bytes: highBytes, lowBytes, highBytes }]
  const listed = known.reduce((sum, group) => sum + sizes[group], 0)
  let left = highBytes
  return known.map((holder, index) => {
    const isLast = index === known.length - 1
    const part = isLast ? left : Math.round((highBytes * sizes[holder]) / listed)
    left -= part
    return {
      holder,
      bytes: part,
      lowBytes: known.length === 1 ? lowBytes : 0,
      highBytes: Math.min(highBytes, Math.ceil(node.unpacking.most * sizes[holder])),
    }
  })
}

/** Share of a disk's used bytes from which on the runtime has counted the disk, not its snapshots. */
const wholeDisk = 0.998

/** Bytes of all snapshots, as the runtime counts them. Null: not read. Upstream: cri-dockerd and other runtimes report the filesystem. */
function snapshotBytes({ summary, input, filesystems }: PreparedNode) {
  const { fs, runtime } = summary?.node ?? {}
  const ofDisk = filesystems.layout === 'shared' ? countOf(fs?.usedBytes) : null
  if (ofDisk !== null && (countOf(runtime?.imageFs?.usedBytes) ?? 0) >= wholeDisk * ofDisk)
    return null
  const ofRuntime = Number(input.runtime?.imageFs?.imageFilesystems?.[0]?.usedBytes?.value)
  return (
    countOf(runtime?.imageFs?.usedBytes) ??
    (Number.isSafeInteger(ofRuntime) && ofRuntime >= 0 ? ofRuntime : null)
  )
}

export type StoredImage = NonNullable<PreparedNode['imageEvidence']['images']>[number]

/** Sizes as the CRI lists them. Null: some images, sizes or users are not known. */
export function sizesByGroup(
  { imageEvidence }: PreparedNode,
  counts: (image: StoredImage) => boolean,
): Record<ImageGroup, number> | null {
  const { images, isComplete, areUsersComplete } = imageEvidence
  if (!images || !isComplete || !areUsersComplete) return null
  const sizes = { 'images-in-use': 0, 'images-unused': 0, 'images-pinned': 0 }
  for (const image of images) {
    if (image.sizeBytes === null) return null
    if (counts(image)) sizes[groupOf(image)] += image.sizeBytes
  }
  return sizes
}

/**
 * Packed layers that stay on the disk beside the unpacked ones, of images with this listed size, at most. 0: the runtime keeps none.
 *
 * @param disk of the images
 */
export function mostPackedBytes(
  { host, unpacking }: PreparedNode,
  sizeBytes: number,
  disk: FilesystemLedger | undefined,
): number {
  if (host?.containerd?.discardUnpackedLayers === true || !unpacking.keepsPacked) return 0
  const content = disk?.lines.find(({ holder }) => holder === 'image-content')
  const mostUnlisted = host?.diskUse?.missed === 0 ? 0 : Number.POSITIVE_INFINITY
  return Math.min(sizeBytes, content?.highBytes ?? mostUnlisted)
}

/** Whether sandboxes use the layers of this image, judged by its name. */
const isSandboxImage = ({ names }: StoredImage) =>
  names.some(name => /(?:^|\/)pause[^/]*$/.test(name))

export function groupOf({ isPinned, users }: StoredImage): ImageGroup {
  if (isPinned === true) return 'images-pinned'
  return users.length > 0 ? 'images-in-use' : 'images-unused'
}

const shareOfSum = (part: number, other: number) => (part === 0 ? 0 : part / (part + other))

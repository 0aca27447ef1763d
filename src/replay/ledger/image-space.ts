/**
 * Bytes that images hold: by containerd's own snapshots if the node listed them, else by the runtime's used bytes.
 * Those are shared out by the sizes that the CRI lists: packed layers, with a shared layer counted for each image. So a share
 * can be anything up to the total.
 */

import type { HostDiskUse } from '#model/node-input.ts'
import { deadContainers } from '#replay/container-gc.ts'
import { countOf } from '#replay/counters.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import type { Entry } from './balance.ts'
import type { Amount, PodUse } from './pod-use.ts'

/**
 * Image layers: `inUse` by a container, `pinned` by a sandbox alone, `unused` by neither. Writable layers: `running`, `dead`.
 * `leftover`: belongs to no container that the runtime knows. The node's script prints these names.
 */
type SnapshotUse = 'inUse' | 'pinned' | 'unused' | 'running' | 'dead' | 'leftover' | 'unpacking'

export type ImageGroup = 'images-in-use' | 'images-unused' | 'images-pinned'
const groups: readonly ImageGroup[] = ['images-in-use', 'images-unused', 'images-pinned']

/** Entries of images, without the writable layers of running containers. */
export function imageEntries(node: PreparedNode, pods: PodUse | null): Entry[] {
  const snapshots = node.host?.diskUse?.snapshots
  return snapshots === undefined ? estimated(node, pods) : measured(node, snapshots)
}

type Snapshots = NonNullable<HostDiskUse['snapshots']>

export function snapshotSpace(snapshots: Snapshots, use: SnapshotUse): Amount {
  const { bytes = 0, inodes = null } = snapshots.find(one => one.use === use) ?? { inodes: 0 }
  return { bytes, inodes }
}

function measured(node: PreparedNode, snapshots: Snapshots): Entry[] {
  const of = (use: SnapshotUse) => snapshotSpace(snapshots, use)
  const entry = (holder: Entry['holder'], use: SnapshotUse): Entry => ({
    holder,
    ...of(use),
    source: 'ctr',
  })
  const unused = of('unused').bytes
  // Layers do not show that their image is pinned, so unused layers are split by the sizes in the CRI.
  const sizes = sizesByGroup(node, image => image.users.length === 0 && !isSandboxImage(image))
  const pinnedShare = share(sizes?.['images-pinned'] ?? 0, sizes?.['images-unused'] ?? 0)
  const pinned = Math.round(unused * pinnedShare)
  const isSplit = pinned > 0 && pinned < unused
  return [
    entry('images-in-use', 'inUse'),
    {
      ...entry('images-pinned', 'pinned'),
      bytes: of('pinned').bytes + pinned,
      lowBytes: of('pinned').bytes + (isSplit ? 0 : pinned),
      highBytes: of('pinned').bytes + (isSplit ? unused : pinned),
    },
    {
      ...entry('images-unused', 'unused'),
      bytes: unused - pinned,
      lowBytes: isSplit ? 0 : unused - pinned,
      highBytes: isSplit ? unused : unused - pinned,
    },
    entry('dead-containers', 'dead'),
    entry('leftover-snapshots', 'leftover'),
    entry('image-content', 'unpacking'),
  ]
}

function estimated(node: PreparedNode, pods: PodUse | null): Entry[] {
  const total = snapshotBytes(node)
  if (total === null) return []
  const containersHere = node.filesystems.layout === 'split' ? 0 : (pods?.layers.bytes ?? 0)
  const bytes = Math.max(0, total - containersHere)
  const source = node.summary?.node?.runtime?.imageFs ? 'stats summary' : 'crictl'
  const sizes = sizesByGroup(node, () => true)
  const isWhole = deadContainers(node.input).length === 0 && pods?.layers.isPartial === false
  if (sizes === null) return [{ holder: 'images', bytes, lowBytes: isWhole ? bytes : 0, source }]
  const known = groups.filter(group => sizes[group] > 0)
  const listed = known.reduce((sum, group) => sum + sizes[group], 0)
  if (listed === 0) return [{ holder: 'images', bytes, lowBytes: isWhole ? bytes : 0, source }]
  let left = bytes
  return known.map((holder, index) => {
    const isLast = index === known.length - 1
    const part = isLast ? left : Math.round((bytes * sizes[holder]) / listed)
    left -= part
    const isExact = known.length === 1 && isWhole
    return { holder, bytes: part, lowBytes: isExact ? part : 0, highBytes: bytes, source }
  })
}

/** Bytes of all snapshots, as the runtime counts them. Null: not read. */
function snapshotBytes({ summary, input }: PreparedNode): number | null {
  const ofRuntime = Number(input.runtime?.imageFs?.imageFilesystems?.[0]?.usedBytes?.value)
  return (
    countOf(summary?.node?.runtime?.imageFs?.usedBytes) ??
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
  if (images === null || !isComplete || !areUsersComplete) return null
  const sizes = { 'images-in-use': 0, 'images-unused': 0, 'images-pinned': 0 }
  for (const image of images) {
    if (image.sizeBytes === null) return null
    if (counts(image)) sizes[groupOf(image)] += image.sizeBytes
  }
  return sizes
}

/** Whether sandboxes use the layers of this image, judged by its name. */
const isSandboxImage = ({ names }: StoredImage) =>
  names.some(name => /(?:^|\/)pause[^/]*$/.test(name))

export function groupOf({ isPinned, users }: StoredImage): ImageGroup {
  if (isPinned === true) return 'images-pinned'
  return users.length > 0 ? 'images-in-use' : 'images-unused'
}

const share = (part: number, other: number) => (part === 0 ? 0 : part / (part + other))

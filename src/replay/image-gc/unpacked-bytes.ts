/**
 * Disk space that the deletion of images frees. The kubelet counts the sizes that the CRI lists: on containerd those are packed
 * layers, on CRI-O unpacked ones, and a shared layer counts once for each image. The disk holds each unpacked layer once.
 */
import type { Unpacking } from '#facts/kubelet/unpacking.ts'
import type { SpaceBounds } from '#model/prediction.ts'
import { snapshotsOf } from '#replay/ledger/image-space.ts'
import type { PreparedNode } from '#replay/prepare.ts'

interface ListedImage {
  image: string
  sizeBytes: number | null
  /** Whether a container uses the image, running or exited. */
  hasContainer: boolean
}

/** Totals over all images. Null: not read. */
export interface ImageSpace {
  /** Unpacked layers of all images. */
  layerBytes: number | null
  layerInodes: number | null
  /** The part of `layerBytes` that containerd's list gives: no writable layers, no layers used by a sandbox alone. */
  measuredBytes: number | null
  /** Layers that no container uses. */
  unusedBytes: number | null
  unusedInodes: number | null
  unpacking: Unpacking
  /** Whether the runtime deletes packed layers once they are unpacked. */
  isPackedDiscarded: boolean | null
}

export type FreedSpace = Record<'bytes' | 'inodes', SpaceBounds>

/** Bounds of what the deletion of `images` frees, whatever else is deleted before. */
export type FreedBy = (images: readonly string[]) => FreedSpace

export function freedByOf(listed: readonly ListedImage[], space: ImageSpace): FreedBy {
  const sizes = new Map(listed.map(({ image, sizeBytes }) => [image, sizeBytes ?? 0]))
  const unused = new Set(
    listed.filter(({ hasContainer }) => !hasContainer).map(({ image }) => image),
  )
  const sizeOf = (images: Iterable<string>) =>
    [...images].reduce((total, image) => total + (sizes.get(image) ?? 0), 0)
  const listedBytes = sizeOf(sizes.keys())
  const listedUnusedBytes = sizeOf(unused)
  return images => {
    if (images.length === 0) return { bytes: nothing, inodes: nothing }
    const size = sizeOf(images)
    const gone = new Set(images)
    const others = [...sizes].map(([image, bytes]) => (gone.has(image) ? 0 : bytes))
    const largestOther = Math.max(0, ...others)
    const isUnused = images.every(image => unused.has(image))
    const { layerBytes, measuredBytes, unusedBytes, unpacking } = space
    // An image with a container has none of the unused layers: it frees other layers.
    const unusedSize = sizeOf(images.filter(image => unused.has(image)))
    const least = Math.max(
      0,
      (measuredBytes ?? 0) - unpacking.most * (listedBytes - size),
      (unusedBytes ?? 0) - unpacking.most * (listedUnusedBytes - unusedSize),
    )
    const most = Math.min(
      Math.min(unpacking.most * unusedSize, unusedBytes ?? Number.POSITIVE_INFINITY) +
        unpacking.most * (size - unusedSize),
      (layerBytes ?? Number.POSITIVE_INFINITY) - unpacking.least * largestOther,
    )
    const freedShare = (all: number | null, ofUnused: number | null) => {
      if (isUnused && ofUnused !== null && listedUnusedBytes > 0)
        return (ofUnused * size) / listedUnusedBytes
      return all === null || listedBytes === 0 ? null : (all * size) / listedBytes
    }
    const packed = space.isPackedDiscarded === true ? 0 : size
    const inodes = freedShare(space.layerInodes, space.unusedInodes) ?? 0
    const likely =
      (freedShare(layerBytes, unusedBytes) ?? size) + (space.isPackedDiscarded === false ? size : 0)
    return {
      bytes: bounds(least, likely, most + packed),
      inodes: bounds(
        0,
        inodes,
        (isUnused ? space.unusedInodes : null) ?? space.layerInodes ?? inodes,
      ),
    }
  }
}

const nothing: SpaceBounds = { least: 0, likely: 0, most: 0 }

function bounds(least: number, likely: number, most: number): SpaceBounds {
  const high = Math.max(least, most)
  return {
    least: Math.round(least),
    likely: Math.round(Math.min(high, Math.max(least, likely))),
    most: Math.round(high),
  }
}

/** From containerd's snapshot list if the node returned it, else from the runtime's total without writable layers. */
export function imageSpaceOf(node: PreparedNode): ImageSpace {
  const { input, summary, unpacking } = node
  const snapshots = snapshotsOf(node)
  const sumOf = (amount: 'bytes' | 'inodes', ...uses: string[]) =>
    snapshots
      ? snapshots
          .filter(({ use = '' }) => uses.includes(use))
          .reduce((total, snapshot) => total + (snapshot[amount] ?? 0), 0)
      : null
  const imageFs = summary?.node?.runtime?.imageFs
  const writableUse = (amount: 'usedBytes' | 'inodesUsed') =>
    (summary?.pods ?? [])
      .flatMap(({ containers = [] }) => containers)
      .reduce((total, { rootfs }) => total + Math.max(0, rootfs?.[amount] ?? 0), 0)
  const runtimeUse = (amount: 'usedBytes' | 'inodesUsed') => {
    const used = imageFs?.[amount]
    // A runtime without containerd counts whole images.
    return used === undefined ? null : Math.max(0, used - writableUse(amount))
  }
  const layers = ['inUse', 'pinned', 'unused']
  return {
    layerBytes: sumOf('bytes', ...layers) ?? runtimeUse('usedBytes'),
    measuredBytes: sumOf('bytes', 'inUse', 'unused'),
    layerInodes: sumOf('inodes', ...layers) ?? runtimeUse('inodesUsed'),
    unusedBytes: sumOf('bytes', 'unused'),
    unusedInodes: sumOf('inodes', 'unused'),
    unpacking,
    isPackedDiscarded:
      !unpacking.keepsPacked || (input.host?.containerd?.discardUnpackedLayers ?? null),
  }
}

/** Bytes that can be freed without loss, and bytes that thresholds keep unusable. */

import type {
  DiskHolder,
  EvictionPrediction,
  FilesystemLedger,
  Freeable,
  NodePrediction,
} from '#model/prediction.ts'
import { deadContainers } from '#replay/container-gc.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { imagesDisk, mostPackedBytes, sizesByGroup } from './image-space.ts'

export function freeableOf(
  node: PreparedNode,
  filesystems: readonly FilesystemLedger[],
  { imageGC, eviction }: NodePrediction,
): Freeable {
  const linesOf = (...holders: DiskHolder[]) =>
    filesystems.flatMap(({ lines }) => lines.filter(({ holder }) => holders.includes(holder)))
  const sumOf = (...holders: DiskHolder[]) =>
    linesOf(...holders).reduce((sum, { bytes }) => sum + bytes, 0)
  const { missed, snapshots } = node.host?.diskUse ?? {}
  const { layout } = node.filesystems
  const areDisksRead = layout !== null && filesystems.length === (layout === 'shared' ? 1 : 2)
  const isMeasured = areDisksRead && missed === 0 && snapshots !== undefined
  const hasNoDead = node.input.runtime !== null && deadContainers(node.input).length === 0
  const unusedImageBytes = areDisksRead
    ? mostOfUnused(node, filesystems, sizesByGroup(node, () => true)?.['images-unused'])
    : null
  const acting = actingDeletion(imageGC, eviction)
  const goingBytes = acting && mostOfUnused(node, filesystems, acting.listedBytes)
  return {
    unusedImageBytes,
    ...(acting &&
      unusedImageBytes !== null &&
      goingBytes !== null && {
        deletedNow: { why: acting.why, bytes: Math.min(goingBytes, unusedImageBytes) },
      }),
    deadContainerBytes: isMeasured || hasNoDead ? sumOf('dead-containers') : null,
    debrisBytes: isMeasured ? sumOf('log-debris', 'orphaned-pods') : null,
    unusableBytes: areDisksRead ? unusableBytes(filesystems, eviction, layout === 'shared') : null,
  }
}

/** The deletion of unused images that the kubelet makes without any change. Null: it deletes none. */
function actingDeletion(
  imageGC: NodePrediction['imageGC'],
  eviction: NodePrediction['eviction'],
): { why: 'pressure' | 'image-gc'; listedBytes: number } | null {
  const [underPressure, byRound] = [eviction?.imageDeletions, imageGC?.deletions]
  const why = underPressure?.length ? 'pressure' : 'image-gc'
  const deletions = why === 'pressure' ? underPressure : byRound
  const listedBytes = (deletions ?? []).reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)
  return listedBytes === 0 ? null : { why, listedBytes }
}

/**
 * Unpacked and packed layers of unused images, at most. Null: unknown.
 *
 * @param listedBytes sizes of these images in the CRI
 */
function mostOfUnused(
  node: PreparedNode,
  filesystems: readonly FilesystemLedger[],
  listedBytes = Number.POSITIVE_INFINITY,
): number | null {
  if (listedBytes === 0) return 0
  const disk = filesystems.find(({ filesystem }) => filesystem === imagesDisk(node))
  const unused = disk?.lines.find(({ holder }) => holder === 'images-unused')
  const isListed = unused !== undefined || node.host?.diskUse?.snapshots !== undefined
  const packed = mostPackedBytes(node, listedBytes, disk)
  if (!disk || !isListed || !Number.isFinite(packed)) return null
  const unpacked = Math.min(Math.ceil(node.unpacking.most * listedBytes), unused?.highBytes ?? 0)
  return Math.min(unpacked + packed, disk.usedBytes)
}

/** For each filesystem, the highest hard threshold that can be met. Null: a threshold is not known. */
export function unusableBytes(
  filesystems: readonly Pick<FilesystemLedger, 'filesystem' | 'capacityBytes'>[],
  eviction: Pick<EvictionPrediction, 'thresholds' | 'error'> | null,
  isShared: boolean,
): number | null {
  if (!eviction || eviction.error !== null) return null
  return filesystems.reduce<number | null>((sum, { filesystem, capacityBytes }) => {
    const watching = eviction.thresholds.filter(
      ({ signal, hard }) =>
        hard &&
        (signal === `${filesystem}.available` || (isShared && signal === 'imagefs.available')),
    )
    const amounts = watching.map(({ resolved }) => resolved)
    if (sum === null || !amounts.every(amount => amount !== null)) return null
    return sum + Math.min(Math.max(0, ...amounts), capacityBytes)
  }, 0)
}

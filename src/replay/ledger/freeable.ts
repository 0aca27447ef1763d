/** Bytes that can be freed without loss, and bytes that thresholds keep unusable. */

import { amountOrNull } from '#base/go/quantity.ts'
import type { DiskHolder, FilesystemLedger, Freeable } from '#model/prediction/disk-ledger.ts'
import type { EvictionPrediction, NodePrediction } from '#model/prediction/prediction.ts'
import { deadContainers } from '#replay/container-gc.ts'
import type { PreparedNode } from '#replay/prepare.ts'
import { sizesByGroup } from './image-space.ts'
import type { PodUse } from './pod-use.ts'

export function freeableOf(
  node: PreparedNode,
  filesystems: readonly FilesystemLedger[],
  { imageGC, eviction }: NodePrediction,
  pods: PodUse | null,
): Freeable {
  const sumOf = (...holders: DiskHolder[]) =>
    filesystems
      .flatMap(({ lines }) => lines)
      .filter(({ holder }) => holders.includes(holder))
      .reduce((sum, { bytes }) => sum + bytes, 0)
  const { missed, snapshots } = node.host?.diskUse ?? {}
  const { layout } = node.filesystems
  const areDisksRead = layout !== null && filesystems.length === (layout === 'shared' ? 1 : 2)
  const isMeasured = areDisksRead && missed === 0 && snapshots !== undefined
  const hasLine = filesystems.some(({ lines }) =>
    lines.some(({ holder }) => holder === 'images-unused'),
  )
  const areImagesKnown =
    sizesByGroup(node, () => true)?.['images-unused'] === 0 ||
    (areDisksRead && (snapshots !== undefined || hasLine))
  const hasNoDead = node.input.runtime !== null && deadContainers(node.input).length === 0
  const unusedImageBytes = areImagesKnown ? sumOf('images-unused') : null
  const debris = sumOf('log-debris', 'orphaned-pods')
  const dead = sumOf('dead-containers')
  const aboveRotation = areDisksRead ? unrotatedBytes(node, pods) : null
  // Rotation frees at most the bytes of that ledger line, so the sum never exceeds the used bytes.
  const unrotatedLogBytes =
    aboveRotation === null ? null : Math.min(aboveRotation, sumOf('container-logs'))
  return {
    nextImageGcBytes: nextRoundBytes(node, imageGC, unusedImageBytes),
    unusedImageBytes,
    deadContainerBytes: isMeasured || hasNoDead ? dead : null,
    unrotatedLogBytes,
    debrisBytes: isMeasured ? debris : null,
    totalBytes: (unusedImageBytes ?? 0) + dead + debris + (unrotatedLogBytes ?? 0),
    unusableBytes: areDisksRead ? unusableBytes(filesystems, eviction, layout === 'shared') : null,
  }
}

/** The part of the unused images' bytes that the next round deletes, by the sizes in the CRI. */
function nextRoundBytes(
  node: PreparedNode,
  imageGC: NodePrediction['imageGC'],
  unusedBytes: number | null,
) {
  if (imageGC?.deletions == null || unusedBytes === null) return null
  const counted = imageGC.deletions.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)
  const all = sizesByGroup(node, () => true)?.['images-unused'] ?? 0
  return all === 0 ? 0 : Math.round(unusedBytes * Math.min(1, counted / all))
}

/** Sum of each container's log bytes above what rotation keeps. Null: rotation is off, or rotation or a log is not known. */
function unrotatedBytes({ input }: PreparedNode, pods: PodUse | null) {
  const { containerLogMaxSize, containerLogMaxFiles } = input.configuration?.fields ?? {}
  if (
    pods?.logs.isPartial !== false ||
    containerLogMaxSize === undefined ||
    containerLogMaxFiles === undefined
  )
    return null
  const sizeBytes = amountOrNull(containerLogMaxSize)
  if (sizeBytes === null || sizeBytes <= 0 || containerLogMaxFiles < 2) return null
  const kept = sizeBytes * containerLogMaxFiles
  return pods.logBytes.reduce((sum, bytes) => sum + Math.max(0, bytes - kept), 0)
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

/**
 * Bounds of each image's times of first detection and last use, as the kubelet may remember them at one moment.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  detectImages, as far as its loop fixes times
 * Read at       1.24 to 1.37
 * Kept exactly  detection every 5 minutes and in each round; no image is used before it is detected; at a kubelet's start no image was used yet; since
 *               1.29 none was detected
 * Left out      failed detections, and detections that ran more than a minute late
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { KeptImage } from '#model/prediction.ts'
import { lastRoundBy, modulesStartMs, roundOf } from '#replay/clocks.ts'
import type { ImageEvidence, NodeImages } from './evidence.ts'
import type { TimeBounds } from './known-times.ts'
import { zeroTimeMs } from './records.ts'
import { madeMs } from './users.ts'

/** A detection certainly runs within this time, in ms. A period starts when the previous round ends. */
const detectionWithinMs = imageGcPeriodMs + 60_000

export interface LastUsedBounds extends TimeBounds {
  /** The earliest possible time that is not the zero time. */
  lowestMs: number
}

export interface BoundedImage {
  image: string
  names: string[]
  sizeBytes: number | null
  /** True: neither in use nor pinned. Null: unknown. */
  isCandidate: boolean | null
  /** Why the image is not a candidate; else null. */
  keptBecause: KeptImage['reason'] | null
  isInUse: boolean | null
  isPinned: boolean | null
  firstDetected: TimeBounds
  lastUsed: LastUsedBounds
}

/**
 * @param atMs not before the record's time; the record is taken to hold until then
 * @param removed containers that are removed just before `atMs`
 */
export function boundedImages(
  node: NodeImages,
  atMs: number,
  removed: RemovedContainers,
  features: KubeletFeatures,
): BoundedImage[] {
  return (node.images ?? []).map(evidence => bounded(evidence, node, atMs, removed, features))
}

function bounded(
  evidence: ImageEvidence,
  node: NodeImages,
  atMs: number,
  removed: RemovedContainers,
  features: KubeletFeatures,
): BoundedImage {
  const { image, names, sizeBytes, isPinned, isSandbox, users } = evidence
  const left =
    removed.size === 0
      ? users
      : users.filter(({ containerId }) => removed.get(containerId)?.isSure !== true)
  const isUsed =
    left.some(({ isSure, containerId }) => isSure && !removed.has(containerId)) ||
    (node.areUsersComplete && left.length === 0 ? false : null)
  const isInUse = either(isUsed, isSandbox)
  const isKept = either(isInUse, isPinned)
  const lastUsed = lastUsedOf(evidence, node, atMs, removed)
  return {
    image,
    names,
    sizeBytes,
    isCandidate: isKept === null ? null : !isKept,
    keptBecause: isKept === true ? keepReason(isUsed, isInUse) : null,
    isInUse,
    isPinned,
    firstDetected: firstDetectedOf(evidence, node, atMs, features),
    lastUsed,
  }
}

/** Containers that are removed before the round, by id. */
export type RemovedContainers = ReadonlyMap<string, RemovedContainer>

export interface RemovedContainer {
  /** False: the container might also be kept. */
  isSure: boolean
  /** When the container is removed, if it is removed. */
  removal: TimeBounds
}

const exactly = (ms: number): TimeBounds => ({ earliestMs: ms, latestMs: ms })

function firstDetectedOf(
  evidence: ImageEvidence,
  node: NodeImages,
  atMs: number,
  features: KubeletFeatures,
): TimeBounds {
  const { firstDetectedMs, lastUsedMs } = evidence.known
  if (typeof firstDetectedMs === 'number') return exactly(firstDetectedMs)
  const nextDetectionMs = Math.min(atMs, node.readAtMs + detectionWithinMs)
  if (firstDetectedMs === null) return { earliestMs: node.readAtMs, latestMs: nextDetectionMs }
  const earliestMs = features.has('firstDetectionIsTimed')
    ? (node.kubeletStart?.earliestMs ?? zeroTimeMs)
    : zeroTimeMs
  const usedMs =
    typeof lastUsedMs === 'number' && lastUsedMs !== zeroTimeMs ? lastUsedMs : nextDetectionMs
  const latestMs = Math.min(nextDetectionMs, usedMs, detectedInUse(evidence, node))
  return { earliestMs, latestMs: Math.max(earliestMs, latestMs) }
}

/** Latest first detection of an image in use: one period after both its container and the kubelet ran. */
function detectedInUse({ users }: ImageEvidence, { kubeletStart }: NodeImages): number {
  let earliestMs = Number.POSITIVE_INFINITY
  if (kubeletStart === null) return earliestMs
  for (const user of users) {
    const sinceMs = user.isSure ? madeMs(user) : null
    if (sinceMs !== null)
      earliestMs = Math.min(
        earliestMs,
        Math.max(sinceMs, kubeletStart.latestMs) + detectionWithinMs,
      )
  }
  return earliestMs
}

/** Whether a detection might run after the record was read and not after `untilMs`. */
function mayDetect({ readAtMs, kubeletStart }: NodeImages, untilMs: number): boolean {
  if (kubeletStart === null) return true
  const { earliestMs, latestMs } = kubeletStart
  const loop = {
    start: { earliestMs, latestMs: latestMs + modulesStartMs },
    periodMs: imageGcPeriodMs,
  }
  return roundOf(loop, lastRoundBy(loop, untilMs)).latestMs > readAtMs
}

/** A round detects images in use first. An image it considers was last used before the round. */
const justBefore = (ms: number) => ms - 0.001

function lastUsedOf(
  evidence: ImageEvidence,
  node: NodeImages,
  atMs: number,
  removed: RemovedContainers,
): LastUsedBounds {
  const read = lastUsedWhenRead(evidence, node, atMs)
  if (removed.size === 0 || atMs <= node.readAtMs) return read
  let { earliestMs, lowestMs, latestMs } = read
  for (const { containerId, isSure } of evidence.users) {
    const removal = removed.get(containerId)?.removal
    // A detection between the reading and the removal saw the container.
    if (!removal || !mayDetect(node, removal.latestMs)) continue
    const untilMs = Math.min(removal.latestMs, justBefore(atMs))
    const seenMs = Math.min(removal.earliestMs, untilMs) - detectionWithinMs
    latestMs = Math.max(latestMs, untilMs)
    lowestMs = Math.min(lowestMs, node.readAtMs)
    if (isSure && seenMs > node.readAtMs) earliestMs = Math.max(earliestMs, seenMs)
  }
  return { earliestMs, lowestMs: Math.max(lowestMs, earliestMs), latestMs }
}

const neverUsed: LastUsedBounds = {
  earliestMs: zeroTimeMs,
  lowestMs: Number.POSITIVE_INFINITY,
  latestMs: zeroTimeMs,
}

function lastUsedWhenRead(
  { known }: ImageEvidence,
  node: NodeImages,
  atMs: number,
): LastUsedBounds {
  const { firstDetectedMs, lastUsedMs } = known
  if (typeof lastUsedMs === 'number' && lastUsedMs !== zeroTimeMs)
    return { earliestMs: lastUsedMs, lowestMs: lastUsedMs, latestMs: lastUsedMs }
  // Never seen in use, or not listed yet.
  if (lastUsedMs !== undefined || firstDetectedMs === null) return neverUsed
  const startMs = node.kubeletStart?.earliestMs ?? zeroTimeMs
  return {
    earliestMs: zeroTimeMs,
    lowestMs: typeof firstDetectedMs === 'number' ? Math.max(firstDetectedMs, startMs) : startMs,
    latestMs: Math.min(node.readAtMs, justBefore(atMs)),
  }
}

/** Logical OR; null is unknown. */
function either(a: boolean | null, b: boolean | null): boolean | null {
  if (a === true || b === true) return true
  return a === null || b === null ? null : false
}

function keepReason(isUsed: boolean | null, isInUse: boolean | null): KeptImage['reason'] {
  if (isUsed === true) return 'in-use'
  return isInUse === true ? 'sandbox' : 'pinned'
}

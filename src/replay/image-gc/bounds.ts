/**
 * Bounds of each image's times of first detection and last use, as the kubelet may remember them at one moment.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  detectImages, as far as its loop fixes times
 * Read at       1.29 to 1.37
 * Kept exactly  detection every 5 minutes and in each round; no image is used before it is detected; at a kubelet's start no image was used yet; since
 *               1.29 none was detected
 * Left out      failed detections, and detections that ran more than a minute late
 */
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { KeptImage, Unknown } from '#model/prediction.ts'
import {
  exactTime,
  lastRoundBy,
  modulesStartMs,
  roundOf,
  type TimeBounds,
  zeroTimeMs,
} from '#replay/times.ts'
import {
  type ImagesInOrder,
  imagesInEvictionOrder,
  type LastUsedBounds,
  type RoundImage,
} from './round.ts'
import { type ImageEvidence, madeMs, type NodeImages } from './users.ts'

/** A detection certainly runs within this time, in ms. A period starts when the previous round ends. */
const detectionWithinMs = imageGcPeriodMs + 60_000

export interface BoundedImage extends RoundImage {
  names: string[]
  /** Why the image is not a candidate; else null. */
  keptBecause: KeptImage['reason'] | null
  isInUse: boolean | null
  isPinned: boolean | null
}

/** The images of a node at one moment. All that does not depend on the policy is computed once, so rounds with other policies are cheap. */
export interface PreparedImages extends ImagesInOrder<BoundedImage> {
  atMs: number
  isListed: boolean
  kubeletStart: TimeBounds | null
  /** Unknowns that keep the prediction of a deleting round from being exact. */
  unknowns: readonly Unknown[]
}

/**
 * @param atMs when the round runs, not before the record was read; the record is taken to hold until then
 * @param removed containers that are removed just before, certainly or possibly
 */
export function prepareImages(
  node: NodeImages,
  atMs: number,
  removed: RemovedContainers = new Map(),
): PreparedImages {
  const { kubeletStart, isComplete } = node
  const images = (node.images ?? []).map(evidence => boundedImageOf(evidence, node, atMs, removed))
  return {
    ...imagesInEvictionOrder(images, isComplete, false),
    atMs,
    isListed: node.images !== null,
    kubeletStart,
    unknowns: [...node.unknowns, ...unknownsOf(images)],
  }
}

function boundedImageOf(
  evidence: ImageEvidence,
  node: NodeImages,
  atMs: number,
  removed: RemovedContainers,
): BoundedImage {
  const { image, names, sizeBytes, isPinned, users } = evidence
  const left =
    removed.size === 0
      ? users
      : users.filter(({ containerId }) => removed.get(containerId)?.isSure !== true)
  const isInUse =
    left.some(({ isSure, containerId }) => isSure && !removed.has(containerId)) ||
    (node.areUsersComplete && left.length === 0 ? false : null)
  const isKept = logicalOr(isInUse, isPinned)
  const lastUsed = lastUsedOf(evidence, node, atMs, removed)
  return {
    image,
    names,
    sizeBytes,
    isCandidate: isKept === null ? null : !isKept,
    keptBecause: isKept === true ? keptReason(isInUse) : null,
    isInUse,
    isPinned,
    firstDetected: firstDetectedOf(evidence, node, atMs),
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

function firstDetectedOf(evidence: ImageEvidence, node: NodeImages, atMs: number) {
  const { firstDetectedMs, lastUsedMs } = evidence.known
  if (typeof firstDetectedMs === 'number') return exactTime(firstDetectedMs)
  const nextDetectionMs = Math.min(atMs, node.readAtMs + detectionWithinMs)
  if (firstDetectedMs === null) return { earliestMs: node.readAtMs, latestMs: nextDetectionMs }
  const earliestMs = node.kubeletStart?.earliestMs ?? zeroTimeMs
  const usedMs =
    typeof lastUsedMs === 'number' && lastUsedMs !== zeroTimeMs ? lastUsedMs : nextDetectionMs
  const latestMs = Math.min(nextDetectionMs, usedMs, latestDetectionMs(evidence, node))
  return { earliestMs, latestMs: Math.max(earliestMs, latestMs) }
}

/** The latest time of the first detection of an image in use: one period after both a container and the kubelet ran. */
function latestDetectionMs({ users }: ImageEvidence, { kubeletStart }: NodeImages) {
  let soonestMs = Number.POSITIVE_INFINITY
  if (!kubeletStart) return soonestMs
  for (const user of users) {
    const sinceMs = user.isSure ? madeMs(user) : null
    if (sinceMs !== null)
      soonestMs = Math.min(soonestMs, Math.max(sinceMs, kubeletStart.latestMs) + detectionWithinMs)
  }
  return soonestMs
}

/** Whether a detection might run after the record was read and not after `untilMs`. */
function mayDetect({ readAtMs, kubeletStart }: NodeImages, untilMs: number) {
  if (!kubeletStart) return true
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
) {
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
  // A removed container that was not read may have used any image until its removal.
  if (!node.areUsersComplete && mayDetect(node, justBefore(atMs)))
    latestMs = Math.max(latestMs, justBefore(atMs))
  return { earliestMs, lowestMs: Math.max(lowestMs, earliestMs), latestMs }
}

const neverUsed: LastUsedBounds = {
  earliestMs: zeroTimeMs,
  lowestMs: Number.POSITIVE_INFINITY,
  latestMs: zeroTimeMs,
}

function lastUsedWhenRead({ known }: ImageEvidence, node: NodeImages, atMs: number) {
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
function logicalOr(a: boolean | null, b: boolean | null) {
  if (a === true || b === true) return true
  return a === null || b === null ? null : false
}

const keptReason = (isInUse: boolean | null): KeptImage['reason'] =>
  isInUse === true ? 'in-use' : 'pinned'

const isOpen = ({ earliestMs, latestMs }: TimeBounds) => earliestMs !== latestMs

const questions: readonly (Unknown & { isOpen: (image: BoundedImage) => boolean })[] = [
  {
    what: 'runtime.containers',
    effect: 'which images containers hold is not known: those may stay that nothing is seen to use',
    isOpen: ({ isInUse }) => isInUse === null,
  },
  {
    what: 'image.pinned',
    effect: 'images that the runtime has pinned stay, and which these are is not known',
    isOpen: ({ isPinned }) => isPinned === null,
  },
  {
    what: 'image.sizeBytes',
    effect: 'how many images it takes to free enough is not known',
    isOpen: ({ sizeBytes }) => sizeBytes === null,
  },
  {
    what: 'image.firstDetected',
    effect: 'which images are old enough to go is bounded, not exact',
    isOpen: ({ firstDetected }) => isOpen(firstDetected),
  },
  {
    what: 'image.lastUsed',
    effect: 'order of deletions is bounded, not exact',
    isOpen: ({ lastUsed }) => isOpen(lastUsed),
  },
]

/** Unknown facts of images that may be deleted. */
function unknownsOf(images: BoundedImage[]): Unknown[] {
  const mayGo = images.filter(({ isCandidate }) => isCandidate !== false)
  return questions
    .filter(({ isOpen }) => mayGo.some(isOpen))
    .map(({ what, effect }) => ({ what, effect }))
}

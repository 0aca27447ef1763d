/**
 * One round of image garbage collection, and one of eviction's: what they do with a node as it was read, in bounds where that leaves something open.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  GarbageCollect, DeleteUnusedImages
 * Read at       1.24 to 1.37
 * Kept exactly  age goes before space, and what it frees is not counted; a round without a capacity still deletes by age
 * Bounded       what deletions by age free before the kubelet reads the statistics: a layer takes at most 3.5 times its packed size
 */
import { startsAboveUsedPercent, startsBelowAvailableBytes } from '#model/image-gc-trigger.ts'
import type { ImageDeletion, ImageGcPrediction, KeptImage, Unknown } from '#model/prediction.ts'
import { deletionsOf, type Freed, freedOf, keptImages } from './image-gc/deletions.ts'
import { timeAt } from './image-gc/order.ts'
import {
  type AgeLimit,
  goesSurely,
  has,
  mayGoByAge,
  type Outcomes,
  outcomesOf,
  type SpaceTarget,
} from './image-gc/outcomes.ts'
import { type ImageGcPolicy, imageGcPolicyError, isImageGcStopped } from './image-gc/policy.ts'
import type { PreparedImages } from './image-gc/prepared.ts'
import { mostUnpacking } from './image-gc/unpacked-bytes.ts'
import {
  amountToFree,
  bytesUntilTrigger,
  type ImageFsStats,
  type ImageFsUsage,
  imageFsUsage,
  invalidCapacity,
  notEnoughFreed,
} from './image-gc/usage.ts'
import type { Kubelet } from './kubelet.ts'

/** A prediction, and what keeps it from being exact. */
export interface Predicted<Prediction> {
  prediction: Prediction
  unknowns: Unknown[]
}

/** Both are null if the image list was not read and an image may be deleted. */
interface ImageOutcome {
  deletions: ImageDeletion[] | null
  kept: KeptImage[] | null
}

const notKnown: Freed = { freedBytes: null, reachesLow: null, shortfallBytes: null }
const nothingFreed: Freed = { freedBytes: 0, reachesLow: true, shortfallBytes: 0 }

/**
 * @param imagefs as the round reads it; null: not observed
 * @param images null: not read; results that depend on them are null
 */
export function predictImageGc(
  policy: ImageGcPolicy,
  imagefs: ImageFsStats | null,
  images: PreparedImages | null,
  kubelet: Kubelet,
): Predicted<ImageGcPrediction> {
  const { highThresholdPercent, lowThresholdPercent } = policy
  const isStopped = isImageGcStopped(policy, kubelet)
  const prediction: ImageGcPrediction = {
    enabled: !isStopped,
    highThresholdPercent,
    lowThresholdPercent,
    triggered: isStopped ? false : null,
    usagePercent: null,
    bytesUntilTrigger: null,
    startsAboveUsedPercent: isStopped ? null : startsAboveUsedPercent(highThresholdPercent),
    startsBelowAvailableBytes: null,
    bytesToFree: null,
    ...notKnown,
    error: imageGcPolicyError(policy),
    deletions: null,
    kept: null,
  }
  const unknowns: Unknown[] = []
  if (prediction.error !== null) return { prediction: { ...prediction, triggered: null }, unknowns }
  const usage = imagefs && imageFsUsage(imagefs)
  if (usage) {
    prediction.usagePercent = usage.usagePercent
    prediction.triggered = !isStopped && usage.usagePercent >= highThresholdPercent
    prediction.bytesToFree = prediction.triggered ? amountToFree(usage, lowThresholdPercent) : 0
    if (!isStopped) {
      prediction.bytesUntilTrigger = bytesUntilTrigger(usage, highThresholdPercent)
      prediction.startsBelowAvailableBytes = startsBelowAvailableBytes(
        usage.capacityBytes,
        highThresholdPercent,
      )
    }
  } else if (imagefs) {
    prediction.triggered = false
    prediction.error = isStopped ? null : invalidCapacity
  }
  if (prediction.triggered === false)
    Object.assign(prediction, prediction.error === null ? nothingFreed : { freedBytes: 0 })
  if (images === null) return { prediction, unknowns }

  const age = isStopped ? null : ageLimitOf(policy, images, kubelet)
  const wantedBytes = prediction.triggered === true ? prediction.bytesToFree : null
  const target = {
    atLeastBytes: wantedBytes,
    atMostBytes: prediction.triggered === null ? Number.POSITIVE_INFINITY : wantedBytes,
  }
  const asRead = outcomesOf(images, policy.minimumAgeMs, age, target)
  if (usage && wantedBytes !== null && age !== null)
    target.atLeastBytes = leastToFree(policy, usage, mostFreedByAge(images, asRead))
  const isLowered = target.atLeastBytes !== wantedBytes
  const outcomes = isLowered ? outcomesOf(images, policy.minimumAgeMs, age, target) : asRead
  if (isLowered && age !== null) keepCertain(images, outcomes, asRead, age)
  Object.assign(prediction, imageOutcome(images, outcomes, age, target, unknowns))
  if (wantedBytes === null || !usage) return { prediction, unknowns }

  const freed = images.isListed
    ? freedWithin(images, outcomes, target.atLeastBytes, wantedBytes)
    : notKnown
  Object.assign(prediction, freed)
  if (freed.reachesLow === false && freed.freedBytes !== null && !isLowered) {
    prediction.error = notEnoughFreed(usage, wantedBytes, freed.freedBytes, kubelet.features)
  }
  if (freed.freedBytes === null || freed.reachesLow === null) unknowns.push(freedNotKnown)
  if (outcomes.some(flags => (flags & mayGoByAge) !== 0)) unknowns.push(diskAfterAge)
  return { prediction, unknowns }
}

/** What the round counts as freed if it has to free anything between the two. Null: perhaps it frees nothing. */
function freedWithin(
  images: PreparedImages,
  outcomes: Outcomes,
  leastBytes: number | null,
  mostBytes: number,
): Freed {
  const most = freedOf(images, outcomes, mostBytes)
  if (leastBytes === mostBytes) return most
  if (leastBytes === null) return notKnown
  const least = freedOf(images, outcomes, leastBytes)
  const isSame = least.freedBytes === most.freedBytes && least.reachesLow === most.reachesLow
  return isSame ? { ...most, shortfallBytes: most.reachesLow === true ? 0 : null } : notKnown
}

/** Bytes that deletions by age free at most: packed and unpacked layers. */
const mostFreedByAge = ({ images }: PreparedImages, outcomes: Outcomes): number =>
  images.reduce((total, { sizeBytes }, place) => {
    if (!has(outcomes, place, mayGoByAge)) return total
    return total + (1 + mostUnpacking) * (sizeBytes ?? Number.POSITIVE_INFINITY)
  }, 0)

/**
 * An image that goes for space unless images go by age is certain if it then goes by age itself: it alone may, or it is old for
 * certain.
 */
function keepCertain(
  { atMs, images, columns }: PreparedImages,
  outcomes: Outcomes,
  asRead: Outcomes,
  { maximumAgeMs }: AgeLimit,
): void {
  const places = images
    .keys()
    .filter(place => has(asRead, place, mayGoByAge))
    .toArray()
  for (const place of places) {
    const isOld = atMs - timeAt(columns.usedLatest, place) > maximumAgeMs
    if (has(asRead, place, goesSurely) && (places.length === 1 || isOld))
      outcomes[place] = (outcomes[place] ?? 0) | goesSurely
  }
}

/** What the round frees for space after deletions by age have freed so much. Null: it may free nothing. */
function leastToFree(
  { highThresholdPercent, lowThresholdPercent }: ImageGcPolicy,
  { capacityBytes, availableBytes }: ImageFsUsage,
  freedBytes: number,
): number | null {
  const stats = {
    capacityBytes,
    availableBytes: Math.min(capacityBytes, availableBytes + freedBytes),
  }
  const after = imageFsUsage(stats)
  const isTriggered = after !== null && after.usagePercent >= highThresholdPercent
  return isTriggered ? amountToFree(after, lowThresholdPercent) : null
}

const freedNotKnown: Unknown = {
  what: 'imageGC.freedBytes',
  effect:
    'how much the round frees, whether that is enough, and so whether it ends in an error, is not fixed by what is known of the images',
}
const diskAfterAge: Unknown = {
  what: 'summary.node.runtime.imageFs after deletions by age',
  effect:
    'they may free enough space that the round deletes fewer images or none: such deletions are possible, not certain',
}

/** What eviction deletes when it reclaims images: all that may go, however full the disk is, and with image GC switched off too. */
export function predictDeleteUnusedImages(
  { minimumAgeMs }: ImageGcPolicy,
  images: PreparedImages,
): Predicted<ImageOutcome> {
  const unknowns: Unknown[] = []
  const target = { atLeastBytes: Number.POSITIVE_INFINITY, atMostBytes: Number.POSITIVE_INFINITY }
  return {
    prediction: imageOutcome(
      images,
      outcomesOf(images, minimumAgeMs, null, target),
      null,
      target,
      unknowns,
    ),
    unknowns,
  }
}

/** Null: no image goes by age. */
function ageLimitOf(
  { maximumAgeMs }: ImageGcPolicy,
  { atMs, kubeletStart }: PreparedImages,
  { features }: Kubelet,
): AgeLimit | null {
  if (maximumAgeMs === 0 || !features.has('imageMaximumGCAge')) return null
  if (!features.has('maximumAgeWaitsForUptime')) return { maximumAgeMs, isSure: true }
  if (kubeletStart === null) return { maximumAgeMs, isSure: false }
  if (atMs - kubeletStart.earliestMs <= maximumAgeMs) return null
  return { maximumAgeMs, isSure: atMs - kubeletStart.latestMs > maximumAgeMs }
}

const startNotKnown: Unknown = {
  what: 'known.kubeletStartedAt',
  effect:
    'whether the kubelet has run for imageMaximumGCAge yet is not known, and so not whether images go by age',
}

function imageOutcome(
  images: PreparedImages,
  outcomes: Outcomes,
  age: AgeLimit | null,
  { atMostBytes }: SpaceTarget,
  unknowns: Unknown[],
): ImageOutcome {
  const mayDelete = age !== null || atMostBytes !== null
  if (mayDelete) unknowns.push(...images.unknowns)
  if (age?.isSure === false) unknowns.push(startNotKnown)
  if (mayDelete && !images.isListed) return { deletions: null, kept: null }
  return {
    deletions: deletionsOf(images, outcomes),
    kept: keptImages(images, outcomes, atMostBytes !== null),
  }
}

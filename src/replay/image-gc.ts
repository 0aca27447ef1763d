/**
 * One round of image GC, and one image deletion under eviction: what each does with the node as read. Open questions give bounds.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  GarbageCollect, DeleteUnusedImages
 * Read at       1.24 to 1.37
 * Kept exactly  deletion by age runs before deletion for space, and its bytes are not counted as freed; a round without a capacity still deletes by age
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

/** A prediction, and the unknowns that keep it from being exact. */
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
 * @param imagefs the statistics that the round reads; null: not observed
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

/** What the round counts as freed if the bytes to free lie between the two. `leastBytes` null: the round might free none. */
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

/** The most bytes that deletions by age free: packed and unpacked layers. */
const mostFreedByAge = ({ images }: PreparedImages, outcomes: Outcomes): number =>
  images.reduce((total, { sizeBytes }, place) => {
    if (!has(outcomes, place, mayGoByAge)) return total
    return total + (1 + mostUnpacking) * (sizeBytes ?? Number.POSITIVE_INFINITY)
  }, 0)

/**
 * Deletion by age can make a certain deletion for space unnecessary. The image is still deleted for certain in two cases:
 * age can delete no other image, or the image is certainly old.
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

/** Bytes that the round frees for space after deletions by age freed `freedBytes`. Null: it might free none. */
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

/** What eviction deletes when it reclaims images: all that may be deleted, however full the disk is, even with image GC off. */
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

/** Null: no image is deleted by age. */
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

/**
 * One round of image GC, and one image deletion under eviction: what each does with the node as read. Open questions give bounds.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  GarbageCollect, DeleteUnusedImages
 * Read at       1.29 to 1.37
 * Kept exactly  deletion by age runs before deletion for space, and its bytes are not counted as freed; a round without a capacity still deletes by age
 * Bounded       what deletions by age free before the kubelet reads the statistics: a layer takes at most 3.5 times its packed size
 */

import { mostUnpacking } from '#facts/kubelet/unpacking.ts'
import {
  startsAboveUsedPercent,
  startsBelowAvailableBytes,
} from '#model/kubelet/image-gc-trigger.ts'
import type {
  ImageDeletion,
  ImageGcPrediction,
  KeptImage,
  Unknown,
} from '#model/prediction/prediction.ts'
import type { PreparedImages } from '#replay/image-gc/bounds.ts'
import {
  ageLimitOf,
  type ImageGcPolicy,
  imageGcPolicyError,
  isImageGcStopped,
} from '#replay/image-gc/policy.ts'
import {
  type AgeLimit,
  areEqual,
  areTimesExact,
  freeOldImages,
  freeSpace,
  goesSurely,
  hasFlag,
  mayGo,
  mayGoByAge,
  mayGoForSpace,
  type Outcomes,
  perhapsInTurn,
  placeAt,
  surelyInTurn,
  type Turns,
  timeAt,
} from '#replay/image-gc/round.ts'
import {
  amountToFree,
  bytesUntilTrigger,
  type ImageFsStats,
  type ImageFsUsage,
  imageFsUsage,
  invalidCapacity,
  notEnoughFreed,
} from '#replay/image-gc/usage.ts'
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

interface Round extends ImageOutcome {
  /** Null: nothing is freed for space. */
  freed: Freed | null
  /** Upstream's error for too little freed. */
  error: string | null
  unknowns: Unknown[]
}

const notKnown: Freed = { freedBytes: null, reachesLow: null, shortfallBytes: null }
const nothingFreed: Freed = { freedBytes: 0, reachesLow: true, shortfallBytes: 0 }
const noRound: Round = { deletions: null, kept: null, freed: null, error: null, unknowns: [] }

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
  const policyError = imageGcPolicyError(policy)
  const isStopped = isImageGcStopped(policy, kubelet)
  const usage = policyError === null && imagefs ? imageFsUsage(imagefs) : null
  const triggered = policyError === null ? isTriggered(policy, imagefs, usage, isStopped) : null
  const wantedBytes = usage && triggered ? amountToFree(usage, lowThresholdPercent) : null
  const round =
    policyError === null && images
      ? roundOf(policy, usage, triggered, wantedBytes, images, isStopped, kubelet)
      : noRound
  const statsError = imagefs && !usage && !isStopped ? invalidCapacity : null
  const ofUsage = isStopped ? null : usage
  return {
    prediction: {
      enabled: !isStopped,
      highThresholdPercent,
      lowThresholdPercent,
      triggered,
      usagePercent: usage?.usagePercent ?? null,
      bytesUntilTrigger: ofUsage && bytesUntilTrigger(ofUsage, highThresholdPercent),
      startsAboveUsedPercent: isStopped ? null : startsAboveUsedPercent(highThresholdPercent),
      startsBelowAvailableBytes:
        ofUsage && startsBelowAvailableBytes(ofUsage.capacityBytes, highThresholdPercent),
      bytesToFree: usage && (wantedBytes ?? 0),
      ...(round.freed ?? freedUntriggered(triggered, statsError)),
      error: policyError ?? statsError ?? round.error,
      deletions: round.deletions,
      kept: round.kept,
    },
    unknowns: round.unknowns,
  }
}

/** Null: the image filesystem was not observed. */
function isTriggered(
  { highThresholdPercent }: ImageGcPolicy,
  imagefs: ImageFsStats | null,
  usage: ImageFsUsage | null,
  isStopped: boolean,
) {
  if (isStopped) return false
  if (usage) return usage.usagePercent >= highThresholdPercent
  return imagefs ? false : null
}

function freedUntriggered(triggered: boolean | null, statsError: string | null): Freed {
  if (triggered !== false) return notKnown
  return statsError === null ? nothingFreed : { ...notKnown, freedBytes: 0 }
}

/** @param wantedBytes bytes to free as the disk was read; null: the round is not triggered, or that is unknown */
function roundOf(
  policy: ImageGcPolicy,
  usage: ImageFsUsage | null,
  triggered: boolean | null,
  wantedBytes: number | null,
  images: PreparedImages,
  isStopped: boolean,
  kubelet: Kubelet,
): Round {
  const age = isStopped ? null : ageLimitOf(policy, images.atMs, images.kubeletStart, kubelet)
  const aged = freeOldImages(images, images.atMs, policy.minimumAgeMs, age)
  const atMostBytes = triggered === null ? Number.POSITIVE_INFINITY : wantedBytes
  const atLeastBytes =
    usage && wantedBytes !== null && age !== null
      ? leastToFree(policy, usage, mostFreedByAge(images, aged.outcomes))
      : wantedBytes
  const outcomes = freeSpace(images, aged, { atLeastBytes, atMostBytes })
  const isLowered = atLeastBytes !== wantedBytes
  if (isLowered && age !== null) {
    const asRead = freeSpace(images, aged, { atLeastBytes: wantedBytes, atMostBytes })
    keepCertain(images, outcomes, asRead, age)
  }
  const round = imageOutcome(images, outcomes, age, atMostBytes !== null)
  if (wantedBytes === null || !usage) return { ...round, freed: null, error: null }
  const freed = images.isListed
    ? freedWithin(images, outcomes, atLeastBytes, wantedBytes)
    : notKnown
  const isShort = freed.reachesLow === false && freed.freedBytes !== null && !isLowered
  return {
    ...round,
    freed,
    error: isShort
      ? notEnoughFreed(usage, wantedBytes, freed.freedBytes ?? 0, kubelet.features)
      : null,
    unknowns: [
      ...round.unknowns,
      ...(freed.freedBytes === null || freed.reachesLow === null ? [freedNotKnown] : []),
      ...(outcomes.some(flags => (flags & mayGoByAge) !== 0) ? [diskAfterAge] : []),
    ],
  }
}

/** What the round counts as freed if the bytes to free lie between the two. `leastBytes` null: the round might free none. */
function freedWithin(
  images: PreparedImages,
  outcomes: Outcomes,
  leastBytes: number | null,
  mostBytes: number,
) {
  const most = freedOf(images, outcomes, mostBytes)
  if (leastBytes === mostBytes) return most
  if (leastBytes === null) return notKnown
  const least = freedOf(images, outcomes, leastBytes)
  const isSame = least.freedBytes === most.freedBytes && least.reachesLow === most.reachesLow
  return isSame ? { ...most, shortfallBytes: most.reachesLow === true ? 0 : null } : notKnown
}

/** The most bytes that deletions by age free: packed and unpacked layers. */
const mostFreedByAge = ({ images }: PreparedImages, outcomes: Outcomes) =>
  images.reduce((total, { sizeBytes }, place) => {
    if (!hasFlag(outcomes, place, mayGoByAge)) return total
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
) {
  const places = images
    .keys()
    .filter(place => hasFlag(asRead, place, mayGoByAge))
    .toArray()
  for (const place of places) {
    const isOld = atMs - timeAt(columns.usedLatest, place) > maximumAgeMs
    if (hasFlag(asRead, place, goesSurely) && (places.length === 1 || isOld))
      outcomes[place] = (outcomes[place] ?? 0) | goesSurely
  }
}

/** Bytes that the round frees for space after deletions by age freed `freedBytes`. Null: it might free none. */
function leastToFree(
  { highThresholdPercent, lowThresholdPercent }: ImageGcPolicy,
  { capacityBytes, availableBytes }: ImageFsUsage,
  freedBytes: number,
) {
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

const equalImages: Unknown = {
  what: 'image order',
  effect:
    'upstream has no order among images with equal times: which of them go first, and so which go at all, is not fixed',
}
const startNotKnown: Unknown = {
  what: 'known.kubeletStartedAt',
  effect:
    'whether the kubelet has run for imageMaximumGCAge yet is not known, and so not whether images go by age',
}

/** What eviction deletes when it reclaims images: all that may be deleted, however full the disk is, even with image GC off. */
export function predictDeleteUnusedImages(
  { minimumAgeMs }: ImageGcPolicy,
  images: PreparedImages,
): Predicted<ImageOutcome> {
  const everything = Number.POSITIVE_INFINITY
  const target = { atLeastBytes: everything, atMostBytes: everything }
  const outcomes = freeSpace(images, freeOldImages(images, images.atMs, minimumAgeMs, null), target)
  const { unknowns, ...prediction } = imageOutcome(images, outcomes, null, true)
  return { prediction, unknowns }
}

/** @param isSpaceWanted whether the round frees space, or might free space */
function imageOutcome(
  images: PreparedImages,
  outcomes: Outcomes,
  age: AgeLimit | null,
  isSpaceWanted: boolean,
): ImageOutcome & { unknowns: Unknown[] } {
  const mayDelete = age !== null || isSpaceWanted
  const unknowns = mayDelete ? [...images.unknowns] : []
  if (age?.isSure === false) unknowns.push(startNotKnown)
  if (mayDelete && !images.isListed) return { deletions: null, kept: null, unknowns }
  if (isTieCut(images, outcomes)) unknowns.push(equalImages)
  return {
    deletions: deletionsOf(images, outcomes),
    kept: keptImages(images, outcomes, isSpaceWanted),
    unknowns,
  }
}

/*
 * Outcomes of a round as parts of the prediction: deleted images in upstream's order, kept images
 * with reasons, and the freed bytes.
 */

/** Sorted by the earliest possible time of each image. If all times are known, that is upstream's order. */
function deletionsOf(prepared: PreparedImages, outcomes: Outcomes): ImageDeletion[] {
  const { images, order } = prepared
  const surelyBefore = deletionsBefore(order.least, outcomes)
  const perhapsBefore = deletionsBefore(order.most, outcomes)
  return images.flatMap((image, place) => {
    if (!hasFlag(outcomes, place, mayGo)) return []
    const before = surelyBefore(place)
    // Exact times, or no overlap with the times of another image, give the image its place. The image itself is perhaps before itself.
    const isRanked = areTimesExact(prepared, place) || perhapsBefore(place) === before + 1
    return {
      image: image.image,
      names: image.names,
      sizeBytes: image.sizeBytes,
      rank: isRanked ? before : null,
      reason: hasFlag(outcomes, place, mayGoForSpace) ? 'space' : 'age',
      certainty: hasFlag(outcomes, place, goesSurely) ? 'certain' : 'possible',
    }
  })
}

/** Counts the images before a place that may be deleted. */
function deletionsBefore({ others, before }: Turns, outcomes: Outcomes) {
  const counts = new Int32Array(others.length + 1)
  for (let index = 0; index < others.length; index++)
    counts[index + 1] =
      placeAt(counts, index) + (hasFlag(outcomes, placeAt(others, index), mayGo) ? 1 : 0)
  return (place: number) => placeAt(counts, placeAt(before, place))
}

/** Whether upstream's map decides which of several equal images goes. Equal images are next to each other. */
function isTieCut(prepared: PreparedImages, outcomes: Outcomes): boolean {
  const places = prepared.images.flatMap((_, place) =>
    hasFlag(outcomes, place, mayGo) && areTimesExact(prepared, place) ? place : [],
  )
  return places.some((place, index) => {
    const next = places[index + 1]
    const goBothSurely = (other: number) =>
      hasFlag(outcomes, place, goesSurely) && hasFlag(outcomes, other, goesSurely)
    return next !== undefined && areEqual(prepared, place, next) && !goBothSurely(next)
  })
}

/** @param isSpaceWanted whether the round frees space, or might free space */
function keptImages(
  { images }: PreparedImages,
  outcomes: Outcomes,
  isSpaceWanted: boolean,
): KeptImage[] {
  const kept: KeptImage[] = []
  for (let place = 0; place < images.length; place++) {
    const image = images[place]
    if (image === undefined || hasFlag(outcomes, place, mayGo)) continue
    const reason =
      image.keptBecause ??
      (image.isCandidate === null ? 'unknown' : candidateReason(outcomes, place, isSpaceWanted))
    kept.push({ image: image.image, reason })
  }
  return kept
}

/** Why an unused image is kept. */
function candidateReason(
  outcomes: Outcomes,
  place: number,
  isSpaceWanted: boolean,
): KeptImage['reason'] {
  if (!isSpaceWanted || hasFlag(outcomes, place, surelyInTurn)) return 'not-needed'
  return hasFlag(outcomes, place, perhapsInTurn) ? 'unknown' : 'too-young'
}

interface Freed {
  /** Null, here and in the next fields: the known data does not determine the value. */
  freedBytes: number | null
  reachesLow: boolean | null
  shortfallBytes: number | null
}

/** What a round counts as freed if it has to free `wantedBytes`. */
function freedOf(prepared: PreparedImages, outcomes: Outcomes, wantedBytes: number): Freed {
  const reachesLow = wantedBytes <= 0 || reaches(prepared, outcomes, wantedBytes)
  const freedBytes = freedBytesOf(prepared, outcomes, wantedBytes)
  const shortfallBytes = shortfallOf(reachesLow, freedBytes, wantedBytes)
  return { freedBytes, reachesLow, shortfallBytes }
}

function shortfallOf(reachesLow: boolean | null, freedBytes: number | null, wantedBytes: number) {
  if (reachesLow === true) return 0
  return reachesLow === null || freedBytes === null ? null : wantedBytes - freedBytes
}

function reaches({ images, isComplete }: PreparedImages, outcomes: Outcomes, wantedBytes: number) {
  let leastBytes = 0
  let mostBytes = isComplete ? 0 : Number.POSITIVE_INFINITY
  for (let place = 0; place < images.length; place++) {
    if (!hasFlag(outcomes, place, perhapsInTurn)) continue
    const sizeBytes = images[place]?.sizeBytes ?? null
    mostBytes += sizeBytes ?? Number.POSITIVE_INFINITY
    if (hasFlag(outcomes, place, surelyInTurn) && !hasFlag(outcomes, place, mayGoByAge))
      leastBytes += sizeBytes ?? 0
  }
  if (leastBytes >= wantedBytes) return true
  return mostBytes < wantedBytes ? false : null
}

function freedBytesOf(prepared: PreparedImages, outcomes: Outcomes, wantedBytes: number) {
  const { images, isComplete } = prepared
  if (!isComplete) return null
  let certainBytes = 0
  let certainCount = 0
  let isExact = true
  /** The images that might be kept: one of them, and their size. */
  let cut = -1
  let cutBytes: number | null = null
  for (let place = 0; place < images.length; place++) {
    if (!hasFlag(outcomes, place, mayGoForSpace)) continue
    const sizeBytes = images[place]?.sizeBytes ?? null
    if (
      sizeBytes === null ||
      !hasFlag(outcomes, place, surelyInTurn) ||
      hasFlag(outcomes, place, mayGoByAge)
    )
      return null
    isExact &&= areTimesExact(prepared, place)
    if (hasFlag(outcomes, place, goesSurely)) {
      certainBytes += sizeBytes
      certainCount++
    } else if (cutBytes === null) {
      cut = place
      cutBytes = sizeBytes
    } else if (sizeBytes !== cutBytes || !areEqual(prepared, place, cut)) return null
  }
  if (cutBytes === null) return certainBytes
  // Equal images of one size are interchangeable if no equal image has another size.
  const isCutMixed = images.some(
    (_, place) => hasFlag(outcomes, place, goesSurely) && areEqual(prepared, place, cut),
  )
  if (!isExact || isCutMixed) return null
  const leastCount = certainCount === 0 ? 1 : 0
  const neededCount = cutBytes === 0 ? 0 : Math.ceil((wantedBytes - certainBytes) / cutBytes)
  return certainBytes + Math.max(leastCount, neededCount) * cutBytes
}

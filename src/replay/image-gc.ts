/**
 * One round of image GC, and one image deletion under eviction: what each does with the node as read. The round runs in two worlds: what happens in both
 * is certain, what happens in one is possible.
 *
 * Worlds        differ in what deletions by age free before the kubelet reads the statistics: nothing, or the most (a layer takes at most 3.5 times its
 *               packed size). Without statistics, one world frees everything and the other nothing for space.
 * Kept exactly  deletion by age runs before deletion for space, and its bytes are not counted as freed; a round without a capacity still deletes by age
 */

import { mostUnpacking } from '#facts/kubelet/unpacking.ts'
import {
  startsAboveUsedPercent,
  startsBelowAvailableBytes,
} from '#model/kubelet/image-gc-trigger.ts'
import type { ImageDeletion, ImageGcPrediction, KeptImage, Unknown } from '#model/prediction.ts'
import type { PreparedImages } from '#replay/image-gc/bounds.ts'
import { bytesUntilTrigger, type ImageFsStats, imageFsUsage } from '#replay/image-gc/usage.ts'
import {
  type AgeLimit,
  ageLimitOf,
  type ImageGcPolicy,
  imageGcPolicyError,
  isImageGcStopped,
} from './image-gc/policy.ts'
import {
  type Aged,
  areEqual,
  areTimesExact,
  everything,
  freeDownToLow,
  freeOldImages,
  freeSpace,
  freeUnused,
  goesSurely,
  hasFlag,
  mayGo,
  mayGoByAge,
  mayGoForSpace,
  type Outcomes,
  perhapsInTurn,
  placeAt,
  type SpaceRound,
  surelyInTurn,
  type Turns,
  timeAt,
} from './image-gc/round.ts'
import type { Kubelet } from './times.ts'

/** A prediction, and the unknowns that keep it from being exact. */
export interface Predicted<Prediction> {
  prediction: Prediction
  unknowns: Unknown[]
}

/** Both are null if the image list was not read and an image may be deleted. */
type ImageOutcome = Pick<ImageGcPrediction, 'deletions' | 'kept'>
type Freed = Pick<ImageGcPrediction, 'freedBytes' | 'reachesLow' | 'shortfallBytes'>

interface Round {
  /** Null: the image filesystem was not observed. */
  triggered: boolean | null
  /** Null: the round is not triggered, or that is unknown. */
  wantedBytes: number | null
  round: ImageOutcome & Freed & Pick<ImageGcPrediction, 'error'>
  unknowns: Unknown[]
}

const notKnown: Freed = { freedBytes: null, reachesLow: null, shortfallBytes: null }
const nothingFreed: Freed = { freedBytes: 0, reachesLow: true, shortfallBytes: 0 }
const notRun: Round = {
  triggered: null,
  wantedBytes: null,
  round: { ...notKnown, error: null, deletions: null, kept: null },
  unknowns: [],
}

/** @param imagefs the statistics that the round reads; null: not observed */
export function predictImageGc(
  policy: ImageGcPolicy,
  imagefs: ImageFsStats | null,
  images: PreparedImages,
  kubelet: Kubelet,
): Predicted<ImageGcPrediction> {
  const { highThresholdPercent, lowThresholdPercent } = policy
  const policyError = imageGcPolicyError(policy)
  const isStopped = isImageGcStopped(policy, kubelet)
  const usage = policyError === null && imagefs ? imageFsUsage(imagefs) : null
  const ofUsage = isStopped ? null : usage
  const { triggered, wantedBytes, round, unknowns } =
    policyError === null
      ? roundOf(policy, imagefs, images, isStopped, kubelet)
      : { ...notRun, round: { ...notRun.round, error: policyError } }
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
      deletableBytes: deletableBytes(images),
      ...round,
    },
    unknowns,
  }
}

function deletableBytes({ images, isComplete, isListed }: PreparedImages): number | null {
  if (!isListed || !isComplete) return null
  const sizes = images.flatMap(({ isCandidate, sizeBytes }) =>
    isCandidate === false ? [] : [sizeBytes],
  )
  return sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0)
}

/** What a round frees for space in one world. */
type FreedInWorld = Freed & { outcomes: Outcomes }
type World = SpaceRound<FreedInWorld>

const idle: World = { usage: null, wantedBytes: null, freed: null, error: null }

function roundOf(
  policy: ImageGcPolicy,
  imagefs: ImageFsStats | null,
  images: PreparedImages,
  isStopped: boolean,
  kubelet: Kubelet,
): Round {
  const age = isStopped ? null : ageLimitOf(policy, images.atMs, images.kubeletStart, kubelet)
  const aged = freeOldImages(images, images.atMs, policy.minimumAgeMs, age)
  const [asRead, other] = isStopped
    ? [idle, idle]
    : worldsOf(policy, imagefs, images, aged, kubelet)
  const outcomesIn = ({ freed }: World) => freed?.outcomes ?? aged.outcomes
  const outcomes = inBothWorlds(outcomesIn(asRead), outcomesIn(other))
  if (imagefs && age) keepCertain(images, outcomes, outcomesIn(asRead), age)
  const mayFree = asRead.freed !== null
  const { prediction, unknowns } = imageOutcome(images, outcomes, age, mayFree)
  const freed = freedInBoth(freedIn(asRead), freedIn(other))
  if (asRead.wantedBytes !== null) {
    if (freed.freedBytes === null || freed.reachesLow === null) unknowns.push(freedNotKnown)
    if (outcomes.some(flags => (flags & mayGoByAge) !== 0)) unknowns.push(diskAfterAge)
  }
  return {
    triggered: imagefs || isStopped ? mayFree : null,
    wantedBytes: asRead.wantedBytes,
    round: { ...freed, error: agreedValue(asRead.error, other.error), ...prediction },
    unknowns,
  }
}

/** The first world: deletions by age free nothing before the kubelet reads the statistics. */
function worldsOf(
  policy: ImageGcPolicy,
  imagefs: ImageFsStats | null,
  images: PreparedImages,
  aged: Aged,
  kubelet: Kubelet,
): [World, World] {
  const free = (wantedBytes: number): FreedInWorld => {
    const outcomes = freeSpace(images, aged, wantedBytes)
    return { ...(images.isListed ? freedOf(images, outcomes, wantedBytes) : notKnown), outcomes }
  }
  if (!imagefs) return [{ ...idle, freed: free(everything) }, idle]
  const run = (stats: ImageFsStats) => freeDownToLow(policy, stats, free, kubelet)
  const asRead = run(imagefs)
  const { usage, freed } = asRead
  const byAgeBytes = mostFreedByAge(images, aged.outcomes)
  if (!usage || !freed || byAgeBytes === 0) return [asRead, asRead]
  return [asRead, run({ ...usage, availableBytes: usage.availableBytes + byAgeBytes })]
}

/** What happens in one world is possible, what happens in both is certain. */
const inBothWorlds = (asRead: Outcomes, other: Outcomes): Outcomes =>
  asRead.map((flags, place) => {
    const others = other[place] ?? 0
    return ((flags | others) & ~goesSurely) | (flags & others & goesSurely)
  })

function freedIn({ freed, error }: World) {
  if (freed) return freed
  return error === null ? nothingFreed : { ...notKnown, freedBytes: 0 }
}

/** What is the same in both worlds; else null. */
const agreedValue = <Value>(asRead: Value, other: Value) => (asRead === other ? asRead : null)

function freedInBoth({ freedBytes, reachesLow, shortfallBytes }: Freed, other: Freed) {
  if (freedBytes !== other.freedBytes || reachesLow !== other.reachesLow) return notKnown
  return {
    freedBytes,
    reachesLow,
    shortfallBytes: agreedValue(shortfallBytes, other.shortfallBytes),
  }
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

/** Deletion under eviction, even with image GC off. */
export function predictDeleteUnusedImages(
  { minimumAgeMs }: ImageGcPolicy,
  images: PreparedImages,
): Predicted<ImageOutcome> {
  return imageOutcome(images, freeUnused(images, images.atMs, minimumAgeMs), null, true)
}

/** @param mayFree whether the round frees space, or might free space */
function imageOutcome(
  images: PreparedImages,
  outcomes: Outcomes,
  age: AgeLimit | null,
  mayFree: boolean,
): Predicted<ImageOutcome> {
  const mayDelete = age !== null || mayFree
  const unknowns = mayDelete ? [...images.unknowns] : []
  if (age?.isSure === false) unknowns.push(startNotKnown)
  if (mayDelete && !images.isListed)
    return { prediction: { deletions: null, kept: null }, unknowns }
  if (isTieCut(images, outcomes)) unknowns.push(equalImages)
  const kept = keptImages(images, outcomes, mayFree)
  return { prediction: { deletions: deletionsOf(images, outcomes), kept }, unknowns }
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
function isTieCut(prepared: PreparedImages, outcomes: Outcomes) {
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

/** @param mayFree whether the round frees space, or might free space */
function keptImages({ images }: PreparedImages, outcomes: Outcomes, mayFree: boolean) {
  const kept: KeptImage[] = []
  for (let place = 0; place < images.length; place++) {
    const image = images[place]
    if (!image || hasFlag(outcomes, place, mayGo)) continue
    const reason =
      image.keptBecause ??
      (image.isCandidate === null ? 'unknown' : candidateReason(outcomes, place, mayFree))
    kept.push({ image: image.image, reason })
  }
  return kept
}

/** Why an unused image is kept. */
function candidateReason(outcomes: Outcomes, place: number, mayFree: boolean): KeptImage['reason'] {
  if (!mayFree || hasFlag(outcomes, place, surelyInTurn)) return 'not-needed'
  return hasFlag(outcomes, place, perhapsInTurn) ? 'unknown' : 'too-young'
}

/** What a round counts as freed if it has to free `wantedBytes`. */
function freedOf(prepared: PreparedImages, outcomes: Outcomes, wantedBytes: number): Freed {
  const reachesLow = wantedBytes <= 0 || reachesWanted(prepared, outcomes, wantedBytes)
  const freedBytes = freedBytesOf(prepared, outcomes, wantedBytes)
  const shortfallBytes = shortfallOf(reachesLow, freedBytes, wantedBytes)
  return { freedBytes, reachesLow, shortfallBytes }
}

function shortfallOf(reachesLow: boolean | null, freedBytes: number | null, wantedBytes: number) {
  if (reachesLow === true) return 0
  return reachesLow === null || freedBytes === null ? null : wantedBytes - freedBytes
}

function reachesWanted(
  { images, isComplete }: PreparedImages,
  outcomes: Outcomes,
  wantedBytes: number,
) {
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

/**
 * One round of image GC: whether it frees space, how much, and which images it deletes. Each fact of an image is an interval. If all intervals are points
 * and the order of equal images is given, the result is exact; else it is the bounds of all rounds that the intervals permit.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  GarbageCollect, DeleteUnusedImages, imagesInEvictionOrder, byLastUsedAndDetected, freeOldImages,
 *               freeSpace
 * Read at       1.29 to 1.37
 * Kept exactly  a round at the high threshold frees down to the low one; an image never seen in use sorts first and exceeds any maximum age; an
 *               equal age meets the minimum age but does not exceed the maximum age; an image is deleted for space if the images before it freed too
 *               little, or none was freed before it
 *
 * The unknown facts of two images are assumed independent.
 */

import { byText } from '#base/text.ts'
import { type Kubelet, type TimeBounds, zeroTimeMs } from '#replay/times.ts'
import type { AgeLimit, ImageGcPolicy } from './policy.ts'
import {
  amountToFree,
  type ImageFsStats,
  type ImageFsUsage,
  imageFsUsage,
  invalidCapacity,
  notEnoughFreed,
} from './usage.ts'

export interface LastUsedBounds extends TimeBounds {
  /** The earliest possible time that is not the zero time. */
  lowestMs: number
}

/** An image as a round considers it. */
export interface RoundImage {
  image: string
  sizeBytes: number | null
  /** True: neither in use nor pinned, and its removal succeeds. Null: unknown. */
  isCandidate: boolean | null
  firstDetected: TimeBounds
  lastUsed: LastUsedBounds
}

/** The times of all images in columns. The index in a column is the image's place. */
interface TimeColumns {
  usedEarliest: Float64Array
  usedLatest: Float64Array
  detectedEarliest: Float64Array
  detectedLatest: Float64Array
}

/** Images in turn, and for each of them those that come before. Arrays hold places, or counts of places. */
export interface Turns {
  turns: Int32Array
  others: Int32Array
  /** For each place: how many of `others` come before it. Never decreases along `turns`. */
  before: Int32Array
}

/** Image order under time bounds. */
interface ImageOrder {
  /** In the order of earliest times: only images that certainly come before are counted. */
  least: Turns
  /** In the order of latest times: all images that might come before or tie are counted, the image itself included. */
  most: Turns
}

export interface ImagesInOrder<Image extends RoundImage = RoundImage> {
  /** Sorted by their earliest possible times. */
  images: readonly Image[]
  /** False: there might be other images. */
  isComplete: boolean
  /** True: equal images go in the given order. False: upstream's map decides, so each of them may come first. */
  isTieOrdered: boolean
  columns: TimeColumns
  order: ImageOrder
}

/** @param isTieOrdered whether equal images go in the order of `images` */
export function imagesInEvictionOrder<Image extends RoundImage>(
  images: Image[],
  isComplete: boolean,
  isTieOrdered: boolean,
): ImagesInOrder<Image> {
  // Without upstream's order of equal images, their names make the output independent of the listed order.
  images.sort(
    (a, b) => byLastUsedAndDetected(a, b) || (isTieOrdered ? 0 : byText(a.image, b.image)),
  )
  const columns: TimeColumns = {
    usedEarliest: columnOf(images, ({ lastUsed }) => lastUsed.earliestMs),
    usedLatest: columnOf(images, ({ lastUsed }) => lastUsed.latestMs),
    detectedEarliest: columnOf(images, ({ firstDetected }) => firstDetected.earliestMs),
    detectedLatest: columnOf(images, ({ firstDetected }) => firstDetected.latestMs),
  }
  const order = imageOrder(columns, isTieOrdered)
  return { images, isComplete, isTieOrdered, columns, order }
}

/** Several times as fast as Float64Array.from. */
function columnOf<Image>(images: readonly Image[], timeOf: (image: Image) => number): Float64Array {
  const column = new Float64Array(images.length)
  let place = 0
  for (const image of images) column[place++] = timeOf(image)
  return column
}

const byLastUsedAndDetected = (a: RoundImage, b: RoundImage): number =>
  difference(a.lastUsed.earliestMs, b.lastUsed.earliestMs) ||
  difference(a.firstDetected.earliestMs, b.firstDetected.earliestMs) ||
  difference(a.lastUsed.latestMs, b.lastUsed.latestMs) ||
  difference(a.firstDetected.latestMs, b.firstDetected.latestMs)

function imageOrder(columns: TimeColumns, isTieOrdered: boolean): ImageOrder {
  const byEarliest = sortedPlaces(columns.usedEarliest, columns.detectedEarliest)
  const byLatest = sortedPlaces(columns.usedLatest, columns.detectedLatest)
  const compareImages = (place: number, other: number) =>
    comparedAtMost(columns, place, other) || (isTieOrdered ? place - other : 0)
  return {
    least: makeTurns(byEarliest, byLatest, (other, place) => compareImages(place, other) > 0),
    most: makeTurns(byLatest, byEarliest, (other, place) => compareImages(other, place) <= 0),
  }
}

function makeTurns(
  turns: Int32Array,
  others: Int32Array,
  isBefore: (other: number, place: number) => boolean,
): Turns {
  const before = new Int32Array(turns.length)
  let passed = 0
  for (const place of turns) {
    while (passed < others.length && isBefore(placeAt(others, passed), place)) passed++
    before[place] = passed
  }
  return { turns, others, before }
}

/** Compares the earliest times of `place` with the latest times of `other`. Positive: `place` certainly comes later. */
const comparedAtMost = (columns: TimeColumns, place: number, other: number): number =>
  difference(timeAt(columns.usedEarliest, place), timeAt(columns.usedLatest, other)) ||
  difference(timeAt(columns.detectedEarliest, place), timeAt(columns.detectedLatest, other))

export const areTimesExact = ({ columns }: ImagesInOrder, place: number): boolean =>
  columns.usedEarliest[place] === columns.usedLatest[place] &&
  columns.detectedEarliest[place] === columns.detectedLatest[place]

/** Whether upstream has no order for the two images. */
export const areEqual = (inOrder: ImagesInOrder, a: number, b: number): boolean =>
  areTimesExact(inOrder, a) &&
  areTimesExact(inOrder, b) &&
  comparedAtMost(inOrder.columns, a, b) === 0

/** Equal times keep the order of their places. Exact times are already in order, so the check for that is cheap. */
function sortedPlaces(used: Float64Array, detected: Float64Array): Int32Array {
  const compareTimes = (a: number, b: number) =>
    difference(timeAt(used, a), timeAt(used, b)) ||
    difference(timeAt(detected, a), timeAt(detected, b)) ||
    a - b
  const places = new Int32Array(used.length)
  let isSorted = true
  for (let place = 0; place < places.length; place++) {
    places[place] = place
    if (place > 0 && compareTimes(place - 1, place) > 0) isSorted = false
  }
  return isSorted ? places : places.sort(compareTimes)
}

/** Does not subtract: zero times are infinitely early, and equal to each other. */
function difference(a: number, b: number): -1 | 0 | 1 {
  if (a < b) return -1
  return a > b ? 1 : 0
}

// Every place exists in every column.
export const timeAt = (column: Float64Array, place: number): number => column[place] ?? zeroTimeMs
export const placeAt = (places: Int32Array, index: number): number => places[index] ?? 0

/** For each image, by place: the sum of its flags. */
export type Outcomes = Uint8Array

/** Deleted whatever the unknowns are: `goesSurely`. Deleted for some of their values: `mayGo`. */
export const goesSurely = 1
export const mayGo = 2
export const mayGoByAge = 4
export const mayGoForSpace = 8
/** Eligible for deletion for space, unless deleted by age before: certainly, or possibly. */
export const surelyInTurn = 16
export const perhapsInTurn = 32

export const hasFlag = (outcomes: Outcomes, place: number, flag: number): boolean =>
  ((outcomes[place] ?? 0) & flag) !== 0

/** Images after the deletions by age. */
export interface Aged {
  outcomes: Outcomes
  /** The order of the images that were not deleted. */
  order: ImageOrder
}

/** Flags deletions by age, and the other images that are eligible for deletion for space. */
export function freeOldImages(
  inOrder: ImagesInOrder,
  freeTimeMs: number,
  minimumAgeMs: number,
  age: AgeLimit | null,
): Aged {
  const { images, columns } = inOrder
  const { usedEarliest, usedLatest, detectedEarliest, detectedLatest } = columns
  const outcomes = new Uint8Array(images.length)
  let isStraddled = false
  for (let place = 0; place < images.length; place++) {
    const isCandidate = images[place]?.isCandidate ?? null
    if (isCandidate === false) continue
    let flags = 0
    let isSurelyOld = false
    if (age && freeTimeMs - timeAt(usedEarliest, place) > age.maximumAgeMs) {
      isSurelyOld = age.isSure && freeTimeMs - timeAt(usedLatest, place) > age.maximumAgeMs
      flags =
        isSurelyOld && isCandidate === true ? mayGo | mayGoByAge | goesSurely : mayGo | mayGoByAge
      if (age.isSure && !isSurelyOld) isStraddled = true
    }
    if (
      !isSurelyOld &&
      freeTimeMs - timeAt(detectedEarliest, place) >= minimumAgeMs &&
      timeAt(usedEarliest, place) < freeTimeMs
    ) {
      const isSurelyEligible =
        freeTimeMs - timeAt(detectedLatest, place) >= minimumAgeMs &&
        timeAt(usedLatest, place) < freeTimeMs
      flags |=
        isSurelyEligible && isCandidate === true ? perhapsInTurn | surelyInTurn : perhapsInTurn
    }
    outcomes[place] = flags
  }
  const order =
    isStraddled && age ? orderOfYoung(inOrder, freeTimeMs - age.maximumAgeMs) : inOrder.order
  return { outcomes, order }
}

/** An image that age did not delete was not last used before the limit, in ms since 1970. */
function orderOfYoung(
  { images, columns, isTieOrdered }: ImagesInOrder,
  limitMs: number,
): ImageOrder {
  const usedEarliest = columns.usedEarliest.map((earliestMs, place) =>
    earliestMs < limitMs
      ? Math.max(images[place]?.lastUsed.lowestMs ?? zeroTimeMs, limitMs)
      : earliestMs,
  )
  return imageOrder({ ...columns, usedEarliest }, isTieOrdered)
}

/** Adds the flags of the images deleted for space. Images that are not listed might come before all others and free any amount. */
export function freeSpace(
  { images, isComplete }: ImagesInOrder,
  { outcomes: aged, order }: Aged,
  wantedBytes: number,
): Outcomes {
  const outcomes = aged.slice()
  freeInTurn(images, outcomes, wantedBytes, order.least, possible)
  if (isComplete || wantedBytes === everything)
    freeInTurn(images, outcomes, wantedBytes, order.most, certain)
  return outcomes
}

/** Upstream: math.MaxInt64. */
export const everything = Number.POSITIVE_INFINITY

/** What eviction deletes: every image that may be deleted, however full the disk is. Upstream: DeleteUnusedImages. */
export const freeUnused = (
  inOrder: ImagesInOrder,
  freeTimeMs: number,
  minimumAgeMs: number,
): Outcomes =>
  freeSpace(inOrder, freeOldImages(inOrder, freeTimeMs, minimumAgeMs, null), everything)

/** What was freed for space. `freedBytes` null: the known data does not determine it. */
interface FreedSpace {
  freedBytes: number | null
  /** Deletions that failed. */
  error?: string | null
}

export interface SpaceRound<Freed> {
  /** Null: the capacity is 0. */
  usage: ImageFsUsage | null
  /** Null: the round frees no space, and `freed` is null. */
  wantedBytes: number | null
  freed: Freed | null
  error: string | null
}

/**
 * A round after its deletions by age. Upstream: GarbageCollect.
 *
 * @param free frees at least so many bytes, if the images permit it
 */
export function freeDownToLow<Freed extends FreedSpace>(
  { highThresholdPercent, lowThresholdPercent }: ImageGcPolicy,
  stats: ImageFsStats,
  free: (wantedBytes: number) => Freed,
  { features }: Kubelet,
): SpaceRound<Freed> {
  const usage = imageFsUsage(stats)
  const idle = { usage, wantedBytes: null, freed: null }
  if (!usage) return { ...idle, error: invalidCapacity }
  if (usage.usagePercent < highThresholdPercent) return { ...idle, error: null }
  const wantedBytes = amountToFree(usage, lowThresholdPercent)
  const freed = free(wantedBytes)
  const { freedBytes } = freed
  const isShort = freedBytes !== null && freedBytes < wantedBytes
  const shortfall = isShort ? notEnoughFreed(usage, wantedBytes, freedBytes, features) : null
  return { usage, wantedBytes, freed, error: freed.error ?? shortfall }
}

/** An image might go unless those that certainly come before it free enough: at their smallest, if age does not delete them. */
const possible = {
  eligible: perhapsInTurn,
  freeing: surelyInTurn,
  freeingMask: surelyInTurn | mayGoByAge,
  unknownBytes: 0,
  itself: 0,
  deleted: mayGo | mayGoForSpace,
}

/** An image certainly goes if all that might come before it free too little: at their largest, more than any disk holds. */
const certain = {
  eligible: surelyInTurn,
  freeing: perhapsInTurn,
  freeingMask: perhapsInTurn,
  // Sums of two with the bytes of a disk are still exact.
  unknownBytes: 2 ** 52,
  itself: 1,
  deleted: goesSurely,
}

/** Upstream's loop: it ends as soon as enough is freed, but not before one image is. */
function freeInTurn(
  images: readonly RoundImage[],
  outcomes: Outcomes,
  wantedBytes: number,
  { turns, others, before }: Turns,
  { eligible, freeing, freeingMask, unknownBytes, itself, deleted }: typeof possible,
) {
  const bytesOf = (place: number) => images[place]?.sizeBytes ?? unknownBytes
  let passed = 0
  let count = 0
  let bytes = 0
  for (const place of turns) {
    for (; passed < placeAt(before, place); passed++) {
      const other = placeAt(others, passed)
      if (((outcomes[other] ?? 0) & freeingMask) !== freeing) continue
      count++
      bytes += bytesOf(other)
    }
    if (!hasFlag(outcomes, place, eligible)) continue
    const isOver = count > itself && bytes - itself * bytesOf(place) >= wantedBytes
    if (!isOver) outcomes[place] = (outcomes[place] ?? 0) | deleted
  }
}

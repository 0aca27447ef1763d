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

import { durationMs } from '#base/go/duration.ts'
import { byText } from '#base/text/text-order.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { startsBelowAvailableBytes } from '#model/kubelet/image-gc-trigger.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { type TimeBounds, zeroTimeMs } from '#replay/times.ts'

/*
 * How full the image filesystem is for image GC, what that triggers, how much to free, and the kubelet's error if that fails.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  GarbageCollect, formatSize
 * Read at       1.29 to 1.37; alike except for the text about too little freed
 * Kept exactly  the available percentage is floored, so 85 triggers above 84 % used; `>=`; int64 division; a statistic that is missing is 0;
 *               available is at most the capacity; one decimal, rounded half to even of the exact double
 * Left out      logging, metrics
 */

/** The image filesystem's statistics. Null: the statistics lack that number. */
export interface ImageFsStats {
  capacityBytes: number | null
  availableBytes: number | null
}

export interface ImageFsUsage {
  capacityBytes: number
  availableBytes: number
  usagePercent: number
}

const invalidCapacity = 'invalid capacity 0 on image filesystem'

/** Null: the capacity is 0. Upstream refuses that with `invalidCapacity`. */
export function imageFsUsage({ capacityBytes, availableBytes }: ImageFsStats): ImageFsUsage | null {
  const capacity = capacityBytes ?? 0
  const available = Math.min(availableBytes ?? 0, capacity)
  return capacity === 0
    ? null
    : {
        capacityBytes: capacity,
        availableBytes: available,
        usagePercent: usagePercentOf(capacity, available),
      }
}

/** 100 minus the floored available percentage, in percent. */
export const usagePercentOf = (capacityBytes: number, availableBytes: number): number =>
  100 - divide(Math.min(availableBytes, capacityBytes), 100, capacityBytes)

/** In bytes. Negative: more is available than the low threshold requires. */
export const amountToFree = (
  { capacityBytes, availableBytes }: ImageFsUsage,
  lowThresholdPercent: number,
): number => divide(capacityBytes, 100 - lowThresholdPercent, 100) - availableBytes

/** Bytes that can still be written before the trigger. 0: GC is triggered. */
export const bytesUntilTrigger = (
  { capacityBytes, availableBytes }: ImageFsUsage,
  highThresholdPercent: number,
): number =>
  Math.max(0, availableBytes - startsBelowAvailableBytes(capacityBytes, highThresholdPercent) + 1)

/** value × factor ÷ divisor in int64. Doubles cannot hold the product of 100 and a disk of 90 TB. */
function divide(value: number, factor: number, divisor: number) {
  const product = value * factor
  if (Number.isSafeInteger(product)) return Math.trunc(product / divisor)
  return Number((BigInt(value) * BigInt(factor)) / BigInt(divisor))
}

/** Upstream's error, and event FreeDiskSpaceFailed, for a round that freed less than it wanted. */
function notEnoughFreed(
  { capacityBytes, usagePercent }: ImageFsUsage,
  wantedBytes: number,
  freedBytes: number,
  features: KubeletFeatures,
): string {
  if (features.has('imageGcShortfallNamesUsage')) {
    const disk = `Insufficient free disk space on the node's image filesystem (${usagePercent}% of ${formatSize(capacityBytes)} used).`
    const freed = `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes).`
    return `${disk} ${freed} Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`
  }
  return `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`
}

const units = ['KiB', 'MiB', 'GiB', 'TiB']

function formatSize(sizeBytes: number) {
  if (sizeBytes < 1024) return `${sizeBytes} B`
  let size = sizeBytes / 1024
  let unit = 0
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024
  return `${oneDecimal(size)} ${units[unit]}`
}

/** Go rounds the exact value half to even, toFixed half up. They differ only at exactly x.x5: in a double, only .25 and .75. */
function oneDecimal(size: number) {
  const isHalf = Number.isInteger(size * 4) && !Number.isInteger(size * 2)
  return isHalf && (Math.floor(size * 10) & 1) === 0
    ? (Math.floor(size * 10) / 10).toFixed(1)
    : size.toFixed(1)
}

/*
 * The image GC policy: whether the kubelet accepts it, and whether it lets the GC loop run at all.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  NewImageGCManager;  pkg/kubelet/kubelet.go  StartGarbageCollection, NewMainKubelet
 * Read at       1.29 to 1.37; alike except for the maximum age and what stops the loop
 * Kept exactly  low equal to high is accepted here, though validation refuses it; a maximum age needs its gate; below 1.30 a high threshold of 100
 *               stops the loop whatever the maximum age
 * Left out      a maximum age without its gate, which validation refuses
 */

export interface ImageGcPolicy {
  highThresholdPercent: number
  lowThresholdPercent: number
  /** Age since the first detection, in ms. A younger image is not deleted for space. */
  minimumAgeMs: number
  /** Time since the last use, in ms. An image unused for longer is deleted. 0: not in force. */
  maximumAgeMs: number
}

/** Deletion by age. `isSure`: the kubelet has certainly run long enough for it. */
export interface AgeLimit {
  maximumAgeMs: number
  isSure: boolean
}

/** Upstream's error text if the kubelet could not construct the manager; else null. */
export function imageGcPolicyError(
  policy: Pick<ImageGcPolicy, 'highThresholdPercent' | 'lowThresholdPercent'>,
): string | null {
  const { highThresholdPercent, lowThresholdPercent } = policy
  if (highThresholdPercent < 0 || highThresholdPercent > 100)
    return `invalid HighThresholdPercent ${highThresholdPercent}, must be in range [0-100]`
  if (lowThresholdPercent < 0 || lowThresholdPercent > 100)
    return `invalid LowThresholdPercent ${lowThresholdPercent}, must be in range [0-100]`
  if (lowThresholdPercent <= highThresholdPercent) return null
  return `LowThresholdPercent ${lowThresholdPercent} can not be higher than HighThresholdPercent ${highThresholdPercent}`
}

/** Whether the loop never starts. Eviction deletes images even then. */
export const isImageGcStopped = (
  { highThresholdPercent, maximumAgeMs }: ImageGcPolicy,
  { features }: Kubelet,
): boolean =>
  highThresholdPercent === 100 && !(maximumAgeMs !== 0 && features.has('maximumAgeKeepsImageGc'))

/**
 * Null: no image is deleted by age. Upstream: in freeOldImages.
 *
 * @param start when the loop began; null: unknown
 */
export function ageLimitOf(
  { maximumAgeMs }: ImageGcPolicy,
  atMs: number,
  start: TimeBounds | null,
  { features }: Kubelet,
): AgeLimit | null {
  if (maximumAgeMs === 0) return null
  if (!features.has('maximumAgeWaitsForUptime')) return { maximumAgeMs, isSure: true }
  if (start === null) return { maximumAgeMs, isSure: false }
  if (atMs - start.earliestMs <= maximumAgeMs) return null
  return { maximumAgeMs, isSure: atMs - start.latestMs > maximumAgeMs }
}

/**
 * The policy of a running configuration. configz always shows the four fields; a hand-written record may omit them to use the defaults.
 * Null: a percentage is not a whole number, or an age is not a duration.
 */
export function imageGcPolicyOf(
  configuration: KubeletConfiguration,
  kubelet: Kubelet,
): ImageGcPolicy | null {
  const { imageGCHighThresholdPercent, imageGCLowThresholdPercent } = {
    ...configurationDefaults,
    ...configuration,
  }
  if (
    !Number.isSafeInteger(imageGCHighThresholdPercent) ||
    !Number.isSafeInteger(imageGCLowThresholdPercent)
  )
    return null
  const minimumAgeMs = ageOf(configuration, 'imageMinimumGCAge')
  const maximumAgeMs = kubelet.isGateOn('ImageMaximumGCAge')
    ? ageOf(configuration, 'imageMaximumGCAge')
    : 0
  if (minimumAgeMs === null || maximumAgeMs === null) return null
  return {
    highThresholdPercent: imageGCHighThresholdPercent,
    lowThresholdPercent: imageGCLowThresholdPercent,
    minimumAgeMs,
    maximumAgeMs,
  }
}

/** In ms. Null: not a duration. */
function ageOf(
  configuration: KubeletConfiguration,
  field: 'imageMinimumGCAge' | 'imageMaximumGCAge',
) {
  const text = configuration[field] ?? configurationDefaults[field]
  return text === undefined ? 0 : durationMs(text)
}

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
  const compared = (place: number, other: number) =>
    comparedAtMost(columns, place, other) || (isTieOrdered ? place - other : 0)
  return {
    least: turnsOf(byEarliest, byLatest, (other, place) => compared(place, other) > 0),
    most: turnsOf(byLatest, byEarliest, (other, place) => compared(other, place) <= 0),
  }
}

function turnsOf(
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
  const inOrder = (a: number, b: number) =>
    difference(timeAt(used, a), timeAt(used, b)) ||
    difference(timeAt(detected, a), timeAt(detected, b)) ||
    a - b
  const places = new Int32Array(used.length)
  let isSorted = true
  for (let place = 0; place < places.length; place++) {
    places[place] = place
    if (place > 0 && inOrder(place - 1, place) > 0) isSorted = false
  }
  return isSorted ? places : places.sort(inOrder)
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
    if (age !== null && freeTimeMs - timeAt(usedEarliest, place) > age.maximumAgeMs) {
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
  if (usage === null) return { ...idle, error: invalidCapacity }
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

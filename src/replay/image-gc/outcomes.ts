/**
 * The result of one round for each image, for every possible value of the unknown inputs.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  freeOldImages, freeSpace
 * Read at       1.24 to 1.37
 * Kept exactly  an image is deleted for space if the images before it freed too little, or none came before it; certain: even if all that might
 *               come before it do, at their largest; possible: if only those do that must
 * Left out      removals that fail
 *
 * The unknown inputs of two images are assumed independent.
 */
import { type ImageOrder, imageOrder, placeAt, timeAt } from './order.ts'
import type { PreparedImages } from './prepared.ts'

/** Bounds of the bytes that a round frees for space. */
export interface SpaceTarget {
  /** Null: the round might free no space. */
  atLeastBytes: number | null
  /** Null: the round frees no space. Infinite: the amount is not bounded. */
  atMostBytes: number | null
}

/** Deletion by age. `isSure`: the kubelet has certainly run long enough for it. */
export interface AgeLimit {
  maximumAgeMs: number
  isSure: boolean
}

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

export const has = (outcomes: Outcomes, place: number, flag: number): boolean =>
  ((outcomes[place] ?? 0) & flag) !== 0

export function outcomesOf(
  prepared: PreparedImages,
  minimumAgeMs: number,
  age: AgeLimit | null,
  target: SpaceTarget,
): Outcomes {
  const outcomes = new Uint8Array(prepared.images.length)
  const isStraddled = takeAges(prepared, minimumAgeMs, age, outcomes)
  if (target.atMostBytes === null) return outcomes
  const order =
    isStraddled && age !== null ? orderOfYoung(prepared, age.maximumAgeMs) : prepared.order
  takePossible(prepared, order, target.atMostBytes, outcomes)
  if (target.atLeastBytes !== null) takeCertain(prepared, order, target.atLeastBytes, outcomes)
  return outcomes
}

/** Flags deletions by age and images eligible for space. Returns whether an image might be old or young, while age is certainly in force. */
function takeAges(
  { atMs, images, columns }: PreparedImages,
  minimumAgeMs: number,
  age: AgeLimit | null,
  outcomes: Outcomes,
): boolean {
  const { usedEarliest, usedLatest, detectedEarliest, detectedLatest } = columns
  let isStraddled = false
  for (let place = 0; place < images.length; place++) {
    const isCandidate = images[place]?.isCandidate ?? null
    if (isCandidate === false) continue
    let flags = 0
    let isSurelyOld = false
    if (age !== null && atMs - timeAt(usedEarliest, place) > age.maximumAgeMs) {
      isSurelyOld = age.isSure && atMs - timeAt(usedLatest, place) > age.maximumAgeMs
      flags =
        isSurelyOld && isCandidate === true ? mayGo | mayGoByAge | goesSurely : mayGo | mayGoByAge
      if (age.isSure && !isSurelyOld) isStraddled = true
    }
    if (
      !isSurelyOld &&
      atMs - timeAt(detectedEarliest, place) >= minimumAgeMs &&
      timeAt(usedEarliest, place) < atMs
    ) {
      const isSurelyEligible =
        atMs - timeAt(detectedLatest, place) >= minimumAgeMs && timeAt(usedLatest, place) < atMs
      flags |=
        isSurelyEligible && isCandidate === true ? perhapsInTurn | surelyInTurn : perhapsInTurn
    }
    outcomes[place] = flags
  }
  return isStraddled
}

/** The order of the images not deleted by age. A young image was not last used before the limit. */
function orderOfYoung(
  { atMs, columns, usedLowest }: PreparedImages,
  maximumAgeMs: number,
): ImageOrder {
  const cutoffMs = atMs - maximumAgeMs
  const young = (earliestMs: number, place: number) =>
    earliestMs < cutoffMs ? Math.max(timeAt(usedLowest, place), cutoffMs) : earliestMs
  return imageOrder({ ...columns, usedEarliest: columns.usedEarliest.map(young) })
}

/** An image might be deleted unless the images that certainly come before it free enough. */
function takePossible(
  { images }: PreparedImages,
  { byEarliest, byLatest, ahead }: ImageOrder,
  wantedBytes: number,
  outcomes: Outcomes,
): void {
  let passed = 0
  let count = 0
  let bytes = 0
  for (let index = 0; index < byEarliest.length; index++) {
    const place = placeAt(byEarliest, index)
    for (; passed < placeAt(ahead, place); passed++) {
      const before = placeAt(byLatest, passed)
      if (!has(outcomes, before, surelyInTurn) || has(outcomes, before, mayGoByAge)) continue
      count++
      bytes += images[before]?.sizeBytes ?? 0
    }
    const isSpared = count > 0 && bytes >= wantedBytes
    if (!isSpared && has(outcomes, place, perhapsInTurn))
      outcomes[place] = (outcomes[place] ?? 0) | mayGo | mayGoForSpace
  }
}

/** An image is certainly deleted if all that might come before it free too little. Unlisted images might come before it and free any amount. */
function takeCertain(
  { images, isComplete }: PreparedImages,
  { byEarliest, byLatest, reach }: ImageOrder,
  wantedBytes: number,
  outcomes: Outcomes,
): void {
  const isEndless = wantedBytes === Number.POSITIVE_INFINITY
  if (!isComplete && !isEndless) return
  let reached = 0
  let count = 0
  let bytes = 0
  let unsized = 0
  for (let index = 0; index < byLatest.length; index++) {
    const place = placeAt(byLatest, index)
    for (; reached < placeAt(reach, place); reached++) {
      const before = placeAt(byEarliest, reached)
      if (!has(outcomes, before, perhapsInTurn)) continue
      const sizeBytes = images[before]?.sizeBytes ?? null
      count++
      bytes += sizeBytes ?? 0
      unsized += sizeBytes === null ? 1 : 0
    }
    if (!has(outcomes, place, surelyInTurn)) continue
    const ownBytes = images[place]?.sizeBytes ?? null
    // `count`, `bytes` and `unsized` include the image itself.
    const isEnough = unsized > (ownBytes === null ? 1 : 0) || bytes - (ownBytes ?? 0) >= wantedBytes
    if (isEndless || count === 1 || !isEnough) outcomes[place] = (outcomes[place] ?? 0) | goesSurely
  }
}

/**
 * The order in which images would go, as far as the bounds of their times fix it.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  byLastUsedAndDetected
 * Read at       1.24 to 1.37
 */
import { zeroTimeMs } from './records.ts'

/** The times of all images, in columns, by place. */
export interface TimeColumns {
  usedEarliest: Float64Array
  usedLatest: Float64Array
  detectedEarliest: Float64Array
  detectedLatest: Float64Array
}

/** Places, and counts of places. */
export interface ImageOrder {
  /** By the earliest times they may have. */
  byEarliest: Int32Array
  /** By the latest. */
  byLatest: Int32Array
  /** Of each: how many of `byEarliest` may come before it or with it, itself among them. Never less than for one before it in `byLatest`. */
  reach: Int32Array
  /** Of each: how many of `byLatest` come before it whatever the times are. Never less than for one before it in `byEarliest`. */
  ahead: Int32Array
}

export function imageOrder(columns: TimeColumns): ImageOrder {
  const { usedEarliest, usedLatest, detectedEarliest, detectedLatest } = columns
  const byEarliest = sortedPlaces(usedEarliest, detectedEarliest)
  const byLatest = sortedPlaces(usedLatest, detectedLatest)
  /** Of the earliest times of one, and the latest of another. */
  const compared = (place: number, other: number) =>
    difference(timeAt(usedEarliest, place), timeAt(usedLatest, other)) ||
    difference(timeAt(detectedEarliest, place), timeAt(detectedLatest, other))
  const count = byEarliest.length
  const reach = new Int32Array(count)
  const ahead = new Int32Array(count)
  let reached = 0
  for (const place of byLatest) {
    while (reached < count && compared(placeAt(byEarliest, reached), place) <= 0) reached++
    reach[place] = reached
  }
  let passed = 0
  for (const place of byEarliest) {
    while (passed < count && compared(place, placeAt(byLatest, passed)) > 0) passed++
    ahead[place] = passed
  }
  return { byEarliest, byLatest, reach, ahead }
}

/** Equal times stay in the order of their places. Exact times are in order already, which is soon seen. */
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

/** Not by subtraction: zero times are infinitely early, and equal to each other. */
export function difference<T extends number | string>(a: T, b: T): -1 | 0 | 1 {
  if (a < b) return -1
  return a > b ? 1 : 0
}

// Every place is in every column.
export const timeAt = (column: Float64Array, place: number): number => column[place] ?? zeroTimeMs
export const placeAt = (places: Int32Array, index: number): number => places[index] ?? 0

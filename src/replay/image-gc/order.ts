/**
 * The order in which image GC would delete images, as far as bounds of times determine it.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  byLastUsedAndDetected
 * Read at       1.24 to 1.37
 */
import { zeroTimeMs } from './records.ts'

/** The times of all images in columns. The index in a column is the image's place. */
export interface TimeColumns {
  usedEarliest: Float64Array
  usedLatest: Float64Array
  detectedEarliest: Float64Array
  detectedLatest: Float64Array
}

/** Image order under time bounds. Each array holds places, or counts of places. */
export interface ImageOrder {
  /** Places sorted by earliest possible times. */
  byEarliest: Int32Array
  /** Places sorted by latest possible times. */
  byLatest: Int32Array
  /** For each place: how many places of `byEarliest` might come before it or tie, itself included. Never decreases along `byLatest`. */
  reach: Int32Array
  /** For each place: how many places of `byLatest` certainly come before it. Never decreases along `byEarliest`. */
  ahead: Int32Array
}

export function imageOrder(columns: TimeColumns): ImageOrder {
  const { usedEarliest, usedLatest, detectedEarliest, detectedLatest } = columns
  const byEarliest = sortedPlaces(usedEarliest, detectedEarliest)
  const byLatest = sortedPlaces(usedLatest, detectedLatest)
  /** Compares the earliest times of `place` with the latest times of `other`. */
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
export function difference<T extends number | string>(a: T, b: T): -1 | 0 | 1 {
  if (a < b) return -1
  return a > b ? 1 : 0
}

// Every place exists in every column.
export const timeAt = (column: Float64Array, place: number): number => column[place] ?? zeroTimeMs
export const placeAt = (places: Int32Array, index: number): number => places[index] ?? 0

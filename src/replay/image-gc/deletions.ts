/**
 * Outcomes of a round as parts of the prediction: deleted images in upstream's order, kept images
 * with reasons, and the freed bytes.
 */
import type { ImageDeletion, KeptImage } from '#model/prediction/prediction.ts'
import type { PreparedImages } from './bounds.ts'
import {
  areEqual,
  areTimesExact,
  goesSurely,
  has,
  isOrderOpen,
  mayGo,
  mayGoByAge,
  mayGoForSpace,
  type Outcomes,
  perhapsInTurn,
  placeAt,
  surelyInTurn,
} from './round.ts'

/** Sorted by the earliest possible time of each image. If all times are known, that is upstream's order. */
export function deletionsOf(prepared: PreparedImages, outcomes: Outcomes): ImageDeletion[] {
  const { images, order } = prepared
  const { least } = order
  const deletions: ImageDeletion[] = []
  let passed = 0
  let before = 0
  for (let place = 0; place < images.length; place++) {
    const image = images[place]
    if (image === undefined || !has(outcomes, place, mayGo)) continue
    for (; passed < placeAt(least.before, place); passed++)
      if (has(outcomes, placeAt(least.others, passed), mayGo)) before++
    deletions.push({
      image: image.image,
      names: image.names,
      sizeBytes: image.sizeBytes,
      rank: isRanked(prepared, outcomes, place) ? before : null,
      reason: has(outcomes, place, mayGoForSpace) ? 'space' : 'age',
      certainty: has(outcomes, place, goesSurely) ? 'certain' : 'possible',
    })
  }
  return deletions
}

/** Whether exact times, or no overlap with the times of another image, give the image its place. */
const isRanked = (prepared: PreparedImages, outcomes: Outcomes, place: number) =>
  areTimesExact(prepared, place) ||
  !outcomes.some(
    (flags, other) =>
      other !== place && (flags & mayGo) !== 0 && isOrderOpen(prepared, other, place),
  )

/** Whether upstream's map decides which of several equal images goes. */
export const isTieCut = (prepared: PreparedImages, outcomes: Outcomes): boolean =>
  prepared.images.some(
    (_, place) =>
      has(outcomes, place, mayGo) &&
      !has(outcomes, place, goesSurely) &&
      prepared.images.some(
        (_, other) =>
          other !== place && has(outcomes, other, mayGo) && areEqual(prepared, other, place),
      ),
  )

/** @param isSpaceWanted whether the round frees space, or might free space */
export function keptImages(
  { images }: PreparedImages,
  outcomes: Outcomes,
  isSpaceWanted: boolean,
): KeptImage[] {
  const kept: KeptImage[] = []
  for (let place = 0; place < images.length; place++) {
    const image = images[place]
    if (image === undefined || has(outcomes, place, mayGo)) continue
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
  if (!isSpaceWanted || has(outcomes, place, surelyInTurn)) return 'not-needed'
  return has(outcomes, place, perhapsInTurn) ? 'unknown' : 'too-young'
}

export interface Freed {
  /** Null, here and in the next fields: the known data does not determine the value. */
  freedBytes: number | null
  reachesLow: boolean | null
  shortfallBytes: number | null
}

/** What a round counts as freed if it has to free `wantedBytes`. */
export function freedOf(prepared: PreparedImages, outcomes: Outcomes, wantedBytes: number): Freed {
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
    if (!has(outcomes, place, perhapsInTurn)) continue
    const sizeBytes = images[place]?.sizeBytes ?? null
    mostBytes += sizeBytes ?? Number.POSITIVE_INFINITY
    if (has(outcomes, place, surelyInTurn) && !has(outcomes, place, mayGoByAge))
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
    if (!has(outcomes, place, mayGoForSpace)) continue
    const sizeBytes = images[place]?.sizeBytes ?? null
    if (
      sizeBytes === null ||
      !has(outcomes, place, surelyInTurn) ||
      has(outcomes, place, mayGoByAge)
    )
      return null
    isExact &&= areTimesExact(prepared, place)
    if (has(outcomes, place, goesSurely)) {
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
    (_, place) => has(outcomes, place, goesSurely) && areEqual(prepared, place, cut),
  )
  if (!isExact || isCutMixed) return null
  const leastCount = certainCount === 0 ? 1 : 0
  const neededCount = cutBytes === 0 ? 0 : Math.ceil((wantedBytes - certainBytes) / cutBytes)
  return certainBytes + Math.max(leastCount, neededCount) * cutBytes
}

/**
 * Outcomes of a round as parts of the prediction: deleted images in upstream's order, kept images
 * with reasons, and the freed bytes.
 */
import type { ImageDeletion, KeptImage } from '#model/prediction.ts'
import { placeAt } from './order.ts'
import {
  goesSurely,
  has,
  mayGo,
  mayGoByAge,
  mayGoForSpace,
  type Outcomes,
  perhapsInTurn,
  surelyInTurn,
} from './outcomes.ts'
import type { PreparedImages } from './prepared.ts'

/** Sorted by the earliest possible time of each image. If all times are known, that is upstream's order. */
export function deletionsOf(prepared: PreparedImages, outcomes: Outcomes): ImageDeletion[] {
  const { images, isComplete, order } = prepared
  const others = isComplete ? othersBefore(prepared, outcomes) : null
  const deletions: ImageDeletion[] = []
  let passed = 0
  let before = 0
  for (let place = 0; place < images.length; place++) {
    const image = images[place]
    if (image === undefined || !has(outcomes, place, mayGo)) continue
    for (; passed < placeAt(order.ahead, place); passed++)
      if (goesBefore(outcomes, placeAt(order.byLatest, passed))) before++
    deletions.push({
      image: image.image,
      names: image.names,
      sizeBytes: image.sizeBytes,
      rank: others !== null && placeAt(others, place) === before ? before : null,
      reason: has(outcomes, place, mayGoForSpace) ? 'space' : 'age',
      certainty: has(outcomes, place, goesSurely) ? 'certain' : 'possible',
    })
  }
  return deletions
}

/** Whether an image goes if a later one of the order goes: by age the older one goes too, and for space it comes first. */
const goesBefore = (outcomes: Outcomes, place: number): boolean =>
  has(outcomes, place, mayGo) && has(outcomes, place, goesSurely | surelyInTurn)

/** For each image, how many other images might be deleted before it. Ties do not count. */
function othersBefore({ images, order, ties }: PreparedImages, outcomes: Outcomes): Int32Array {
  const others = new Int32Array(images.length)
  const tied = new Int32Array(images.length)
  for (let place = 0; place < images.length; place++) {
    const tie = placeAt(ties, place)
    if (tie >= 0 && has(outcomes, place, mayGo)) tied[tie] = placeAt(tied, tie) + 1
  }
  let reached = 0
  let count = 0
  for (let index = 0; index < images.length; index++) {
    const place = placeAt(order.byLatest, index)
    for (; reached < placeAt(order.reach, place); reached++)
      if (has(outcomes, placeAt(order.byEarliest, reached), mayGo)) count++
    const tie = placeAt(ties, place)
    others[place] = count - (tie >= 0 ? placeAt(tied, tie) : 1)
  }
  return others
}

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

function shortfallOf(
  reachesLow: boolean | null,
  freedBytes: number | null,
  wantedBytes: number,
): number | null {
  if (reachesLow === true) return 0
  return reachesLow === null || freedBytes === null ? null : wantedBytes - freedBytes
}

function reaches(
  { images, isComplete }: PreparedImages,
  outcomes: Outcomes,
  wantedBytes: number,
): boolean | null {
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

function freedBytesOf(
  { images, isComplete, ties }: PreparedImages,
  outcomes: Outcomes,
  wantedBytes: number,
): number | null {
  if (!isComplete) return null
  let certainBytes = 0
  let certainCount = 0
  let isExact = true
  /** Tie and size of the images that might be kept. */
  let cutTie = -1
  let cutBytes: number | null = null
  for (let place = 0; place < images.length; place++) {
    if (!has(outcomes, place, mayGoForSpace)) continue
    const sizeBytes = images[place]?.sizeBytes ?? null
    const tie = placeAt(ties, place)
    if (
      sizeBytes === null ||
      !has(outcomes, place, surelyInTurn) ||
      has(outcomes, place, mayGoByAge)
    )
      return null
    if (tie < 0) isExact = false
    if (has(outcomes, place, goesSurely)) {
      certainBytes += sizeBytes
      certainCount++
    } else if (cutBytes !== null && (tie !== cutTie || sizeBytes !== cutBytes)) return null
    else {
      cutTie = tie
      cutBytes = sizeBytes
    }
  }
  if (cutBytes === null) return certainBytes
  // Equal images of one size are interchangeable if the tie contains no other size.
  if (
    !isExact ||
    images.some((_, place) => placeAt(ties, place) === cutTie && has(outcomes, place, goesSurely))
  )
    return null
  const leastCount = certainCount === 0 ? 1 : 0
  return (
    certainBytes +
    (cutBytes === 0
      ? leastCount
      : Math.max(leastCount, Math.ceil((wantedBytes - certainBytes) / cutBytes))) *
      cutBytes
  )
}

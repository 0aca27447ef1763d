/** The outcomes of a round as a prediction tells them: what goes, in upstream's order, what stays and why, and how much is freed. */
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

/** Sorted by the earliest times that the images may have; where all are known, that is upstream's order. */
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
      if (has(outcomes, placeAt(order.byLatest, passed), goesSurely)) before++
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

/** Of each image: how many others may go before it. Those that tie with it do not count. */
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

/** @param isSpaceWanted whether the round frees space, or may */
export function keptImages(
  { images }: PreparedImages,
  outcomes: Outcomes,
  isSpaceWanted: boolean,
): KeptImage[] {
  const kept: KeptImage[] = []
  for (let place = 0; place < images.length; place++) {
    const image = images[place]
    if (image === undefined || has(outcomes, place, mayGo)) continue
    const { isCandidate, keptBecause } = image
    const isNotNeeded = !isSpaceWanted || has(outcomes, place, surelyInTurn)
    const candidateReason = isNotNeeded
      ? 'not-needed'
      : has(outcomes, place, perhapsInTurn)
        ? 'unknown'
        : 'too-young'
    kept.push({
      image: image.image,
      reason: keptBecause ?? (isCandidate === null ? 'unknown' : candidateReason),
    })
  }
  return kept
}

export interface Freed {
  /** Null, here and below: not determined by what is known. */
  freedBytes: number | null
  reachesLow: boolean | null
  shortfallBytes: number | null
}

/** What a round that wants `wantedBytes` for space counts as freed. */
export function freedOf(prepared: PreparedImages, outcomes: Outcomes, wantedBytes: number): Freed {
  const reachesLow = wantedBytes <= 0 || reaches(prepared, outcomes, wantedBytes)
  const freedBytes = freedBytesOf(prepared, outcomes, wantedBytes)
  const shortfallBytes =
    reachesLow === true
      ? 0
      : reachesLow === null || freedBytes === null
        ? null
        : wantedBytes - freedBytes
  return { freedBytes, reachesLow, shortfallBytes }
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
  return leastBytes >= wantedBytes ? true : mostBytes < wantedBytes ? false : null
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
  /** Of those that may stay. */
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
  // Of equals of one size it is all the same how many of which go, if none of another size is among them.
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

/**
 * The image garbage collector over time: what the kubelet remembers of each image, and what a round deletes. Every fact is known, so the round's
 * result is exact.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  Start, detectImages, handleImageVolumes, GarbageCollect, DeleteUnusedImages, freeImage;
 *               apimachinery util/errors NewAggregate
 * Read at       1.29 to 1.37
 * Kept exactly  an image in use at detection was used then; an image that is deleted and pulled again is
 *               new; an error in deletion by age ends the round, and its bytes are not counted as freed
 * Left out      the order of equal images, which upstream takes from a map: here the order of `records`; runtime handlers (RuntimeClassInImageCriApi,
 *               alpha in all); a detection that fails; hooks after deletion
 */
import { formatDuration } from '#base/go/duration.ts'
import { exactTime, type Kubelet, zeroTimeMs } from '#replay/times.ts'
import { ageLimitOf, type ImageGcPolicy } from './policy.ts'
import {
  everything,
  freeDownToLow,
  freeOldImages,
  freeSpace,
  freeUnused,
  hasFlag,
  type ImagesInOrder,
  imagesInEvictionOrder,
  mayGoByAge,
  mayGoForSpace,
  type Outcomes,
  type RoundImage,
} from './round.ts'
import type { ImageFsStats } from './usage.ts'

export interface ImageRecord {
  firstDetectedMs: number
  /** `zeroTimeMs`: never seen in use. */
  lastUsedMs: number
  sizeBytes: number
  isPinned: boolean
}

/** In memory only, so a restart loses it. As upstream, the functions below change it in place. */
export interface ImageGcState {
  records: Map<string, ImageRecord>
  /** When the loop began, at about the kubelet's start. */
  beganGcMs: number
}

/** The runtime's answers at one moment. */
export interface RuntimeImages {
  images: readonly { id: string; sizeBytes: number; isPinned: boolean }[]
  /** Ids of images that containers use, in any state. Sandboxes do not count. */
  inUse: ReadonlySet<string>
  /** Ids of images that containers mount as volumes. */
  mounted?: ReadonlySet<string>
  /** The error with which the removal of an image fails; null: it succeeds. */
  removalError?: (id: string) => string | null
}

/** Adds new images, drops deleted images, and notes which are in use. Returns the in-use test, by image id. */
export function detectImages(
  { records }: ImageGcState,
  nowMs: number,
  { images, inUse, mounted }: RuntimeImages,
  { isGateOn }: Kubelet,
): (id: string) => boolean {
  const isMounted = mounted && isGateOn('ImageVolume') ? mounted : null
  const isInUse = (id: string) => inUse.has(id) || isMounted?.has(id) === true
  for (const { id, sizeBytes, isPinned } of images) {
    let record = records.get(id)
    if (!record) {
      record = { firstDetectedMs: nowMs, lastUsedMs: zeroTimeMs, sizeBytes, isPinned: false }
      records.set(id, record)
    }
    if (isInUse(id)) record.lastUsedMs = nowMs
    record.sizeBytes = sizeBytes
    record.isPinned = isPinned
  }
  // No image is listed twice, so equal numbers mean that none was deleted.
  if (records.size !== images.length) {
    const listed = new Set(images.map(({ id }) => id))
    for (const id of records.keys()) if (!listed.has(id)) records.delete(id)
  }
  return isInUse
}

export interface Deleted extends ImageRecord {
  id: string
  reason: 'age' | 'space'
}

export interface ImageGcRound {
  /** In upstream's order. The order of images with equal times is random upstream. */
  deleted: Deleted[]
  /** Bytes freed by deletions for space, not by age, as the kubelet counts them. */
  freedBytes: number
  error: string | null
}

/** The image filesystem as the kubelet reads it in a round, or the error of that call. */
type ReadStats = ImageFsStats | { error: string }

/** @param stats read after the deletions by age; a function receives those deletions */
export function garbageCollect(
  state: ImageGcState,
  nowMs: number,
  policy: ImageGcPolicy,
  runtime: RuntimeImages,
  stats: ReadStats | ((old: readonly Deleted[]) => ReadStats),
  kubelet: Kubelet,
): ImageGcRound {
  const isInUse = detectImages(state, nowMs, runtime, kubelet)
  const age = ageLimitOf(policy, nowMs, exactTime(state.beganGcMs), kubelet)
  const considered = () => {
    const inOrder = imagesConsidered(state, runtime, isInUse)
    return { inOrder, aged: freeOldImages(inOrder, nowMs, policy.minimumAgeMs, age) }
  }
  // Sort only images that may be deleted.
  const byAge = age ? considered() : null
  const old = byAge
    ? removeImages(state, byAge.inOrder, byAge.aged.outcomes, 'age', runtime)
    : nothingRemoved
  if (old.errors.length > 0) {
    const limit = formatDuration(BigInt(Math.round(policy.maximumAgeMs * 1e6)))
    const error = `wanted to free images older than ${limit}, encountered errors in image deletion: ${aggregateError(old.errors)}`
    return { deleted: old.deleted, freedBytes: 0, error }
  }
  const read = typeof stats === 'function' ? stats(old.deleted) : stats
  if ('error' in read) return { deleted: old.deleted, freedBytes: 0, error: read.error }
  const free = (wantedBytes: number) => {
    const { inOrder, aged } = byAge ?? considered()
    const outcomes = freeSpace(inOrder, aged, wantedBytes)
    return freedForSpace(state, inOrder, outcomes, wantedBytes, runtime)
  }
  const { freed, error } = freeDownToLow(policy, read, free, kubelet)
  const { deleted, freedBytes } = freed ?? nothingFreed
  return { deleted: [...old.deleted, ...deleted], freedBytes, error }
}

/** Deletion under eviction. */
export function deleteUnusedImages(
  state: ImageGcState,
  nowMs: number,
  { minimumAgeMs }: ImageGcPolicy,
  runtime: RuntimeImages,
  kubelet: Kubelet,
): ImageGcRound {
  const isInUse = detectImages(state, nowMs, runtime, kubelet)
  const isDeletable = ({ firstDetectedMs, lastUsedMs, isPinned }: ImageRecord) =>
    !isPinned && nowMs - firstDetectedMs >= minimumAgeMs && lastUsedMs < nowMs
  // Most passes of an eviction find nothing, and need no order.
  if (!state.records.values().some(isDeletable)) return { deleted: [], freedBytes: 0, error: null }
  const inOrder = imagesConsidered(state, runtime, isInUse)
  const outcomes = freeUnused(inOrder, nowMs, minimumAgeMs)
  return freedForSpace(state, inOrder, outcomes, everything, runtime)
}

const maxInt64 = '9223372036854775807'

/** All images that are neither in use nor pinned. */
function imagesConsidered(
  { records }: ImageGcState,
  { removalError }: RuntimeImages,
  isInUse: (id: string) => boolean,
) {
  const images: RoundImage[] = []
  for (const [id, { firstDetectedMs, lastUsedMs, sizeBytes, isPinned }] of records) {
    if (isPinned || isInUse(id)) continue
    images.push({
      image: id,
      sizeBytes,
      // An image that cannot be removed stands in the order, but frees nothing.
      isCandidate: (removalError?.(id) ?? null) === null ? true : null,
      firstDetected: exactTime(firstDetectedMs),
      lastUsed: { earliestMs: lastUsedMs, latestMs: lastUsedMs, lowestMs: lastUsedMs },
    })
  }
  return imagesInEvictionOrder(images, true, true)
}

interface Removed {
  deleted: Deleted[]
  errors: string[]
}

const nothingRemoved: Removed = { deleted: [], errors: [] }
const nothingFreed: ImageGcRound = { deleted: [], freedBytes: 0, error: null }

/** Removes the images that the outcomes name. Upstream: freeImage. */
function removeImages(
  { records }: ImageGcState,
  { images }: ImagesInOrder,
  outcomes: Outcomes,
  reason: Deleted['reason'],
  { removalError }: RuntimeImages,
): Removed {
  const deleted: Deleted[] = []
  const errors: string[] = []
  const flag = reason === 'age' ? mayGoByAge : mayGoForSpace
  for (const [place, { image: id }] of images.entries()) {
    const record = records.get(id)
    if (!record || !hasFlag(outcomes, place, flag)) continue
    const error = removalError?.(id) ?? null
    if (error !== null) errors.push(error)
    else if (records.delete(id)) deleted.push({ id, ...record, reason })
  }
  return { deleted, errors }
}

function freedForSpace(
  state: ImageGcState,
  inOrder: ImagesInOrder,
  outcomes: Outcomes,
  wantedBytes: number,
  runtime: RuntimeImages,
): ImageGcRound {
  const { deleted, errors } = removeImages(state, inOrder, outcomes, 'space', runtime)
  const freedBytes = deleted.reduce((total, { sizeBytes }) => total + sizeBytes, 0)
  if (errors.length === 0) return { deleted, freedBytes, error: null }
  const wanted = `wanted to free ${wantedBytes === everything ? maxInt64 : wantedBytes} bytes, but freed ${freedBytes} bytes space`
  return {
    deleted,
    freedBytes,
    error: `${wanted} with errors in image deletion: ${aggregateError(errors)}`,
  }
}

/** Upstream: Aggregate.Error, which lists each text once. */
function aggregateError(errors: string[]) {
  const [first = '', ...more] = new Set(errors)
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`
}

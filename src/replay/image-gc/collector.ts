/**
 * The image garbage collector over time: what it deletes in a round.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  freeOldImages, freeSpace, GarbageCollect, DeleteUnusedImages;  pkg/kubelet/kubelet.go
 *               StartGarbageCollection;  apimachinery util/errors NewAggregate
 * Read at       1.24 to 1.37
 * Kept exactly  an image never seen in use sorts first and exceeds any maximum age; an equal age meets the minimum age but does not exceed the
 *               maximum age; one image is deleted even if 0 bytes are wanted; an error in deletion by age ends the round, and its bytes are not
 *               counted as freed
 * Left out      hooks after deletion; a detection that fails
 */
import { formatDuration } from '#model/duration.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { ImageGcPolicy } from './policy.ts'
import {
  detectImages,
  type EvictionInfo,
  type ImageGcState,
  imagesInEvictionOrder,
  inEvictionOrder,
  type RuntimeImages,
} from './records.ts'
import {
  amountToFree,
  type ImageFsStats,
  imageFsUsage,
  invalidCapacity,
  notEnoughFreed,
} from './usage.ts'

export interface Deleted extends EvictionInfo {
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
  const round: ImageGcRound = { deleted: [], freedBytes: 0, error: null }
  const isDetectedFirst = kubelet.features.has('imagesDetectedBeforeStats')
  const isInUse = isDetectedFirst ? detectImages(state, nowMs, nowMs, runtime, kubelet) : null
  // Sort only images that may be deleted.
  let images =
    isInUse && isAgeInForce(state, nowMs, policy, kubelet) ? inEvictionOrder(state, isInUse) : null
  if (images !== null) {
    const old = freeOldImages(state, images, nowMs, policy, runtime)
    if (old.error !== null) return { ...round, deleted: old.deleted, error: old.error }
    round.deleted = old.deleted
    images = old.remaining
  }
  const read = typeof stats === 'function' ? stats(round.deleted) : stats
  if ('error' in read) return { ...round, error: read.error }
  const usage = imageFsUsage(read)
  if (usage === null) return { ...round, error: invalidCapacity }
  if (usage.usagePercent < policy.highThresholdPercent) return round

  const wantedBytes = amountToFree(usage, policy.lowThresholdPercent)
  images ??= inEvictionOrder(state, isInUse ?? detectImages(state, nowMs, nowMs, runtime, kubelet))
  const { deleted, freedBytes, error } = freeSpace(
    state,
    wantedBytes,
    nowMs,
    images,
    policy,
    runtime,
  )
  const shortfall =
    freedBytes < wantedBytes
      ? notEnoughFreed(usage, wantedBytes, freedBytes, kubelet.features)
      : null
  return { deleted: [...round.deleted, ...deleted], freedBytes, error: error ?? shortfall }
}

/** Deletion under eviction: every image that may be deleted, however full the disk is. */
export function deleteUnusedImages(
  state: ImageGcState,
  nowMs: number,
  policy: ImageGcPolicy,
  runtime: RuntimeImages,
  kubelet: Kubelet,
): ImageGcRound {
  return freeSpace(
    state,
    everything,
    nowMs,
    imagesInEvictionOrder(state, nowMs, runtime, kubelet),
    policy,
    runtime,
  )
}

/** Upstream: math.MaxInt64. */
const everything = Number.POSITIVE_INFINITY
const maxInt64 = '9223372036854775807'

interface OldImagesFreed {
  deleted: Deleted[]
  remaining: EvictionInfo[]
  error: string | null
}

/** Upstream: in freeOldImages. */
const isAgeInForce = (
  { beganGcMs }: ImageGcState,
  freeTimeMs: number,
  { maximumAgeMs }: ImageGcPolicy,
  { features }: Kubelet,
): boolean =>
  maximumAgeMs !== 0 &&
  !(features.has('maximumAgeWaitsForUptime') && freeTimeMs - beganGcMs <= maximumAgeMs)

function freeOldImages(
  state: ImageGcState,
  images: EvictionInfo[],
  freeTimeMs: number,
  { maximumAgeMs }: ImageGcPolicy,
  runtime: RuntimeImages,
): OldImagesFreed {
  const freed: OldImagesFreed = { deleted: [], remaining: [], error: null }
  const errors: string[] = []
  for (const image of images) {
    if (freeTimeMs - image.lastUsedMs <= maximumAgeMs) freed.remaining.push(image)
    else if (isFreed(state, image, runtime, errors)) freed.deleted.push({ ...image, reason: 'age' })
  }
  if (errors.length === 0) return freed
  const age = formatDuration(BigInt(Math.round(maximumAgeMs * 1e6)))
  return {
    ...freed,
    error: `wanted to free images older than ${age}, encountered errors in image deletion: ${aggregated(errors)}`,
  }
}

function freeSpace(
  state: ImageGcState,
  bytesToFree: number,
  freeTimeMs: number,
  images: EvictionInfo[],
  { minimumAgeMs }: ImageGcPolicy,
  runtime: RuntimeImages,
): ImageGcRound {
  const deleted: Deleted[] = []
  const errors: string[] = []
  let freedBytes = 0
  for (const image of images) {
    if (image.lastUsedMs >= freeTimeMs || freeTimeMs - image.firstDetectedMs < minimumAgeMs)
      continue
    if (!isFreed(state, image, runtime, errors)) continue
    deleted.push({ ...image, reason: 'space' })
    freedBytes += image.sizeBytes
    if (freedBytes >= bytesToFree) break
  }
  if (errors.length === 0) return { deleted, freedBytes, error: null }
  const wanted = `wanted to free ${bytesToFree === everything ? maxInt64 : bytesToFree} bytes, but freed ${freedBytes} bytes space`
  return {
    deleted,
    freedBytes,
    error: `${wanted} with errors in image deletion: ${aggregated(errors)}`,
  }
}

/** Upstream: freeImage. */
function isFreed(
  state: ImageGcState,
  { id }: EvictionInfo,
  { removalError }: RuntimeImages,
  errors: string[],
): boolean {
  const error = removalError?.(id) ?? null
  if (error === null) state.records.delete(id)
  else errors.push(error)
  return error === null
}

/** Upstream: Aggregate.Error, which lists each text once. */
function aggregated(errors: string[]): string {
  const [first = '', ...more] = new Set(errors)
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`
}

/**
 * Whether a failed round emits the event ImageGCFailed. The first failure in a row emits none: the first round after a start always fails.
 * `wasFailed`: the previous round failed. Upstream: StartGarbageCollection.
 */
export const isImageGcFailedEvent = (wasFailed: boolean, { error }: ImageGcRound): boolean =>
  wasFailed && error !== null

/**
 * What the kubelet remembers of each image, and the eviction order that follows from it.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  Start, detectImages, handleImageVolumes, imagesInEvictionOrder, byLastUsedAndDetected
 * Read at       1.24 to 1.37
 * Kept exactly  below 1.29 the first detection has no time; an image in use at detection was used then; an image that is deleted and pulled again is new
 * Left out      the order of equal images, which upstream takes from a map: here the order of `records`; runtime handlers (RuntimeClassInImageCriApi, alpha
 *               in all); a detection that fails
 */
import type { Kubelet } from '#replay/kubelet.ts'

/** Go's zero time, before every other time. Means "never", or "before the first detection". */
export const zeroTimeMs = Number.NEGATIVE_INFINITY

export interface ImageRecord {
  /** `zeroTimeMs`: the image was present when a kubelet below 1.29 started. */
  firstDetectedMs: number
  /** `zeroTimeMs`: never seen in use. */
  lastUsedMs: number
  sizeBytes: number
  isPinned: boolean
}

/** In memory only, so a restart loses it. As upstream, the functions below change it in place. */
export interface ImageGcState {
  records: Map<string, ImageRecord>
  /** Whether the periodic detection has run. */
  isInitialized: boolean
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
  /** The id that `--pod-infra-container-image` resolves to. */
  sandboxImage?: string | null
  /** The error with which the removal of an image fails; null: it succeeds. */
  removalError?: (id: string) => string | null
}

/** An image as the round considers it. */
export interface EvictionInfo extends ImageRecord {
  id: string
}

export const newImageGcState = (beganGcMs: number): ImageGcState => ({
  records: new Map(),
  isInitialized: false,
  beganGcMs,
})

/** The periodic detection, every 5 minutes from the kubelet's start. Upstream: Start. */
export function monitorImages(
  state: ImageGcState,
  nowMs: number,
  runtime: RuntimeImages,
  kubelet: Kubelet,
): void {
  const isTimed = state.isInitialized || kubelet.features.has('firstDetectionIsTimed')
  detectImages(state, isTimed ? nowMs : zeroTimeMs, nowMs, runtime, kubelet)
  state.isInitialized = true
}

/** Adds new images, drops deleted images, and notes which are in use. Returns the in-use test, by image id. */
export function detectImages(
  { records }: ImageGcState,
  detectTimeMs: number,
  nowMs: number,
  { images, inUse, mounted, sandboxImage }: RuntimeImages,
  { features, isGateOn }: Kubelet,
): (id: string) => boolean {
  const isMounted = mounted !== undefined && isGateOn('ImageVolume') ? mounted : null
  const sandbox = features.has('sandboxImageUnprotected') ? null : (sandboxImage ?? null)
  const isInUse = (id: string) => inUse.has(id) || id === sandbox || isMounted?.has(id) === true
  const canBePinned = features.has('imagesCanBePinned')
  for (const { id, sizeBytes, isPinned } of images) {
    let record = records.get(id)
    if (record === undefined) {
      record = { firstDetectedMs: detectTimeMs, lastUsedMs: zeroTimeMs, sizeBytes, isPinned: false }
      records.set(id, record)
    }
    if (isInUse(id)) record.lastUsedMs = nowMs
    record.sizeBytes = sizeBytes
    record.isPinned = canBePinned && isPinned
  }
  // No image is listed twice, so equal numbers mean that none was deleted.
  if (records.size !== images.length) {
    const listed = new Set(images.map(({ id }) => id))
    for (const id of records.keys()) if (!listed.has(id)) records.delete(id)
  }
  return isInUse
}

/** All images that are neither in use nor pinned: longest unused first, then longest known. */
export function imagesInEvictionOrder(
  state: ImageGcState,
  freeTimeMs: number,
  runtime: RuntimeImages,
  kubelet: Kubelet,
): EvictionInfo[] {
  return inEvictionOrder(state, detectImages(state, freeTimeMs, freeTimeMs, runtime, kubelet))
}

export function inEvictionOrder(
  { records }: ImageGcState,
  isInUse: (id: string) => boolean,
): EvictionInfo[] {
  const images: EvictionInfo[] = []
  for (const [id, record] of records)
    if (!isInUse(id) && !record.isPinned) images.push({ id, ...record })
  return images.sort(byLastUsedAndDetected)
}

/** Does not subtract: zero times are infinitely early, and equal to each other. */
export function byLastUsedAndDetected(
  a: Pick<ImageRecord, 'lastUsedMs' | 'firstDetectedMs'>,
  b: Pick<ImageRecord, 'lastUsedMs' | 'firstDetectedMs'>,
): number {
  if (a.lastUsedMs !== b.lastUsedMs) return a.lastUsedMs < b.lastUsedMs ? -1 : 1
  if (a.firstDetectedMs === b.firstDetectedMs) return 0
  return a.firstDetectedMs < b.firstDetectedMs ? -1 : 1
}

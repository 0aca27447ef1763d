/**
 * The image GC policy: whether the kubelet accepts it, and whether it lets the GC loop run at all.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  NewImageGCManager;  pkg/kubelet/kubelet.go  StartGarbageCollection, NewMainKubelet
 * Read at       1.29 to 1.37; alike except for the maximum age and what stops the loop
 * Kept exactly  low equal to high is accepted here, though validation refuses it; a maximum age needs its gate; below 1.30 a high threshold of 100
 *               stops the loop whatever the maximum age
 * Left out      a maximum age without its gate, which validation refuses
 */

import { durationMs } from '#base/go/duration.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Kubelet, TimeBounds } from '#replay/times.ts'

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
  if (!start) return { maximumAgeMs, isSure: false }
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

/**
 * The image GC policy: whether the kubelet takes it, and whether it lets the loop run at all.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  NewImageGCManager;  pkg/kubelet/kubelet.go  StartGarbageCollection, NewMainKubelet
 * Read at       1.24 to 1.37; alike in all but the maximum age, and what stops the loop
 * Kept exactly  low equal to high is taken here, though validation refuses it; a maximum age needs its gate; below 1.30 a high threshold of 100
 *               stops the loop whatever the maximum age
 * Left out      a maximum age without its gate, which validation refuses
 */
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { parseDuration, toMilliseconds } from '#model/duration.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { Kubelet } from '#replay/kubelet.ts'

export interface ImageGcPolicy {
  highThresholdPercent: number
  lowThresholdPercent: number
  /** Since its first detection, before which an image is not deleted for space. */
  minimumAgeMs: number
  /** Since its last use, after which an image is deleted whatever the disk; 0: not in force. */
  maximumAgeMs: number
}

/** Upstream's text where it would not even construct the manager; else null. */
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

/** Whether the loop never starts. What eviction wants deleted is deleted nevertheless. */
export const isImageGcStopped = (
  { highThresholdPercent, maximumAgeMs }: ImageGcPolicy,
  { features }: Kubelet,
): boolean =>
  highThresholdPercent === 100 && !(maximumAgeMs !== 0 && features.has('maximumAgeKeepsImageGc'))

/**
 * What a running configuration comes to. configz always shows the four fields; a record written by hand may leave them at their defaults.
 * Null: the percentages are no whole numbers, or the ages no durations.
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

/** Null: it is no duration. */
function ageOf(
  configuration: KubeletConfiguration,
  field: 'imageMinimumGCAge' | 'imageMaximumGCAge',
): number | null {
  try {
    const text = configuration[field] ?? configurationDefaults[field]
    return text === undefined ? 0 : toMilliseconds(parseDuration(text))
  } catch {
    return null
  }
}

/**
 * Image garbage collection and image pulls.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.24 to 1.37
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { formatDuration } from '#model/duration.ts'
import { isGateOn, type LoadedConfiguration } from '#replay/configuration-file.ts'

const isOutside = (value: number, least: number, greatest: number) => value < least || value > greatest

/** The texts after `invalid configuration: `. */
export function* imageErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<string> {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low, imageMaximumGCAge: maximum, imageMinimumGCAge: minimum } = c
  if (isOutside(high, 0, 100)) yield `imageGCHighThresholdPercent (--image-gc-high-threshold) ${high} must be between 0 and 100, inclusive`
  if (isOutside(low, 0, 100)) yield `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be between 0 and 100, inclusive`
  if (low >= high) {
    yield `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`
  }
  if (maximum !== 0n && !isGateOn('ImageMaximumGCAge', c, features)) {
    const option = features.has('maximumAgeErrorNamesField') ? 'imageMaximumGCAge' : 'ImageMaximumGCAge'
    yield `ImageMaximumGCAge feature gate is required for Kubelet configuration option ${option}`
  }
  if (minimum < 0n && features.has('imageMinimumGCAgeValidated')) yield `imageMinimumGCAge ${formatDuration(minimum)} must not be negative`
  if (maximum < 0n) yield `imageMaximumGCAge ${formatDuration(maximum)} must not be negative`
  if (maximum > 0n && maximum <= minimum) {
    yield `imageMaximumGCAge ${formatDuration(maximum)} must be greater than imageMinimumGCAge ${formatDuration(minimum)}`
  }
  const parallel = c.maxParallelImagePulls
  if (parallel !== null && parallel < 1) yield `maxParallelImagePulls ${parallel} must be a positive number`
  if (parallel !== null && parallel > 1 && c.serializeImagePulls) {
    yield 'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false'
  }
}

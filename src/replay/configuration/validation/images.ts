/**
 * Image garbage collection and image pulls.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */
import { formatDuration } from '#model/duration.ts'
import { goQuote } from '#model/go-text.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { imagePatternError } from './image-patterns.ts'

const isOutside = (value: number, least: number, greatest: number) =>
  value < least || value > greatest

export function* imageErrors(
  c: LoadedConfiguration,
  { features, isGateOn }: Kubelet,
): Iterable<string> {
  const {
    imageGCHighThresholdPercent: high,
    imageGCLowThresholdPercent: low,
    imageMaximumGCAge: maximum,
    imageMinimumGCAge: minimum,
  } = c
  if (isOutside(high, 0, 100))
    yield `imageGCHighThresholdPercent (--image-gc-high-threshold) ${high} must be between 0 and 100, inclusive`
  if (isOutside(low, 0, 100))
    yield `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be between 0 and 100, inclusive`
  if (low >= high) {
    yield `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`
  }
  if (maximum !== 0n && !isGateOn('ImageMaximumGCAge')) {
    const option = features.has('maximumAgeErrorNamesField')
      ? 'imageMaximumGCAge'
      : 'ImageMaximumGCAge'
    yield `ImageMaximumGCAge feature gate is required for Kubelet configuration option ${option}`
  }
  if (minimum < 0n && features.has('imageMinimumGCAgeValidated'))
    yield `imageMinimumGCAge ${formatDuration(minimum)} must not be negative`
  if (maximum < 0n) yield `imageMaximumGCAge ${formatDuration(maximum)} must not be negative`
  if (maximum > 0n && maximum <= minimum) {
    yield `imageMaximumGCAge ${formatDuration(maximum)} must be greater than imageMinimumGCAge ${formatDuration(minimum)}`
  }
  const parallel = c.maxParallelImagePulls
  if (parallel !== null && parallel < 1)
    yield `maxParallelImagePulls ${parallel} must be a positive number`
  if (parallel !== null && parallel > 1 && c.serializeImagePulls) {
    yield 'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false'
  }
}

const verificationPolicies = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
]

export function* pullCredentialErrors(
  c: LoadedConfiguration,
  { features, isGateOn }: Kubelet,
): Iterable<string> {
  if (!features.has('pullCredentialsVerified')) return
  const policy = c.imagePullCredentialsVerificationPolicy
  const allowlist = c.preloadedImagesVerificationAllowlist ?? []
  if (!isGateOn('KubeletEnsureSecretPulledImages')) {
    const refused = (field: string) =>
      `\`${field}\` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled`
    if (policy !== '') yield refused('imagePullCredentialsVerificationPolicy')
    if (allowlist.length > 0) yield refused('preloadedImagesVerificationAllowlist')
    return
  }
  if (!verificationPolicies.includes(policy)) {
    const [first, second, third, last] = verificationPolicies.map(goQuote)
    yield `option ${goQuote(policy)} specified for imagePullCredentialsVerificationPolicy. Valid options are ${first}, ${second}, ${third} or ${last}`
  }
  if (allowlist.length > 0 && policy !== 'NeverVerifyAllowlistedImages') {
    // The spelling "Vertification" is upstream's.
    yield `can't set \`preloadedImagesVerificationAllowlist\` if \`imagePullCredentialsVertificationPolicy\` is not "NeverVerifyAllowlistedImages"`
    return
  }
  const why = allowlist
    .map(pattern => imagePatternError(pattern, features))
    .find(error => error !== null)
  if (why !== undefined)
    yield `invalid image pattern in \`preloadedImagesVerificationAllowlist\`: ${why}`
}

/**
 * Image garbage collection and image pulls.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

import { formatDuration } from '#base/go/duration.ts'
import { goQuote } from '#base/go/go-text.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

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
    const refusalText = (field: string) =>
      `\`${field}\` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled`
    if (policy !== '') yield refusalText('imagePullCredentialsVerificationPolicy')
    if (allowlist.length > 0) yield refusalText('preloadedImagesVerificationAllowlist')
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

/**
 * Patterns of images whose credentials are not verified.
 *
 * Replays       pkg/kubelet/images/pullmanager/image_pull_policies.go ValidateAllowlistImagesPatterns, getAllowlistImagePattern;
 *               distribution/reference  Parse, ParseNormalizedNamed
 * Read at       1.33 to 1.37; until 1.35 a name without its registry is refused
 * Left out      names of more than 255 characters, digests of an unknown algorithm
 */
const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const host = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const name = `(?:(?:${host}(?:\\.${host})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?/)?${component}(?:/${component})*`
const reference = new RegExp(
  `^(${name})(:\\w[\\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
)

/** Why the kubelet refuses a pattern, in upstream's words; null: accepted. */
function imagePatternError(pattern: string, features: KubeletFeatures) {
  if (pattern !== pattern.trim()) return `leading/trailing spaces are not allowed: ${pattern}`
  const isWildcard = pattern.endsWith('/*')
  const fixed = isWildcard ? pattern.slice(0, -1) : pattern
  if (fixed === '') return `the supplied pattern is too short: ${pattern}`
  if (fixed.includes('*'))
    return `not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${pattern}`
  if (isWildcard) return fixed === '/' ? 'at least registry hostname is required' : null
  const isFull = features.has('imagePatternsAsWritten')
  const [, image, tag = '', digest = ''] = reference.exec(fixed) ?? []
  if (image === undefined) return `failed to parse as an image name: ${whyUnparsed(fixed, isFull)}`
  const isAccepted = tag === '' && digest === '' && (isFull || hasRegistry(image))
  return isAccepted ? null : `neither tag nor digest is accepted in an image reference: ${pattern}`
}

/** Whether the image names its registry. Docker Hub's short names do not. */
function hasRegistry(image: string) {
  const { registry, path } = parts(image)
  return (
    registry !== null &&
    registry !== 'index.docker.io' &&
    !(registry === 'docker.io' && !path.includes('/'))
  )
}

/** The first part is a registry if it looks like a host. */
function parts(image: string): { registry: string | null; path: string } {
  const at = image.indexOf('/')
  const first = image.slice(0, Math.max(0, at))
  const isRegistry = /[.:A-Z]/.test(first) || first === 'localhost'
  return isRegistry
    ? { registry: first, path: image.slice(at + 1) }
    : { registry: null, path: image }
}

function whyUnparsed(text: string, isFull: boolean) {
  if (isFull)
    return reference.test(text.toLowerCase())
      ? 'repository name must be lowercase'
      : 'invalid reference format'
  const { registry, path } = parts(text)
  const [repository = ''] = (
    registry === null && !path.includes('/') ? `library/${path}` : path
  ).split(':')
  return /[A-Z]/.test(repository)
    ? `invalid reference format: repository name (${repository}) must be lowercase`
    : 'invalid reference format'
}

/**
 * Whether a kubelet would start with a configuration, and its errors if not.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       the last patch of 1.29 to 1.37
 * Kept exactly  every text; errors do not hide each other, but a refused feature gate hides all others
 * Left out      over-reservation, which needs the machine
 */

import { formatDuration } from '#base/go/duration.ts'
import { goFloat, goQuote } from '#base/go/go-text.ts'
import type { RawObject } from '#base/raw-object.ts'
import { byText } from '#base/text.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import {
  type ConfigurationField,
  type Refusal,
  refusal,
  withPrefix,
} from '#model/kubelet/refusal.ts'
import { type Kubelet, kubeletOf } from '#replay/times.ts'
import {
  featureGateError,
  LoadError,
  type LoadedConfiguration,
  loadConfigFile,
} from './configuration-file.ts'
import {
  hiddenMetricsErrors,
  loggingErrors,
  type Machine,
  operatingSystemErrors,
  tracingErrors,
} from './validation/components.ts'
import {
  choiceErrors,
  enforcementErrors,
  logErrors,
  numberErrors,
  refuse,
  refuseFlagged,
  reservationErrors,
  type StartupErrors,
  startupErrors,
  sysctlErrors,
  taintErrors,
  withFlag,
} from './validation/fields.ts'

export interface ConfigurationVerdict {
  /** Why the file would not load. If set, the other results are unknown. */
  loadError: Refusal | null
  errors: Refusal[] | null
  startup: StartupErrors | null
}

export function validateKubeletConfiguration(
  raw: RawObject,
  kubeletVersion: string | null,
): ConfigurationVerdict {
  try {
    const configuration = loadConfigFile(raw, { kubeletVersion, operatingSystem: 'linux' })
    const errors = validationErrors(configuration, kubeletVersion, {
      operatingSystem: 'linux',
      cgroupVersion: null,
    })
    return {
      loadError: null,
      errors,
      startup: startupErrors(configuration, kubeletOf(kubeletVersion).features),
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return { loadError: error.refusal, errors: null, startup: null }
  }
}

/** Sorted by their messages. */
export function validationErrors(
  configuration: LoadedConfiguration,
  kubeletVersion: string | null,
  machine: Machine,
): Refusal[] {
  const kubelet = kubeletOf(kubeletVersion, configuration.featureGates)
  const gateError = featureGateError(configuration.featureGates, kubelet.features)
  if (gateError !== null) return [refusal('featureGates', gateError)]
  const tails = [
    ...numberErrors(configuration),
    ...imageErrors(configuration, kubelet),
    ...pullCredentialErrors(configuration, kubelet),
    ...gatedErrors(configuration, kubelet),
    ...shutdownErrors(configuration, kubelet),
    ...choiceErrors(configuration, kubelet),
    ...enforcementErrors(configuration, kubelet.features),
    ...reservationErrors(configuration),
    ...logErrors(configuration, kubelet.features),
    ...sysctlErrors(configuration, kubelet),
  ]
  return [
    ...tails.map(tail => withPrefix('invalid configuration', tail)),
    ...taintErrors(configuration),
    ...loggingErrors(configuration, kubelet),
    ...tracingErrors(configuration, kubelet),
    ...hiddenMetricsErrors(configuration, kubelet),
    ...operatingSystemErrors(configuration, kubelet, machine),
  ].sort((a, b) => byText(a.message, b.message))
}

/*
 * Fields that need a feature gate, or whose validation a gate changes.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

const millisecond = 1_000_000n
const second = 1_000_000_000n
/** The former default, which older files still contain. */
const formerThrottlingFactor = 0.9

/** The messages are the texts after `invalid configuration: `, in upstream's order. */
function* gatedErrors(c: LoadedConfiguration, kubelet: Kubelet) {
  const { features, isGateOn: isOn } = kubelet
  yield* quotaErrors(c, kubelet)
  if (c.serverTLSBootstrap && !isOn('RotateKubeletServerCertificate')) {
    yield refuse('serverTLSBootstrap', 'true requires feature gate RotateKubeletServerCertificate')
  }
  if (c.runOnce && features.has('runOnceRefused'))
    yield refuse(
      'runOnce',
      '(--runOnce) true, Runonce mode has been deprecated and should not be set',
    )
  yield* swapErrors(c, kubelet)
  yield* backOffErrors(c, kubelet)
  if (c.enableSystemLogQuery && !isOn('NodeLogQuery')) {
    const option = features.has('logQueryErrorNamesField')
      ? 'enableSystemLogQuery'
      : 'enableSystemLogHandler'
    yield refusal('enableSystemLogQuery', `NodeLogQuery feature gate is required for ${option}`)
  }
  if (c.enableSystemLogQuery && !c.enableSystemLogHandler)
    yield refusal(
      ['enableSystemLogHandler', 'enableSystemLogQuery'],
      'enableSystemLogHandler is required for enableSystemLogQuery',
    )
  yield* throttlingErrors(c, kubelet)
}

function* quotaErrors(c: LoadedConfiguration, { isGateOn: isOn }: Kubelet) {
  const quota = c.cpuCFSQuotaPeriod
  if (!isOn('CustomCPUCFSQuotaPeriod')) {
    if (quota !== 100n * millisecond)
      yield refuseFlagged(
        'cpuCFSQuotaPeriod',
        `{${formatDuration(quota)}} requires feature gate CustomCPUCFSQuotaPeriod`,
      )
  } else {
    if (quota < millisecond || quota > second)
      yield refuseFlagged(
        'cpuCFSQuotaPeriod',
        `{${formatDuration(quota)}} must be between 1ms and 1sec, inclusive`,
      )
  }
}

function* swapErrors(c: LoadedConfiguration, { features, isGateOn: isOn }: Kubelet) {
  const { swapBehavior } = c.memorySwap
  if (!isOn('NodeSwap')) {
    if (swapBehavior !== '')
      yield refusal(
        'memorySwap',
        'memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled',
      )
  } else if (
    !['', 'LimitedSwap', features.has('noSwapBehavior') ? 'NoSwap' : 'UnlimitedSwap'].includes(
      swapBehavior,
    )
  ) {
    const choices = features.has('noSwapBehavior')
      ? '"", "LimitedSwap" or "NoSwap"'
      : '"", "LimitedSwap", or "UnlimitedSwap"'
    yield refusal(
      'memorySwap',
      `memorySwap.swapBehavior ${goQuote(swapBehavior)} must be one of: ${choices}`,
    )
  }
}

function* backOffErrors(c: LoadedConfiguration, { isGateOn: isOn }: Kubelet) {
  const backOff = c.crashLoopBackOff.maxContainerRestartPeriod
  // Defaulting sets a value if the gate is on. A gate that a flag sets is applied after defaulting.
  if (backOff === null && isOn('KubeletCrashLoopBackOffMax')) {
    yield refusal(
      'crashLoopBackOff',
      'FeatureGate KubeletCrashLoopBackOffMax is enabled, CrashLoopBackOff.MaxContainerRestartPeriod must be set',
    )
  } else if (backOff !== null && !isOn('KubeletCrashLoopBackOffMax')) {
    yield refusal(
      'crashLoopBackOff',
      'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set',
    )
  } else if (
    backOff !== null &&
    (backOff / millisecond < 1000n || backOff / millisecond > 300_000n)
  ) {
    yield refusal(
      'crashLoopBackOff',
      `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${goFloat(Number(backOff) / 1e9)} seconds) must be set between 1s and 300s`,
    )
  }
}

function* throttlingErrors(c: LoadedConfiguration, { features, isGateOn: isOn }: Kubelet) {
  const factor = c.memoryThrottlingFactor
  if (factor === null) return
  if (
    features.has('memoryThrottlingFactorUnset') &&
    !isOn('MemoryQoS') &&
    factor !== formerThrottlingFactor
  ) {
    yield refuse(
      'memoryThrottlingFactor',
      'must not be set when MemoryQoS feature gate is disabled',
    )
  }
  if (factor <= 0 || factor > 1)
    yield refuse(
      'memoryThrottlingFactor',
      `${goFloat(factor)} must be greater than 0 and less than or equal to 1.0`,
    )
}

function* shutdownErrors(c: LoadedConfiguration, kubelet: Kubelet) {
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical } = c
  const isTooShort = (period: bigint) => period < 0n || (period > 0n && period < second)
  const isSet = total > 0n || critical > 0n
  const hasPriorities = (c.shutdownGracePeriodByPodPriority ?? []).length > 0
  if (kubelet.isGateOn('GracefulNodeShutdown')) {
    if (critical > total)
      yield refusal(
        ['shutdownGracePeriodCriticalPods', 'shutdownGracePeriod'],
        `shutdownGracePeriodCriticalPods {${formatDuration(critical)}} must be <= shutdownGracePeriod {${formatDuration(total)}}`,
      )
    for (const field of ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const)
      if (isTooShort(c[field]))
        yield refuse(
          field,
          `{${formatDuration(c[field])}} must be either zero or otherwise >= 1 sec`,
        )
  } else if (isSet) {
    yield refusal(
      ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'],
      'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
    )
  }
  if (!hasPriorities) return
  if (!kubelet.isGateOn('GracefulNodeShutdownBasedOnPodPriority')) {
    yield refusal(
      'shutdownGracePeriodByPodPriority',
      'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
    )
  } else if (isSet)
    yield refusal(
      ['shutdownGracePeriodByPodPriority', 'shutdownGracePeriod'],
      'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
    )
}

/*
 * Image garbage collection and image pulls.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

function* imageErrors(c: LoadedConfiguration, { features, isGateOn }: Kubelet) {
  const {
    imageGCHighThresholdPercent: high,
    imageGCLowThresholdPercent: low,
    imageMaximumGCAge: maximum,
    imageMinimumGCAge: minimum,
  } = c
  if (low >= high) {
    yield refusal(
      ['imageGCLowThresholdPercent', 'imageGCHighThresholdPercent'],
      `${withFlag('imageGCLowThresholdPercent')} ${low} must be less than ${withFlag('imageGCHighThresholdPercent')} ${high}`,
    )
  }
  if (maximum !== 0n && !isGateOn('ImageMaximumGCAge')) {
    const option = features.has('maximumAgeErrorNamesField')
      ? 'imageMaximumGCAge'
      : 'ImageMaximumGCAge'
    yield refusal(
      'imageMaximumGCAge',
      `ImageMaximumGCAge feature gate is required for Kubelet configuration option ${option}`,
    )
  }
  if (minimum < 0n && features.has('imageMinimumGCAgeValidated'))
    yield refuse('imageMinimumGCAge', `${formatDuration(minimum)} must not be negative`)
  if (maximum < 0n)
    yield refuse('imageMaximumGCAge', `${formatDuration(maximum)} must not be negative`)
  if (maximum > 0n && maximum <= minimum) {
    yield refusal(
      ['imageMaximumGCAge', 'imageMinimumGCAge'],
      `imageMaximumGCAge ${formatDuration(maximum)} must be greater than imageMinimumGCAge ${formatDuration(minimum)}`,
    )
  }
  const parallel = c.maxParallelImagePulls
  if (parallel !== null && parallel < 1)
    yield refuse('maxParallelImagePulls', `${parallel} must be a positive number`)
  if (parallel !== null && parallel > 1 && c.serializeImagePulls) {
    yield refusal(
      ['maxParallelImagePulls', 'serializeImagePulls'],
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
    )
  }
}

const verificationPolicies = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
]

function* pullCredentialErrors(c: LoadedConfiguration, { features, isGateOn }: Kubelet) {
  if (!features.has('pullCredentialsVerified')) return
  const policy = c.imagePullCredentialsVerificationPolicy
  const allowlist = c.preloadedImagesVerificationAllowlist ?? []
  if (!isGateOn('KubeletEnsureSecretPulledImages')) {
    const refuseGated = (field: ConfigurationField) =>
      refusal(
        field,
        `\`${field}\` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled`,
      )
    if (policy !== '') yield refuseGated('imagePullCredentialsVerificationPolicy')
    if (allowlist.length > 0) yield refuseGated('preloadedImagesVerificationAllowlist')
    return
  }
  if (!verificationPolicies.includes(policy)) {
    const [first, second, third, last] = verificationPolicies.map(goQuote)
    yield refusal(
      'imagePullCredentialsVerificationPolicy',
      `option ${goQuote(policy)} specified for imagePullCredentialsVerificationPolicy. Valid options are ${first}, ${second}, ${third} or ${last}`,
    )
  }
  if (allowlist.length > 0 && policy !== 'NeverVerifyAllowlistedImages') {
    // The spelling "Vertification" is upstream's.
    yield refusal(
      ['preloadedImagesVerificationAllowlist', 'imagePullCredentialsVerificationPolicy'],
      `can't set \`preloadedImagesVerificationAllowlist\` if \`imagePullCredentialsVertificationPolicy\` is not "NeverVerifyAllowlistedImages"`,
    )
    return
  }
  const why = allowlist
    .map(pattern => imagePatternError(pattern, features))
    .find(error => error !== null)
  if (why !== undefined)
    yield refusal(
      'preloadedImagesVerificationAllowlist',
      `invalid image pattern in \`preloadedImagesVerificationAllowlist\`: ${why}`,
    )
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
  const { registry, path } = splitRegistry(image)
  return (
    registry !== null &&
    registry !== 'index.docker.io' &&
    !(registry === 'docker.io' && !path.includes('/'))
  )
}

/** The first part is a registry if it looks like a host. */
function splitRegistry(image: string): { registry: string | null; path: string } {
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
  const { registry, path } = splitRegistry(text)
  const [repository = ''] = (
    registry === null && !path.includes('/') ? `library/${path}` : path
  ).split(':')
  return /[A-Z]/.test(repository)
    ? `invalid reference format: repository name (${repository}) must be lowercase`
    : 'invalid reference format'
}

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
import {
  hiddenMetricsErrors,
  loggingErrors,
  type Machine,
  operatingSystemErrors,
  tracingErrors,
} from '#replay/configuration/validation/components.ts'
import {
  choiceErrors,
  enforcementErrors,
  logErrors,
  numberErrors,
  reservationErrors,
  sysctlErrors,
  taintErrors,
} from '#replay/configuration/validation/fields.ts'
import { imageErrors, pullCredentialErrors } from '#replay/configuration/validation/images.ts'
import { type StartupErrors, startupErrors } from '#replay/configuration/validation/startup.ts'
import { type Kubelet, kubeletOf } from '#replay/kubelet.ts'
import { LoadError, type LoadedConfiguration, loadConfigFile } from './configuration-file.ts'
import { featureGateError } from './feature-gates.ts'

export interface ConfigurationVerdict {
  /** Why the file would not load. If set, the other results are unknown. */
  loadError: string | null
  errors: string[] | null
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
    return { loadError: error.message, errors: null, startup: null }
  }
}

/** Returns the errors sorted. */
export function validationErrors(
  configuration: LoadedConfiguration,
  kubeletVersion: string | null,
  machine: Machine,
): string[] {
  const kubelet = kubeletOf(kubeletVersion, configuration.featureGates)
  const gateError = featureGateError(configuration.featureGates, kubelet.features)
  if (gateError !== null) return [gateError]
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
    ...tails.map(tail => `invalid configuration: ${tail}`),
    ...taintErrors(configuration),
    ...loggingErrors(configuration, kubelet),
    ...tracingErrors(configuration, kubelet),
    ...hiddenMetricsErrors(configuration, kubelet),
    ...operatingSystemErrors(configuration, kubelet, machine),
  ].sort()
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

/** The texts after `invalid configuration: `, in upstream's order. */
function* gatedErrors(c: LoadedConfiguration, kubelet: Kubelet): Iterable<string> {
  const { features, isGateOn: isOn } = kubelet
  yield* quotaErrors(c, kubelet)
  if (c.serverTLSBootstrap && !isOn('RotateKubeletServerCertificate')) {
    yield 'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate'
  }
  if (c.runOnce && features.has('runOnceRefused'))
    yield 'runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set'
  yield* swapErrors(c, kubelet)
  yield* backOffErrors(c, kubelet)
  if (c.enableSystemLogQuery && !isOn('NodeLogQuery')) {
    const option = features.has('logQueryErrorNamesField')
      ? 'enableSystemLogQuery'
      : 'enableSystemLogHandler'
    yield `NodeLogQuery feature gate is required for ${option}`
  }
  if (c.enableSystemLogQuery && !c.enableSystemLogHandler)
    yield 'enableSystemLogHandler is required for enableSystemLogQuery'
  yield* throttlingErrors(c, kubelet)
}

function* quotaErrors(c: LoadedConfiguration, { isGateOn: isOn }: Kubelet): Iterable<string> {
  const quota = c.cpuCFSQuotaPeriod
  const shownQuota = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {${formatDuration(quota)}}`
  if (!isOn('CustomCPUCFSQuotaPeriod')) {
    if (quota !== 100n * millisecond)
      yield `${shownQuota} requires feature gate CustomCPUCFSQuotaPeriod`
  } else {
    if (quota < millisecond || quota > second)
      yield `${shownQuota} must be between 1ms and 1sec, inclusive`
  }
}

function* swapErrors(
  c: LoadedConfiguration,
  { features, isGateOn: isOn }: Kubelet,
): Iterable<string> {
  const { swapBehavior } = c.memorySwap
  if (!isOn('NodeSwap')) {
    if (swapBehavior !== '')
      yield 'memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled'
  } else if (
    !['', 'LimitedSwap', features.has('noSwapBehavior') ? 'NoSwap' : 'UnlimitedSwap'].includes(
      swapBehavior,
    )
  ) {
    const choices = features.has('noSwapBehavior')
      ? '"", "LimitedSwap" or "NoSwap"'
      : '"", "LimitedSwap", or "UnlimitedSwap"'
    yield `memorySwap.swapBehavior ${goQuote(swapBehavior)} must be one of: ${choices}`
  }
}

function* backOffErrors(c: LoadedConfiguration, { isGateOn: isOn }: Kubelet): Iterable<string> {
  const backOff = c.crashLoopBackOff.maxContainerRestartPeriod
  // Defaulting sets a value if the gate is on. A gate that a flag sets is applied after defaulting.
  if (backOff === null && isOn('KubeletCrashLoopBackOffMax')) {
    yield 'FeatureGate KubeletCrashLoopBackOffMax is enabled, CrashLoopBackOff.MaxContainerRestartPeriod must be set'
  } else if (backOff !== null && !isOn('KubeletCrashLoopBackOffMax')) {
    yield 'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set'
  } else if (
    backOff !== null &&
    (backOff / millisecond < 1000n || backOff / millisecond > 300_000n)
  ) {
    yield `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${goFloat(Number(backOff) / 1e9)} seconds) must be set between 1s and 300s`
  }
}

function* throttlingErrors(
  c: LoadedConfiguration,
  { features, isGateOn: isOn }: Kubelet,
): Iterable<string> {
  const factor = c.memoryThrottlingFactor
  if (factor === null) return
  if (
    features.has('memoryThrottlingFactorUnset') &&
    !isOn('MemoryQoS') &&
    factor !== formerThrottlingFactor
  ) {
    yield 'memoryThrottlingFactor must not be set when MemoryQoS feature gate is disabled'
  }
  if (factor <= 0 || factor > 1)
    yield `memoryThrottlingFactor ${goFloat(factor)} must be greater than 0 and less than or equal to 1.0`
}

function* shutdownErrors(c: LoadedConfiguration, kubelet: Kubelet): Iterable<string> {
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical } = c
  const isTooShort = (period: bigint) => period < 0n || (period > 0n && period < second)
  const isSet = total > 0n || critical > 0n
  const hasPriorities = (c.shutdownGracePeriodByPodPriority ?? []).length > 0
  if (kubelet.isGateOn('GracefulNodeShutdown')) {
    if (critical > total)
      yield `shutdownGracePeriodCriticalPods {${formatDuration(critical)}} must be <= shutdownGracePeriod {${formatDuration(total)}}`
    if (isTooShort(total))
      yield `shutdownGracePeriod {${formatDuration(total)}} must be either zero or otherwise >= 1 sec`
    if (isTooShort(critical))
      yield `shutdownGracePeriodCriticalPods {${formatDuration(critical)}} must be either zero or otherwise >= 1 sec`
  } else if (isSet) {
    yield 'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown'
  }
  if (!hasPriorities) return
  if (!kubelet.isGateOn('GracefulNodeShutdownBasedOnPodPriority')) {
    yield 'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority'
  } else if (isSet)
    yield 'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time'
}

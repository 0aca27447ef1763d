/**
 * Whether a kubelet would start with a configuration, and what it would say.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration, validation_linux.go
 * Read at       the last patch of 1.24 to 1.37
 * Kept exactly  every text; errors do not hide each other, but a feature gate that is refused hides all
 * Left out      taints, logging, tracing, hidden metrics, credential verification and Windows; over-reservation, which needs the machine
 */
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import type { RawObject } from '#model/record.ts'
import { choiceErrors } from '#replay/validation/choices.ts'
import { enforcementErrors } from '#replay/validation/enforcement.ts'
import { gatedErrors, shutdownErrors } from '#replay/validation/gated.ts'
import { imageErrors } from '#replay/validation/images.ts'
import { logErrors } from '#replay/validation/logs.ts'
import { numberErrors } from '#replay/validation/numbers.ts'
import { reservationErrors } from '#replay/validation/reservations.ts'
import { type StartupErrors, startupErrors } from '#replay/validation/startup.ts'
import { featureGateError, LoadError, type LoadedConfiguration, LoadPanic, loadConfiguration } from './configuration-file.ts'

export interface ConfigurationVerdict {
  /** Why the file would not load: then nothing else is known. */
  loadError: string | null
  /** Sorted. */
  errors: string[] | null
  startup: StartupErrors | null
}

/** @param raw the file's content. The operating system is Linux. A feature gate that feature-gates.ts does not list counts as unknown to the kubelet, too. */
export function validateKubeletConfiguration(raw: RawObject, kubeletVersion: string | null): ConfigurationVerdict {
  try {
    const configuration = loadConfiguration(raw, kubeletVersion, { operatingSystem: 'linux' })
    const features = featuresOf(kubeletVersion)
    return { loadError: null, errors: validationErrors(configuration, features), startup: startupErrors(configuration, features) }
  } catch (error) {
    if (error instanceof LoadPanic) return { loadError: error.message, errors: null, startup: null }
    if (!(error instanceof LoadError)) throw error
    return { loadError: `failed to load Kubelet config file <file>, error failed to decode: ${error.message}`, errors: null, startup: null }
  }
}

/** Sorted. `cgroupVersion` null: not known, and then not checked. */
export function validationErrors(
  configuration: LoadedConfiguration,
  features: KubeletFeatures,
  cgroupVersion: 1 | 2 | null = null,
): string[] {
  const gateError = featureGateError(configuration.featureGates, features)
  if (gateError !== null) return [gateError]
  const tails = [
    ...numberErrors(configuration),
    ...imageErrors(configuration, features),
    ...gatedErrors(configuration, features),
    ...shutdownErrors(configuration, features),
    ...choiceErrors(configuration),
    ...enforcementErrors(configuration, features),
    ...reservationErrors(configuration),
    ...logErrors(configuration, features),
  ]
  const errors = tails.map(tail => `invalid configuration: ${tail}`)
  if (features.has('failCgroupV1') && configuration.failCgroupV1 === true && cgroupVersion === 1) {
    errors.push('kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is in maintenance mode')
  }
  return errors.sort()
}

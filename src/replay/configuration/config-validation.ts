/**
 * Whether a kubelet would start with a configuration, and its errors if not.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       the last patch of 1.29 to 1.37
 * Kept exactly  every text; errors do not hide each other, but a refused feature gate hides all others
 * Left out      over-reservation, which needs the machine
 */
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
import { gatedErrors, shutdownErrors } from '#replay/configuration/validation/gated.ts'
import { imageErrors, pullCredentialErrors } from '#replay/configuration/validation/images.ts'
import { type StartupErrors, startupErrors } from '#replay/configuration/validation/startup.ts'
import { kubeletOf } from '#replay/kubelet.ts'
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

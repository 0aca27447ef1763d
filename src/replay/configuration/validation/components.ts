/**
 * Structs with a validation of their own. First how the kubelet itself logs.
 *
 * Replays       component-base/logs  api/v1/options.go Validate, validateFormatOptions;
 *               apimachinery/pkg/util/validation/field
 * Read at       1.29 to 1.37; gates for options, for text options since 1.30, a positive flush frequency since 1.35
 * Left out      klog flags, which the JSON format does not honor
 */

import { formatDuration } from '#base/go/duration.ts'
import { goQuote } from '#base/go/go-text.ts'
import { quantityValue } from '#base/go/quantity.ts'
import { type ConfigurationField, type Refusal, refusal } from '#model/kubelet/refusal.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/times.ts'

const greatestVerbosity = 2 ** 31 - 1

/** Yields whole messages. */
export function* loggingErrors(
  { logging }: LoadedConfiguration,
  { features, isGateOn }: Kubelet,
): Iterable<Refusal> {
  const { format, verbosity, flushFrequency, options } = logging
  const vmodule = logging.vmodule ?? []
  const refuse = (message: string) => refusal('logging', message)
  const { nanoseconds, isText } = flushFrequency
  if (features.has('flushFrequencyPositive') && nanoseconds <= 0n) {
    const shown = isText ? goQuote(formatDuration(nanoseconds)) : String(nanoseconds)
    yield refuse(`logging.flushFrequency: Invalid value: ${shown}: Must be greater than zero`)
  }
  if (format !== 'text' && format !== 'json')
    yield refuse(`logging.format: Invalid value: ${goQuote(format)}: Unsupported log format`)
  if (format === 'json' && !isGateOn('LoggingBetaOptions')) {
    yield refuse(
      'logging.format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature',
    )
  }
  const number = (value: number) =>
    features.has('fieldErrorsInDecimal') ? String(value) : `0x${value.toString(16)}`
  const tooVerbose = (path: string, value: number) =>
    refuse(`${path}: Invalid value: ${number(value)}: Must be <= ${greatestVerbosity}`)
  if (verbosity > greatestVerbosity) yield tooVerbose('logging.verbosity', verbosity)
  if (vmodule.length > 0 && format !== 'text')
    yield refuse('logging.vmodule: Forbidden: Only supported for text log format')
  for (const [index, { filePattern, verbosity: own }] of vmodule.entries()) {
    const path = `logging.vmodule[${index}]`
    if (filePattern === '') yield refuse(`${path}: Required value: File pattern must not be empty`)
    if (/[=,]/.test(filePattern)) {
      yield refuse(
        `${path}: Invalid value: ${goQuote(filePattern)}: File pattern must not contain equal sign or comma`,
      )
    }
    if (own > greatestVerbosity) yield tooVerbose(path, own)
  }
  if (isGateOn('LoggingAlphaOptions')) return
  const forbidden = (option: string) =>
    refuse(`logging.options.${option}: Forbidden: Feature LoggingAlphaOptions is disabled`)
  for (const [name, { splitStream, infoBufferSize }] of Object.entries(options)) {
    if (splitStream) yield forbidden(`${name}.splitStream`)
    if (quantityValue(infoBufferSize) !== 0n) yield forbidden(`${name}.infoBufferSize`)
  }
}

/*
 * Tracing, and hidden metrics.
 *
 * Replays       component-base  tracing/api/v1/config.go ValidateTracingConfiguration;  metrics/options.go ValidateShowHiddenMetricsVersion
 * Read at       1.29 to 1.37; traces behind a gate until 1.33
 * Left out      endpoints that only Go's URL parser can decide on: they count as not checked
 */

const million = 1_000_000
const schemes = ['dns', 'unix', 'unix-abstract']

/** Yields whole messages. */
export function* tracingErrors(
  { tracing }: LoadedConfiguration,
  { features, isGateOn }: Kubelet,
): Iterable<Refusal> {
  if (!tracing) return
  const refuse = (message: string) => refusal('tracing', message)
  if (!features.has('tracingUngated') && !isGateOn('KubeletTracing')) {
    yield refuse(
      'invalid configuration: tracing should not be configured if KubeletTracing feature flag is disabled.',
    )
    return
  }
  const { samplingRatePerMillion: rate, endpoint } = tracing
  if (rate !== null && rate < 0)
    yield refuse(
      `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate must be positive`,
    )
  if (rate !== null && rate > million) {
    yield refuse(
      `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate per million must be less than or equal to one million`,
    )
  }
  if (endpoint === null) return
  const url = urlOf(endpoint)
  const scheme = schemeOf(url)
  if (scheme === null || schemes.includes(scheme)) return
  yield refuse(
    `tracing.endpoint: Invalid value: ${goQuote(url)}: unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`,
  )
}

const plainUrl = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?\/\/[\w.-]*(?::\d*)?(?:\/[\w./-]*)?$/

/** The scheme in lower case, empty if there is none. Null: only Go's URL parser can decide. */
function schemeOf(url: string) {
  const matched = plainUrl.exec(url)
  return matched && (matched[1] ?? '').toLowerCase()
}

/** Upstream adds a scheme to an endpoint without one. */
const urlOf = (endpoint: string) => (endpoint.includes('//') ? endpoint : `dns://${endpoint}`)

/** Whether the replay can check the endpoint. */
export const isEndpointChecked = (endpoint: string): boolean => schemeOf(urlOf(endpoint)) !== null

/** Yields whole messages. */
export function* hiddenMetricsErrors(
  { showHiddenMetricsForVersion: shown }: LoadedConfiguration,
  { features }: Kubelet,
): Iterable<Refusal> {
  const previous = `1.${features.rulesOfMinor - 1}`
  if (shown === '' || shown === previous) return
  const message = features.has('hiddenMetricsErrorNamesField')
    ? `invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: ${goQuote(shown)}: must be omitted or have the value '${previous}'; only the previous minor version is allowed`
    : `--show-hidden-metrics-for-version must be omitted or have the value '${previous}'. Only the previous minor version is allowed`
  yield refusal('showHiddenMetricsForVersion', message)
}

/*
 * Checks that depend on the operating system.
 *
 * Replays       pkg/kubelet/apis/config/validation  validation_linux.go, validation_others.go, validation_windows.go validateKubeletOSConfiguration
 * Read at       1.29 to 1.37; until 1.30 Windows refused what it now ignores
 * Kept exactly  the first error ends the check
 */

export interface Machine {
  operatingSystem: 'linux' | 'windows'
  /** Null: not known, so not checked. */
  cgroupVersion: 1 | 2 | null
}

const idsUnit = 65_536
const mostIds = 2 ** 32 - 1

/** Returns whole messages. */
export function operatingSystemErrors(
  c: LoadedConfiguration,
  kubelet: Kubelet,
  { operatingSystem, cgroupVersion }: Machine,
): Refusal[] {
  if (operatingSystem === 'windows') return windowsErrors(c, kubelet)
  const error = linuxError(c, kubelet, cgroupVersion === 1)
  return error ? [error] : []
}

function linuxError(c: LoadedConfiguration, { features }: Kubelet, isCgroupV1: boolean) {
  if (features.has('failCgroupV1') && c.failCgroupV1 === true && isCgroupV1) {
    const support = features.has('cgroupV1Refused')
      ? 'unsupported and will be removed in a future release'
      : 'in maintenance mode'
    return refusal(
      'failCgroupV1',
      `kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is ${support}`,
    )
  }
  if (isCgroupV1 && c.singleProcessOOMKill === false) {
    return refusal(
      'singleProcessOOMKill',
      'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1',
    )
  }
  const ids = c.userNamespaces?.idsPerPod ?? null
  if (ids === null) return null
  const refuse = (why: string) =>
    refusal('userNamespaces', `invalid configuration: userNamespaces.idsPerPod must ${why}`)
  if (ids < idsUnit) return refuse(`not be less than ${idsUnit}`)
  if (ids % idsUnit !== 0) return refuse(`be a multiple of ${idsUnit}`)
  return ids > mostIds ? refuse(`not be more than ${mostIds}`) : null
}

function windowsErrors(c: LoadedConfiguration, { features }: Kubelet) {
  const refuse = (field: ConfigurationField, shown: string = field) =>
    refusal(field, `invalid configuration: ${shown} is not supported on Windows`)
  if (!features.has('windowsIgnoresCgroups')) {
    const enforced = c.enforceNodeAllocatable
    return [
      ...(c.cgroupsPerQOS
        ? [refuse('cgroupsPerQOS', 'CgroupsPerQOS (--cgroups-per-qos) true')]
        : []),
      ...(enforced.length > 0
        ? [
            refuse(
              'enforceNodeAllocatable',
              `EnforceNodeAllocatable (--enforce-node-allocatable) [${enforced.join(' ')}]`,
            ),
          ]
        : []),
    ]
  }
  if (c.singleProcessOOMKill !== null) return [refuse('singleProcessOOMKill')]
  if (c.userNamespaces) return [refuse('userNamespaces')]
  return Object.keys(c.defaultPodSysctls ?? {}).length > 0 ? [refuse('defaultPodSysctls')] : []
}

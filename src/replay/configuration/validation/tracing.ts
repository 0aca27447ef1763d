/**
 * Tracing, and hidden metrics.
 *
 * Replays       component-base  tracing/api/v1/config.go ValidateTracingConfiguration;  metrics/options.go ValidateShowHiddenMetricsVersion
 * Read at       1.29 to 1.37; traces behind a gate until 1.33
 * Left out      endpoints that only Go's URL parser can decide on: they count as not checked
 */
import { goQuote } from '#base/go/go-text.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

const million = 1_000_000
const schemes = ['dns', 'unix', 'unix-abstract']

/** Yields whole texts. */
export function* tracingErrors(
  { tracing }: LoadedConfiguration,
  { features, isGateOn }: Kubelet,
): Iterable<string> {
  if (tracing === null) return
  if (!features.has('tracingUngated') && !isGateOn('KubeletTracing')) {
    yield 'invalid configuration: tracing should not be configured if KubeletTracing feature flag is disabled.'
    return
  }
  const { samplingRatePerMillion: rate, endpoint } = tracing
  if (rate !== null && rate < 0)
    yield `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate must be positive`
  if (rate !== null && rate > million) {
    yield `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate per million must be less than or equal to one million`
  }
  if (endpoint === null) return
  const url = urlOf(endpoint)
  const scheme = schemeOf(url)
  if (scheme === null || schemes.includes(scheme)) return
  yield `tracing.endpoint: Invalid value: ${goQuote(url)}: unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`
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

/** Yields whole texts. */
export function* hiddenMetricsErrors(
  { showHiddenMetricsForVersion: shown }: LoadedConfiguration,
  { features }: Kubelet,
): Iterable<string> {
  const previous = `1.${features.rulesOfMinor - 1}`
  if (shown === '' || shown === previous) return
  yield features.has('hiddenMetricsErrorNamesField')
    ? `invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: ${goQuote(shown)}: must be omitted or have the value '${previous}'; only the previous minor version is allowed`
    : `--show-hidden-metrics-for-version must be omitted or have the value '${previous}'. Only the previous minor version is allowed`
}

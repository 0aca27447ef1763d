/**
 * Traces, and metrics that are hidden.
 *
 * Replays       component-base  tracing/api/v1/config.go ValidateTracingConfiguration;  metrics/options.go ValidateShowHiddenMetricsVersion;
 *               net/url Parse, as far as a misspelt endpoint goes
 * Read at       1.24 to 1.37; traces since 1.25, behind a gate until 1.33
 * Left out      other endpoints that are no URL
 */
import { goQuote } from '#model/go-text.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

const million = 1_000_000
const schemes = ['dns', 'unix', 'unix-abstract']

/** The whole texts. */
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
  const url = endpoint.includes('//') ? endpoint : `dns://${endpoint}`
  const why = endpointError(url)
  if (why !== null) yield `tracing.endpoint: Invalid value: ${goQuote(url)}: ${why}`
}

const urlForm = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*)$/s

function endpointError(url: string): string | null {
  const [, scheme = '', rest = ''] = urlForm.exec(url) ?? []
  const malformed = (why: string) => `parse ${goQuote(url)}: ${why}`
  if (scheme === '' && url.startsWith(':')) return malformed('missing protocol scheme')
  if (scheme === '' && !url.startsWith('/') && url.split('/', 1)[0]?.includes(':')) {
    return malformed('first path segment in URL cannot contain colon')
  }
  const [, authority = '', path = ''] = /^\/\/([^/?#]*)([^?#]*)/.exec(rest) ?? []
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const portAt = host.indexOf(':', host.lastIndexOf(']') + 1)
  const hasBracketBefore = host.slice(0, Math.max(portAt, 0)).includes('[')
  const port = portAt < 0 || hasBracketBefore ? undefined : host.slice(portAt)
  // A host may escape only what is no ASCII.
  const [misescaped] =
    /%(?![89A-Fa-f][0-9A-Fa-f]).{0,2}/.exec(host) ?? /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(path) ?? []
  if (misescaped !== undefined) return malformed(`invalid URL escape ${goQuote(misescaped)}`)
  const [wrong] = /[\s\\^`{|}]/.exec(host) ?? []
  if (wrong !== undefined) return malformed(`invalid character ${goQuote(wrong)} in host name`)
  if (port !== undefined && !/^:\d*$/.test(port))
    return malformed(`invalid port ${goQuote(port.slice(port.lastIndexOf(':')))} after host`)
  if (schemes.includes(scheme.toLowerCase())) return null
  return `unsupported scheme: ${scheme.toLowerCase()}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`
}

/** The whole texts. */
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

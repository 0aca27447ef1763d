/**
 * How the kubelet itself logs.
 *
 * Replays       component-base/logs  api/v1/options.go Validate, validateFormatOptions;
 *               apimachinery/pkg/util/validation/field
 * Read at       1.29 to 1.37; gates for options, for text options since 1.30, a positive flush frequency since 1.35
 * Left out      klog flags, which the JSON format does not honor
 */
import { formatDuration } from '#base/go/duration.ts'
import { goQuote } from '#base/go/go-text.ts'
import { quantityValue } from '#base/go/quantity.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

const greatestVerbosity = 2 ** 31 - 1

/** Yields whole texts. */
export function* loggingErrors(
  { logging }: LoadedConfiguration,
  { features, isGateOn }: Kubelet,
): Iterable<string> {
  const { format, verbosity, flushFrequency, options } = logging
  const vmodule = logging.vmodule ?? []
  const { nanoseconds, isText } = flushFrequency
  if (features.has('flushFrequencyPositive') && nanoseconds <= 0n) {
    const shown = isText ? goQuote(formatDuration(nanoseconds)) : String(nanoseconds)
    yield `logging.flushFrequency: Invalid value: ${shown}: Must be greater than zero`
  }
  if (format !== 'text' && format !== 'json')
    yield `logging.format: Invalid value: ${goQuote(format)}: Unsupported log format`
  if (format === 'json' && !isGateOn('LoggingBetaOptions')) {
    yield 'logging.format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature'
  }
  const number = (value: number) =>
    features.has('fieldErrorsInDecimal') ? String(value) : `0x${value.toString(16)}`
  const tooVerbose = (path: string, value: number) =>
    `${path}: Invalid value: ${number(value)}: Must be <= ${greatestVerbosity}`
  if (verbosity > greatestVerbosity) yield tooVerbose('logging.verbosity', verbosity)
  if (vmodule.length > 0 && format !== 'text')
    yield 'logging.vmodule: Forbidden: Only supported for text log format'
  for (const [index, { filePattern, verbosity: own }] of vmodule.entries()) {
    const path = `logging.vmodule[${index}]`
    if (filePattern === '') yield `${path}: Required value: File pattern must not be empty`
    if (/[=,]/.test(filePattern)) {
      yield `${path}: Invalid value: ${goQuote(filePattern)}: File pattern must not contain equal sign or comma`
    }
    if (own > greatestVerbosity) yield tooVerbose(path, own)
  }
  if (isGateOn('LoggingAlphaOptions')) return
  for (const [name, { splitStream, infoBufferSize }] of Object.entries(options)) {
    if (splitStream)
      yield `logging.options.${name}.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled`
    if (quantityValue(infoBufferSize) !== 0n) {
      yield `logging.options.${name}.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled`
    }
  }
}

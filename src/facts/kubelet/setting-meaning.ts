/** Compares kubelet settings by meaning: `1Gi` equals `1024Mi`, `5m0s` equals `300s`, the order of a set does not matter. */
import { parseDuration } from '#base/go/duration.ts'
import { parseQuantity } from '#base/go/quantity.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Comparison } from '#model/kubelet/fields.ts'
import { gateState } from './feature-gates.ts'
import { featuresOf } from './features.ts'
import { type FieldComparison, fieldComparisons } from './fields.ts'

export const isMap = (kind: Comparison): boolean =>
  kind === 'durations' || kind === 'quantities' || kind === 'gates'

export const comparisonOf = (path: string): FieldComparison | undefined =>
  fieldComparisons.get(fieldOf(path) as keyof KubeletConfiguration)

/** Returns the field of a path: `evictionHard` for `evictionHard.nodefs.available`. */
export const fieldOf = (path: string): string => path.split('.', 1)[0] ?? ''

export const dependsOnSize = (path: string): boolean => comparisonOf(path)?.dependsOnSize === true

/** A text that is equal for values of one path with the same meaning. @param kubeletVersion for the default of feature gates; null: gates are compared as written */
export const meaningOf = (
  path: string,
  value: unknown,
  kubeletVersion: string | null = null,
): string => canonicalValue(comparisonOf(path)?.kind ?? 'plain', value, path, kubeletVersion)

export const isCompared = (path: string): boolean => comparisonOf(path) !== undefined

/** A longer text is no number that a user would set. */
const longestNumber = 100
const longestText = 400

/** The same as `meaningOf`. An empty value counts as unset. */
export function canonicalValue(
  kind: Comparison,
  value: unknown,
  path: string,
  kubeletVersion: string | null,
): string {
  if (value === undefined || value === null || value === '') return ''
  if (Array.isArray(value)) return JSON.stringify([...new Set(value.map(String))].toSorted())
  // Any negative number becomes -1, no limit. Upstream: SetDefaults_KubeletConfiguration.
  if (path === 'podPidsLimit' && Number(value) < 0) return '-1'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (text.length > longestNumber) return text.slice(0, longestText)
  try {
    if (kind === 'duration' || kind === 'durations') return String(parseDuration(text))
    if (kind === 'gates') return isGateDefault(path, value, kubeletVersion) ? '' : text
    if (kind === 'quantities') return isNothing(path, text) ? '' : canonicalAmount(text)
    return kind === 'quantity' ? canonicalAmount(text) : text
  } catch {
    // The kubelet could not parse the value, so it is compared as text.
    return text
  }
}

function isGateDefault(path: string, value: unknown, kubeletVersion: string | null) {
  const state =
    kubeletVersion === null
      ? null
      : gateState(path.slice(path.indexOf('.') + 1), featuresOf(kubeletVersion))
  return state !== null && state.isOn === value
}

/**
 * Whether the value means the same as none: a reservation or minimum reclaim of 0, or a threshold that is never met or that the kubelet drops.
 * Upstream: pkg/kubelet/eviction/helpers.go parseThresholdStatement. @throws QuantityError
 */
function isNothing(path: string, text: string) {
  const amount = canonicalAmount(text)
  return (
    amount === '0' || amount === '0%' || (text === '100%' && /^eviction(Hard|Soft)\./.test(path))
  )
}

/** A percentage or a quantity, independent of how it is written. @throws QuantityError */
function canonicalAmount(text: string) {
  const percentage = /^(\d+(?:\.\d*)?)%$/.exec(text)?.[1]
  if (percentage !== undefined) return `${Number(percentage)}%`
  const { unscaled, exponent } = parseQuantity(text)
  const zeros = /(?<!0)0+$/.exec(String(unscaled))?.[0].length ?? 0
  return unscaled === 0n
    ? '0'
    : `${String(unscaled).slice(0, -zeros || undefined)}e${exponent + zeros}`
}

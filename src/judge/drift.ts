/** Two configurations compared by what they mean: `1Gi` is `1024Mi`, `5m0s` is `300s`, an absent field is its default, the order of maps says nothing. */
import { amiDefaults } from '#facts/eks/ami-defaults.ts'
import { configurationDefaults } from '#facts/kubelet/configuration-defaults.ts'
import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { parseDuration } from '#model/duration.ts'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import { parseQuantity } from '#model/quantity.ts'
import { bounded, byText } from './text.ts'

type Field = keyof KubeletConfiguration
type Kind = 'plain' | 'duration' | 'quantity' | 'set' | 'durations' | 'quantities'

interface Comparison {
  kind: Kind
  /** Legitimately differs between instance types, so only equal ones are compared; and no default is known. */
  dependsOnSize?: true
}

/** GC, eviction, log and reservation fields. */
const compared: Partial<Record<Field, Comparison>> = {
  imageMinimumGCAge: { kind: 'duration' },
  imageMaximumGCAge: { kind: 'duration' },
  imageGCHighThresholdPercent: { kind: 'plain' },
  imageGCLowThresholdPercent: { kind: 'plain' },
  evictionHard: { kind: 'quantities' },
  evictionSoft: { kind: 'quantities' },
  evictionSoftGracePeriod: { kind: 'durations' },
  evictionMinimumReclaim: { kind: 'quantities' },
  evictionPressureTransitionPeriod: { kind: 'duration' },
  evictionMaxPodGracePeriod: { kind: 'plain' },
  mergeDefaultEvictionSettings: { kind: 'plain' },
  containerLogMaxSize: { kind: 'quantity' },
  containerLogMaxFiles: { kind: 'plain' },
  containerLogMaxWorkers: { kind: 'plain' },
  containerLogMonitorInterval: { kind: 'duration' },
  kubeReserved: { kind: 'quantities', dependsOnSize: true },
  systemReserved: { kind: 'quantities', dependsOnSize: true },
  kubeReservedCgroup: { kind: 'plain' },
  systemReservedCgroup: { kind: 'plain' },
  reservedSystemCPUs: { kind: 'plain', dependsOnSize: true },
  enforceNodeAllocatable: { kind: 'set' },
  maxPods: { kind: 'plain', dependsOnSize: true },
  podsPerCore: { kind: 'plain', dependsOnSize: true },
}

export interface FieldValue {
  /** Equal for values that mean the same. */
  canonical: string
  /** As configured. */
  shown: string
  isDefault: boolean
  /** How far from the default, both being numbers of one unit; null where that cannot be said. */
  fromDefault: number | null
}

/** What an absent key of a map is. */
export const absentValue = (path: string): FieldValue => ({
  canonical: '',
  shown: 'none',
  isDefault: !dependsOnSize(path),
  fromDefault: null,
})

export const dependsOnSize = (path: string): boolean => compared[path.split('.', 1)[0] as Field]?.dependsOnSize === true

/** Every compared field by its path, keys of maps each by its own: `evictionHard.nodefs.available`. */
export function fieldValues(
  configuration: KubeletConfiguration,
  identity: Pick<NodeIdentity, 'amiFamily' | 'kubeletVersion' | 'operatingSystem'>,
) {
  const defaults: KubeletConfiguration = {
    ...configurationDefaults,
    evictionHard: evictionHardDefaults(identity.kubeletVersion, identity.operatingSystem),
    ...amiDefaults(identity.amiFamily),
  }
  const values: Record<string, FieldValue> = {}
  for (const [field, { kind }] of Object.entries(compared) as [Field, Comparison][]) {
    if (kind === 'durations' || kind === 'quantities') addMap(values, field, kind, asMap(configuration[field]), asMap(defaults[field]))
    else {
      // The kubelet fills what is absent from its own defaults, whatever the image would have written.
      values[field] = fieldValue(kind, configuration[field] ?? configurationDefaults[field], defaults[field], dependsOnSize(field))
    }
  }
  return values
}

function addMap(
  values: Record<string, FieldValue>,
  field: Field,
  kind: Kind,
  map: Record<string, string>,
  defaults: Record<string, string>,
): void {
  for (const key of new Set([...Object.keys(map), ...Object.keys(defaults)]))
    values[`${field}.${bounded(key, 100)}`] = fieldValue(kind, map[key], defaults[key], dependsOnSize(field))
}

function fieldValue(kind: Kind, value: unknown, preset: unknown, isSizeDependent: boolean): FieldValue {
  const canonical = canonicalValue(kind, value)
  const canonicalPreset = canonicalValue(kind, preset)
  return {
    canonical,
    shown: value === undefined ? 'none' : bounded(shownValue(value), 100),
    isDefault: !isSizeDependent && canonical === canonicalPreset,
    fromDefault: isSizeDependent ? null : distance(canonical, canonicalPreset),
  }
}

const shownValue = (value: unknown) => (Array.isArray(value) ? `[${value.join(', ')}]` : value === '' ? 'none' : String(value))

/** Longer texts are no number that anybody set. */
const longestNumber = 100

function canonicalValue(kind: Kind, value: unknown): string {
  if (value === undefined || value === '') return ''
  if (Array.isArray(value)) return JSON.stringify([...new Set(value.map(String))].toSorted(byText))
  const text = String(value)
  if (text.length > longestNumber) return bounded(text)
  try {
    if (kind === 'duration' || kind === 'durations') return String(parseDuration(text))
    return kind === 'quantity' || kind === 'quantities' ? canonicalAmount(text) : text
  } catch {
    // What the kubelet would not read either is compared as it is written.
    return text
  }
}

/** A percentage, or a quantity without what its form adds. @throws QuantityError */
function canonicalAmount(text: string): string {
  const percentage = /^(\d+(?:\.\d*)?)%$/.exec(text)?.[1]
  if (percentage !== undefined) return `${Number(percentage)}%`
  const { unscaled, exponent } = parseQuantity(text)
  const zeros = /0*$/.exec(String(unscaled))?.[0].length ?? 0
  return unscaled === 0n ? '0' : `${String(unscaled).slice(0, -zeros || undefined)}e${exponent + zeros}`
}

function distance(a: string, b: string): number | null {
  if (a === '' || b === '' || a.endsWith('%') !== b.endsWith('%')) return null
  const found = Math.abs(Number(a.replace('%', '')) - Number(b.replace('%', '')))
  return Number.isFinite(found) ? found : null
}

const asMap = (value: unknown): Record<string, string> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, string>) : {}

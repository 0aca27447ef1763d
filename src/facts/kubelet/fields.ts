/** Derived from the table of KubeletConfiguration fields (`model/kubelet/fields.ts`): defaults, flags, plannable fields. */

import { parseDuration } from '#base/go/duration.ts'
import { parseQuantity } from '#base/go/quantity.ts'
import { textOfValue } from '#base/raw-object.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import {
  type Comparison,
  configurationFields,
  configurationStructs,
  type KubeletField,
} from '#model/kubelet/fields.ts'
import { type Gate, gateState } from './feature-gates.ts'
import { featuresOf, type KubeletFeatures } from './features.ts'

/** A field of the table. Its gate is one that the kubelet knows. */
export interface FieldFacts extends KubeletField {
  gate?: Gate
}

export const isKnownField = (
  { since = 0 }: FieldFacts,
  { rulesOfMinor }: KubeletFeatures,
): boolean => since <= rulesOfMinor

export function fieldDefault(
  { default: single, defaults }: FieldFacts,
  { rulesOfMinor }: KubeletFeatures,
): unknown {
  const byMinor = Object.entries(defaults ?? {}).findLast(
    ([minor], index) => index === 0 || Number(minor) <= rulesOfMinor,
  )?.[1]
  return byMinor === undefined ? single : byMinor
}

/** Go's zero values of types that are no pointers. `configz` shows no empty lists and maps. */
const zeros: Readonly<Record<string, unknown>> = {
  bool: false,
  int32: 0,
  int64: 0,
  string: '',
  Duration: '0s',
}

type AlwaysDefaulted = Pick<
  KubeletConfiguration,
  | 'imageGCHighThresholdPercent'
  | 'imageGCLowThresholdPercent'
  | 'evictionPressureTransitionPeriod'
  | 'evictionMaxPodGracePeriod'
>

const comparedFields = Object.entries(configurationFields).flatMap(([name, field]) =>
  field.compare === undefined ? [] : [{ ...field, name, compare: field.compare }],
)

/**
 * Values that `configz` shows for unset fields that are compared; the same in all supported minors that know the field. Defaults of eviction maps
 * depend on the version (`evictionHardDefaults`).
 */
export const configurationDefaults: KubeletConfiguration & Required<AlwaysDefaulted> =
  Object.fromEntries(
    comparedFields
      .map(field => [field.name, field.default ?? zeros[field.type]] as const)
      .filter(([, value]) => value !== undefined),
  ) as KubeletConfiguration & Required<AlwaysDefaulted>

export interface FieldComparison {
  kind: Comparison
  dependsOnSize: boolean
}

/** The fields that control GC, eviction, logs, reservations and pulls, and how their values are compared. */
export const fieldComparisons: ReadonlyMap<keyof KubeletConfiguration, FieldComparison> = new Map(
  comparedFields.map(field => [
    field.name as keyof KubeletConfiguration,
    { kind: field.compare, dependsOnSize: field.dependsOnSize === true },
  ]),
)

export interface FlagFacts {
  field: string
  form?: KubeletField['flagForm']
}

/** `cpuCFSQuota` becomes `cpu-cfs-quota`. */
const kebabCase = (name: string) =>
  name.replace(/([A-Z])(?=[A-Z][a-z])|([a-z0-9])(?=[A-Z])/g, '$1$2-').toLowerCase()

/** Kubelet flags that set a field. Left out: manifest-url-header, register-with-taints, reserved-memory, vmodule. */
export const configurationFlags: Readonly<Record<string, FlagFacts>> = Object.fromEntries(
  flagsBelow(configurationFields, ''),
)

function flagsBelow(
  fields: Readonly<Record<string, KubeletField>>,
  parent: string,
): [flag: string, FlagFacts][] {
  const structs: Readonly<Record<string, Readonly<Record<string, KubeletField>>>> =
    configurationStructs
  return Object.entries(fields).flatMap(([name, { type, flag, flagForm }]) => {
    const path = `${parent}${name}`
    const flagName = flag === true ? kebabCase(name) : flag
    const own: [string, FlagFacts][] =
      flagName === undefined
        ? []
        : [[flagName, { field: path, ...(flagForm && { form: flagForm }) }]]
    const struct = Object.hasOwn(structs, type) ? structs[type] : undefined
    return struct ? [...own, ...flagsBelow(struct, `${path}.`)] : own
  })
}

/** Why the fields of a group can be changed while pods run. */
const planReasons = {
  imageGC: 'decides when unused images go; no running container loses anything',
  eviction: 'decides when pods are evicted; replayed on what is there before it is written',
  logs: 'the kubelet rotates by it from its next look at the files',
  reservations:
    'moves what pods may use; pods are admitted anew by it at the restart, which is checked before',
} as const

/**
 * KubeletConfiguration fields that a plan may change, with the reason. A plan writes no other field. Left out on purpose:
 * enforceNodeAllocatable and the reserved cgroups (a wrong name keeps the kubelet from starting, a right one may kill daemons),
 * reservedSystemCPUs and the managers' policies (their state files stop the next start), maxPods, gates, paths, and all security settings.
 */
export const plannableFields: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(configurationFields).flatMap(([name, { plannable }]) =>
    plannable === undefined ? [] : [[name, planReasons[plannable]]],
  ),
)

export const isPlannable = (field: string): boolean => Object.hasOwn(plannableFields, field)

/** Fields that change node allocatable. Upstream: pkg/kubelet/cm/node_container_manager_linux.go getNodeAllocatableAbsolute, hardEvictionReservation */
export const allocatableFields: ReadonlySet<string> = new Set([
  'evictionHard',
  'kubeReserved',
  'systemReserved',
  'mergeDefaultEvictionSettings',
])

/* Compares kubelet settings by meaning: `1Gi` equals `1024Mi`, `5m0s` equals `300s`, the order of a set does not matter. */

export const isMapComparison = (kind: Comparison): boolean =>
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

/** Whether drift and checks after a change compare this field. Other fields have no meaning by which two values are equal. */
export const isComparedField = (path: string): boolean => comparisonOf(path) !== undefined

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
  if (Array.isArray(value)) return JSON.stringify([...new Set(value.map(textOfValue))].toSorted())
  // Any negative number becomes -1, no limit. Upstream: SetDefaults_KubeletConfiguration.
  if (path === 'podPidsLimit' && Number(textOfValue(value)) < 0) return '-1'
  const text = textOfValue(value)
  if (text.length > longestNumber) return text.slice(0, longestText)
  try {
    if (kind === 'duration' || kind === 'durations') return String(parseDuration(text))
    if (kind === 'gates') return isGateDefault(path, value, kubeletVersion) ? '' : text
    if (kind === 'quantities') return meansUnset(path, text) ? '' : canonicalAmount(text)
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
function meansUnset(path: string, text: string) {
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

/*
 * The default hard eviction thresholds of a kubelet whose configuration file has no `evictionHard`. If the file sets
 * one signal, the others have no default, unless `mergeDefaultEvictionSettings` is true. Soft thresholds and `pid.available` have no default.
 *
 * Source  pkg/kubelet/eviction/defaults_linux.go, defaults_others.go DefaultEvictionHard;  cmd/kubelet/app/server.go loadConfigFile
 */

/** `evictionHard` by signal, with thresholds as text. An unknown version counts as the newest. */
export function evictionHardDefaults(
  kubeletVersion: string | null,
  operatingSystem: 'linux' | 'windows',
): Record<string, string> {
  const features = featuresOf(kubeletVersion)
  if (operatingSystem === 'windows') {
    return {
      'memory.available': features.has('windowsMemoryDefault500Mi') ? '500Mi' : '100Mi',
      'nodefs.available': '10%',
      'imagefs.available': '15%',
    }
  }
  return {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    ...(features.has('imagefsInodesDefault') ? { 'imagefs.inodesFree': '5%' } : {}),
  }
}

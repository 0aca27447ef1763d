/** Derived from the table of KubeletConfiguration fields (`model/kubelet/fields.ts`): defaults, flags, plannable fields. */

import { parseDuration } from '#base/go/duration.ts'
import { parseQuantity } from '#base/go/quantity.ts'
import { isRawObject, type RawObject, textOfValue } from '#base/raw-object.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import {
  type Comparison,
  configurationFields,
  configurationStructs,
  type KubeletField,
  type StructName,
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

/* Looks up fields of model/kubelet/fields.ts to read, default, merge and show a KubeletConfiguration. */

/**
 * `file`: read by sigs.k8s.io/json. The other forms are drop-ins after merging, read by encoding/json. `versioned` has the names of v1beta1;
 * `internal` also has the fields of the kubelet's own struct, which are printed by their Go names and so read first.
 */
export type ConfigurationForm = 'file' | 'versioned' | 'internal'

export const isStruct = (type: string): type is StructName =>
  Object.hasOwn(configurationStructs, type)

export const fieldsOf = (struct: StructName): Readonly<Record<string, FieldFacts>> =>
  configurationStructs[struct]

const fieldLists = Object.fromEntries(
  Object.entries(configurationStructs).map(([struct, fields]) => [struct, Object.entries(fields)]),
) as unknown as Record<StructName, [name: string, facts: FieldFacts][]>

export const fieldListOf = (struct: StructName): readonly [name: string, facts: FieldFacts][] =>
  fieldLists[struct]

const longestName = 80

/** The name that was probably meant: it differs only in case, or is the single nearest by edit distance. Null: none. */
export function nearestName(written: string, names: readonly string[]): string | null {
  if (written.length > longestName) return null
  const lower = written.toLowerCase()
  const inOtherCase = names.find(name => name.toLowerCase() === lower)
  if (inOtherCase !== undefined) return inOtherCase
  const mostOf = ({ length }: string) => (length < 8 ? 1 : Math.ceil(length * 0.3))
  const ranked = names
    // No distance is less than the difference in length.
    .filter(name => Math.abs(name.length - lower.length) <= mostOf(name))
    .map(name => ({ name, distance: editDistance(lower, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= mostOf(name))
    .toSorted((a, b) => a.distance - b.distance)
  const [first, second] = ranked
  return first && first.distance !== second?.distance ? first.name : null
}

/** Number of letters to delete, insert or change. */
function editDistance(a: string, b: string) {
  const row = Uint8Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i++) {
    let before = i
    row[0] = i + 1
    for (let j = 0; j < b.length; j++) {
      const above = row[j + 1]!
      row[j + 1] = Math.min(before + (a[i] === b[j] ? 0 : 1), above + 1, row[j]! + 1)
      before = above
    }
  }
  return row[b.length]!
}

/** The meaning of a top-level key of a KubeletConfiguration. */
export interface KeyMeaning {
  /** The field that the key sets, or was meant to set; null: no field is similar. */
  field: string | null
  /** Why this kubelet silently ignores the key; null: it reads it. */
  ignored: 'misspelt' | 'case' | 'minor' | 'unknown' | null
}

/** Upstream: mergeKubeletConfigurations. */
export const dropInForm = (features: KubeletFeatures): ConfigurationForm =>
  features.has('dropInsDefaultedAgain') ? 'versioned' : 'internal'

/** In a merged form a name in another case is decoded, too, but it wins only if it is printed after the kubelet's own name. */
export function meaningOfKey(
  key: string,
  features: KubeletFeatures,
  form: ConfigurationForm = 'file',
): KeyMeaning {
  const fields = fieldsOf('KubeletConfiguration')
  const facts = Object.hasOwn(fields, key) ? fields[key] : undefined
  if (facts) return { field: key, ignored: isKnownField(facts, features) ? null : 'minor' }
  const field = nearestName(key, Object.keys(fields))
  if (field === null) return { field, ignored: 'unknown' }
  if (field.toLowerCase() !== key.toLowerCase()) return { field, ignored: 'misspelt' }
  if (form === 'file') return { field, ignored: 'case' }
  const printed = form === 'internal' ? goFieldName(field, 'KubeletConfiguration') : field
  if (key < printed) return { field, ignored: 'case' }
  const meant = fields[field]
  return { field, ignored: meant && isKnownField(meant, features) ? null : 'minor' }
}

/** The rest of a type after the prefix; null: the type does not begin with it. */
export function elementOf(type: string, prefix: '*' | '[]' | 'map[string]'): string | null {
  return type.startsWith(prefix) ? type.slice(prefix.length) : null
}

const packages: Readonly<Record<string, string>> = {
  FormatOptions: 'v1.',
  JSONOptions: 'v1.',
  LoggingConfiguration: 'v1.',
  Taint: 'v1.',
  TaintEffect: 'v1.',
  TextOptions: 'v1.',
  TracingConfiguration: 'v1.',
  VModuleConfiguration: 'v1.',
  VModuleItem: 'v1.',
  VerbosityLevel: 'v1.',
}
const goNames: Readonly<Record<string, string>> = { 'map[string]Quantity': 'v1.ResourceList' }
const basicTypes = ['bool', 'string', 'int32', 'int64', 'float64']

/** The type's name in Go's errors. */
export function goTypeName(type: string, form: ConfigurationForm): string {
  for (const prefix of ['[]', 'map[string]'] as const) {
    const element = elementOf(type, prefix)
    if (element !== null && type === '[]VModuleItem')
      return goTypeName('VModuleConfiguration', form)
    if (element !== null) return goNames[type] ?? `${prefix}${goTypeName(element, form)}`
  }
  if (basicTypes.includes(type) || type.startsWith('time.')) return type
  return `${packages[type] ?? (form === 'internal' ? 'config.' : 'v1beta1.')}${type}`
}

/** The name in the kubelet's own struct. Other packages keep the names of v1beta1. */
export function goFieldName(name: string, struct: StructName): string {
  if (packages[struct] !== undefined) return name
  if (name === 'resolvConf') return 'ResolverConfig'
  return name.startsWith('iptables')
    ? `IPTables${name.slice(8)}`
    : name.replace(/^(cpu|http|oom|qos|tls)(?=[A-Z])|^./, found => found.toUpperCase())
}

/** Combines two values of one field, as encoding/json decodes a later value into an earlier one. */
export function combineValues(before: unknown, after: unknown, type: string): unknown {
  if (before === undefined || before === null) return after
  const target = elementOf(type, '*')
  if (target !== null) return combineValues(before, after, target)
  if (elementOf(type, 'map[string]') !== null)
    return isRawObject(before) && isRawObject(after) ? { ...before, ...after } : after
  const item = elementOf(type, '[]')
  if (item !== null) {
    const items = Array.isArray(before) ? before : []
    return isStruct(item) && Array.isArray(after)
      ? after.map((one, index) => combineValues(items[index], one, item))
      : after
  }
  return isStruct(type) && isRawObject(before) && isRawObject(after)
    ? combinedFields(before, after, type)
    : after
}

export function combinedFields(before: RawObject, after: RawObject, struct: StructName): RawObject {
  const merged: RawObject = { ...before }
  for (const [name, { type }] of Object.entries(fieldsOf(struct))) {
    if (after[name] !== undefined) merged[name] = combineValues(before[name], after[name], type)
  }
  return merged
}

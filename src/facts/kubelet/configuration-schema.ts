/** Looks up fields of model/kubelet/fields.ts to read, default, merge and show a KubeletConfiguration. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { configurationStructs, type StructName } from '#model/kubelet/fields.ts'
import type { KubeletFeatures } from './features.ts'
import { type FieldFacts, isKnownField } from './fields.ts'

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

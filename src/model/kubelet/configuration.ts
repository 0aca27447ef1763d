import { isRawObject } from '#base/raw-object.ts'
import { configurationFields, type configurationStructs } from './fields.ts'

export type StringMap = Record<string, string>

type Fields = (typeof configurationStructs)['KubeletConfiguration']

/** TypeScript type of a Go type's JSON. Durations and quantities are strings. */
type JsonOf<GoType extends string> = GoType extends `*${infer Target}`
  ? JsonOf<Target>
  : GoType extends `[]${infer Item}`
    ? JsonOf<Item>[]
    : GoType extends `map[string]${infer Entry}`
      ? Record<string, JsonOf<Entry>>
      : GoType extends 'bool'
        ? boolean
        : GoType extends 'int32' | 'int64' | 'float64'
          ? number
          : string

/** Fields that rules and replays read. */
type ReadField = {
  [Name in keyof Fields]: Fields[Name] extends { compare: string } | { isRead: true } ? Name : never
}[keyof Fields]

/**
 * The part of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) that rules and replays read. Names, types and units are upstream's:
 * durations are Go strings, thresholds and reservations are strings as written. An absent field was absent in `configz`.
 */
export type KubeletConfiguration = { -readonly [Name in ReadField]?: JsonOf<Fields[Name]['type']> }

type Kind = 'string' | 'number' | 'boolean' | 'map' | 'gates' | 'list'

const kindsByType: Readonly<Record<string, Kind>> = {
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  float64: 'number',
  '[]string': 'list',
  'map[string]string': 'map',
  'map[string]bool': 'gates',
}

const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(
  Object.entries(configurationFields)
    .filter(([, { compare, isRead }]) => compare !== undefined || isRead === true)
    .map(([name, { type }]) => [name, kindsByType[type.replace('*', '')] ?? 'string']),
)

const kindOfFields = Object.entries(kinds)

const has: Record<Kind, (value: unknown) => boolean> = {
  string: value => typeof value === 'string',
  number: value => typeof value === 'number' && Number.isFinite(value),
  boolean: value => typeof value === 'boolean',
  map: value =>
    isRawObject(value) && Object.values(value).every(entry => typeof entry === 'string'),
  gates: value =>
    isRawObject(value) && Object.values(value).every(entry => typeof entry === 'boolean'),
  list: value => Array.isArray(value) && value.every(entry => typeof entry === 'string'),
}

/** Whether `KubeletConfiguration` above has the field. */
export const isReadField = (name: string): name is keyof KubeletConfiguration =>
  Object.hasOwn(kinds, name)

/** A KubeletConfiguration: read from `/configz`, or computed from files, flags and changes. */
export interface RunningConfiguration {
  /** Fields of the right type. Feature gates keep only entries that are true or false. */
  fields: KubeletConfiguration
  /** Fields of a wrong type, for people. If there is one, the configuration counts as unknown. */
  mistakes: readonly string[]
  /** All fields as printed: plans change them, and validation reads them. Null: the answer has none. */
  printed: Record<string, unknown> | null
}

/** The body of `/configz`, `{"kubeletconfig":{…}}`. */
export function parseConfigz(body: unknown): RunningConfiguration {
  const printed = isRawObject(body) ? body.kubeletconfig : undefined
  return isRawObject(printed)
    ? readConfiguration(printed)
    : { fields: {}, mistakes: ['no "kubeletconfig" object in the answer'], printed: null }
}

/** Reads a KubeletConfiguration in its versioned JSON. A null value counts as absent, as in upstream's decoder. */
export function readConfiguration(printed: Record<string, unknown>): RunningConfiguration {
  const fields: Record<string, unknown> = {}
  const mistakes: string[] = []
  for (const [field, kind] of kindOfFields) {
    const value = printed[field]
    if (value === undefined || value === null) continue
    if (has[kind](value)) fields[field] = value
    else {
      mistakes.push(`${field} is not a ${kind}`)
      if (kind === 'gates' && isRawObject(value)) fields[field] = switchesIn(value)
    }
  }
  return { fields, mistakes, printed }
}

const switchesIn = (gates: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(gates).filter(([, isOn]) => typeof isOn === 'boolean'))

/** The mistakes as one text; null: the configuration has none. */
export const mistakeOf = ({ mistakes }: RunningConfiguration): string | null =>
  mistakes.length === 0 ? null : `configz: ${mistakes.join(', ')}`

/**
 * Fields that every kubelet prints even if they are not set: durations that are not pointers.
 * Source: k8s.io/kubelet/config/v1beta1 types.go
 */
const alwaysPrinted = [
  'evictionPressureTransitionPeriod',
  'imageMinimumGCAge',
  'nodeStatusUpdateFrequency',
] as const

/**
 * Checks that a real kubelet can have given this answer: complete and without mistakes. A snapshot made by hand might have only a part.
 * @throws Error that names the fields
 */
export function checkAnsweredConfigz(body: unknown) {
  const read = parseConfigz(body)
  const mistake = mistakeOf(read)
  if (mistake !== null) throw new Error(mistake)
  const missing = alwaysPrinted.filter(field => read.fields[field] === undefined)
  if (missing.length === 0) return
  throw new Error(
    `configz: no kubelet printed this: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing, which every one prints`,
  )
}

import { configurationFields, type configurationStructs } from './kubelet-fields.ts'

export type StringMap = Record<string, string>

type Fields = (typeof configurationStructs)['KubeletConfiguration']

/** The JSON value of a Go type. Durations, quantities and words are texts. */
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const has: Record<Kind, (value: unknown) => boolean> = {
  string: value => typeof value === 'string',
  number: value => typeof value === 'number' && Number.isFinite(value),
  boolean: value => typeof value === 'boolean',
  map: value => isObject(value) && Object.values(value).every(entry => typeof entry === 'string'),
  gates: value =>
    isObject(value) && Object.values(value).every(entry => typeof entry === 'boolean'),
  list: value => Array.isArray(value) && value.every(entry => typeof entry === 'string'),
}

/** Whether `KubeletConfiguration` above has the field. */
export const isReadField = (name: string): name is keyof KubeletConfiguration =>
  Object.hasOwn(kinds, name)

/**
 * The body of `/configz`, `{"kubeletconfig":{…}}`, cut to the fields above.
 * @throws Error with the paths when the body is no configz or fields have other types than upstream's.
 */
export function parseConfigz(body: unknown): KubeletConfiguration {
  const raw = isObject(body) ? body.kubeletconfig : undefined
  if (!isObject(raw)) throw new Error('configz: no "kubeletconfig" object in the answer')
  return pickConfiguration(raw, 'configz')
}

/** Fields that a kubelet of any minor prints whatever it was told: durations that are no pointers. Source: k8s.io/kubelet/config/v1beta1 types.go */
const alwaysPrinted = [
  'evictionPressureTransitionPeriod',
  'imageMinimumGCAge',
  'nodeStatusUpdateFrequency',
] as const

/**
 * What a kubelet has just answered: as `parseConfigz`, and it has to be whole. In a snapshot made by hand a part of one may stand.
 * @throws Error also where fields are missing that every kubelet prints
 */
export function parseAnsweredConfigz(body: unknown): KubeletConfiguration {
  const configuration = parseConfigz(body)
  const missing = alwaysPrinted.filter(field => configuration[field] === undefined)
  if (missing.length === 0) return configuration
  throw new Error(
    `configz: no kubelet printed this: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing, which every one prints`,
  )
}

/** The fields above of a raw KubeletConfiguration; null counts as absent, as for upstream's decoder. @throws Error naming every field of a wrong type. */
function pickConfiguration(raw: Record<string, unknown>, source: string): KubeletConfiguration {
  const picked: Record<string, unknown> = {}
  const wrong: string[] = []
  for (const [field, kind] of Object.entries(kinds)) {
    const value = raw[field]
    if (value === undefined || value === null) continue
    if (has[kind](value)) picked[field] = value
    else wrong.push(`${field} is not a ${kind}`)
  }
  if (wrong.length > 0) throw new Error(`${source}: ${wrong.join(', ')}`)
  return picked
}

/**
 * Decodes a KubeletConfiguration from JSON, as Go decodes it into its structs.
 *
 * Replays       sigs.k8s.io/json UnmarshalCaseSensitivePreserveInts, for the main file;  encoding/json Unmarshal, for merged drop-ins
 * Kept exactly  an unknown field is ignored; null means unset, except for durations; a malformed duration or quantity ends the decoding, a wrong type
 *               is reported only after the rest is decoded; encoding/json ignores the case of names, and decodes into existing values
 * Left out      duplicate keys; errors in the time of a taint; the notation of numbers
 */

import { parseDuration } from '#base/go/duration.ts'
import { goQuote, jsonText } from '#base/go/go-text.ts'
import { parseQuantity } from '#base/go/quantity.ts'
import { oncePerText } from '#base/once.ts'
import { messageOf } from '#base/operator-error.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import {
  type ConfigurationForm,
  combineValues,
  elementOf,
  fieldsOf,
  goFieldName,
  goTypeName,
  isKnownField,
  isStruct,
} from '#facts/kubelet/fields.ts'
import type { StructName } from '#model/kubelet/fields.ts'
import type { ConfigurationField, Refusal } from '#model/kubelet/refusal.ts'

/*
 * Whether a file declares itself a KubeletConfiguration.
 *
 * Replays       apimachinery/pkg/runtime  scheme.go New, serializer/json/meta.go Interpret, serializer/json/json.go Decode;  schema.ParseGroupVersion
 * Read at       1.29 to 1.37; the scheme's name is its line in pkg/kubelet/apis/config/scheme/scheme.go
 * Left out      the file's own spacing in the error; other kinds that the kubelet's scheme knows
 */

export const kubeletConfigurationKind = {
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
} as const

/** Why the file could not be decoded, in upstream's words. Null: it could, whatever its kind. */
export function untypedError(content: RawObject, isVersionNeeded: boolean): string | null {
  const { apiVersion = '', kind = '' } = content
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (value === null || typeof value === 'string') continue
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${kindOf(value)} into Go struct field .${name} of type string`
  }
  if (String(apiVersion ?? '').split('/').length > 2)
    return `unexpected GroupVersion string: ${apiVersion}`
  if (!kind) return `Object 'Kind' is missing in '${jsonText(content)}'`
  return isVersionNeeded && !apiVersion
    ? `Object 'apiVersion' is missing in '${jsonText(content)}'`
    : null
}

export const isKubeletConfiguration = ({ apiVersion, kind }: RawObject): boolean =>
  apiVersion === kubeletConfigurationKind.apiVersion && kind === kubeletConfigurationKind.kind

/** The decoder's error for another kind, or for no kind. Null: the kind is right. */
export function kindError(content: RawObject): string | null {
  const error = untypedError(content, true)
  if (error !== null || isKubeletConfiguration(content)) return error
  const { apiVersion, kind } = content
  const scheme = 'k8s.io/kubernetes/pkg/kubelet/apis/config/scheme/scheme.go:33'
  return `no kind ${goQuote(String(kind))} is registered for version ${goQuote(String(apiVersion))} in scheme ${goQuote(scheme)}`
}

/** `message` is upstream's text. */
export class DecodeError extends Error {
  readonly fields: Refusal['fields']

  constructor(message: string, fields: Refusal['fields']) {
    super(message)
    this.fields = fields
  }
}

/** configz shows it in its given notation. */
export interface FlushFrequency {
  nanoseconds: bigint
  isText: boolean
}

interface FieldPlace {
  /** Go's name of the innermost struct, with the path to the field: `MemorySwapConfiguration.memorySwap.swapBehavior`. */
  struct: string
  path: string
}

/** Only the fields that are given, in nested structs too. @throws DecodeError */
export function decodeConfiguration(
  raw: RawObject,
  features: KubeletFeatures,
  form: ConfigurationForm,
): RawObject {
  const decoder = new Decoder(features, form)
  const decoded = decoder.fields(raw, 'KubeletConfiguration', '')
  if (decoder.firstError) throw decoder.firstError
  return decoded
}

const int32Limit = 2 ** 31
const uint32Limit = 2 ** 32
const int64Limit = 2 ** 63

/** Whether a number fits the type; absent: not a number type. */
const numbers: Readonly<Record<string, (value: number) => boolean>> = {
  int32: value => Number.isInteger(value) && value >= -int32Limit && value < int32Limit,
  int64: value => Number.isInteger(value) && value >= -int64Limit && value < int64Limit,
  float64: Number.isFinite,
  VerbosityLevel: value => Number.isInteger(value) && value >= 0 && value < uint32Limit,
}

/** The first name of each spelling, which ignores case. */
const namesInLowerCase = oncePerText((key: `${StructName}/${ConfigurationForm}`) => {
  const [struct, form] = key.split('/') as [StructName, ConfigurationForm]
  const spelling = (name: string) => (form === 'internal' ? goFieldName(name, struct) : name)
  const names = Object.keys(fieldsOf(struct)).toReversed()
  return new Map(names.map(name => [spelling(name).toLowerCase(), name]))
})

/** Continues after a wrong type, and keeps the first such error. */
class Decoder {
  firstError: DecodeError | null = null
  /** The field of the configuration that is decoded now. */
  private fieldsNow: Refusal['fields'] = []
  private readonly features: KubeletFeatures
  private readonly form: ConfigurationForm

  constructor(features: KubeletFeatures, form: ConfigurationForm) {
    this.features = features
    this.form = form
  }

  fields(raw: RawObject, struct: StructName, path: string): RawObject {
    const known = fieldsOf(struct)
    const decoded: RawObject = {}
    // Go printed the merged form, with its keys sorted.
    for (const key of this.form === 'file' ? Object.keys(raw) : Object.keys(raw).sort()) {
      const name = this.nameOf(key, struct)
      const facts = name === undefined ? undefined : known[name]
      if (name === undefined || !facts || !isKnownField(facts, this.features)) continue
      const shown = this.form === 'internal' ? goFieldName(name, struct) : name
      // A key that sorts before the kubelet's own name is decoded before it, so it has no effect.
      if (this.form === 'internal' && path === '' && key < shown) continue
      if (path === '') this.fieldsNow = [name as ConfigurationField]
      const value = this.value(raw[key], facts.type, {
        struct,
        path: path === '' ? shown : `${path}.${shown}`,
      })
      if (value !== undefined) decoded[name] = combineValues(decoded[name], value, facts.type)
    }
    return decoded
  }

  private nameOf(key: string, struct: StructName) {
    const known = fieldsOf(struct)
    if (this.form !== 'internal' && Object.hasOwn(known, key)) return key
    if (this.form === 'file') return undefined
    return namesInLowerCase(`${struct}/${this.form}`).get(key.toLowerCase())
  }

  /** Undefined: not set. */
  private value(value: unknown, type: string, place: FieldPlace): unknown {
    const target = elementOf(type, '*')
    if (target !== null)
      return value === null || value === undefined ? undefined : this.value(value, target, place)
    // Null is unset for all other types. A duration reads null as an empty text.
    if (type === 'Duration') return this.duration(value, place)
    if (value === null || value === undefined) return undefined
    if (isStruct(type))
      return isRawObject(value)
        ? this.fields(value, type, place.path)
        : this.refuse(value, type, place)
    const item = elementOf(type, '[]')
    if (item !== null) {
      return Array.isArray(value)
        ? value.map(one => this.value(one, item, place) ?? zeroOf(item))
        : this.refuse(value, type, place)
    }
    const entry = elementOf(type, 'map[string]')
    if (entry !== null)
      return isRawObject(value) ? this.map(value, entry, place) : this.refuse(value, type, place)
    return this.scalar(value, type, place)
  }

  private map(value: RawObject, type: string, place: FieldPlace): RawObject {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        this.value(item, type, place) ?? zeroOf(type),
      ]),
    )
  }

  private scalar(value: unknown, type: string, place: FieldPlace): unknown {
    if (type === 'Quantity') return this.quantity(value)
    if (type === 'FlushFrequency') return this.flushFrequency(value, place)
    const fits = numbers[type]
    if (fits) {
      if (typeof value !== 'number') return this.refuse(value, type, place)
      return fits(value) ? value : this.refuse(value, type, place, `number ${value}`)
    }
    if (type === 'bool') return typeof value === 'boolean' ? value : this.refuse(value, type, place)
    if (typeof value !== 'string')
      return type === 'Time' ? this.stop(value, place) : this.refuse(value, type, place)
    if (type === 'Time' && Number.isNaN(Date.parse(value))) {
      throw this.error(
        `parsing time ${goQuote(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${goQuote(value)} as "2006"`,
      )
    }
    return value
  }

  private duration(value: unknown, place: FieldPlace): bigint {
    if (value !== null && value !== undefined && typeof value !== 'string')
      return this.stop(value, place)
    return this.orError(() => parseDuration(value ?? ''))
  }

  private flushFrequency(value: unknown, place: FieldPlace): FlushFrequency | undefined {
    if (typeof value === 'string') {
      return { nanoseconds: this.duration(value, place), isText: true }
    }
    if (typeof value === 'number' && numbers.int64?.(value))
      return { nanoseconds: BigInt(value), isText: false }
    const shown = typeof value === 'number' ? `number ${value}` : kindOf(value)
    throw this.error(
      `invalid duration ${goQuote(jsonText(value))}: json: cannot unmarshal ${shown} into Go value of type time.Duration`,
    )
  }

  /** Upstream trims the text between quotes, and takes a bare number as written. */
  private quantity(value: unknown) {
    const bare = isRawObject(value) || Array.isArray(value) ? '' : String(value)
    return this.orError(() => parseQuantity(typeof value === 'string' ? value.trim() : bare))
  }

  private refuse(value: unknown, type: string, place: FieldPlace, shown = kindOf(value)) {
    this.firstError ??= this.error(wrongType(shown, goTypeName(type, this.form), place))
    return undefined
  }

  private stop(value: unknown, place: FieldPlace): never {
    throw this.error(wrongType(kindOf(value), 'string', place))
  }

  private error(message: string) {
    return new DecodeError(message, this.fieldsNow)
  }

  private orError<Value>(parse: () => Value) {
    try {
      return parse()
    } catch (error) {
      throw this.error(messageOf(error))
    }
  }
}

const wrongType = (shown: string, type: string, { struct, path }: FieldPlace) =>
  `json: cannot unmarshal ${shown} into Go struct field ${struct}.${path} of type ${type}`

/** Go's name of a JSON value's type. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** The value of a null entry in a list or a map. */
function zeroOf(type: string): unknown {
  if (isStruct(type)) return {}
  if (type === 'Quantity') return parseQuantity('0')
  if (elementOf(type, '[]') !== null) return null
  if (type === 'string') return ''
  return type === 'bool' ? false : 0
}

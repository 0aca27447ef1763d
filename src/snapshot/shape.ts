/** Cuts a value down to a shape: what is not named, or not of the type that the API gives it, is left out. */
import { isRawObject, type RawObject } from '#model/record.ts'
import { redact } from '#model/redact.ts'

/**
 * `true` keeps a value whole, `text` only a string, `texts` only a map of strings; an object keeps these fields, `List` the items of a list, `Text` a
 * string up to a length.
 */
export type Shape = true | 'text' | 'texts' | List | Text | { readonly [field: string]: Shape }

class List {
  readonly item: Shape
  constructor(item: Shape) {
    this.item = item
  }
}
export const list = (item: Shape) => new List(item)

class Text {
  readonly maxLength: number
  constructor(maxLength: number) {
    this.maxLength = maxLength
  }
}
export const text = (maxLength: number) => new Text(maxLength)

/** A secret that is cut in two has lost its form, so it is redacted before. */
const shortened = (value: string, maxLength: number) =>
  redact(value.slice(0, 4 * maxLength)).slice(0, maxLength)

/** Undefined where the value is not of the shape: what rules read has the type that the API gives it, or is absent. */
export function keep(value: unknown, shape: Shape): unknown {
  if (shape === true) return value
  if (shape === 'text') return typeof value === 'string' ? value : undefined
  if (shape instanceof Text)
    return typeof value === 'string' ? shortened(value, shape.maxLength) : undefined
  if (shape === 'texts')
    return isRawObject(value)
      ? Object.fromEntries(Object.entries(value).filter(isTextEntry))
      : undefined
  if (shape instanceof List) {
    const { item } = shape
    return Array.isArray(value)
      ? value.map(entry => keep(entry, item)).filter(entry => entry !== undefined)
      : undefined
  }
  if (!isRawObject(value)) return undefined
  const kept: RawObject = {}
  for (const [field, inner] of Object.entries(shape)) {
    const entry = Object.hasOwn(value, field) ? keep(value[field], inner) : undefined
    if (entry !== undefined) kept[field] = entry
  }
  return kept
}

const isTextEntry = ([, value]: [string, unknown]) => typeof value === 'string'

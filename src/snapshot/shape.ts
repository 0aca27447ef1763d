/**
 * Cuts a value down to a shape: what is not named, or not of the type that the API gives it, is left out. Everything after this point
 * trusts the types.
 */
import { isRawObject, type RawObject } from '#model/record.ts'
import { redact } from '#model/redact.ts'

/**
 * An object keeps these fields, `List` the items of a list, `Text` a string up to a length, `true` a value whole.
 *
 * `text?` keeps null, too. `amount` is a number or text, as an int64 is in JSON. `quantity` is text, of a bare number the text that means the same;
 * `quantities` is a map of them. `statistic` is a number; of anything else that is there it keeps -1, which no count is.
 */
export type Shape = true | Leaf | List | Text | { readonly [field: string]: Shape }

type Leaf =
  | 'text'
  | 'text?'
  | 'number'
  | 'integer'
  | 'statistic'
  | 'boolean'
  | 'amount'
  | 'quantity'
  | 'quantities'
  | 'texts'
  | 'map'

/** Shapes that keep nothing but what a value of this type may hold. */
export type ShapeOf<T> = unknown extends T
  ? Shape
  : [T] extends [boolean]
    ? 'boolean'
    : [T] extends [string]
      ? 'text' | 'quantity' | Text
      : [T] extends [number]
        ? 'number' | 'integer' | 'statistic'
        : [T] extends [string | null]
          ? 'text' | 'text?'
          : [T] extends [string | number]
            ? 'text' | 'number' | 'amount'
            : [T] extends [readonly (infer Item)[]]
              ? List<ShapeOf<Item>>
              : string extends keyof T
                ? MapShapeOf<T[keyof T]>
                : { readonly [Field in keyof T]?: ShapeOf<Exclude<T[Field], undefined>> }

type MapShapeOf<T> = unknown extends T
  ? 'map' | { readonly [field: string]: Shape }
  : 'texts' | 'quantities' | { readonly [field: string]: 'text' }

class List<Item = Shape> {
  readonly item: Item
  constructor(item: Item) {
    this.item = item
  }
}
export const list = <const Item extends Shape>(item: Item): List<Item> => new List(item)

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

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

const leaves: Readonly<Record<Leaf, (value: unknown) => unknown>> = {
  text: value => (isText(value) ? value : undefined),
  'text?': value => (isText(value) || value === null ? value : undefined),
  number: value => (isNumber(value) ? value : undefined),
  integer: value => (Number.isSafeInteger(value) ? value : undefined),
  statistic: value => (isNumber(value) || (value ?? null) === null ? (value ?? undefined) : -1),
  boolean: value => (typeof value === 'boolean' ? value : undefined),
  amount: value => (isText(value) || isNumber(value) ? value : undefined),
  quantity: quantityText,
  quantities: value => mapOf(value, quantityText),
  texts: value => mapOf(value, leaf => (isText(leaf) ? leaf : undefined)),
  map: value => (isRawObject(value) ? value : undefined),
}

function quantityText(value: unknown): string | undefined {
  if (isNumber(value)) return String(value)
  return isText(value) ? value : undefined
}

function mapOf(value: unknown, textOf: (value: unknown) => unknown): RawObject | undefined {
  if (!isRawObject(value)) return undefined
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, entry]) => [key, textOf(entry)] as const)
      .filter(([, entry]) => entry !== undefined),
  )
}

/** Undefined where the value is not of the shape. */
export function keep(value: unknown, shape: Shape): unknown {
  if (shape === true) return value
  if (typeof shape === 'string') return leaves[shape](value)
  if (shape instanceof Text) return isText(value) ? shortened(value, shape.maxLength) : undefined
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

/** Shapes of the answers in a snapshot: which fields are kept, and their types. */

import type { RawObject } from '#base/raw-object.ts'

/**
 * An object keeps its named fields, `List` the items of a list, `Text` a string up to a length, `true` a whole value.
 *
 * `text?` also keeps null. `amount` is a number or text, as an int64 is in JSON. `quantity` is text; a bare number becomes the equal text.
 * `quantities` is a map of quantities. `statistic` is a number; any other value that is present becomes -1, which no count is.
 */
export type Shape = true | Leaf | List | TextShape | { readonly [field: string]: Shape }

interface Leaves {
  text: string
  'text?': string | null
  number: number
  integer: number
  statistic: number
  boolean: boolean
  amount: string | number
  quantity: string
  quantities: Record<string, string>
  texts: Record<string, string>
  map: RawObject
}
export type Leaf = keyof Leaves

/** The type of a value after its shape removed the other fields: a `text` leaf gives a string. */
export type Shaped<S extends Shape> = Shape extends S
  ? unknown
  : S extends true
    ? unknown
    : S extends Leaf
      ? Leaves[S]
      : S extends TextShape
        ? string
        : S extends List<infer Item extends Shape>
          ? Shaped<Item>[]
          : { -readonly [Field in keyof S]?: S[Field] extends Shape ? Shaped<S[Field]> : never }

/** The shapes that fit the type T: they keep only values of T. */
export type ShapeOf<T> = unknown extends T
  ? Shape
  : [T] extends [boolean]
    ? 'boolean'
    : [T] extends [string]
      ? 'text' | 'quantity' | TextShape
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

export class List<Item = Shape> {
  readonly item: Item
  /** Which of the raw items are kept. */
  readonly isKept: (raw: unknown) => boolean
  constructor(item: Item, isKept: (raw: unknown) => boolean) {
    this.item = item
    this.isKept = isKept
  }
}
export const list = <const Item extends Shape>(
  item: Item,
  isKept = (_raw: unknown) => true,
): List<Item> => new List(item, isKept)

export class TextShape {
  readonly maxLength: number
  /** Which lines of the text are kept; null: all. Without such a line, no text is. */
  readonly isKept: ((line: string) => boolean) | null
  constructor(maxLength: number, isKept: TextShape['isKept']) {
    this.maxLength = maxLength
    this.isKept = isKept
  }
}
export const text = (maxLength: number, isKept: TextShape['isKept'] = null): TextShape =>
  new TextShape(maxLength, isKept)

/** The shape that keeps the fields of a schema, so that what is checked and what is kept are written once. */
import * as z from 'zod'
import type { RawObject } from '#base/raw-object.ts'
import { list, type Shape } from './shape.ts'

/** What a value of type T is after the cut: any field may be absent, and a text is any text. */
export type Cut<T> = unknown extends T
  ? unknown
  : T extends string
    ? string
    : T extends number
      ? number
      : T extends boolean
        ? boolean
        : T extends null | undefined
          ? T
          : T extends readonly (infer Item)[]
            ? Cut<Item>[]
            : string extends keyof T
              ? CutMap<T[keyof T]>
              : { -readonly [Field in keyof T]?: Cut<T[Field]> }

type CutMap<Value> = [Value] extends [string] ? Record<string, string> : RawObject

/** Ranges, patterns and lengths are not part of a shape. */
export function schemaShape(schema: z.core.$ZodType): Shape {
  if (schema instanceof z.ZodOptional) return schemaShape(schema.unwrap())
  if (schema instanceof z.ZodNullable) return nullable(schemaShape(schema.unwrap()))
  if (schema instanceof z.ZodArray) return list(schemaShape(schema.element))
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape).map(([field, inner]) => [field, schemaShape(inner)]),
    )
  if (schema instanceof z.ZodRecord)
    return schema.valueType instanceof z.ZodString ? 'texts' : 'map'
  if (schema instanceof z.ZodUnion) return unionOf(schema.options.map(schemaShape))
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return 'text'
  if (schema instanceof z.ZodNumber || schema instanceof z.ZodLiteral) return 'number'
  return schema instanceof z.ZodBoolean ? 'boolean' : true
}

const nullable = (shape: Shape) => (shape === 'text' ? 'text?' : true)

function unionOf(shapes: readonly Shape[]): Shape {
  const kinds = new Set(shapes)
  if (kinds.size === 1) return shapes[0] ?? true
  return kinds.size === 2 && kinds.has('number') && kinds.has('text') ? 'amount' : true
}

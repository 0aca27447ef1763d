/**
 * Reading what came from outside: a value of the wrong shape is a value that is not there.
 *
 * `textOf(raw.name)` reads a property that is named in the code, `textAt(raw, key)` one that may be any: the first is several times as fast.
 */
import { isRawObject, type RawObject } from '#model/record.ts'

const nothing: readonly never[] = []

export const objectOf = (value: unknown): RawObject | null => (isRawObject(value) ? value : null)

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : nothing

/** Those of a list that are objects. */
export function objectsOf(value: unknown): readonly RawObject[] {
  const list = listOf(value)
  if (list.length === 0) return nothing
  return list.every(isRawObject) ? list : list.filter(isRawObject)
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The kubelet's uint64 counters wrap when a subtraction goes below zero; above this no machine counts. */
const wrapsFrom = 2 ** 63
const wrapsBy = 2 ** 64

/** A uint64 counter of what is there or used; null where it is absent, malformed, or has wrapped below zero. */
export const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < wrapsFrom
    ? value
    : null

/**
 * A uint64 counter of what is left; null where it is absent or malformed. One that has wrapped is below zero, as upstream's int64(…) of it.
 * The parser of JSON has rounded such a number to a multiple of 1024 or more: how far below zero is known only about, that it is so for certain.
 */
export const availableOf = (value: unknown): number | null => {
  const isWrapped =
    typeof value === 'number' && Number.isInteger(value) && value >= wrapsFrom && value <= wrapsBy
  return isWrapped ? Math.min(value - wrapsBy, -1) : countOf(value)
}

const at = (value: unknown, key: string): unknown => (isRawObject(value) ? value[key] : null)

export const objectAt = (value: unknown, key: string): RawObject | null => objectOf(at(value, key))

export const listAt = (value: unknown, key: string): readonly unknown[] => listOf(at(value, key))

export const textAt = (value: unknown, key: string): string | null => textOf(at(value, key))

export const countAt = (value: unknown, key: string): number | null => countOf(at(value, key))

export const availableAt = (value: unknown, key: string): number | null =>
  availableOf(at(value, key))

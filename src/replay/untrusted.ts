/** Reading what came from outside: a value of the wrong shape is a value that is not there. */
import { isRawObject, type RawObject } from '#model/record.ts'

export const objectAt = (value: unknown, key: string): RawObject | null => {
  const found = isRawObject(value) ? value[key] : null
  return isRawObject(found) ? found : null
}

export const listAt = (value: unknown, key: string): unknown[] => {
  const found = isRawObject(value) ? value[key] : null
  return Array.isArray(found) ? found : []
}

export const textAt = (value: unknown, key: string): string | null => {
  const found = isRawObject(value) ? value[key] : null
  return typeof found === 'string' ? found : null
}

/** The kubelet's uint64 counters wrap when a subtraction goes below zero; above this no machine counts. */
const wrapsFrom = 2 ** 63
const wrapsBy = 2 ** 64

/** A uint64 counter of what is there or used; null where it is absent, malformed, or has wrapped below zero. */
export const countAt = (value: unknown, key: string): number | null => {
  const found = isRawObject(value) ? value[key] : null
  return typeof found === 'number' && Number.isInteger(found) && found >= 0 && found < wrapsFrom ? found : null
}

/**
 * A uint64 counter of what is left; null where it is absent or malformed. One that has wrapped is below zero, as upstream's int64(…) of it.
 * The parser of JSON has rounded such a number to a multiple of 1024 or more: how far below zero is known only about, that it is so for certain.
 */
export const availableAt = (value: unknown, key: string): number | null => {
  const found = isRawObject(value) ? value[key] : null
  const isWrapped = typeof found === 'number' && Number.isInteger(found) && found >= wrapsFrom && found <= wrapsBy
  return isWrapped ? Math.min(found - wrapsBy, -1) : countAt(value, key)
}

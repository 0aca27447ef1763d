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

/** A uint64 counter; null where it is absent, malformed, or has wrapped below zero. */
export const countAt = (value: unknown, key: string): number | null => {
  const found = isRawObject(value) ? value[key] : null
  return typeof found === 'number' && Number.isInteger(found) && found >= 0 && found < wrapsFrom ? found : null
}

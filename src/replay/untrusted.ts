/** Reads Kubernetes objects of a cluster: a value of the wrong shape is a value that is not there. */
import { isRawObject, type RawObject } from '#model/record.ts'

const nothing: readonly never[] = []

/** The items of a list that are objects. */
export function objectsOf(value: unknown): readonly RawObject[] {
  return Array.isArray(value) ? value.filter(isRawObject) : nothing
}

const at = (value: unknown, key: string): unknown => (isRawObject(value) ? value[key] : null)

export function objectAt(value: unknown, key: string): RawObject | null {
  const found = at(value, key)
  return isRawObject(found) ? found : null
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = at(value, key)
  return Array.isArray(found) ? found : nothing
}

export function textAt(value: unknown, key: string): string | null {
  const found = at(value, key)
  return typeof found === 'string' ? found : null
}

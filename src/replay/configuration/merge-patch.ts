/**
 * JSON merge patches.
 *
 * Replays       evanphx/json-patch  MergePatch, mergeDoc, pruneNils;  RFC 7386
 * Kept exactly  null removes, also from what is new; a list takes the place of another, its own nulls and all
 * Left out      objects that lie deeper than any field of a configuration: a patch takes their place
 */
import { mapOf } from '#model/config-value.ts'
import { isRawObject, type RawObject } from '#model/record.ts'

const deepestField = 8

export function mergePatch(target: RawObject, patch: RawObject, depth = 1): RawObject {
  const merged = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    const before = merged.get(key)
    if (value === null) merged.delete(key)
    else if (isRawObject(value) && depth < deepestField)
      merged.set(key, mergePatch(mapOf(before), value, depth + 1))
    else
      merged.set(key, Array.isArray(value) ? value.map(item => withoutNulls(item, depth)) : value)
  }
  return Object.fromEntries(merged)
}

/** An object in a list loses its nulls, the list its own ones not. */
const withoutNulls = (item: unknown, depth: number): unknown =>
  isRawObject(item) && depth < deepestField ? mergePatch({}, item, depth + 1) : item

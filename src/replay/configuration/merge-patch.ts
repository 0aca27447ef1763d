/**
 * JSON merge patches.
 *
 * Replays       evanphx/json-patch  MergePatch, mergeDoc, pruneNils;  RFC 7386
 * Kept exactly  null removes keys, also from new objects; a list replaces another, its own nulls included
 * Left out      merging objects deeper than any configuration field: the patch replaces them
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { mapOf } from '#model/input/config-value.ts'

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

/** Removes nulls from an object in a list. Nulls of the list itself stay. */
const withoutNulls = (item: unknown, depth: number) =>
  isRawObject(item) && depth < deepestField ? mergePatch({}, item, depth + 1) : item

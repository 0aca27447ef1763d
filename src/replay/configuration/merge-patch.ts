/**
 * JSON merge patches.
 *
 * Replays       evanphx/json-patch  MergePatch, mergeDoc, pruneNils;  RFC 7386
 * Kept exactly  null removes keys, also from new objects; a list replaces another, its own nulls included
 * Left out      merging objects deeper than any configuration field: the patch replaces them
 */

import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'

const deepestField = 8

export const mergePatch = (target: RawObject, patch: RawObject): RawObject =>
  mergePatches(target, [patch])

/** Linear in the length of all patches: each nested map is copied once. */
export function mergePatches(
  target: RawObject,
  patches: readonly RawObject[],
  depth = 1,
): RawObject {
  const merged = new Map(Object.entries(target))
  for (const patch of patches) apply(merged, patch, depth)
  return plain(merged)
}

function apply(merged: Map<string, unknown>, patch: RawObject, depth: number): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else if (isRawObject(value) && depth < deepestField) {
      const before = merged.get(key)
      const inner = before instanceof Map ? before : new Map(Object.entries(mapOf(before)))
      merged.set(key, inner)
      apply(inner, value, depth + 1)
    } else
      merged.set(key, Array.isArray(value) ? value.map(item => withoutNulls(item, depth)) : value)
  }
}

const plain = (merged: ReadonlyMap<string, unknown>): RawObject =>
  Object.fromEntries(
    [...merged].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]),
  )

/** Removes nulls from an object in a list. Nulls of the list itself stay. */
const withoutNulls = (item: unknown, depth: number) =>
  isRawObject(item) && depth < deepestField ? mergePatches({}, [item], depth + 1) : item

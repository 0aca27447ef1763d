/**
 * JSON merge patches, and the paths of a configuration: `evictionHard.imagefs.available` is a key of the map `evictionHard`.
 *
 * Replays       evanphx/json-patch  MergePatch, mergeDoc, pruneNils;  RFC 7386
 * Kept exactly  null removes keys, also from new objects; a list replaces another, its own nulls included
 * Left out      merging objects deeper than any configuration field: the patch replaces them
 */

import { isRawObject, mapOf, type RawObject } from './raw-object.ts'
import { byText } from './text/text-order.ts'

const deepestField = 8

export const mergePatch = (target: RawObject, patch: RawObject): RawObject =>
  mergePatches(target, [patch])

/** One value of a patch: a map is merged key by key, any other value replaces the one before. */
export const mergedValue = (before: unknown, value: unknown): unknown =>
  isRawObject(value) ? mergePatch(mapOf(before), value) : value

/** Linear in the length of all patches: each nested map is copied once. */
export function mergePatches(
  target: RawObject,
  patches: readonly RawObject[],
  depth = 1,
): RawObject {
  const merged = new Map(Object.entries(target))
  for (const patch of patches) apply(merged, patch, depth)
  return objectOfMap(merged)
}

function apply(merged: Map<string, unknown>, patch: RawObject, depth: number) {
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

const objectOfMap = (merged: ReadonlyMap<string, unknown>): RawObject =>
  Object.fromEntries(
    [...merged].map(([key, value]) => [key, value instanceof Map ? objectOfMap(value) : value]),
  )

/** Removes nulls from an object in a list. Nulls of the list itself stay. */
const withoutNulls = (item: unknown, depth: number) =>
  isRawObject(item) && depth < deepestField ? mergePatches({}, [item], depth + 1) : item

/** As a merge patch, but a null stays in the result as a value. */
export function overlay(under: RawObject, over: RawObject): RawObject {
  const both = new Map(Object.entries(under))
  for (const [key, value] of Object.entries(over)) {
    const before = both.get(key)
    both.set(key, isRawObject(before) && isRawObject(value) ? overlay(before, value) : value)
  }
  return Object.fromEntries(both)
}

/** The patch by which `mergePatch` turns `from` into `to`; maps are compared key by key. */
export function patchBetween(from: RawObject, to: RawObject): RawObject {
  const patch: [string, unknown][] = []
  for (const [key, value] of Object.entries(to)) {
    const before = from[key]
    if (isRawObject(value) && isRawObject(before)) {
      const inner = patchBetween(before, value)
      if (Object.keys(inner).length > 0) patch.push([key, inner])
    } else if (JSON.stringify(value) !== JSON.stringify(before)) patch.push([key, value])
  }
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) patch.push([key, null])
  return Object.fromEntries(patch)
}

/** Leaves of a patch by path, such as `evictionHard.imagefs.available`, sorted by name. */
export function leavesOf(patch: RawObject): [path: string, value: unknown][] {
  const leaves = Object.entries(patch).flatMap(([key, value]): [string, unknown][] =>
    isRawObject(value)
      ? leavesOf(value).map(([inner, leaf]) => [`${key}.${inner}`, leaf])
      : [[key, value]],
  )
  return leaves.sort(([a], [b]) => byText(a, b))
}

/** Value at a path of `leavesOf`. After the first dot, the rest of the path is a map key. */
export function valueAt(running: RawObject, path: string): unknown {
  const at = path.indexOf('.')
  const whole = ownValue(running, at < 0 ? path : path.slice(0, at))
  return at < 0 ? whole : ownValue(mapOf(whole), path.slice(at + 1))
}

/** A path of others may name what each object inherits. */
const ownValue = (object: RawObject, key: string) =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** The patch that sets one path. */
export function patchAt(path: string, value: unknown): RawObject {
  const [field = '', key] = path.split(/\.(.*)/s)
  return { [field]: key === undefined ? value : { [key]: value } }
}

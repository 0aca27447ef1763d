import { anyDepth, inputLimits, type JsonLimit } from './limits.ts'
import { byText } from './text.ts'

/** A JSON object from outside that no parser has checked yet. */
export type RawObject = Record<string, unknown>

export const isRawObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const withoutKeys = (object: RawObject, keys: readonly string[]): RawObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

/** The value as an object. For a value that is no object: the empty object. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})

/** A scalar as text, an object as JSON: an object of others can have a `toString` that is no function. */
export const textOfValue = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** The value as a list. For a value that is no list: the empty list. */
export const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
/** Set in `{` and `}`, not in `[` and `]`, and the only difference between them. */
const braceBit = 0x20
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Why a JSON text is too deep or has too many values for parsing; null: the text is within the limits, though it might not be JSON.
 * The scan over the bytes builds no values. It counts them, because each value follows `[`, `{` or `,`.
 */
export function jsonFlaw(bytes: Uint8Array, { maxValues, maxDepth }: JsonLimit): string | null {
  if (maxDepth === anyDepth && bytes.length <= maxValues) return null
  let depth = 0
  let values = 1
  const { length } = bytes
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      for (at++; at < length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
    } else if (byte === comma || (byte | braceBit) === openBrace) {
      values++
      if (byte !== comma) depth++
      if (depth > maxDepth) return `it is nested deeper than ${maxDepth}`
      if (values > maxValues) return `it has more than ${maxValues} values`
    } else if ((byte | braceBit) === closeBrace) depth--
  }
  return null
}

/** An object with some of its keys alone, without a look at what stands behind the last of them. A text in which one is missing stays as it is. */
export function jsonWithKeys(bytes: Buffer, keys: ReadonlySet<string>) {
  const kept: string[] = []
  const missing = new Set(keys)
  let depth = 0
  let start = 1
  for (let at = 0; at < bytes.length && missing.size > 0; at++) {
    const byte = bytes[at] as number
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
      continue
    }
    const isEnd = (byte | braceBit) === closeBrace
    if (depth === 1 && (isEnd || byte === comma)) {
      const [, key = ''] = keyForm.exec(bytes.toString('latin1', start, start + longestKey)) ?? []
      if (keys.has(key)) kept.push(bytes.toString('utf8', start, at))
      missing.delete(key)
      start = at + 1
    }
    if ((byte | braceBit) === openBrace) depth++
    else if (isEnd) depth--
  }
  return missing.size === 0 ? Buffer.from(`{${kept.join()}}`) : bytes
}

const keyForm = /^\s*"(\w+)"\s*:/
const longestKey = 80

/** Undefined: the text is no JSON, is too deep, or has too many values. */
export function parsedJson(
  text: string | Buffer,
  limit: JsonLimit = inputLimits.storedJson,
): unknown {
  if (jsonFlaw(typeof text === 'string' ? Buffer.from(text) : text, limit) !== null)
    return undefined
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}

/*
 * JSON merge patches, and the paths of a configuration: `evictionHard.imagefs.available` is a key of the map `evictionHard`.
 *
 * Replays       evanphx/json-patch  MergePatch, mergeDoc, pruneNils;  RFC 7386
 * Kept exactly  null removes keys, also from new objects; a list replaces another, its own nulls included
 * Left out      merging objects deeper than any configuration field: the patch replaces them
 */

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

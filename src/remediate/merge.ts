import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { byText } from '#base/text/text-order.ts'

/** RFC 7386: null removes a key. Existing keys keep their order; new keys come last. */
export function applyPatch(target: RawObject, patch: RawObject): RawObject {
  const entries = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    const before = entries.get(key)
    if (value === null) entries.delete(key)
    else entries.set(key, mergedValue(before, value))
  }
  return Object.fromEntries(entries)
}

/** One value of a patch: a map is merged key by key, any other value replaces the one before. */
export const mergedValue = (before: unknown, value: unknown): unknown =>
  isRawObject(value) ? applyPatch(mapOf(before), value) : value

/** The patch by which `applyPatch` turns `from` into `to`; maps are compared key by key. */
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
  const whole = running[at < 0 ? path : path.slice(0, at)]
  if (at < 0) return whole
  return mapOf(whole)[path.slice(at + 1)]
}

/** Copies of JSON values with replaced parts. If nothing changes, the value itself is returned, so most values are never copied. */
import type { RawObject } from '#base/raw-object.ts'

export function replaceItems(
  items: readonly unknown[],
  replace: (item: unknown) => unknown,
): readonly unknown[] {
  let copy: unknown[] | null = null
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    const other = replace(item)
    if (other === item) continue
    copy ??= [...items]
    copy[index] = other
  }
  return copy ?? items
}

/** @param replace undefined removes the field */
export function replaceFields(fields: object, replace: (inner: unknown, name: string) => unknown) {
  let copy: RawObject | null = null
  for (const name of Object.keys(fields)) {
    const inner = (fields as RawObject)[name]
    const other = replace(inner, name)
    if (other === inner) continue
    copy ??= { ...fields }
    if (other === undefined) delete copy[name]
    else copy[name] = other
  }
  return copy ?? fields
}

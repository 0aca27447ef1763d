/** Copies of JSON values with replaced parts. If nothing changes, the value itself is returned, so most values are never copied. */
import type { RawObject } from './record.ts'

export function replaceItems(
  items: readonly unknown[],
  replace: (item: unknown) => unknown,
): readonly unknown[] {
  let copy: unknown[] | null = null
  for (const [index, item] of items.entries()) {
    const other = replace(item)
    if (other === item) continue
    copy ??= [...items]
    copy[index] = other
  }
  return copy ?? items
}

/** @param replace undefined removes the field */
export function replaceFields(
  fields: object,
  replace: (inner: unknown, name: string) => unknown,
): object {
  let copy: RawObject | null = null
  for (const [name, inner] of Object.entries(fields)) {
    const other = replace(inner, name)
    if (other === inner) continue
    copy ??= { ...fields }
    if (other === undefined) delete copy[name]
    else copy[name] = other
  }
  return copy ?? fields
}

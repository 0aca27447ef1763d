import type { OwnedGroup } from '#model/cluster-garbage.ts'

/** Adds `name` of the first object for sorting, and `text`: `Pod cart-0, cart-1 and 3 more`. */
export function owned<Group extends OwnedGroup>(
  group: Group,
): Group & { name: string; text: string } {
  const { kind, names, count } = group
  const more = count > names.length ? ` and ${count - names.length} more` : ''
  return { ...group, name: names[0] ?? '', text: `${kind} ${names.join(', ')}${more}` }
}

export const totalOf = (groups: readonly OwnedGroup[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0)

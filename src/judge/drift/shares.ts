/** The most common values of a group, or of a part of a group, counted once for all nodes. */
import type { FactOfGroup } from '#judge/rule.ts'

interface Shares {
  nodes: number
  of: Map<string, number>
}

const counted = new WeakMap<readonly FactOfGroup<unknown>[], Map<string, Shares>>()

export interface Shared {
  part: string
  keys: Iterable<string>
}

/** @param sharedOf must be the same function for all calls with one group */
export function isOnMost<Fact>(
  group: readonly FactOfGroup<Fact>[],
  { part, key }: { part: string; key: string },
  sharedOf: (fact: Fact) => Shared,
): boolean {
  const parts = counted.get(group) ?? sharesOf(group, sharedOf)
  counted.set(group, parts)
  const shares = parts.get(part)
  return shares !== undefined && 2 * (shares.of.get(key) ?? 0) > shares.nodes
}

function sharesOf<Fact>(
  group: readonly FactOfGroup<Fact>[],
  sharedOf: (fact: Fact) => Shared,
): Map<string, Shares> {
  const parts = new Map<string, Shares>()
  for (const { fact, nodes } of group) {
    const { part, keys } = sharedOf(fact)
    const shares = parts.get(part) ?? { nodes: 0, of: new Map() }
    parts.set(part, shares)
    shares.nodes += nodes
    for (const key of keys) shares.of.set(key, (shares.of.get(key) ?? 0) + nodes)
  }
  return parts
}

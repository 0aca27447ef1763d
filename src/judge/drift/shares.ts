/** The most common values of a group, or of a part of a group. */
import type { FactOfGroup } from '#judge/rule.ts'

/** By part of the group: its nodes, and by key the nodes that have the key. */
export type Shares = ReadonlyMap<string, { nodes: number; of: ReadonlyMap<string, number> }>

export function sharesOf<Fact>(
  group: readonly FactOfGroup<Fact>[],
  sharedOf: (fact: Fact) => { part: string; keys: Iterable<string> },
): Shares {
  const parts = new Map<string, { nodes: number; of: Map<string, number> }>()
  for (const { fact, nodes } of group) {
    const { part, keys } = sharedOf(fact)
    const shares = parts.get(part) ?? { nodes: 0, of: new Map() }
    parts.set(part, shares)
    shares.nodes += nodes
    for (const key of keys) shares.of.set(key, (shares.of.get(key) ?? 0) + nodes)
  }
  return parts
}

export function isOnMost(shares: Shares, part: string, key: string): boolean {
  const found = shares.get(part)
  return found !== undefined && 2 * (found.of.get(key) ?? 0) > found.nodes
}

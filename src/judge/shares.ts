/** What most nodes of a group have in common, counted once for all of them. */
import type { FactOfGroup } from './rule.ts'

interface Shares {
  nodes: number
  of: Map<string, number>
}

const counted = new WeakMap<readonly FactOfGroup<unknown>[], Shares>()

/** @param keysOf what a fact has, each once; the same for all calls with one group */
export function isOnMost<Fact>(group: readonly FactOfGroup<Fact>[], key: string, keysOf: (fact: Fact) => Iterable<string>): boolean {
  const shares = counted.get(group) ?? sharesOf(group, keysOf)
  counted.set(group, shares)
  return 2 * (shares.of.get(key) ?? 0) > shares.nodes
}

function sharesOf<Fact>(group: readonly FactOfGroup<Fact>[], keysOf: (fact: Fact) => Iterable<string>): Shares {
  const shares: Shares = { nodes: 0, of: new Map() }
  for (const { fact, nodes } of group) {
    shares.nodes += nodes
    for (const key of keysOf(fact)) shares.of.set(key, (shares.of.get(key) ?? 0) + nodes)
  }
  return shares
}

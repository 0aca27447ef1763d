/** The nodes of a cluster in parts that one function reads each. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubernetesNode } from '#model/kubernetes.ts'

/** Nodes of one group stay together where they fit: what is wrong with a group is then read by as few as can be. Equal lists, in any order, have equal shards. */
export function shardsOf(nodes: readonly KubernetesNode[], mostNodes: number): KubernetesNode[][] {
  const groups = Map.groupBy(
    nodes.map(node => ({ node, identity: nodeIdentity(node) })),
    ({ identity: { group } }) => (group.kind === 'Node' ? '' : `${group.kind}/${group.name}`),
  )
  const shards: KubernetesNode[][] = []
  for (const [, members] of [...groups].toSorted(byKey)) {
    const sorted = members
      .toSorted((a, b) => (a.identity.name < b.identity.name ? -1 : 1))
      .map(({ node }) => node)
    const last = shards.at(-1)
    if (last && last.length + sorted.length <= mostNodes) last.push(...sorted)
    else
      for (let start = 0; start < sorted.length; start += mostNodes)
        shards.push(sorted.slice(start, start + mostNodes))
  }
  return shards
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

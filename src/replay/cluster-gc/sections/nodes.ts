/** Nodes that are not Ready. */
import type { NodeGarbage } from '#model/cluster-garbage.ts'
import { conditionOf, timeOf } from '#replay/cluster-gc/metadata.ts'
import { nodeLife } from '#replay/cluster-gc/nodes.ts'
import type { Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'

export const nodes: Section<'nodes'> = {
  resources: [],
  needsNodes: true,
  open: () => ({ take: () => {}, tell }),
}

function tell({ nodes: all, features }: SectionContext): NodeGarbage {
  const lives = (all ?? []).flatMap(node => {
    const life = nodeLife(node, null, 'unknown', features)
    return life ? [{ node, life }] : []
  })
  return {
    notReady: lives.flatMap(({ node, life: { ready } }) => {
      if (ready === 'True') return []
      const condition = conditionOf(node, 'Ready')
      const sinceMs =
        timeOf(condition?.lastTransitionTime) ?? timeOf(node.metadata?.creationTimestamp)
      return [{ node: nameOf(node), ready, sinceMs, reason: condition?.reason ?? null }]
    }),
  }
}

/** Nodes that are not Ready. */
import type { NodeGarbage } from '#model/finding/cluster-garbage.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import { conditionOf, timeOf } from '#replay/cluster-gc/metadata.ts'
import type { Section } from '#replay/cluster-gc/section.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'

export const nodes: Section<'nodes'> = {
  resources: [],
  needsNodes: true,
  open: () => ({
    take: () => {},
    close: ({ nodes: all }) => ({ notReady: (all ?? []).flatMap(notReadyNode) }),
  }),
}

function notReadyNode(node: KubernetesNode): NodeGarbage['notReady'][number][] {
  const condition = conditionOf(node, 'Ready')
  if (nameOf(node) === '' || condition?.status === 'True') return []
  const ready = condition?.status === 'False' ? 'False' : 'Unknown'
  const sinceMs = timeOf(condition?.lastTransitionTime) ?? timeOf(node.metadata?.creationTimestamp)
  return [
    {
      node: nameOf(node),
      ready: condition ? ready : null,
      sinceMs,
      reason: condition?.reason ?? null,
    },
  ]
}

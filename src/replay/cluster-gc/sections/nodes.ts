/** Nodes that nobody tends: not Ready, or tainted for a reason that is over. */
import { conditionOfTaint, cordonEffect, passingTaint } from '#facts/kubernetes/taints.ts'
import type { NodeGarbage } from '#model/cluster-garbage.ts'
import type { KubernetesNode, Taint } from '#model/kubernetes.ts'
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
    leftTaints: lives.flatMap(({ node, life: { ready } }) =>
      ready === 'True' ? leftTaints(node) : [],
    ),
  }
}

function leftTaints(node: KubernetesNode): NodeGarbage['leftTaints'][number][] {
  const isGoing = timeOf(node.metadata?.deletionTimestamp) !== null
  const isCordoned = node.spec?.unschedulable === true
  return (node.spec?.taints ?? []).flatMap(taint => {
    const key = taint.key ?? ''
    const meaning = passingTaint(key)
    if (meaning === null || (meaning === 'announcing' && isGoing)) return []
    if (meaning === 'cordon' && (isCordoned || taint.effect !== cordonEffect)) return []
    const condition = meaning === 'condition' ? conditionOf(node, conditionOfTaint(key)) : null
    // Upstream takes away all that no condition asks for: one that is Unknown, or not there, asks for none.
    if (condition?.status === 'True') return []
    // Its reason is over since the node is Ready, or since the condition is, and it cannot be left for longer than it is there.
    const ends = [conditionOf(node, 'Ready'), condition].map(each =>
      timeOf(each?.lastTransitionTime),
    )
    const times = [...ends, timeOf(taint.timeAdded) ?? valueTime(taint)].filter(
      time => time !== null,
    )
    const sinceMs = times.length === 0 ? null : Math.max(...times)
    return [
      {
        node: nameOf(node),
        key,
        effect: taint.effect ?? '',
        isAnnounced: meaning === 'announcing',
        sinceMs,
      },
    ]
  })
}

/** The autoscaler writes into the value when it began, in seconds. */
function valueTime({ value = '' }: Taint): number | null {
  return /^\d{9,11}$/.test(value) ? Number(value) * 1000 : null
}

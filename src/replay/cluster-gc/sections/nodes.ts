/** Nodes that nobody tends: not Ready, or tainted for a reason that is over. */
import { conditionOfTaint, cordonEffect, passingTaint } from '#facts/kubernetes/taints.ts'
import type { NodeGarbage } from '#model/cluster-garbage.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { conditionOf, timeAt } from '#replay/cluster-gc/metadata.ts'
import { nodeLife } from '#replay/cluster-gc/nodes.ts'
import type { Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'

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
        timeAt(condition, 'lastTransitionTime') ??
        timeAt(objectAt(node, 'metadata'), 'creationTimestamp')
      return [{ node: nameOf(node), ready, sinceMs, reason: textAt(condition, 'reason') }]
    }),
    leftTaints: lives.flatMap(({ node, life: { ready } }) =>
      ready === 'True' ? leftTaints(node) : [],
    ),
  }
}

function leftTaints(node: RawObject): NodeGarbage['leftTaints'][number][] {
  const isGoing = timeAt(objectAt(node, 'metadata'), 'deletionTimestamp') !== null
  const isCordoned = objectAt(node, 'spec')?.unschedulable === true
  return listAt(objectAt(node, 'spec'), 'taints')
    .filter(isRawObject)
    .flatMap(taint => {
      const key = textAt(taint, 'key') ?? ''
      const meaning = passingTaint(key)
      if (meaning === null || (meaning === 'announcing' && isGoing)) return []
      if (meaning === 'cordon' && (isCordoned || taint.effect !== cordonEffect)) return []
      const condition = meaning === 'condition' ? conditionOf(node, conditionOfTaint(key)) : null
      // Upstream takes away all that no condition asks for: one that is Unknown, or not there, asks for none.
      if (condition?.status === 'True') return []
      // Its reason is over since the node is Ready, or since the condition is, and it cannot be left for longer than it is there.
      const ends = [conditionOf(node, 'Ready'), condition].map(each =>
        timeAt(each, 'lastTransitionTime'),
      )
      const times = [...ends, timeAt(taint, 'timeAdded') ?? valueTime(taint)].filter(
        time => time !== null,
      )
      const sinceMs = times.length === 0 ? null : Math.max(...times)
      return [
        {
          node: nameOf(node),
          key,
          effect: textAt(taint, 'effect') ?? '',
          isAnnounced: meaning === 'announcing',
          sinceMs,
        },
      ]
    })
}

/** The autoscaler writes into the value when it began, in seconds. */
function valueTime(taint: RawObject): number | null {
  const value = textAt(taint, 'value') ?? ''
  return /^\d{9,11}$/.test(value) ? Number(value) * 1000 : null
}

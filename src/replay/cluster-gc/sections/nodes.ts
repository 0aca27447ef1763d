/** Nodes that nobody tends: not Ready, or tainted for a reason that is over. */
import type { NodeGarbage } from '#model/cluster-garbage.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { conditionOf, timeAt } from '#replay/cluster-gc/metadata.ts'
import { nodeLife } from '#replay/cluster-gc/nodes.ts'
import type { Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { nameOf } from '#replay/cluster-gc/slim.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'

export const nodes: Section<'nodes'> = { resources: [], needsNodes: true, open: () => ({ take: () => {}, tell }) }

/**
 * Taints that are taken away once the node is Ready; by the node lifecycle controllers, but of a node out of service by whoever set it.
 * Sources: pkg/controller/nodelifecycle, cloud-provider/controllers/nodelifecycle, KEP-2268; autoscaler cluster-autoscaler/utils/taints ToBeDeletedTaint.
 */
const passing: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/out-of-service',
  'node.cloudprovider.kubernetes.io/shutdown',
  'ToBeDeletedByClusterAutoscaler',
])

function tell({ nodes: all, features }: SectionContext): NodeGarbage {
  const lives = (all ?? []).flatMap(node => {
    const life = nodeLife(node, null, 'unknown', features)
    return life ? [{ node, life }] : []
  })
  return {
    notReady: lives.flatMap(({ node, life: { ready } }) => {
      if (ready === 'True') return []
      const condition = conditionOf(node, 'Ready')
      const sinceMs = timeAt(condition, 'lastTransitionTime') ?? timeAt(objectAt(node, 'metadata'), 'creationTimestamp')
      return [{ node: nameOf(node), ready, sinceMs, reason: textAt(condition, 'reason') }]
    }),
    leftTaints: lives.flatMap(({ node, life: { ready } }) => (ready === 'True' ? passingTaints(node) : [])),
  }
}

function passingTaints(node: RawObject): NodeGarbage['leftTaints'][number][] {
  const readySinceMs = timeAt(conditionOf(node, 'Ready'), 'lastTransitionTime')
  return listAt(objectAt(node, 'spec'), 'taints')
    .filter(isRawObject)
    .flatMap(taint => {
      const key = textAt(taint, 'key') ?? ''
      if (!passing.has(key)) return []
      // Its reason is over since the node is Ready, and it cannot be left for longer than it is there.
      const times = [readySinceMs, timeAt(taint, 'timeAdded') ?? valueTime(taint)].filter(time => time !== null)
      const sinceMs = times.length === 0 ? null : Math.max(...times)
      return [{ node: nameOf(node), key, effect: textAt(taint, 'effect') ?? '', sinceMs }]
    })
}

/** The autoscaler writes into the value when it began, in seconds. */
function valueTime(taint: RawObject): number | null {
  const value = textAt(taint, 'value') ?? ''
  return /^\d{9,11}$/.test(value) ? Number(value) * 1000 : null
}

import { ageEvidence, deleteObjects, garbageIn, isWithoutInstance } from '#judge/garbage/garbage.ts'
import { clusterRule, line, plural } from '#judge/rule.ts'

export const nodeWithoutInstance = clusterRule({
  id: 'node-without-instance',
  severity: 'medium',
  needs: ['instances'],
  fate: 'late',
  title: 'Nodes stay whose instances are gone',
  why: "When a node is not Ready and its instance does not exist any more, the cloud's node lifecycle controller deletes the Node within seconds. One that stays keeps its pods, its lease and its volumes from going, and StatefulSets wait for it. A finalizer holds it, or its provider ID names another instance than it had.",
  fix: 'Delete the Node. If it stays, look for the controller of its finalizers, for example Karpenter.',
  sources: [
    'cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go MonitorNodes',
    'EC2 API reference, DescribeInstances',
  ],

  *judge({ cluster, at, instances: { withoutInstance } }) {
    const left = withoutInstance
      .filter(each => isWithoutInstance(each, at))
      .map(each => ({ ...each, name: each.node }))
    yield* garbageIn(cluster, 'node', left, (found, { one }) => ({
      nodes: found.map(({ name }) => name),
      confidence: 'likely',
      consequence: `${plural(found.length, 'node')} ${one('is', 'are')} not Ready, and no instance of this cluster is behind ${one('it', 'them')}.`,
      evidence: [
        ...found
          .slice(0, 5)
          .map(({ name, instanceId }) => line('object', `${name} names`, instanceId)),
        ...ageEvidence(found, 'sinceMs', at, 'first was Ready last'),
      ],
      commands: [deleteObjects('node', '', found.slice(0, 1))],
    }))
  },
})

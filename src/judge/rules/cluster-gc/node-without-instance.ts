import { oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { isWithoutInstance } from '#judge/garbage/silent-nodes.ts'
import { clusterRule, line } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import { byText } from '#model/text-order.ts'

export const nodeWithoutInstance = clusterRule({
  id: 'node-without-instance',
  severity: 'medium',
  needs: ['instances'],
  fate: 'late',
  title: 'Nodes stay whose instances are gone',
  why: "When a node is not Ready and its instance does not exist any more, the cloud's node lifecycle controller deletes the Node within seconds. One that stays keeps its pods, its lease and its volumes from going, and StatefulSets wait for it. A finalizer holds it, or its provider ID names another instance than it had.",
  fix: 'Delete the Node; where it then hangs in deletion, look for its finalizers (of Karpenter: is Karpenter there?).',
  sources: [
    'cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go MonitorNodes',
    'EC2 API reference, DescribeInstances',
  ],

  *judge({ cluster, at, instances: { withoutInstance } }) {
    const nowMs = Date.parse(at)
    const left = withoutInstance
      .filter(each => isWithoutInstance(each, nowMs))
      .toSorted((a, b) => byText(a.node, b.node))
    const [first] = left
    if (!first) return
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: left.length,
      noun: 'node',
      nodes: left.map(({ node }) => node),
      confidence: 'likely',
      consequence: `${counted(left.length, 'node')} ${left.length === 1 ? 'is' : 'are'} not Ready, and no instance of this cluster is behind ${left.length === 1 ? 'it' : 'them'}.`,
      evidence: [
        ...left
          .slice(0, 5)
          .map(({ node, instanceId }) => line('object', `${node} names`, instanceId)),
        ...oldest(left, ({ sinceMs }) => sinceMs, nowMs, 'first was Ready last'),
      ],
      commands: [kubectl('delete', 'node', said(first.node))],
    }
  },
})

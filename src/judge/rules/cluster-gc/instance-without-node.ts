import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { isOld, leftHours, named, oldest } from '#judge/garbage/garbage.ts'
import { aws, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import type { InstanceGarbage } from '#model/cluster-garbage.ts'
import { byText } from '#model/text-order.ts'

const instance = (hoursAgo: number): InstanceGarbage['withoutNode'][number] => ({
  ...{ instanceId: 'i-0123456789abcdef0', instanceType: 'm6i.large', state: 'running' },
  launchedMs: hoursBefore(hoursAgo),
})
const example = (hoursAgo: number) => ({
  instances: { withoutNode: [instance(hoursAgo)], withoutInstance: [] },
})

export const instanceWithoutNode = clusterRule({
  id: 'instance-without-node',
  severity: 'medium',
  needs: ['instances'],
  docs: {
    title: 'Instances of the cluster are not nodes',
    why: 'An instance with the tags of a cluster should be a node of it. An instance that never joined, or whose Node was deleted while it was running, costs money and runs no pods. It is easily overlooked, and so remains unpatched.',
    fix: "Read the instance's console output and its kubelet's log for why it did not join (bootstrap, access entry, network), or terminate it. Started for something else, it should not bear the cluster's tags.",
    sources: [
      'EC2 API reference, DescribeInstances',
      'EKS user guide, tagging: aws:eks:cluster-name',
    ],
  },
  examples: { bad: example(60), good: example(0.2) },

  *judge({ cluster, at, instances: { withoutNode } }) {
    const nowMs = Date.parse(at)
    const left = withoutNode
      .filter(({ launchedMs }) => isOld(launchedMs, nowMs, leftHours.instanceWithoutNode))
      .toSorted((a, b) => byText(a.instanceId, b.instanceId))
    const [first] = left
    if (!first) return
    const kinds = [
      ...Map.groupBy(
        left,
        ({ instanceType, state }) => `${instanceType ?? 'unknown type'}, ${state}`,
      ),
    ].toSorted(([a], [b]) => byText(a, b))
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: left.length,
      noun: 'instance',
      confidence: 'likely',
      consequence: `${counted(left.length, 'instance')} with the tags of this cluster ${left.length === 1 ? 'is' : 'are'} no node of it.`,
      evidence: [
        ...kinds
          .slice(0, 5)
          .map(([what, { length }]) => line('object', what, counted(length, 'instance'))),
        ...oldest(
          left.map(({ launchedMs }) => launchedMs),
          nowMs,
          'first was launched',
        ),
        line('object', 'instances', named(left.map(({ instanceId: name }) => ({ name })))),
      ],
      commands: [
        aws(
          'ec2',
          'get-console-output',
          '--latest',
          '--output',
          'text',
          '--instance-id',
          said(first.instanceId),
        ),
      ],
    }
  },
})

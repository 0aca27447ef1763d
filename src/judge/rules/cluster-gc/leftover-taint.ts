import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { isOld, leftHours, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import { byText } from '#model/text-order.ts'

const taint = (hoursAgo: number) => ({
  node: 'ip-10-0-1-2.ec2.internal',
  key: 'node.kubernetes.io/out-of-service',
  effect: 'NoExecute',
  isAnnounced: false,
  sinceMs: hoursBefore(hoursAgo),
})

export const leftoverTaint = clusterRule({
  id: 'leftover-taint',
  severity: 'medium',
  needs: ['nodes'],
  docs: {
    title: 'Ready nodes still have a taint whose reason is over',
    why: 'A controller removes the taints of nodes that are not Ready, uninitialized, shut down, under pressure, cordoned or about to be removed when the reason ends. The out-of-service taint is removed by the user who set it. An autoscaler deletes the node or removes its taint. A leftover taint keeps pods off a healthy node, or evicts them again and again.',
    fix: 'Check that the node is healthy, then remove the taint.',
    sources: [
      'pkg/controller/nodelifecycle/node_lifecycle_controller.go nodeConditionToTaintKeyStatusMap, doNoScheduleTaintingPass',
      'cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go MonitorNodes',
      'cloud-provider/controllers/node/node_controller.go syncNode',
      'KEP-2268 non-graceful node shutdown',
      'karpenter pkg/apis/v1/taints.go; cluster-autoscaler utils/taints',
    ],
  },
  examples: {
    bad: { nodes: { notReady: [], leftTaints: [taint(60)] } },
    good: { nodes: { notReady: [], leftTaints: [taint(0.2)] } },
  },

  *judge({ cluster, at, nodes: { leftTaints } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const found = leftTaints
      .filter(taint => isOld(taint.sinceMs, nowMs, leftHours.taint(taint, minAgeHours)))
      .toSorted((a, b) => byText(a.node, b.node) || byText(a.key, b.key))
    const [first] = found
    if (!first) return
    const nodes = [...new Set(found.map(({ node }) => node))]
    const keys = [...Map.groupBy(found, ({ key, effect }) => `${key}:${effect}`)].toSorted(
      ([a], [b]) => byText(a, b),
    )
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: nodes.length,
      noun: 'node',
      nodes,
      consequence: `${counted(nodes.length, 'node')} ${nodes.length === 1 ? 'is' : 'are'} Ready and still tainted ${first.key}: pods that do not tolerate it stay away.`,
      evidence: [
        ...keys
          .slice(0, 5)
          .map(([what, { length }]) => line('node', what, counted(length, 'node'))),
        ...oldest(
          found.map(({ sinceMs }) => sinceMs),
          nowMs,
          'first',
        ),
      ],
      commands: [kubectl('taint', 'node', said(first.node), said(`${first.key}:${first.effect}-`))],
    }
  },
})

import { isOld, named, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { clusterRule, line } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import type { NodeLeaseGarbage } from '#model/cluster-garbage.ts'
import { byText } from '#model/text-order.ts'

export const unrenewedLease = clusterRule({
  id: 'unrenewed-lease',
  severity: 'medium',
  needs: ['leases'],
  fate: 'with',
  title: 'Nodes have long not renewed their leases',
  why: 'A kubelet renews its lease every ten seconds. If the lease is that old, no kubelet of the node reaches the API server: its pods are still counted, and whether they run is unknown.',
  fix: 'Restore the node, or delete the Node object: its lease and its pods are deleted with it.',
  sources: [
    'component-helpers/apimachinery/lease/controller.go Run',
    'pkg/controller/nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth',
  ],

  *judge({ cluster, at, leases: { nodes } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const isOfNode = ({ state }: NodeLeaseGarbage) =>
      state === 'held' || state === 'ownerless' || state === 'stale-owner'
    const found = nodes
      .filter(lease => isOfNode(lease) && isOld(lease.renewedMs, nowMs, minAgeHours))
      .map(({ node: name, renewedMs }) => ({ name, renewedMs }))
      .toSorted((a, b) => byText(a.name, b.name))
    if (
      nodes.some(
        ({ state, renewedMs }) => state === 'unknown' && isOld(renewedMs, nowMs, minAgeHours),
      )
    )
      yield {
        unknown:
          'leases.coordination.k8s.io: whether the nodes are there whose leases are not renewed is not known',
      }
    const [first] = found
    if (!first) return
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: found.length,
      noun: 'lease',
      nodes: found.map(({ name }) => name),
      consequence: `${counted(found.length, 'node')} ${found.length === 1 ? 'has' : 'have'} not renewed ${found.length === 1 ? 'its lease' : 'their leases'} for more than ${minAgeHours} h: no kubelet is connected.`,
      evidence: [
        line('object', 'leases that are not renewed', found.length),
        ...oldest(found, ({ renewedMs }) => renewedMs, nowMs, 'first to be renewed no more'),
        line('object', 'nodes', named(found)),
      ],
      commands: [kubectl('get', 'lease', said(first.name), '-n', 'kube-node-lease', '-o', 'yaml')],
    }
  },
})

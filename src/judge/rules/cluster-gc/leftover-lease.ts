import { hoursBefore } from '#judge/example-cluster.ts'
import { isOld, named, namesInCommand, oldest } from '#judge/garbage.ts'
import { kubectl } from '#judge/kubectl.ts'
import { clusterRule } from '#judge/rule.ts'
import { byText, counted } from '#judge/text.ts'
import type { NodeLeaseGarbage } from '#model/cluster-garbage.ts'

const lease = (renewedHoursAgo: number): NodeLeaseGarbage => ({
  node: 'ip-10-0-9-9.ec2.internal',
  state: 'leftover',
  renewedMs: hoursBefore(renewedHoursAgo),
  isExpired: true,
})

export const leftoverLease = clusterRule({
  id: 'leftover-lease',
  severity: 'low',
  needs: ['leases'],
  docs: {
    title: 'Leases of nodes that are gone stay',
    why: 'A kubelet makes its node the owner of its lease, once, and with the node the lease goes. A lease without an owner outlives its node: nothing collects it.',
    fix: 'Delete the leases whose node is gone; if new ones keep coming, look who else writes to kube-node-lease.',
    sources: ['pkg/kubelet/util/nodelease.go SetNodeOwnerFunc'],
  },
  examples: {
    bad: { leases: { nodes: [lease(900)], identities: [] } },
    good: { leases: { nodes: [{ ...lease(900), state: 'collectable' }], identities: [] } },
  },

  *judge({ cluster, at, leases: { nodes } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    const left = nodes.filter(({ state, renewedMs }) => state === 'leftover' && isOld(renewedMs, nowMs, minAgeHours))
    const found = left.map(({ node: name, renewedMs }) => ({ name, renewedMs })).toSorted((a, b) => byText(a.name, b.name))
    const isOpen = nodes.some(({ state }) => state === 'unknown')
    if (found.length === 0 && isOpen) yield { unknown: 'leases.coordination.k8s.io: whether their nodes are there is not known' }
    if (found.length === 0) return
    const names = found.slice(0, namesInCommand).map(({ name }) => name)
    yield {
      subject: { kind: 'Cluster', namespace: null, name: cluster },
      count: found.length,
      noun: 'lease',
      consequence: `${counted(found.length, 'lease')} in kube-node-lease ${found.length === 1 ? 'names' : 'name'} a node that is gone, and ${found.length === 1 ? 'has' : 'have'} no owner: nothing will ever delete ${found.length === 1 ? 'it' : 'them'}.`,
      evidence: [
        { what: 'leases without node and owner', value: String(found.length) },
        ...oldest(
          found.map(({ renewedMs }) => renewedMs),
          nowMs,
          'first to be renewed no more',
        ),
        { what: 'leases', value: named(found) },
      ],
      commands: [kubectl('delete', 'leases', '-n', 'kube-node-lease', ...names)],
    }
  },
})

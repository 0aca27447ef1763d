import { ageEvidence, garbageIn, getYaml, nameList, oldItems } from '#judge/garbage/garbage.ts'
import { clusterRule, line, plural } from '#judge/rule.ts'

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

  *judge({ cluster, at, leases: { nodes } }, { minAgeHours }) {
    const old = oldItems(nodes, 'renewedMs', at, minAgeHours)
    const left = old
      .filter(({ state }) => state === 'held' || state === 'ownerless' || state === 'stale-owner')
      .map(({ node: name, renewedMs }) => ({ name, renewedMs }))
    if (old.some(({ state }) => state === 'unknown'))
      yield {
        unknown:
          'leases.coordination.k8s.io: whether the nodes are there whose leases are not renewed is not known',
      }
    yield* garbageIn(cluster, 'lease', left, (found, { one }) => ({
      nodes: found.map(({ name }) => name),
      consequence: `${plural(found.length, 'node')} ${one('has', 'have')} not renewed ${one('its lease', 'their leases')} for more than ${minAgeHours} h: no kubelet is connected.`,
      evidence: [
        line('object', 'leases that are not renewed', found.length),
        ...ageEvidence(found, 'renewedMs', at, 'first to be renewed no more'),
        line('object', 'nodes', nameList(found)),
      ],
      commands: [getYaml('lease', { namespace: 'kube-node-lease', name: found[0].name })],
    }))
  },
})

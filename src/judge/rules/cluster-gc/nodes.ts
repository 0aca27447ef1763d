import {
  ageEvidence,
  deleteObjects,
  describe,
  garbageIn,
  getYaml,
  isOld,
  isWithoutInstance,
  nameList,
  oldOf,
  silentNodes,
} from '#judge/garbage/garbage.ts'
import { clusterRule, line, lines, plural } from '#judge/rule.ts'

export const leftoverLease = clusterRule({
  id: 'leftover-lease',
  severity: 'low',
  needs: ['leases'],
  fate: 'never',
  title: 'Leases of nodes that are gone stay',
  why: 'A kubelet makes its node the owner of its lease, once, and with the node the lease goes. A lease without an owner outlives its node: nothing collects it. One that has its owner still, and stays for long all the same, is passed over: the garbage collector does not get that far, or may not.',
  fix: 'Delete the leases whose node is gone; if new ones keep coming, look who else writes to kube-node-lease. Where they have owners, look why the garbage collector does not work (an API group that does not answer, a webhook that refuses).',
  sources: ['pkg/kubelet/util/nodelease.go SetNodeOwnerFunc'],

  *judge({ cluster, at, leases: { nodes } }, { clusterGarbage: { minAgeHours } }) {
    // The garbage collector deletes `collectable` leases within seconds, so it missed an old lease.
    const left = nodes
      .filter(
        ({ state, renewedMs }) =>
          (state === 'leftover' || (state === 'collectable' && renewedMs !== null)) &&
          isOld(renewedMs, at, minAgeHours),
      )
      .map(({ node: name, ...lease }) => ({ name, ...lease }))
    if (left.length === 0 && nodes.some(({ state }) => state === 'unknown'))
      yield { unknown: 'leases.coordination.k8s.io: whether their nodes are there is not known' }
    yield* garbageIn(cluster, 'lease', left, (found, { one }) => {
      const late = found.filter(({ state }) => state === 'collectable').length
      return {
        consequence: `${plural(found.length, 'lease')} in kube-node-lease ${one('names', 'name')} a node that is gone, ${whyThere(found.length, late)}.`,
        evidence: lines(
          late < found.length &&
            line('object', 'leases without node and owner', found.length - late),
          late > 0 && line('object', 'leases that the garbage collector should have taken', late),
          ...ageEvidence(found, 'renewedMs', at, 'first to be renewed no more'),
          line('object', 'leases', nameList(found)),
        ),
        commands: [deleteObjects('leases', 'kube-node-lease', found)],
      }
    })
  },
})

function whyThere(count: number, late: number) {
  const [has, it] = count === 1 ? ['has', 'it'] : ['have', 'them']
  if (late === 0) return `and ${has} no owner: nothing will ever delete ${it}`
  const passedOver = 'the garbage collector should have deleted'
  return late === count
    ? `and ${has} that as owner: ${passedOver} ${it}, and has not`
    : `${count - late} without an owner; ${passedOver} the others`
}

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
    const old = oldOf(nodes, 'renewedMs', at, minAgeHours)
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

export const nodeNotReadyLong = clusterRule({
  id: 'node-not-ready-long',
  severity: 'medium',
  needs: ['nodes'],
  fate: 'with',
  title: 'Nodes have long been NotReady and are not deleted',
  why: 'The cloud’s node lifecycle controller deletes a Node only when its instance is gone. A Node whose instance still exists, or that has none, stays: it costs money, holds leases and volumes, and its pods stay in Terminating.',
  fix: 'Find out why its kubelet does not report (node auto repair would replace it), or delete the Node and its instance.',
  sources: [
    'cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go MonitorNodes',
    'pkg/controller/nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth',
  ],

  *judge({ cluster, at, nodes, instances }, { clusterGarbage: { minAgeHours } }) {
    const left = oldOf(silentNodes(nodes, instances, at), 'sinceMs', at, minAgeHours).map(each => ({
      ...each,
      name: each.node,
    }))
    yield* garbageIn(cluster, 'node', left, (found, { one }) => {
      const reasons = found.map(
        ({ ready, reason }) => `Ready ${ready ?? 'not posted'}${reason ? ` (${reason})` : ''}`,
      )
      return {
        nodes: found.map(({ name }) => name),
        consequence: `${plural(found.length, 'node')} ${one('has', 'have')} not been Ready for more than ${minAgeHours} h, and nothing deletes ${one('it', 'them')} as long as the instance exists${instances === null ? '; whether it does was not read' : ''}.`,
        evidence: [
          line('object', 'nodes', nameList(found)),
          line('object', 'conditions', [...new Set(reasons)].toSorted().slice(0, 5).join(', ')),
          ...ageEvidence(found, 'sinceMs', at, 'first'),
        ],
        commands: [describe('node', found[0])],
      }
    })
  },
})

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

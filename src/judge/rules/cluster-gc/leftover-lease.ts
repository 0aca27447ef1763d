import { ageEvidence, deleteObjects, garbageIn, isOld, nameList } from '#judge/garbage/garbage.ts'
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

  *judge({ cluster, at, leases: { nodes } }, { minAgeHours }) {
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
        consequence: `${plural(found.length, 'lease')} in kube-node-lease ${one('names', 'name')} a node that is gone, ${whyNotDeleted(found.length, late)}.`,
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

function whyNotDeleted(count: number, late: number) {
  const [has, it] = count === 1 ? ['has', 'it'] : ['have', 'them']
  if (late === 0) return `and ${has} no owner: nothing will ever delete ${it}`
  const passedOver = 'the garbage collector should have deleted'
  return late === count
    ? `and ${has} that as owner: ${passedOver} ${it}, and has not`
    : `${count - late} without an owner; ${passedOver} the others`
}

import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byPlace, inNamespace, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { owned, totalOf } from '#judge/garbage/owned.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'

const none = { dangling: [], unserved: [], blocked: [], orphaned: [] }
const group = { kind: 'PersistentVolumeClaim', namespace: 'shared', count: 2, names: ['a', 'b'], createdMs: hoursBefore(5) }

export const misplacedOwner = clusterRule({
  id: 'misplaced-owner',
  severity: 'medium',
  needs: ['owners'],
  docs: {
    title: 'Objects name an owner where none can be',
    why: "An owner has to be in the object's own namespace, or in none. One in another namespace is looked for in the wrong place and not found: the collector deletes the object. A namespaced owner of a cluster-scoped object cannot be looked up at all: such an object is never collected.",
    fix: 'Take the reference away, or give the object an owner that it can have; mend whatever writes such references.',
    sources: [
      'pkg/controller/garbagecollector/graph_builder.go reportInvalidNamespaceOwnerRef',
      'Kubernetes documentation, Owners and Dependents',
    ],
  },
  examples: {
    bad: { owners: { ...none, misplaced: [{ ...group, owner: 'Deployment cart', is: 'other-namespace' }] } },
    good: { owners: { ...none, misplaced: [] } },
  },

  *judge({ cluster, at, owners: { misplaced } }) {
    for (const [subject, found] of byPlace(misplaced.map(owned), cluster)) {
      const count = totalOf(found)
      const [first] = found
      const outcome = first?.is === 'other-namespace' ? 'the garbage collector will delete' : 'the garbage collector will never take'
      yield {
        subject,
        count,
        noun: 'object',
        consequence: `${counted(count, 'object')} of ${subject.name} ${count === 1 ? 'names' : 'name'} an owner ${first?.is === 'other-namespace' ? 'in another namespace' : 'that stands in a namespace'}: ${outcome} ${count === 1 ? 'it' : 'them'}.`,
        evidence: [
          ...found.slice(0, 5).map(({ owner, is, told }) => ({
            what: `owner ${owner}, ${is === 'other-namespace' ? 'of another namespace' : 'of a namespace'}`,
            value: told,
          })),
          ...oldest(
            found.map(({ createdMs }) => createdMs),
            Date.parse(at),
            'oldest was made',
          ),
        ],
        commands: first ? [kubectl('get', said(first.kind), said(first.name), ...inNamespace(first.namespace), '-o', 'yaml')] : [],
      }
    }
  },
})

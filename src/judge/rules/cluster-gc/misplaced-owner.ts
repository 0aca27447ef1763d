import { line } from '#judge/evidence.ts'
import { hoursBefore } from '#judge/garbage/example-cluster.ts'
import { byPlace, inNamespace, isOld, oldest } from '#judge/garbage/garbage.ts'
import { kubectl, said } from '#judge/garbage/kubectl.ts'
import { owned, totalOf } from '#judge/garbage/owned.ts'
import { clusterRule } from '#judge/rule.ts'
import { counted } from '#judge/text.ts'
import type { MisplacedFate, OwnerGarbage } from '#model/cluster-garbage.ts'

type Misplaced = OwnerGarbage['misplaced'][number]

const order: readonly MisplacedFate[] = ['delete', 'may-delete', 'nothing', 'remove-reference']

type Words = (what: string) => string
const late: Words = what => `the garbage collector should have deleted ${what}`
const outcomes: Readonly<Record<MisplacedFate, Words>> = {
  delete: what => `the garbage collector will delete ${what}`,
  'may-delete': what =>
    `unless another owner is there, of which nothing was read, the garbage collector will delete ${what}`,
  'remove-reference': what =>
    `another owner keeps ${what}, and the garbage collector only takes the reference away`,
  nothing: what => `the garbage collector will never take ${what}`,
}
/** It acts within seconds. */
const outcome = ({ fate }: Misplaced, isLate: boolean): Words =>
  fate === 'delete' && isLate ? late : outcomes[fate]

const none = { dangling: [], unserved: [], blocked: [], orphaned: [] }
const group = {
  kind: 'PersistentVolumeClaim',
  namespace: 'shared',
  count: 2,
  names: ['a', 'b'],
  createdMs: hoursBefore(5),
}

export const misplacedOwner = clusterRule({
  id: 'misplaced-owner',
  severity: 'medium',
  needs: ['owners'],
  docs: {
    title: 'Objects name an owner where none can be',
    why: "An owner has to be in the object's own namespace, or in none. One in another namespace is looked for in the wrong place and not found: the collector deletes the object, or, where another owner of it is there, takes the reference away. A namespaced owner of a cluster-scoped object cannot be looked up at all: such an object is never collected.",
    fix: 'Take the reference away, or give the object an owner that it can have; mend whatever writes such references.',
    sources: [
      'pkg/controller/garbagecollector/graph_builder.go reportInvalidNamespaceOwnerRef',
      'Kubernetes documentation, Owners and Dependents',
    ],
  },
  examples: {
    bad: {
      owners: {
        ...none,
        misplaced: [{ ...group, owner: 'Deployment cart', is: 'other-namespace', fate: 'delete' }],
      },
    },
    good: { owners: { ...none, misplaced: [] } },
  },

  *judge({ cluster, at, owners: { misplaced } }, { clusterGarbage: { minAgeHours } }) {
    const nowMs = Date.parse(at)
    for (const [subject, found] of byPlace(misplaced.map(owned), cluster)) {
      const count = totalOf(found)
      // What is deleted comes first.
      const [first] = found.toSorted((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate))
      const fates = Map.groupBy(found, each =>
        outcome(each, isOld(each.createdMs, nowMs, minAgeHours)),
      )
      const outcomes = [...fates].map(([words, groups]) =>
        words(fates.size === 1 ? (count === 1 ? 'it' : 'them') : `${totalOf(groups)} of them`),
      )
      yield {
        subject,
        count,
        noun: 'object',
        consequence: `${counted(count, 'object')} of ${subject.name} ${count === 1 ? 'names' : 'name'} an owner ${first?.is === 'other-namespace' ? 'in another namespace' : 'that stands in a namespace'}: ${outcomes.join('; ')}.`,
        evidence: [
          ...found
            .slice(0, 5)
            .map(({ owner, is, told }) =>
              line(
                'object',
                `owner ${owner}, ${is === 'other-namespace' ? 'of another namespace' : 'of a namespace'}`,
                told,
              ),
            ),
          ...oldest(
            found.map(({ createdMs }) => createdMs),
            nowMs,
            'oldest was made',
          ),
        ],
        commands: first
          ? [
              kubectl(
                'get',
                said(first.kind),
                said(first.name),
                ...inNamespace(first.namespace),
                '-o',
                'yaml',
              ),
            ]
          : [],
      }
    }
  },
})

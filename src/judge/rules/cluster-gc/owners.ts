import {
  ageEvidence,
  byFrequency,
  garbageIn,
  getYaml,
  heldObjects,
  inGroups,
  inNamespace,
  labelGroup,
  oldOf,
  reasonOf,
  sumEvidence,
  totalOf,
  whyFinalizersStay,
} from '#judge/garbage/garbage.ts'
import { clusterWord, reads } from '#judge/garbage/kubectl.ts'
import { clusterRule, line, lines, plural } from '#judge/rule.ts'
import type { HeldObject } from '#model/finding/cluster-garbage.ts'

export const blockedForegroundDeletion = clusterRule({
  id: 'blocked-foreground-deletion',
  severity: 'medium',
  needs: ['owners'],
  fate: 'held',
  title: 'A foreground deletion waits for what it owns',
  why: 'Deleted in the foreground, an object stays until every dependent whose reference says blockOwnerDeletion has gone. One dependent that does not go holds it, and its name with it.',
  fix: "Look why the dependent does not go: its own finalizers, a node that is gone, a webhook that refuses. Or take blockOwnerDeletion from the dependent's reference: then the owner goes without it.",
  sources: [
    'pkg/controller/garbagecollector/garbagecollector.go processDeletingDependentsItem',
    'pkg/controller/garbagecollector/graph.go blockingDependents',
  ],

  *judge({ cluster, at, owners: { blocked } }, { clusterGarbage: { minAgeHours } }) {
    const left = oldOf(blocked, 'sinceMs', at, minAgeHours)
    yield* garbageIn(cluster, 'object in deletion', left, (found, { all, one }) => {
      const known = found.find(({ dependents }) => dependents.length > 0)
      const [by] = known?.dependents.map(each => labelGroup(each).text) ?? []
      const waits = `${all('object')} ${one('waits', 'wait')}`
      const it = one('it', 'them')
      return {
        ...(!known && { confidence: 'likely' as const }),
        consequence: known
          ? `${waits} for dependents that do not go, ${known.kind} ${known.name} for ${by}.`
          : `${waits} in a foreground deletion, and nothing that was listed blocks ${it}: a dependent of a kind that was not listed may, or the garbage collector does not get to ${it}.`,
        evidence: [
          ...found.slice(0, 5).map(({ kind, name, dependents }) => {
            const texts = dependents.map(each => labelGroup(each).text).join(', ')
            return line('object', `${kind} ${name} waits for`, texts || 'nothing that was listed')
          }),
          ...ageEvidence(found, 'sinceMs', at, 'first was deleted'),
        ],
        commands: [getYaml((known ?? found[0]).kind, known ?? found[0])],
      }
    })
  },
})

export const danglingOwner = clusterRule({
  id: 'dangling-owner',
  severity: 'medium',
  needs: ['owners'],
  fate: 'late',
  title: 'Objects whose owners are gone are still there',
  why: 'The garbage collector deletes an object within seconds when none of its owners is there any more; an owner is its UID, so a new object of the same name is none. What is still there is not collected: the deletion is refused, or the collector cannot see all API groups and waits.',
  fix: "Look into the object's events and at admission webhooks that refuse deletions, and whether every API service is available. If the object is wanted, take the reference away or name the new owner's UID.",
  sources: ['pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem, isDangling'],

  *judge({ cluster, at, owners: { dangling } }, { clusterGarbage: { minAgeHours } }) {
    const left = oldOf(dangling, 'createdMs', at, minAgeHours).map(labelGroup)
    yield* garbageIn(cluster, 'object', left, (found, { subject }) => {
      const count = totalOf(found)
      const replaced = totalOf(found.filter(({ isReplaced }) => isReplaced))
      const likely = totalOf(found.filter(({ confidence }) => confidence === 'likely'))
      return {
        count,
        ...(likely === count && { confidence: 'likely' as const }),
        consequence: `${plural(count, 'object')} of ${subject.name} ${count === 1 ? 'has' : 'have'} no owner that is still there, and the garbage collector has not taken ${count === 1 ? 'it' : 'them'}.`,
        evidence: lines(
          ...found.slice(0, 5).map(({ owner, isReplaced, text }) => {
            const replacement = isReplaced ? ' (another one has its name now)' : ''
            return line('object', `owner ${owner}${replacement}`, text)
          }),
          sumEvidence('whose owner was replaced by another of its name', [replaced], String),
          likely > 0 &&
            sumEvidence(
              'owned by pods, which are read before and not all where their node is gone',
              [likely],
              String,
            ),
          ...ageEvidence(found, 'createdMs', at, 'oldest was made'),
        ),
        commands: [getYaml(found[0].kind, found[0])],
      }
    })
  },
})

export const orphanedDependent = clusterRule({
  id: 'orphaned-dependent',
  severity: 'low',
  needs: ['owners'],
  fate: 'never',
  title: 'Objects of a deleted controller have no owner',
  why: 'Deletion of an owner with --cascade=orphan leaves its dependents without an owner. A new controller with a matching selector adopts them. Otherwise they are never updated, replaced or garbage collected; orphaned pods and ReplicaSets keep running.',
  fix: 'Create the controller again with a matching selector, or delete the objects.',
  sources: [
    'pkg/controller/garbagecollector/garbagecollector.go orphanDependents',
    'pkg/controller/controller_ref_manager.go ClaimObject',
  ],

  *judge({ cluster, at, owners: { orphaned } }, { clusterGarbage: { minAgeHours } }) {
    const left = oldOf(orphaned, 'createdMs', at, minAgeHours)
    yield* garbageIn(cluster, 'orphan', left, (found, { all, one }) => {
      const kindOf = ({ kind, controllerKind }: (typeof found)[0]) =>
        `${kind} without its ${controllerKind}`
      const running = found.filter(({ replicas }) => (replicas ?? 0) > 0)
      const { kind, name, namespace } = found[0]
      return {
        confidence: 'likely',
        consequence: `${all('object')} ${one('was', 'were')} made by a controller that is gone or has let go${running.length > 0 ? `; ${stillRuns(running, found.length)}` : ''}.`,
        evidence: [
          ...inGroups(found, kindOf)
            .slice(0, 5)
            .map(([what, objects]) => reasonOf(what, objects)),
          ...ageEvidence(found, 'createdMs', at, 'oldest was made'),
        ],
        commands: [
          reads(
            'get',
            clusterWord(kind),
            clusterWord(name),
            ...inNamespace(namespace),
            '--show-labels',
          ),
        ],
      }
    })
  },
})

function stillRuns(running: readonly { kind: string }[], count: number) {
  const arePods = running.every(({ kind }) => kind === 'Pod')
  if (count === 1) return arePods ? 'it may still run' : 'pods of it may still run'
  return arePods ? `${running.length} may still run` : `pods of ${running.length} may still run`
}

export const stuckFinalizer = clusterRule({
  id: 'stuck-finalizer',
  severity: 'medium',
  needs: ['finalizers'],
  fate: 'held',
  title: 'Finalizers hold what was deleted',
  why: 'An object that is being deleted stays until each of its finalizers was taken away by the controller that set it. Where that controller is gone or fails, the object stays for ever, and with it its namespace, its owner, or the machine that it stands for.',
  fix: 'Bring the controller back, or mend what its log says. Only when it is gone for good, and what it would have cleaned up was cleaned up by hand, take the finalizer away.',
  sources: [
    'apiserver/pkg/registry/generic/registry/store.go deletionFinalizersForGarbageCollection',
    'k8s.io/apimachinery pkg/apis/meta/v1 ObjectMeta.Finalizers',
  ],

  *judge({ cluster, at, finalizers }, { clusterGarbage: { minAgeHours, kinds } }) {
    const left = oldOf(heldObjects(finalizers, at, kinds), 'sinceMs', at, minAgeHours)
    yield* garbageIn(cluster, 'object in deletion', left, (found, { all, one }) => {
      const holders = byFrequency(found, ({ finalizers }) => whyFinalizersStay(finalizers))
      const namesOf = (objects: readonly HeldObject[]) =>
        objects.map(({ kind, name }) => ({ name: `${kind} ${name}` }))
      return {
        consequence: `${all('object')} ${one('does', 'do')} not go: ${holders[0]?.[0]}.`,
        evidence: [
          ...holders.slice(0, 5).map(([what, objects]) => reasonOf(what, namesOf(objects))),
          ...ageEvidence(found, 'sinceMs', at, 'first was deleted'),
        ],
        commands: [getYaml(found[0].resource, found[0])],
      }
    })
  },
})

import {
  ageEvidence,
  byFrequency,
  garbageIn,
  getYaml,
  heldObjects,
  oldItems,
  reasonOf,
  whyFinalizersStay,
} from '#judge/garbage/garbage.ts'
import { clusterRule } from '#judge/rule.ts'
import type { HeldObject } from '#model/cluster-garbage.ts'

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

  *judge({ cluster, at, finalizers }, { minAgeHours, kinds }) {
    const left = oldItems(heldObjects(finalizers, at, kinds), 'sinceMs', at, minAgeHours)
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

import { ageEvidence, garbageIn, getYaml, labelGroup, oldItems } from '#judge/garbage/garbage.ts'
import { clusterRule, line } from '#judge/rule.ts'

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

  *judge({ cluster, at, owners: { blocked } }, { minAgeHours }) {
    const left = oldItems(blocked, 'sinceMs', at, minAgeHours)
    yield* garbageIn(cluster, 'object in deletion', left, (found, { all, one }) => {
      const known = found.find(({ dependents }) => dependents.length > 0)
      const [by] = known?.dependents.map(each => labelGroup(each).text) ?? []
      const waits = `${all('object')} ${one('waits', 'wait')}`
      const it = one('it', 'them')
      return {
        ...(!known && { confidence: 'likely' }),
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

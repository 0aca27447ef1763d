import {
  ageEvidence,
  garbageIn,
  getYaml,
  labelGroup,
  oldItems,
  sumEvidence,
  totalOf,
} from '#judge/garbage/garbage.ts'
import { clusterRule, line, lines, plural } from '#judge/rule.ts'

export const danglingOwner = clusterRule({
  id: 'dangling-owner',
  severity: 'medium',
  needs: ['owners'],
  fate: 'late',
  title: 'Objects whose owners are gone are still there',
  why: 'The garbage collector deletes an object within seconds when none of its owners is there any more; an owner is its UID, so a new object of the same name is none. What is still there is not collected: the deletion is refused, or the collector cannot see all API groups and waits.',
  fix: "Look into the object's events and at admission webhooks that refuse deletions, and whether every API service is available. If the object is wanted, take the reference away or name the new owner's UID.",
  sources: ['pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem, isDangling'],

  *judge({ cluster, at, owners: { dangling } }, { minAgeHours }) {
    const left = oldItems(dangling, 'createdMs', at, minAgeHours).map(labelGroup)
    yield* garbageIn(cluster, 'object', left, (found, { subject }) => {
      const count = totalOf(found)
      const replaced = totalOf(found.filter(({ isReplaced }) => isReplaced))
      const likely = totalOf(found.filter(({ confidence }) => confidence === 'likely'))
      return {
        count,
        ...(likely === count && { confidence: 'likely' }),
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

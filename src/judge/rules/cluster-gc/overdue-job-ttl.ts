import { garbageIn, getYaml, isOverdue, named, oldest, summed } from '#judge/garbage/garbage.ts'
import { clusterRule, line, lines } from '#judge/rule.ts'

export const overdueJobTtl = clusterRule({
  id: 'overdue-job-ttl',
  severity: 'medium',
  needs: ['jobs'],
  fate: 'late',
  title: 'Finished Jobs outlive ttlSecondsAfterFinished',
  why: 'The TTL controller deletes an expired Job in the foreground: first its pods, then the Job. A Job that still exists is blocked by a finalizer or by a pod stuck in Terminating, or the controller does not delete it.',
  fix: 'If the Job is Terminating, check its finalizers and its pods. If it is not, check whether an admission webhook rejects the deletion.',
  sources: ['pkg/controller/ttlafterfinished/ttlafterfinished_controller.go processTTL'],

  *judge({ cluster, at, jobs }) {
    const left = jobs.finished.filter(job => isOverdue(job, at))
    yield* garbageIn(cluster, 'overdue Job', left, (found, { all, one }) => {
      const held = found.filter(({ isBeingDeleted }) => isBeingDeleted)
      const finalizers = [...new Set(held.flatMap(each => each.finalizers))].toSorted()
      return {
        consequence: `The time of ${all('Job')} is over, and ${one('it is', 'they are')} still there: ${whereTheyStand(found.length, held.length, finalizers)}.`,
        evidence: lines(
          summed(
            'overdue Jobs',
            [found.length, held.length],
            ([all, going]) => `${all}, of these ${going} in deletion`,
          ),
          finalizers.length > 0 && line('object', 'finalizers', finalizers.slice(0, 5).join(', ')),
          ...oldest(found, 'expiresMs', at, 'first was due'),
          line('object', 'Jobs', named(found)),
        ),
        commands: [getYaml('job', found[0])],
      }
    })
  },
})

function whereTheyStand(count: number, held: number, finalizers: readonly string[]) {
  if (held === 0) return 'deletion has not started'
  const going = `${held} in deletion, held by ${finalizers.join(', ') || 'what they own'}`
  return held === count ? going : `${count - held} whose deletion has not started, ${going}`
}

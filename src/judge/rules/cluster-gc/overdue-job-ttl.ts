import {
  ageEvidence,
  garbageIn,
  getYaml,
  isOverdue,
  nameList,
  sumEvidence,
} from '#judge/garbage/garbage.ts'
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
        consequence: `The time of ${all('Job')} is over, and ${one('it is', 'they are')} still there: ${deletionState(found.length, held.length, finalizers)}.`,
        evidence: lines(
          sumEvidence(
            'overdue Jobs',
            [found.length, held.length],
            ([all, going]) => `${all}, of these ${going} in deletion`,
          ),
          finalizers.length > 0 && line('object', 'finalizers', finalizers.slice(0, 5).join(', ')),
          ...ageEvidence(found, 'expiresMs', at, 'first was due'),
          line('object', 'Jobs', nameList(found)),
        ),
        commands: [getYaml('job', found[0])],
      }
    })
  },
})

function deletionState(jobs: number, inDeletion: number, finalizers: readonly string[]) {
  if (inDeletion === 0) return 'deletion has not started'
  const text = `${inDeletion} in deletion, held by ${finalizers.join(', ') || 'what they own'}`
  return inDeletion === jobs ? text : `${jobs - inDeletion} whose deletion has not started, ${text}`
}

import { jobHistoryLimits } from '#facts/kubernetes/controllers.ts'
import {
  ageEvidence,
  describe,
  firstNamed,
  garbageIn,
  getYaml,
  isOld,
  isOverdue,
  nameList,
  sumEvidence,
} from '#judge/garbage/garbage.ts'
import { type Command, clusterWord, kubectl } from '#judge/garbage/kubectl.ts'
import { clusterRule, line, lines, plural } from '#judge/rule.ts'
import type { CronJobGarbage } from '#model/finding/cluster-garbage.ts'

/** A CronJob keeps too many Jobs from this multiple of upstream's default history limit on. */
const manyTimes = 10

export const jobHistoryBeyondLimit = clusterRule({
  id: 'job-history-beyond-limit',
  severity: 'low',
  needs: ['jobs'],
  fate: 'late',
  title: 'CronJobs keep more finished Jobs than they should',
  why: 'The CronJob controller deletes the oldest finished Jobs above the history limits at each sync. More Jobs than the limit mean that it fails to do so. A limit far above the default keeps that many pods, with their logs, on the nodes.',
  fix: 'Set successfulJobsHistoryLimit and failedJobsHistoryLimit to the number of Jobs that you really inspect (upstream: 3 and 1). If there are more Jobs than the limit, check the events of the CronJob.',
  sources: [
    'pkg/controller/cronjob/cronjob_controllerv2.go cleanupFinishedJobs',
    'pkg/apis/batch/v1/defaults.go SetDefaults_CronJob',
  ],

  *judge({ cluster, jobs }) {
    const left = jobs.cronJobs.filter(each => isBeyond(each) || isWide(each))
    yield* garbageIn(cluster, 'finished Job', left, (found, { all, one }) => {
      const beyond = found.filter(isBeyond).length
      const counts = found.map(({ successful, failed }) => successful.count + failed.count)
      const kept = counts.reduce((sum, count) => sum + count, 0)
      const words = ({ name, successful, failed }: CronJobGarbage) =>
        `${name}: ${successful.count} of ${successful.limit} successful, ${failed.count} of ${failed.limit} failed`
      return {
        count: kept,
        consequence: `${all('CronJob')} ${one('keeps', 'keep')} ${plural(kept, 'finished Job')}${beyond > 0 ? `, and ${beyond} of them more than the limit allows` : ''}.`,
        evidence: [
          ...found.slice(0, 10).map(each => line('object', 'CronJob', words(each))),
          line(
            'object',
            "upstream's limits",
            `${jobHistoryLimits.successful} successful, ${jobHistoryLimits.failed} failed`,
          ),
        ],
        commands: [commandOf(found[0])],
      }
    })
  },
})

/** An excess of 1 is normal: one Job has just ended. */
const isBeyond = ({ successful, failed }: CronJobGarbage) =>
  successful.excess > 1 || failed.excess > 1
const isWide = ({ successful, failed }: CronJobGarbage) =>
  successful.count >= manyTimes * jobHistoryLimits.successful ||
  failed.count >= manyTimes * jobHistoryLimits.failed

/** Lowers limits above upstream's defaults. If no limit is above, the command shows the CronJob. */
function commandOf({ namespace, name, successful, failed }: CronJobGarbage): Command {
  const limits = {
    successfulJobsHistoryLimit: Math.min(successful.limit, jobHistoryLimits.successful),
    failedJobsHistoryLimit: Math.min(failed.limit, jobHistoryLimits.failed),
  }
  if (successful.limit <= jobHistoryLimits.successful && failed.limit <= jobHistoryLimits.failed)
    return describe('cronjob', { name, namespace })
  return [
    'changes',
    kubectl(
      'patch',
      'cronjob',
      clusterWord(name),
      '-n',
      namespace,
      '--type=merge',
      '-p',
      JSON.stringify({ spec: limits }),
    ),
  ]
}

const daySeconds = 86_400
const patch = JSON.stringify({ spec: { ttlSecondsAfterFinished: daySeconds } })

export const jobWithoutTtl = clusterRule({
  id: 'job-without-ttl',
  severity: 'low',
  needs: ['jobs'],
  fate: 'never',
  title: 'Finished Jobs without a time to live stay forever',
  why: 'Only its owner, such as a CronJob with its history limits, or ttlSecondsAfterFinished ends a finished Job. Without either it stays, and with it its pods, their logs and dead containers on the nodes, and their share of the threshold of pod GC.',
  fix: 'Set ttlSecondsAfterFinished where the Jobs are made; on those that have finished it can still be set, and then ends them.',
  sources: [
    'pkg/controller/ttlafterfinished/ttlafterfinished_controller.go needsCleanup',
    'pkg/controller/cronjob/cronjob_controllerv2.go cleanupFinishedJobs',
  ],

  *judge({ cluster, at, jobs }, { clusterGarbage: { minAgeHours } }) {
    const left = jobs.finished.filter(
      ({ ttlSeconds, controller, isBeingDeleted, finishedMs }) =>
        ttlSeconds === null &&
        controller === null &&
        !isBeingDeleted &&
        isOld(finishedMs, at, minAgeHours),
    )
    yield* garbageIn(cluster, 'finished Job', left, (found, { all, one, subject }) => ({
      consequence: `${all('finished Job')} ${one('has', 'have')} no time to live and no owner: nothing will ever delete ${one('it, or its', 'them, or their')} pods.`,
      evidence: [
        sumEvidence(
          'finished Jobs without ttlSecondsAfterFinished',
          [found.length, found.filter(({ outcome }) => outcome === 'Failed').length],
          ([all, bad]) => `${all}, of these ${bad} failed`,
        ),
        ...ageEvidence(found, 'finishedMs', at, 'first finished'),
        line('object', 'Jobs', nameList(found)),
      ],
      commands: [
        [
          'changes',
          kubectl(
            ...['patch', 'jobs', '-n', subject.name, '--type=merge', '-p', patch],
            ...firstNamed(found),
          ),
        ],
      ],
    }))
  },
})

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

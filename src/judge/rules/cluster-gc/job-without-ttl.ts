import {
  ageEvidence,
  firstNamed,
  garbageIn,
  isOld,
  nameList,
  sumEvidence,
} from '#judge/garbage/garbage.ts'
import { kubectl } from '#judge/garbage/kubectl.ts'
import { clusterRule, line } from '#judge/rule.ts'

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

  *judge({ cluster, at, jobs }, { minAgeHours }) {
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

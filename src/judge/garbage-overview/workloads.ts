/** Pods and Jobs. */
import { endOf, failedPodKind } from '#judge/garbage/failed-pods.ts'
import { overdueHours } from '#judge/garbage/held-objects.ts'
import { whyPodStays } from '#judge/garbage/holders.ts'
import type {
  CronJobGarbage,
  FinishedJob,
  JobGarbage,
  PodGarbage,
  TerminatedPod,
} from '#model/cluster-garbage.ts'
import type { GarbageFate, GarbageRow, GarbageRowKind } from '#model/garbage-overview.ts'
import { byItself, controlled, earliest, heldBy, type Lying, type Moment, rowOf } from './row.ts'

export function podRows(
  { terminated, threshold, excess, terminating }: PodGarbage,
  moment: Moment,
): GarbageRow[] {
  const lying = (pod: TerminatedPod): Lying => ({
    whose: controlled(pod.namespace, pod.controller),
    sinceMs: endOf(pod),
  })
  const failed = (kind: GarbageRowKind, how: ReturnType<typeof failedPodKind>) =>
    rowOf(
      kind,
      terminated.filter(pod => failedPodKind(pod) === how).map(lying),
      { is: 'with' },
      moment,
    )
  return [
    ...failed('evicted-pods', 'debris'),
    ...failed('failed-pods', 'failed'),
    ...rowOf(
      'finished-pods',
      terminated.map(lying),
      { is: 'threshold', ...threshold, finished: terminated.length, excess },
      moment,
    ),
    ...rowOf(
      'terminating-pods',
      terminating.map(({ namespace, sinceMs }) => ({ whose: namespace, sinceMs })),
      heldBy(terminating.map(whyPodStays)),
      moment,
    ),
  ]
}

export function jobRows({ finished, cronJobs }: JobGarbage, moment: Moment): GarbageRow[] {
  const { nowMs } = moment
  const lying = (job: FinishedJob): Lying => ({
    whose: controlled(job.namespace, job.controller),
    sinceMs: job.finishedMs,
  })
  const untimed = finished.filter(({ ttlSeconds }) => ttlSeconds === null)
  const timed = finished.filter(({ ttlSeconds }) => ttlSeconds !== null)
  const overdue = timed.filter(({ expiresMs }) => expiresMs !== null && expiresMs <= nowMs)
  const isOfCronJob = ({ controller }: FinishedJob) => controller?.kind === 'CronJob'
  const waiting = timed.filter(job => !overdue.includes(job) && !isOfCronJob(job))
  const held = overdue.filter(({ isBeingDeleted }) => isBeingDeleted)
  const overdueRow = (jobs: FinishedJob[], fate: GarbageFate) =>
    rowOf(
      'overdue-jobs',
      jobs.map(job => ({ ...lying(job), sinceMs: job.expiresMs, ripeHours: overdueHours })),
      fate,
      moment,
    )
  const excess = cronJobs.reduce(
    (sum, { successful, failed }) => sum + successful.excess + failed.excess,
    0,
  )
  const loose = untimed.filter(job => !isOfCronJob(job) && !job.isBeingDeleted)
  const kept = historiesOf(cronJobs, finished.filter(isOfCronJob))
  return [
    ...rowOf(
      'jobs-without-ttl',
      loose.filter(({ controller }) => controller === null).map(lying),
      { is: 'never' },
      moment,
    ),
    ...rowOf(
      'owned-jobs',
      loose.filter(({ controller }) => controller !== null).map(lying),
      { is: 'with' },
      moment,
    ),
    ...rowOf(
      'jobs-with-ttl',
      waiting.map(lying),
      byItself(waiting.map(({ expiresMs }) => expiresMs)),
      moment,
    ),
    ...overdueRow(
      overdue.filter(({ isBeingDeleted }) => !isBeingDeleted),
      { is: 'late' },
    ),
    ...overdueRow(
      held,
      heldBy(held.map(({ finalizers }) => finalizers.join(', ') || 'what it owns')),
    ),
    ...rowOf('cronjob-history', kept, { is: excess > 0 ? 'late' : 'with' }, moment),
  ]
}

/** What each CronJob has, as it counts them itself. */
function historiesOf(
  cronJobs: readonly CronJobGarbage[],
  finished: readonly FinishedJob[],
): Lying[] {
  const jobs = Map.groupBy(finished, ({ namespace, controller }) =>
    controlled(namespace, controller),
  )
  return cronJobs.flatMap(({ namespace, name, successful, failed }) => {
    const whose = controlled(namespace, { kind: 'CronJob', name })
    const count = successful.count + failed.count
    return count === 0
      ? []
      : [
          {
            whose,
            count,
            sinceMs: earliest(
              (jobs.get(whose) ?? []).flatMap(({ finishedMs }) => finishedMs ?? []),
            ),
          },
        ]
  })
}

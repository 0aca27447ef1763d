/** Jobs and CronJobs. Only finished Jobs are kept, with a few fields each. */

import { sharedValue } from '#base/once.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { jobHistoryLimits } from '#facts/kubernetes/controllers.ts'
import type { CronJobGarbage, FinishedJob, JobGarbage } from '#model/cluster-garbage.ts'
import { type ClusterObject, type CronJob, isObjectOf, type Job } from '#model/input/record.ts'
import {
  controllerOf,
  deletingOwner,
  type OpenSection,
  Packed,
  parseMetadata,
  type Section,
  type SectionContext,
  timeOf,
} from '#replay/cluster-gc/section.ts'

export const jobs: Section<'jobs'> = {
  resources: ['jobs.batch', 'cronjobs.batch'],
  open: () => new Jobs(),
}

class Jobs implements OpenSection<JobGarbage> {
  readonly #finished = new Packed<CountedJob & { job: FinishedJob }>()
  readonly #cronJobs: CronJob[] = []

  take(resource: string, object: ClusterObject) {
    if (isObjectOf('cronjobs.batch', resource, object)) this.#cronJobs.push(object)
    else if (isObjectOf('jobs.batch', resource, object)) this.#takeJob(object)
  }

  #takeJob(job: Job) {
    const metadata = parseMetadata(job)
    if (!metadata) return
    const { namespace, name, deletedMs, finalizers } = metadata
    const condition = finishedCondition(job)
    if (!condition) return
    const finished: FinishedJob = {
      namespace,
      name,
      controller: deletingOwner(metadata),
      outcome: condition.type === 'Complete' ? 'Complete' : 'Failed',
      finishedMs: timeOf(condition.lastTransitionTime),
      expiresMs: expiryOf(job),
      ttlSeconds: job.spec?.ttlSecondsAfterFinished ?? null,
      isBeingDeleted: deletedMs !== null,
      finalizers,
    }
    const owner = controllerOf(metadata)
    this.#finished.push({ job: finished, owner: owner && { uid: owner.uid, name: owner.name } })
  }

  close({ features }: SectionContext): JobGarbage {
    return {
      finished: Array.from(this.#finished, ({ job }) => withShared(job)),
      cronJobs: cleanupFinishedJobs(this.#cronJobs, this.#finished, features),
    }
  }
}

const withShared = (job: FinishedJob): FinishedJob => ({
  ...job,
  namespace: sharedValue(job.namespace),
  controller: job.controller && { ...job.controller, kind: sharedValue(job.controller.kind) },
  finalizers: sharedValue(job.finalizers),
})

/*
 * Finished Jobs: when their time to live expires, and which of them their CronJob no longer keeps.
 *
 * Replays       pkg/controller/ttlafterfinished/ttlafterfinished_controller.go  needsCleanup, timeLeft, jobFinishTime, processTTL
 *               pkg/controller/cronjob/cronjob_controllerv2.go                  cleanupFinishedJobs, removeOldestJobs, getJobsToBeReconciled
 *               pkg/controller/job/util/utils.go                                FinishedCondition
 * Read at       1.29 to 1.37; alike except for how a CronJob finds its Jobs
 * Kept exactly  the first Complete or Failed condition that is True decides; a Job expires exactly at its end; a CronJob's Jobs count even
 *               while they are being deleted
 * Left out      which of a CronJob's Jobs go first; the second look at the live Job; when the CronJob's next sync is: it comes with any event of it or of its Jobs
 */

type FinishedCondition = NonNullable<NonNullable<Job['status']>['conditions']>[number]

/** The first condition that shows how the Job ended; null: it has not finished. */
export const finishedCondition = (job: Job): FinishedCondition | null =>
  (job.status?.conditions ?? []).find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  ) ?? null

/** When the Job's time to live ends, in ms since 1970. Null: it has not finished, has no such time, or its end is not recorded. */
export function expiryOf(job: Job): number | null {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished ?? null
  const finishedMs = timeOf(finishedCondition(job)?.lastTransitionTime)
  return ttlSeconds === null || finishedMs === null ? null : finishedMs + ttlSeconds * 1000
}

/** A finished Job and its controller, as a CronJob's history limits count it. */
interface CountedJob {
  job: Pick<FinishedJob, 'namespace' | 'outcome'>
  owner: { uid: string; name: string } | null
}

/** How many finished Jobs each CronJob has, and how many more than it keeps. */
export function cleanupFinishedJobs(
  cronJobs: readonly CronJob[],
  jobs: Iterable<CountedJob>,
  features: KubeletFeatures,
): CronJobGarbage[] {
  const isByUid = features.has('cronJobOwnsByUid')
  const ownerKey = (namespace: string, { uid, name }: { uid: string; name: string }) =>
    isByUid ? uid : `${namespace}/${name}`
  const known = cronJobs.flatMap(cronJob => {
    const metadata = parseMetadata(cronJob)
    return metadata ? [{ cronJob, metadata, counts: { Complete: 0, Failed: 0 } }] : []
  })
  const counts = Map.groupBy(known, ({ metadata }) => ownerKey(metadata.namespace, metadata))
  for (const { job, owner } of jobs)
    for (const each of (owner && counts.get(ownerKey(job.namespace, owner))) ?? [])
      each.counts[job.outcome]++
  const historyOf = (limit: number, count: number) => ({
    limit,
    count,
    excess: count - Math.min(count, Math.max(0, limit)),
  })
  return known.map(({ cronJob: { spec }, metadata: { namespace, name }, counts }) => ({
    namespace,
    name,
    successful: historyOf(
      spec?.successfulJobsHistoryLimit ?? jobHistoryLimits.successful,
      counts.Complete,
    ),
    failed: historyOf(spec?.failedJobsHistoryLimit ?? jobHistoryLimits.failed, counts.Failed),
  }))
}

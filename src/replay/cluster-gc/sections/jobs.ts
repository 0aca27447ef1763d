/** Jobs and CronJobs. Of Jobs only those that have finished or are suspended are kept, each as a few fields. */
import type { CronJobGarbage, FinishedJob, JobGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { type CronJobHistory, cleanupFinishedJobs, finishedCondition, timeToLive } from '#replay/cluster-gc/finished-jobs.ts'
import { controllerOf, integerAt, keyOf, parseMetadata, timeAt } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { controllerIn, slim, slimMetadata } from '#replay/cluster-gc/slim.ts'
import { objectAt } from '#replay/untrusted.ts'

export const jobs: Section<'jobs'> = { resources: ['jobs.batch', 'cronjobs.batch'], open: () => new Jobs() }

type SuspendedJob = JobGarbage['suspended'][number]

class Jobs implements OpenSection<JobGarbage> {
  readonly #finished: FinishedJob[] = []
  readonly #suspended: SuspendedJob[] = []
  /** What a CronJob counts. */
  readonly #counted: RawObject[] = []
  readonly #cronJobs: RawObject[] = []

  take(resource: string, object: RawObject): void {
    if (resource === 'cronjobs.batch') this.#cronJobs.push(slimCronJob(object))
    else this.#takeJob(object)
  }

  #takeJob(job: RawObject): void {
    const metadata = parseMetadata(job)
    if (!metadata) return
    const { namespace, name, createdMs, deletedMs, finalizers } = metadata
    const spec = objectAt(job, 'spec')
    const condition = finishedCondition(job)
    if (!condition) {
      if (spec?.suspend === true) this.#suspended.push({ namespace, name, controller: controllerIn(metadata), createdMs })
      return
    }
    if (controllerOf(metadata)) this.#counted.push(slimJob(job, condition))
    this.#finished.push({
      namespace,
      name,
      controller: controllerIn(metadata),
      outcome: condition.type === 'Complete' ? 'Complete' : 'Failed',
      finishedMs: timeAt(condition, 'lastTransitionTime'),
      // What is left at the beginning of time is when it ends.
      expiresMs: timeToLive(job, 0).leftMs,
      ttlSeconds: integerAt(spec, 'ttlSecondsAfterFinished'),
      isBeingDeleted: deletedMs !== null,
      finalizers,
    })
  }

  tell({ features }: SectionContext): JobGarbage {
    const histories = new Map(cleanupFinishedJobs(this.#cronJobs, this.#counted, features).map(history => [history.cronJob, history]))
    return {
      finished: this.#finished,
      suspended: this.#suspended,
      cronJobs: this.#cronJobs.flatMap(cronJob => cronJobGarbage(cronJob, histories) ?? []),
    }
  }
}

const slimCronJob = (cronJob: RawObject): RawObject => ({
  metadata: slimMetadata(cronJob, ['creationTimestamp']),
  spec: slim(objectAt(cronJob, 'spec'), ['suspend', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit']),
  status: slim(objectAt(cronJob, 'status'), ['lastScheduleTime']),
})

const slimJob = (job: RawObject, { type, status }: RawObject): RawObject => ({
  metadata: slimMetadata(job, ['ownerReferences']),
  status: { ...slim(objectAt(job, 'status'), ['startTime']), conditions: [{ type, status }] },
})

function cronJobGarbage(cronJob: RawObject, histories: ReadonlyMap<string, CronJobHistory>): CronJobGarbage | null {
  const metadata = parseMetadata(cronJob)
  const history = metadata && histories.get(keyOf(metadata))
  if (!history) return null
  const told = ({ limit, count, deletions }: CronJobHistory['successful']) => ({ limit, count, excess: deletions.length })
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    isSuspended: objectAt(cronJob, 'spec')?.suspend === true,
    createdMs: metadata.createdMs,
    lastScheduledMs: timeAt(objectAt(cronJob, 'status'), 'lastScheduleTime'),
    successful: told(history.successful),
    failed: told(history.failed),
  }
}

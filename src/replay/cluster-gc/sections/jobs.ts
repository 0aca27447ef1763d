/** Jobs and CronJobs. Only finished Jobs are kept, with a few fields each. */
import type { CronJobGarbage, FinishedJob, JobGarbage } from '#model/finding/cluster-garbage.ts'
import { isOf } from '#model/input/cluster-objects.ts'
import type { ClusterObject, CronJob, Job } from '#model/input/kubernetes.ts'
import {
  type CountedJob,
  type CronJobHistory,
  cleanupFinishedJobs,
  countedJob,
  finishedCondition,
  timeToLive,
} from '#replay/cluster-gc/finished-jobs.ts'
import { keyOf, parseMetadata, timeOf } from '#replay/cluster-gc/metadata.ts'
import { Packed } from '#replay/cluster-gc/packed.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { keeperIn, SharedTexts, slim, slimMetadata } from '#replay/cluster-gc/slim.ts'

export const jobs: Section<'jobs'> = {
  resources: ['jobs.batch', 'cronjobs.batch'],
  open: () => new Jobs(),
}

class Jobs implements OpenSection<JobGarbage> {
  readonly #finished = new Packed<{ job: FinishedJob; counted: CountedJob | null }>()
  readonly #cronJobs: CronJob[] = []

  take(resource: string, object: ClusterObject) {
    if (isOf('cronjobs.batch', resource, object)) this.#cronJobs.push(slimCronJob(object))
    else if (isOf('jobs.batch', resource, object)) this.#takeJob(object)
  }

  #takeJob(job: Job): void {
    const metadata = parseMetadata(job)
    if (!metadata) return
    const { namespace, name, deletedMs, finalizers } = metadata
    const condition = finishedCondition(job)
    if (!condition) return
    const finished: FinishedJob = {
      namespace,
      name,
      controller: keeperIn(metadata),
      outcome: condition.type === 'Complete' ? 'Complete' : 'Failed',
      finishedMs: timeOf(condition.lastTransitionTime),
      // The time left at time 0 is the expiry time.
      expiresMs: timeToLive(job, 0).leftMs,
      ttlSeconds: job.spec?.ttlSecondsAfterFinished ?? null,
      isBeingDeleted: deletedMs !== null,
      finalizers,
    }
    this.#finished.push({ job: finished, counted: countedJob(job) })
  }

  close({ features }: SectionContext): JobGarbage {
    const counted = function* (rows: Iterable<{ counted: CountedJob | null }>) {
      for (const { counted } of rows) if (counted) yield counted
    }
    const histories = cleanupFinishedJobs(this.#cronJobs, counted(this.#finished), features)
    const historyOf = new Map(histories.map(history => [history.cronJob, history]))
    const shared = new SharedTexts()
    return {
      finished: Array.from(this.#finished, ({ job }) => withShared(job, shared)),
      cronJobs: this.#cronJobs.flatMap(cronJob => cronJobGarbage(cronJob, historyOf) ?? []),
    }
  }
}

const withShared = (job: FinishedJob, shared: SharedTexts): FinishedJob => ({
  ...job,
  namespace: shared.text(job.namespace),
  controller: job.controller && { ...job.controller, kind: shared.text(job.controller.kind) },
  finalizers: shared.list(job.finalizers),
})

const slimCronJob = (cronJob: CronJob): CronJob => ({
  metadata: slimMetadata(cronJob, ['creationTimestamp']),
  spec: slim(cronJob.spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']),
})

function cronJobGarbage(
  cronJob: CronJob,
  histories: ReadonlyMap<string, CronJobHistory>,
): CronJobGarbage | null {
  const metadata = parseMetadata(cronJob)
  const history = metadata && histories.get(keyOf(metadata))
  if (!history) return null
  const historyOf = ({ limit, count, deletions }: CronJobHistory['successful']) => ({
    limit,
    count,
    excess: deletions.length,
  })
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    successful: historyOf(history.successful),
    failed: historyOf(history.failed),
  }
}

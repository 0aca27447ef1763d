/** Jobs and CronJobs. Only finished Jobs are kept, with a few fields each. */
import type { FinishedJob, JobGarbage } from '#model/finding/cluster-garbage.ts'
import { isOf } from '#model/input/cluster-objects.ts'
import type { ClusterObject, CronJob, Job } from '#model/input/kubernetes.ts'
import {
  type CountedJob,
  cleanupFinishedJobs,
  expiryOf,
  finishedCondition,
} from '#replay/cluster-gc/finished-jobs.ts'
import { keeperIn, Packed, SharedTexts } from '#replay/cluster-gc/kept-objects.ts'
import { controllerOf, parseMetadata, timeOf } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'

export const jobs: Section<'jobs'> = {
  resources: ['jobs.batch', 'cronjobs.batch'],
  open: () => new Jobs(),
}

class Jobs implements OpenSection<JobGarbage> {
  readonly #finished = new Packed<CountedJob & { job: FinishedJob }>()
  readonly #cronJobs: CronJob[] = []

  take(resource: string, object: ClusterObject) {
    if (isOf('cronjobs.batch', resource, object)) this.#cronJobs.push(object)
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
      expiresMs: expiryOf(job),
      ttlSeconds: job.spec?.ttlSecondsAfterFinished ?? null,
      isBeingDeleted: deletedMs !== null,
      finalizers,
    }
    const owner = controllerOf(metadata)
    this.#finished.push({ job: finished, owner: owner && { uid: owner.uid, name: owner.name } })
  }

  close({ features }: SectionContext): JobGarbage {
    const shared = new SharedTexts()
    return {
      finished: Array.from(this.#finished, ({ job }) => withShared(job, shared)),
      cronJobs: cleanupFinishedJobs(this.#cronJobs, this.#finished, features),
    }
  }
}

const withShared = (job: FinishedJob, shared: SharedTexts): FinishedJob => ({
  ...job,
  namespace: shared.text(job.namespace),
  controller: job.controller && { ...job.controller, kind: shared.text(job.controller.kind) },
  finalizers: shared.list(job.finalizers),
})

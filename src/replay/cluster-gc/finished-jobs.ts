/**
 * Finished Jobs: when their time to live expires, and which of them their CronJob no longer keeps.
 *
 * Replays       pkg/controller/ttlafterfinished/ttlafterfinished_controller.go  needsCleanup, timeLeft, jobFinishTime, processTTL
 *               pkg/controller/cronjob/cronjob_controllerv2.go                  cleanupFinishedJobs, removeOldestJobs, getJobsToBeReconciled
 *               pkg/controller/job/util/utils.go                                FinishedCondition
 * Read at       1.29 to 1.37; alike except for how a CronJob finds its Jobs
 * Kept exactly  the first Complete or Failed condition that is True decides; a Job expires exactly at its end; a Job that never started is the
 *               youngest; a CronJob's Jobs count even while they are being deleted
 * Left out      the second look at the live Job; when the CronJob's next sync is: it comes with any event of it or of its Jobs
 */

import { byText } from '#base/text/text-order.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { jobHistoryLimits } from '#facts/kubernetes/controllers.ts'
import type { CronJob, Job } from '#model/input/kubernetes.ts'
import { controllerOf, keyOf, parseMetadata, timeOf } from './metadata.ts'

export interface JobTtl {
  /** Whether the Job has finished and has a time to live. */
  needsCleanup: boolean
  /** Ms until expiry; negative: expired. Null: there is no time to count. */
  leftMs: number | null
  expired: boolean | null
  /** Upstream's text. */
  error: string | null
  /** Whether the controller deletes the Job, in the foreground: its pods are deleted first. */
  isDeleted: boolean
}

/** @param nowMs the controller's clock */
export function timeToLive(job: Job, nowMs: number): JobTtl {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished ?? null
  const condition = finishedCondition(job)
  if (ttlSeconds === null || !condition)
    return { needsCleanup: false, leftMs: null, expired: null, error: null, isDeleted: false }
  const metadata = parseMetadata(job)
  const finishedMs = timeOf(condition.lastTransitionTime)
  if (finishedMs === null) {
    const error = `unable to find the time when the Job ${metadata ? keyOf(metadata) : ''} finished`
    return { needsCleanup: true, leftMs: null, expired: null, error, isDeleted: false }
  }
  const leftMs = finishedMs + ttlSeconds * 1000 - nowMs
  const expired = leftMs <= 0
  return {
    needsCleanup: true,
    leftMs,
    expired,
    error: null,
    isDeleted: expired && metadata !== null && metadata.deletedMs === null,
  }
}

type FinishedCondition = NonNullable<NonNullable<Job['status']>['conditions']>[number]

/** The first condition that shows how the Job ended; null: it has not finished. */
export const finishedCondition = (job: Job): FinishedCondition | null =>
  (job.status?.conditions ?? []).find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  ) ?? null

export interface CronJobHistory {
  /** `namespace/name` */
  cronJob: string
  successful: JobHistory
  failed: JobHistory
}

interface JobHistory {
  limit: number
  /** Number of Jobs that finished with this outcome. */
  count: number
  /** `namespace/name`, oldest first. Background deletion: their pods are deleted later. */
  deletions: string[]
}

/** A Job with a controller, reduced to what a CronJob's history limits read. */
export interface CountedJob {
  namespace: string
  name: string
  controllerUid: string
  controllerName: string
  startedMs: number | null
  /** Null: not finished. */
  outcome: 'Complete' | 'Failed' | null
}

/** Null: the Job has no controller. */
export function countedJob(job: Job): CountedJob | null {
  const metadata = parseMetadata(job)
  const controller = metadata && controllerOf(metadata)
  if (!controller) return null
  const { namespace, name } = metadata
  const type = finishedCondition(job)?.type
  const outcome = type === 'Complete' || type === 'Failed' ? type : null
  const startedMs = timeOf(job.status?.startTime)
  return {
    namespace,
    name,
    controllerUid: controller.uid,
    controllerName: controller.name,
    startedMs,
    outcome,
  }
}

export function cleanupFinishedJobs(
  cronJobs: readonly CronJob[],
  jobs: Iterable<CountedJob>,
  features: KubeletFeatures,
): CronJobHistory[] {
  const isByUid = features.has('cronJobOwnsByUid')
  const key = (namespace: string, uid: string, name: string) =>
    isByUid ? uid : `${namespace}/${name}`
  const known = cronJobs.flatMap(cronJob => {
    const metadata = parseMetadata(cronJob)
    return metadata
      ? [{ cronJob, metadata, ownerKey: key(metadata.namespace, metadata.uid, metadata.name) }]
      : []
  })
  const ownerKeys = new Set(known.map(({ ownerKey }) => ownerKey))
  const keyOfOwner = ({ namespace, controllerUid, controllerName }: CountedJob) =>
    key(namespace, controllerUid, controllerName)
  const counted: CountedJob[] = []
  for (const job of jobs) if (ownerKeys.has(keyOfOwner(job))) counted.push(job)
  const owned = Map.groupBy(counted, keyOfOwner)
  return known.map(({ cronJob, metadata, ownerKey }) => {
    const spec = cronJob.spec
    const finished = owned.get(ownerKey) ?? []
    const removeOldest = (outcome: CountedJob['outcome'], limit: number) =>
      removeOldestJobs(
        finished.filter(job => job.outcome === outcome),
        limit,
      )
    return {
      cronJob: keyOf(metadata),
      successful: removeOldest(
        'Complete',
        spec?.successfulJobsHistoryLimit ?? jobHistoryLimits.successful,
      ),
      failed: removeOldest('Failed', spec?.failedJobsHistoryLimit ?? jobHistoryLimits.failed),
    }
  })
}

function removeOldestJobs(jobs: CountedJob[], limit: number): JobHistory {
  const sorted = jobs.toSorted(byJobStartTime)
  const deletions = sorted.slice(0, Math.max(0, jobs.length - limit)).map(keyOf)
  return { limit, count: jobs.length, deletions }
}

function byJobStartTime(a: CountedJob, b: CountedJob) {
  if (a.startedMs === b.startedMs) return byText(a.name, b.name)
  return (a.startedMs ?? Number.POSITIVE_INFINITY) - (b.startedMs ?? Number.POSITIVE_INFINITY)
}

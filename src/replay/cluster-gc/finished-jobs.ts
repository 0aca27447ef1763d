/**
 * Jobs that have finished: when their time to live is over, and which of them their CronJob no longer keeps.
 *
 * Replays       pkg/controller/ttlafterfinished/ttlafterfinished_controller.go  needsCleanup, timeLeft, jobFinishTime, processTTL
 *               pkg/controller/cronjob/cronjob_controllerv2.go                  cleanupFinishedJobs, removeOldestJobs, getJobsToBeReconciled
 *               pkg/controller/job/util/utils.go                                FinishedCondition
 * Read at       1.24 to 1.37; alike in all but how a CronJob knows its Jobs
 * Kept exactly  the first Complete or Failed condition that is True decides; exactly at the end is expired; a Job that never started is the
 *               youngest; a CronJob's Jobs count even while they are being deleted
 * Left out      the second look at the live Job; when the CronJob's next sync is: it comes with any event of it or of its Jobs
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { jobHistoryLimits } from '#facts/kubernetes/controllers.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { listAt, objectAt } from '#replay/untrusted.ts'
import { compareTexts, controllerOf, groupBy, integerAt, keyOf, type ObjectMetadata, parseMetadata, timeAt } from './metadata.ts'

export interface JobTtl {
  /** It has finished and has a time to live. */
  needsCleanup: boolean
  /** Negative once it is over; null where there is none to count. */
  leftMs: number | null
  expired: boolean | null
  /** Upstream's text. */
  error: string | null
  /** In the foreground: its pods go first. */
  isDeleted: boolean
}

/** @param nowMs the controller's clock */
export function timeToLive(job: unknown, nowMs: number): JobTtl {
  const ttlSeconds = integerAt(objectAt(job, 'spec'), 'ttlSecondsAfterFinished')
  const condition = finishedCondition(job)
  if (ttlSeconds === null || !condition) return { needsCleanup: false, leftMs: null, expired: null, error: null, isDeleted: false }
  const metadata = parseMetadata(job)
  const finishedMs = timeAt(condition, 'lastTransitionTime')
  if (finishedMs === null) {
    const error = `unable to find the time when the Job ${metadata ? keyOf(metadata) : ''} finished`
    return { needsCleanup: true, leftMs: null, expired: null, error, isDeleted: false }
  }
  const leftMs = finishedMs + ttlSeconds * 1000 - nowMs
  const expired = leftMs <= 0
  return { needsCleanup: true, leftMs, expired, error: null, isDeleted: expired && metadata !== null && metadata.deletedMs === null }
}

/** The first that says how it ended; null while it has not. */
export const finishedCondition = (job: unknown): RawObject | null =>
  listAt(objectAt(job, 'status'), 'conditions')
    .filter(isRawObject)
    .find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True') ?? null

export interface CronJobHistory {
  /** `namespace/name` */
  cronJob: string
  successful: JobHistory
  failed: JobHistory
}

interface JobHistory {
  limit: number
  /** How many have finished so. */
  count: number
  /** `namespace/name`, oldest first: in the background, their pods go after them. */
  deletions: string[]
}

interface CountedJob {
  metadata: ObjectMetadata
  startedMs: number | null
  outcome: unknown
}

export function cleanupFinishedJobs(cronJobs: readonly unknown[], jobs: readonly unknown[], features: KubeletFeatures): CronJobHistory[] {
  const isByUid = features.has('cronJobOwnsByUid')
  const ownerKey = ({ namespace }: ObjectMetadata, { uid, name }: { uid: string; name: string }) => (isByUid ? uid : `${namespace}/${name}`)
  const owned = groupBy(
    jobs.map(parseJob).filter(job => job !== null),
    ({ metadata }) => {
      const controller = controllerOf(metadata)
      return controller && ownerKey(metadata, controller)
    },
  )
  return cronJobs.flatMap(cronJob => {
    const metadata = parseMetadata(cronJob)
    if (!metadata) return []
    const spec = objectAt(cronJob, 'spec')
    const finished = owned.get(ownerKey(metadata, metadata)) ?? []
    const removeOldest = (outcome: string, limit: number) =>
      removeOldestJobs(
        finished.filter(job => job.outcome === outcome),
        limit,
      )
    return {
      cronJob: keyOf(metadata),
      successful: removeOldest('Complete', integerAt(spec, 'successfulJobsHistoryLimit') ?? jobHistoryLimits.successful),
      failed: removeOldest('Failed', integerAt(spec, 'failedJobsHistoryLimit') ?? jobHistoryLimits.failed),
    }
  })
}

function parseJob(job: unknown): CountedJob | null {
  const metadata = parseMetadata(job)
  return metadata && { metadata, startedMs: timeAt(objectAt(job, 'status'), 'startTime'), outcome: finishedCondition(job)?.type }
}

function removeOldestJobs(jobs: CountedJob[], limit: number): JobHistory {
  const sorted = jobs.toSorted(byJobStartTime)
  const deletions = sorted.slice(0, Math.max(0, jobs.length - limit)).map(({ metadata }) => keyOf(metadata))
  return { limit, count: jobs.length, deletions }
}

function byJobStartTime(a: CountedJob, b: CountedJob): number {
  if (a.startedMs === b.startedMs) return compareTexts(a.metadata.name, b.metadata.name)
  return (a.startedMs ?? Number.POSITIVE_INFINITY) - (b.startedMs ?? Number.POSITIVE_INFINITY)
}

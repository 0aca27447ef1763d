/** The scheduled time of a run. The run's id derives from it, so a retry finds what was done. */
import { scheduledTimeOf } from '#facts/kubernetes/cron-job.ts'

/**
 * @param text a time in RFC 3339, or the name of a CronJob's Job
 * @returns the scheduled time; null: it is neither
 */
export function tickOf(text: string): Date | null {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? new Date(text) : scheduledTimeOf(text)
  return time === null || Number.isNaN(time.getTime()) ? null : time
}

/** The minute of a run without a scheduled time: a retry in the same minute has the same run id. */
export const minuteOf = (now: Date): Date => new Date(Math.floor(now.getTime() / 60_000) * 60_000)

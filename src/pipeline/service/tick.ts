/** When a run of the service is due: the name of the run derives from it, so a retry finds what was done. */
import { scheduledTimeOf } from '#facts/kubernetes/cron-job.ts'

/**
 * @param text  a time as RFC 3339 has it, or the name of the Job that a CronJob made for it
 * @returns the tick's time, or null where it is neither
 */
export function tickOf(text: string): Date | null {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? new Date(text) : scheduledTimeOf(text)
  return time === null || Number.isNaN(time.getTime()) ? null : time
}

/** Of a clock that says nothing: its minute, which a second try within it shares. */
export const minuteOf = (now: Date): Date => new Date(Math.floor(now.getTime() / 60_000) * 60_000)

/** The scheduled time of a CronJob's Job. */

/**
 * The time for which a CronJob created the Job. The Job's name ends with the minutes since 1970. Null: the name has another form.
 * Source: pkg/controller/cronjob/utils.go getJobName, getTimeHashInMinutes.
 */
export function scheduledTimeOf(jobName: string): Date | null {
  const minutes = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?-(\d{8,9})$/.exec(jobName)?.[2]
  return minutes === undefined ? null : new Date(Number(minutes) * 60_000)
}

/** The kubelet itself prunes images while a plan lowers its thresholds for a limited time. Images that are in use or pinned stay. */

import type { RawObject } from '#base/raw-object.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { PlanStep } from '#model/plan/plan.ts'

/** Maximum time for which a plan keeps lowered thresholds in force. */
export const longestPruneMs = 60 * 60_000

/** The high threshold is one percent higher, so rounds repeat until the disk itself, not image GC's sum of image sizes, is down to `toPercent`. */
export const pruningFields = (toPercent: number): RawObject => ({
  imageGCHighThresholdPercent: toPercent + 1,
  imageGCLowThresholdPercent: toPercent,
})

/**
 * How long the run waits: until the youngest image reaches the minimum age, counted anew from the restart, and for two more rounds. Each round deletes by
 * image sizes, which might differ from the sizes on the disk.
 */
export const pruningMs = (minimumAgeMs: number): number =>
  (Math.ceil(minimumAgeMs / imageGcPeriodMs) + 2) * imageGcPeriodMs

export type PruneState = { state: 'pruned' | 'waiting' | 'time-over'; why: string }

/**
 * Whether to put the old file back now: yes in every state but `waiting`.
 *
 * @param usedPercent of the image filesystem, just read and counted as image GC does; null: it was not read
 * @param startedAt RFC 3339: when the kubelet started with the change
 */
export function isPruned(
  { until }: Pick<PlanStep, 'until'>,
  usedPercent: number | null,
  startedAt: string,
  now: Date,
): PruneState {
  if (until === undefined) return { state: 'pruned', why: 'it prunes no images' }
  const { usedPercentAtMost, atMostMs } = until
  if (usedPercent !== null && usedPercent <= usedPercentAtMost)
    return {
      state: 'pruned',
      why: `the image filesystem is at ${usedPercent} %, wanted was at most ${usedPercentAtMost} %`,
    }
  const used =
    usedPercent === null
      ? 'of the image filesystem nothing was read'
      : `the image filesystem is at ${usedPercent} %`
  const passedMs = now.getTime() - Date.parse(startedAt)
  // Neither a clock that was set back nor an unreadable time keeps the thresholds lowered for ever.
  if (!(passedMs >= -atMostMs && passedMs < atMostMs))
    return {
      state: 'time-over',
      why: `${used}, and the ${atMostMs / 60_000} min of the plan are over: what else is unused was not deleted`,
    }
  return { state: 'waiting', why: `${used}, wanted is at most ${usedPercentAtMost} %` }
}

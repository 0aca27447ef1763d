/** Images pruned by the kubelet itself: thresholds lowered for a while. The kubelet itself deletes, so images that are in use or pinned stay. */
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { PlanStep } from '#model/plan.ts'
import type { RawObject } from '#model/record.ts'

/** No plan leaves lowered thresholds in force for longer. */
export const longestPruneMs = 60 * 60_000

/** Image GC begins at one percent above, so it goes on in each round until the disk, and not its own sum of image sizes, is down to it. */
export const pruningFields = (toPercent: number): RawObject => ({
  imageGCHighThresholdPercent: toPercent + 1,
  imageGCLowThresholdPercent: toPercent,
})

/**
 * How long is waited: until the youngest image may go, which is counted anew from the restart, and for two rounds more, since each deletes by sizes that
 * need not be those on the disk.
 */
export const pruningMs = (minimumAgeMs: number): number =>
  (Math.ceil(minimumAgeMs / imageGcPeriodMs) + 2) * imageGcPeriodMs

export type PruneState = { state: 'pruned' | 'waiting' | 'time-over'; why: string }

/**
 * Whether the old file is to be put back now: it is in every case but `waiting`.
 *
 * @param usedPercent of the image filesystem as it was just read, counted as image GC does; null: it was not read
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
  // A clock that was set back must not leave them lowered for ever; nor a time that cannot be read.
  if (!(passedMs >= -atMostMs && passedMs < atMostMs))
    return {
      state: 'time-over',
      why: `${used}, and the ${atMostMs / 60_000} min of the plan are over: what else is unused was not deleted`,
    }
  return { state: 'waiting', why: `${used}, wanted is at most ${usedPercentAtMost} %` }
}

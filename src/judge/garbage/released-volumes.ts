import type { ClusterEvidence } from '#judge/rule.ts'
import { lines } from '#judge/rule.ts'
import type { ReleasedVolume } from '#model/cluster-garbage.ts'
import { isOld, oldest, summed } from './garbage.ts'

export const isKept = ({ action, isBeingDeleted }: ReleasedVolume): boolean =>
  action === 'retain' && !isBeingDeleted

/** What was released under an API server before 1.29 does not say when (KEP-3762); before it was made it was not. */
export const isLongReleased = (
  { sinceMs, createdMs }: ReleasedVolume,
  nowMs: number,
  minAgeHours: number,
): boolean => isOld(sinceMs ?? createdMs, nowMs, minAgeHours)

/** Since when a volume is released; if unknown, when it was created. */
export function releasedSince(
  volumes: readonly ReleasedVolume[],
  nowMs: number,
): ClusterEvidence[] {
  const undated = volumes.filter(({ sinceMs }) => sinceMs === null)
  return lines(
    ...oldest(volumes, ({ sinceMs }) => sinceMs, nowMs, 'first was released'),
    undated.length !== 0 &&
      summed(
        'since when is not known',
        [undated.length],
        ([all]) => `${all}, by age of the volume`,
      ),
    ...oldest(undated, ({ createdMs }) => createdMs, nowMs, 'first of these was made'),
  )
}

/** Where no time is known of any, some may have been released just now. */
export const releasedConfidence = (
  volumes: readonly ReleasedVolume[],
): { confidence?: 'likely' } =>
  volumes.every(({ sinceMs }) => sinceMs === null) ? { confidence: 'likely' } : {}

import { ebsDrivers } from '#facts/aws/ebs-prices.ts'
import type { ClusterEvidence } from '#judge/rule.ts'
import { lines } from '#judge/rule.ts'
import type { ReleasedVolume } from '#model/finding/cluster-garbage.ts'
import { isOld, oldest, summed } from './garbage.ts'

export const isKept = ({ action, isBeingDeleted }: ReleasedVolume): boolean =>
  action === 'retain' && !isBeingDeleted

/**
 * Volumes that were released long ago, by the namespace of their PVC. API servers before 1.29 do not
 * record the time of release (KEP-3762). For such volumes the creation time counts.
 */
export const longReleased = (
  released: readonly ReleasedVolume[],
  at: string,
  minAgeHours: number,
) =>
  released
    .filter(({ sinceMs, createdMs }) => isOld(sinceMs ?? createdMs, at, minAgeHours))
    .map(each => ({
      ...each,
      namespace: each.claim?.split('/')[0] ?? '',
      name: each.volume,
      isEbs: ebsDrivers.has(each.driver ?? ''),
    }))

/** When the volumes were released; for volumes without that time, when they were created. */
export function releasedSince(volumes: readonly ReleasedVolume[], at: string): ClusterEvidence[] {
  const undated = volumes.filter(({ sinceMs }) => sinceMs === null)
  return lines(
    ...oldest(volumes, ({ sinceMs }) => sinceMs, at, 'first was released'),
    undated.length !== 0 &&
      summed(
        'since when is not known',
        [undated.length],
        ([all]) => `${all}, by age of the volume`,
      ),
    ...oldest(undated, ({ createdMs }) => createdMs, at, 'first of these was made'),
  )
}

/** If no volume has a time of release, some may have been released just now. */
export const releasedConfidence = (
  volumes: readonly ReleasedVolume[],
): { confidence?: 'likely' } =>
  volumes.every(({ sinceMs }) => sinceMs === null) ? { confidence: 'likely' } : {}

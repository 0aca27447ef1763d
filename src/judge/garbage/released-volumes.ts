import {
  ebsDrivers,
  isWholePrice,
  monthlyUsd,
  type VolumePerformance,
} from '#facts/aws/ebs-prices.ts'
import { bytes, type ClusterEvidence, lines } from '#judge/rule.ts'
import type { ReleasedVolume } from '#model/finding/cluster-garbage.ts'
import { ageEvidence, isOld, sumEvidence, sumOrNull } from './garbage.ts'

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
    ...ageEvidence(volumes, 'sinceMs', at, 'first was released'),
    undated.length !== 0 &&
      sumEvidence(
        'since when is not known',
        [undated.length],
        ([all]) => `${all}, by age of the volume`,
      ),
    ...ageEvidence(undated, 'createdMs', at, 'first of these was made'),
  )
}

/** If no volume has a time of release, some may have been released just now. */
export const releasedConfidence = (
  volumes: readonly ReleasedVolume[],
): { confidence?: 'likely' } =>
  volumes.every(({ sinceMs }) => sinceMs === null) ? { confidence: 'likely' } : {}

interface SizedVolume extends Partial<VolumePerformance> {
  capacityBytes: number | null
  volumeType: string | null
  isEbs: boolean
}

/** Each sum is null if no volume has a known amount. `monthlyUsd`: EBS volumes only, at list price of us-east-1. */
export function sizeOf(volumes: readonly SizedVolume[]): {
  bytes: number | null
  monthlyUsd: number | null
} {
  const sizes = volumes.flatMap(({ capacityBytes }) => capacityBytes ?? [])
  const costs = volumes.flatMap(volume => costOfOne(volume) ?? [])
  return { bytes: sumOrNull(sizes), monthlyUsd: sumOrNull(costs) }
}

/** Null: not an EBS volume, or its price is unknown. */
const costOfOne = (volume: SizedVolume) =>
  volume.isEbs && volume.capacityBytes !== null
    ? monthlyUsd(volume.capacityBytes, volume.volumeType, performanceOf(volume))
    : null

const performanceOf = ({
  iops = null,
  throughputMiBps = null,
}: SizedVolume): VolumePerformance => ({ iops, throughputMiBps })

/** Capacity of the volumes, and the cost of the EBS volumes at list price. */
export function costOf(volumes: readonly SizedVolume[]): ClusterEvidence[] {
  const { bytes: held, monthlyUsd: usd } = sizeOf(volumes)
  const bySize = volumes.filter(
    each => costOfOne(each) !== null && !isWholePrice(each.volumeType, performanceOf(each)),
  ).length
  const unpriced = volumes.filter(volume => volume.isEbs && costOfOne(volume) === null).length
  return lines(
    held !== null && sumEvidence('capacity', [held], ([all = 0]) => bytes(all)),
    usd !== null &&
      sumEvidence(
        'cost of EBS at list price of us-east-1',
        [usd],
        ([all = 0]) => `${dollars(all)} a month`,
      ),
    bySize !== 0 &&
      sumEvidence(
        'of EBS, and in the cost by size alone',
        [bySize],
        ([all]) => `${all}: IOPS and throughput are not known`,
      ),
    unpriced !== 0 &&
      sumEvidence(
        'of EBS, and not in the cost',
        [unpriced],
        ([all]) => `${all}: size or price is not known`,
      ),
  )
}

const dollars = (usd: number) => `about ${usd < 10 ? usd.toFixed(2) : Math.round(usd)} USD`

import { isWholePrice, monthlyUsd, type VolumePerformance } from '#facts/aws/ebs-prices.ts'
import type { ClusterEvidence } from '#judge/rule.ts'
import { lines } from '#judge/rule.ts'
import { bytes } from '#judge/text.ts'
import { summed } from './garbage.ts'

export interface SizedVolume extends Partial<VolumePerformance> {
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
  return { bytes: sum(sizes), monthlyUsd: sum(costs) }
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
    held !== null && summed('capacity', [held], ([all = 0]) => bytes(all)),
    usd !== null &&
      summed(
        'cost of EBS at list price of us-east-1',
        [usd],
        ([all = 0]) => `${dollars(all)} a month`,
      ),
    bySize !== 0 &&
      summed(
        'of EBS, and in the cost by size alone',
        [bySize],
        ([all]) => `${all}: IOPS and throughput are not known`,
      ),
    unpriced !== 0 &&
      summed(
        'of EBS, and not in the cost',
        [unpriced],
        ([all]) => `${all}: size or price is not known`,
      ),
  )
}

const sum = (numbers: readonly number[]) =>
  numbers.length === 0 ? null : numbers.reduce((all, one) => all + one, 0)
const dollars = (usd: number) => `about ${usd < 10 ? usd.toFixed(2) : Math.round(usd)} USD`

/** What volumes that nobody uses hold, and cost. */
import { monthlyUsd } from '#facts/aws/ebs-prices.ts'
import type { Evidence } from '#model/finding.ts'
import { bytes } from './text.ts'

export interface SizedVolume {
  capacityBytes: number | null
  volumeType: string | null
  isEbs: boolean
}

/** Their capacity, and of those of EBS what they cost at list price. */
export function costOf(volumes: readonly SizedVolume[]): Evidence[] {
  const sizes = volumes.flatMap(({ capacityBytes }) => capacityBytes ?? [])
  const costs = volumes.flatMap(({ capacityBytes, volumeType, isEbs }) =>
    isEbs && capacityBytes !== null ? (monthlyUsd(capacityBytes, volumeType) ?? []) : [],
  )
  return [
    ...(sizes.length === 0 ? [] : [{ what: 'capacity', value: bytes(sum(sizes)) }]),
    ...(costs.length === 0 ? [] : [{ what: 'cost of EBS at list price of us-east-1', value: `${dollars(sum(costs))} a month` }]),
  ]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
const dollars = (usd: number): string => `about ${usd < 10 ? usd.toFixed(2) : Math.round(usd)} USD`

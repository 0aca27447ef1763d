/** What volumes that nobody uses hold, and cost. */
import { monthlyUsd } from '#facts/aws/ebs-prices.ts'
import type { Evidence } from '#model/finding.ts'
import { bytes } from './text.ts'

export interface SizedVolume {
  capacityBytes: number | null
  volumeType: string | null
  isEbs: boolean
}

/** Null where it is not known of any of them. `monthlyUsd`: of those of EBS, at list price of us-east-1. */
export function sizeOf(volumes: readonly SizedVolume[]): { bytes: number | null; monthlyUsd: number | null } {
  const sizes = volumes.flatMap(({ capacityBytes }) => capacityBytes ?? [])
  const costs = volumes.flatMap(({ capacityBytes, volumeType, isEbs }) =>
    isEbs && capacityBytes !== null ? (monthlyUsd(capacityBytes, volumeType) ?? []) : [],
  )
  return { bytes: sum(sizes), monthlyUsd: sum(costs) }
}

/** Their capacity, and of those of EBS what they cost at list price. */
export function costOf(volumes: readonly SizedVolume[]): Evidence[] {
  const { bytes: held, monthlyUsd: usd } = sizeOf(volumes)
  return [
    ...(held === null ? [] : [{ what: 'capacity', value: bytes(held) }]),
    ...(usd === null ? [] : [{ what: 'cost of EBS at list price of us-east-1', value: `${dollars(usd)} a month` }]),
  ]
}

/** Null: there are none. */
const sum = (numbers: readonly number[]): number | null => (numbers.length === 0 ? null : numbers.reduce((all, one) => all + one, 0))
const dollars = (usd: number): string => `about ${usd < 10 ? usd.toFixed(2) : Math.round(usd)} USD`

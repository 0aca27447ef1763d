import { describe, expect, it } from 'vitest'
import { isWholePrice, monthlyUsd } from '#facts/aws/ebs-prices.ts'

const GiB = 2 ** 30
const withIops = (iops: number, throughputMiBps: number | null = null) => ({
  iops,
  throughputMiBps,
})

describe('what a disk costs in a month', () => {
  it.each([
    ['gp3', withIops(3000, 125), 8],
    ['gp3', withIops(16_000, 1000), 8 + 65 + 35],
    ['gp2', withIops(300), 10],
    ['io1', withIops(1000), 12.5 + 65],
    ['io2', withIops(32_000), 12.5 + 2080],
    ['io2', withIops(64_000), 12.5 + 2080 + 1472],
    ['io2', withIops(100_000), 12.5 + 2080 + 1472 + 1152],
    [null, undefined, 8],
  ])('%s of 100 GiB with %j', (type, performance, usd) => {
    expect(monthlyUsd(100 * GiB, type, performance)).toBeCloseTo(usd, 6)
  })

  it('is not known of a type that has no price here', () => {
    expect(monthlyUsd(GiB, 'new9')).toBeNull()
    expect(monthlyUsd(GiB, 'constructor')).toBeNull()
  })

  it.each([
    ['io2', null, false],
    ['gp3', null, false],
    [null, null, false],
    ['io2', 100, true],
    ['sc1', null, true],
  ])('of %s with %s IOPS is whole: %s', (type, iops, isWhole) => {
    expect(isWholePrice(type, { iops })).toBe(isWhole)
  })
})

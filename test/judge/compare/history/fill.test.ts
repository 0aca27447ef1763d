import { describe, expect, it } from 'vitest'
import { fillLimits, growthOf, withReading } from '#judge/compare/history/fill.ts'
import type { FillSeries, ObservedGrowth } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  GiB,
  sharedDisk,
  unreadNode,
} from '#test/report-builder.ts'

const capacityBytes = 100 * GiB
const hourMs = 3_600_000
const timeAt = (hours: number) =>
  new Date(Date.parse('2026-11-10T07:00:00Z') + hours * hourMs).toISOString()
const node = (hours: number, usedPercent: number, more: Partial<AuditedNode> = {}) =>
  auditedNode('n', sharedDisk(usedPercent, { capacityBytes }), { at: timeAt(hours), ...more })

/** Reading after reading: hours since the first, used GiB of 100. */
function read(readings: [number, number][]) {
  let series: FillSeries | null = null
  let last = node(0, 0)
  for (const [hours, used] of readings) {
    last = node(hours, used)
    series = withReading(series, last)
  }
  return { series, growth: growthOf(series, last).nodefs! }
}
const daily = (...used: number[]) => read(used.map((each, day) => [day * 24, each]))
const perDay = ({ bytesPerHour: { min, median, max } }: ObservedGrowth) =>
  [min, median, max].map(rate => Math.round((rate * 24 * 10) / GiB) / 10)

describe('the growth of a disk', () => {
  it('is what most days brought, and what the least and the most did', () => {
    const { growth } = daily(40, 42, 43, 47, 49)
    expect(growth).toMatchObject({ isSeen: true, readings: 5, overMs: 96 * hourMs, falls: 0 })
    expect(perDay(growth as ObservedGrowth)).toEqual([1, 2, 4])
  })
  it('ignores stretches in which image GC or an ended pod freed more than grew', () => {
    const { growth } = daily(70, 78, 60, 68, 76)
    expect(growth).toMatchObject({ isSeen: true, falls: 1 })
    expect(perDay(growth as ObservedGrowth)).toEqual([8, 8, 8])
  })
  it('is nothing where nothing grows, which is not the same as not known', () => {
    expect(perDay(daily(50, 50, 50).growth as ObservedGrowth)).toEqual([0, 0, 0])
  })
  it('is weighted by how long a stretch was: one burst is no rate', () => {
    const { growth } = read([
      [0, 40],
      [24, 42],
      [48, 44],
      [49, 50],
    ])
    expect(perDay(growth as ObservedGrowth)).toEqual([2, 2, 144])
  })

  it.each<[string, [number, number][], object]>([
    ['first', [[0, 40]], { readings: 1 }],
    [
      'few',
      [
        [0, 40],
        [24, 41],
      ],
      { readings: 2 },
    ],
    [
      'near',
      [
        [0, 40],
        [1, 41],
        [2, 42],
      ],
      { readings: 3 },
    ],
    [
      'emptier',
      [
        [0, 60],
        [24, 50],
        [48, 40],
        [72, 45],
      ],
      { readings: 4 },
    ],
    // Within half an hour one reading is as good as two.
    [
      'few',
      [
        [0, 40],
        [24, 41],
        [24.2, 42],
        [24.4, 43],
      ],
      { readings: 2 },
    ],
  ])('is not known (%s) of %j', (why, readings, more) =>
    expect(read(readings).growth).toEqual({ isSeen: false, why, ...more }),
  )

  it('is reported once for each disk', () => {
    const disks = (day: number, images: number) =>
      auditedNode(
        'n',
        dedicatedDisks(filesystem(20 * GiB, (10 - day) * GiB), filesystem(200 * GiB, images * GiB)),
        { at: timeAt(24 * day) },
      )
    const nodes = [disks(0, 100), disks(1, 90), disks(2, 80)]
    const series = nodes.reduce<FillSeries | null>(withReading, null)
    const growth = growthOf(series, nodes[2]!)
    expect([growth.nodefs, growth.imagefs].map(each => perDay(each as ObservedGrowth)[1])).toEqual([
      1, 10,
    ])
    expect(Object.keys(growthOf(daily(1, 2, 3).series, node(48, 3)))).toEqual(['nodefs'])
    expect(growthOf(null, unreadNode('n', []))).toEqual({})
  })
})

describe('the readings of a disk', () => {
  const before = daily(40, 42, 44).series
  const readingsOf = (series: FillSeries | null) =>
    series?.readings.map(({ at }) => (Date.parse(at) - Date.parse(timeAt(0))) / hourMs)

  it('begin anew with another start, another size, another layout', () => {
    const restarted = node(72, 46)
    restarted.identity = { ...restarted.identity, bootId: 'another' }
    expect(readingsOf(withReading(before, restarted))).toEqual([72])
    const grown = auditedNode('n', sharedDisk(23, { capacityBytes: 2 * capacityBytes }), {
      at: timeAt(72),
    })
    expect(readingsOf(withReading(before, grown))).toEqual([72])
    const split = dedicatedDisks(filesystem(capacityBytes, GiB), filesystem(capacityBytes, GiB))
    expect(readingsOf(withReading(before, auditedNode('n', split, { at: timeAt(72) })))).toEqual([
      72,
    ])
    expect(readingsOf(withReading(before, node(72, 46)))).toEqual([0, 24, 48, 72])
  })
  it('survive an unread day, and are absent if the node’s start is unknown', () => {
    const unread = unreadNode('n', [], { at: timeAt(72) })
    expect(withReading(before, unread)).toEqual(before)
    expect(
      withReading(before, { ...unread, identity: { ...unread.identity, bootId: null } }),
    ).toBeNull()
    expect(withReading(before, { ...node(72, 46), at: 'yesterday' })).toEqual(before)
  })
  it('are those before a reading, whatever comes later in the store', () => {
    expect(readingsOf(withReading(before, node(30, 43)))).toEqual([0, 24, 30])
  })
  it('are kept for eight days, one a day of them', () => {
    expect(readingsOf(daily(...Array.from({ length: 14 }, () => 40)).series)).toEqual(
      [5, 6, 7, 8, 9, 10, 11, 12, 13].map(day => day * 24),
    )
    const hourly = readingsOf(read(Array.from({ length: 400 }, (_, hours) => [hours, 40])).series)!
    expect(hourly).toHaveLength(fillLimits.readings)
    const gaps = hourly.slice(1).map((hours, index) => hours - hourly[index]!)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(48)
    expect(hourly.at(-1)! - hourly[0]!).toBeGreaterThan(120)
  })
})

import { expect, it } from 'vitest'
import type { FillSeries, ReclaimRound } from '#model/history.ts'
import { english } from '#report/languages/language.ts'
import { fillPlot } from '#report/page/fill-plot.ts'
import { gaugesOf } from '#report/parts/gauge.ts'
import { auditedNode, GiB, sharedDisk } from '#test/report-builder.ts'

const day = (number: number) => `2026-11-1${number}T06:00:00Z`
const alerts = { alertPercent: 80 }

/** 100 GiB: image GC starts at 85 % and stops at 80 %, hard eviction at 90 %. */
function plotOf(
  used: (number | null)[],
  more: Partial<FillSeries> = {},
  rounds: ReclaimRound[] = [],
) {
  const fill: FillSeries = {
    ...{
      bootId: 'a',
      layout: 'shared',
      nodefsCapacityBytes: 100 * GiB,
      imagefsCapacityBytes: null,
    },
    readings: used.map((gib, index) => ({
      at: day(index),
      nodefsUsedBytes: gib === null ? null : gib * GiB,
      imagefsUsedBytes: null,
    })),
    evictedAt: [],
    ...more,
  }
  const disk = sharedDisk(88, {
    capacityBytes: 100 * GiB,
    highThresholdPercent: 85,
    evictionHard: { 'nodefs.available': '10%' },
  })
  const node = auditedNode('n1', disk, { fill, rounds })
  const [gauge] = gaugesOf(node, alerts, english)
  return fillPlot(node, gauge!, english)
}

const round = (at: string, wantedBytes: number | null, freedBytes: number | null) => ({
  ...{ at, wantedBytes, freedBytes },
  ...{ countedBytes: null, predictedBytes: null },
})

it('draws the readings from the first to the last, and the marks at their heights', () => {
  const plot = plotOf([60, null, 70, 88])!
  expect(plot.readings.map(({ x, text }) => [x, text])).toEqual([
    ['0%', '60\u00a0%'],
    ['66.67%', '70\u00a0%'],
    ['100%', '88\u00a0%'],
  ])
  expect(plot.levels.map(({ name, place }) => `${name} ${place}`)).toEqual([
    'hard eviction 90\u00a0%',
    'image GC starts 84\u00a0%',
    'image GC stops/your alert 80\u00a0%',
  ])
  const heights = [plot.levels[0]!.y, plot.readings[2]!.y, plot.levels[1]!.y, plot.readings[0]!.y]
  expect(heights).toEqual(heights.toSorted((a, b) => a - b))
  const texts = plot.levels.map(({ labelY }) => labelY)
  expect(texts.every((y, index) => index === 0 || y - texts[index - 1]! >= 14)).toBe(true)
})

it('draws a tooth where the bytes of a round of image GC are known', () => {
  const at = '2026-11-11T18:00:00Z'
  const flat = plotOf([84, 85, 81, 82])!
  const [known, unknown] = [
    plotOf([84, 85, 81, 82], {}, [round(at, 6 * GiB, 6 * GiB)])!,
    plotOf([84, 85, 81, 82], {}, [round(at, null, 6 * GiB)])!,
  ]
  const corners = (line: string) => line.split(/[ML]/).slice(1)
  expect(corners(known.line)).toHaveLength(6)
  const tooth = corners(known.line).filter(corner => corner.startsWith('500 '))
  expect(tooth).toHaveLength(2)
  expect(unknown.line).toBe(flat.line)
  expect(known.teeth.split(/[ML]/).slice(1)).toEqual(tooth)
  expect([unknown.teeth, flat.teeth]).toEqual(['', ''])
  expect([known, unknown].map(({ rounds }) => rounds)).toEqual(
    Array(2).fill([{ x: '50%', text: 'image GC at 2026-11-11 18:00 UTC' }]),
  )
})

it('marks the evictions between the first reading and the last', () => {
  const evictedAt = ['2026-11-08T06:00:00Z', '2026-11-11T06:00:00Z']
  expect(plotOf([60, 70, 80], { evictedAt })?.evictions).toEqual([
    { x: '50%', text: 'eviction at 2026-11-11 06:00 UTC' },
  ])
})

it.each<[string, Parameters<typeof plotOf>]>([
  ['two readings', [[60, 70]]],
  ['readings of the other disk', [[null, null, null, 70]]],
  ['an unknown size', [[60, 70, 80], { nodefsCapacityBytes: null }]],
])('is left out for %s', (_, given) => {
  expect(plotOf(...given)).toBeNull()
})

import { describe, expect, it } from 'vitest'
import { trendsText } from '#cli/history.ts'
import { bars } from '#cli/history-text.ts'
import type { ClusterTrend, TrendPoint } from '#model/history.ts'

const point = (day: string, more: Partial<TrendPoint> = {}): TrendPoint => ({
  day,
  runId: day,
  grade: 'B',
  coverage: { nodes: 1, read: 1, partlyRead: 0, notRead: 0 },
  findings: { critical: 1, high: 0, medium: 0, low: 2, info: 0 },
  groups: [],
  imageGc: null,
  groupsLeftOut: 0,
  ...more,
})
const dayAt = (index: number) =>
  new Date(Date.parse('2026-01-01') + index * 86_400_000).toISOString().slice(0, 10)
const trend = (...points: TrendPoint[]): ClusterTrend[] => [
  { schema: 'highwater.trend/1', cluster: 'prod', points },
]
const lines = (trends: ClusterTrend[], columns = 80) =>
  trendsText(trends, { hasColour: false, columns }).split('\n')

describe('a line of blocks', () => {
  const days = (...values: (number | null)[]) =>
    values.map((value, index) => ({ day: dayAt(index), value }))
  it('has one a day, against the greatest or against what is full', () => {
    expect(bars(days(0, 1, 2, 4), 10)).toBe('▁▃▅█')
    expect(bars(days(0, 50, 100), 10, 100)).toBe('▁▅█')
  })
  it('is blank where nothing is known, and on days without a run', () => {
    expect(bars(days(1, null, 1), 10)).toBe('█ █')
    expect(bars([days(1)[0]!, { day: dayAt(3), value: 1 }], 10)).toBe('█  █')
    expect(bars([], 10)).toBe('')
  })
  it('has the last days where there is no room for all', () =>
    expect(bars(days(9, 9, 1, 9), 2)).toBe('▁█'))
})

describe('how clusters went', () => {
  it('fits the screen, however many days and however long the names, and counts what it leaves out', () => {
    const group = {
      kind: 'Nodegroup' as const,
      name: 'n'.repeat(200),
      nodes: 1,
      known: 1,
      nearImageGc: 1,
      imageGcHeadroomBytes: 0,
    }
    const usedPercent = { min: 88, median: 88, max: 88 }
    const year = Array.from({ length: 365 }, (_, index) =>
      point(dayAt(index), { groups: [{ ...group, usedPercent }] }),
    )
    for (const columns of [80, 120]) {
      const chartLines = lines(trend(...year), columns)
      expect(Math.max(...chartLines.map(line => line.length))).toBeLessThanOrEqual(columns)
      const days = /█+/.exec(chartLines[2]!)![0].length
      expect(chartLines).toContain(
        `  … and ${365 - days} days before these (--format json has all)`,
      )
    }
  })
  it('has each day at the same place of every line', () => {
    const chartLines = lines(
      trend(point(dayAt(0), { grade: 'C' }), point(dayAt(2)), point(dayAt(3), { grade: null })),
    )
    expect(chartLines.slice(1, 4)).toMatchSnapshot()
  })
})

import { describe, expect, it } from 'vitest'
import type { Severity } from '#model/finding.ts'
import type { AuditReport, ReportedTrend } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { mailTrend } from '#report/mail/trend.ts'
import { pageView } from '#report/page/view.ts'
import { sparkline, trendsView } from '#report/parts/trends.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { withWeek } from '#test/remembered-week.ts'
import { morningReport, quietReport } from '#test/report-builder.ts'

const { words } = english

type Point = ReportedTrend['points'][number]
const severitiesOf = (critical: number, low: number): Record<Severity, number> => ({
  critical,
  high: 0,
  medium: 0,
  low,
  info: 0,
})
const group = (
  name: string,
  max: number | null,
  near: number | null = 0,
): Point['groups'][number] => ({
  ...{ kind: name === '' ? 'Node' : 'Nodegroup', name, nodes: 3, known: max === null ? 0 : 2 },
  ...{
    usedPercent: max === null ? null : { min: 10, median: 40, max },
    nearImageGc: near,
    imageGcHeadroomBytes: 1,
  },
})
const point = (day: number, groups: Point['groups'], more: Partial<Point> = {}): Point => ({
  day: `2026-11-${day}`,
  grade: 'B',
  findings: severitiesOf(0, 4),
  groups,
  groupsLeftOut: 0,
  imageGc: null,
  ...more,
})
const trend = (cluster: string, ...points: Point[]): ReportedTrend => ({ cluster, points })
const shown = (...trends: ReportedTrend[]) => trendsView({ trends }, english)!
const labelOf = (cell: { spark: { label: string } | null }) =>
  cell.spark?.label.replaceAll('\u00a0', ' ')

describe('how the fleet went', () => {
  const prod = trend(
    'prod',
    point(19, [group('a', 60, 0)], { grade: 'C', findings: severitiesOf(1, 4) }),
    point(20, [group('a', null, null)]),
    point(21, [group('a', 71, 1), group('b', 20)]),
  )
  const stage = trend('stage', point(20, [group('', 30)]), point(21, [group('', 35)]))
  const { lead, clusters, groups } = shown(prod, stage)

  it('is a line for each cluster and group, with the same in words', () => {
    expect(lead).toBe(words.trends.lead(3, '2026-11-19', '2026-11-21'))
    expect(clusters.map(({ title }) => title)).toEqual([words.trends.allClusters, 'prod', 'stage'])
    expect(clusters[1]).toMatchObject({
      grade: { value: 'B', note: 'C until 2026-11-19' },
      findings: { value: '4', note: '4 low' },
    })
    expect(labelOf(clusters[1]!.findings!)).toMatchSnapshot()
    expect(labelOf(clusters[1]!.used)).toBe(
      `${words.trends.columns.used} by day: first 60 %, least 60 %, most 71 %, now 71 %`,
    )
    expect(clusters[1]!.used.spark!.line).toMatch(/^M6 \d+h0M234 \d+h0$/)
    expect(groups.map(({ title, about }) => `${title}: ${about}`)).toEqual([
      `Nodegroup a: ${words.trends.about('prod', 2, 3)}`,
      `${words.fleet.withoutGroup}: ${words.trends.about('stage', 2, 3)}`,
      `Nodegroup b: ${words.trends.about('prod', 2, 3)}`,
    ])
    expect(groups[0]).toMatchObject({ near: '1, 0 at first', used: { note: 'median 40\u00a0%' } })
  })
  it('shows the rounds of image GC, and the error of the prediction, where they are known', () => {
    const GiB = 1024 ** 3
    const sum = (freed: number, counted: number, errorPercent: number | null) => ({
      imageGc: { rounds: 2, freedBytes: freed * GiB, countedBytes: counted * GiB, errorPercent },
    })
    const days = (...sums: Partial<Point>[]) =>
      shown(trend('prod', ...sums.map((each, index) => point(19 + index, [], each)))).reclaims
    const [row] = days(sum(1, 4, 50), sum(2, 4, 20), sum(3, 4, 10))
    expect(row).toMatchObject({
      about: words.trends.rounds(2, '2026-11-21'),
      freed: { value: '75\u00a0%', note: '3.0\u00a0GiB of 4.0\u00a0GiB' },
      error: { value: '10\u00a0%' },
    })
    expect(labelOf(row!.error)).toBe(
      `${words.trends.columns.error} by day: first 50 %, least 10 %, most 50 %, now 10 %`,
    )
    expect(days(sum(1, 4, 50), sum(0, 0, null))[0]).toMatchObject({
      freed: { value: words.unknown, note: '' },
      error: { value: words.unknown },
    })
    expect(days({}, {})).toEqual([])
  })

  it('of all clusters has the days on which all known clusters have a point', () => {
    const gap = shown(
      trend('one', point(19, []), point(20, []), point(21, [])),
      trend('two', point(20, []), point(21, [])),
    )
    expect(labelOf(gap.clusters[0]!.findings!)).toMatchSnapshot()
    const missed = shown(
      trend('one', point(19, []), point(20, []), point(21, [])),
      trend('two', point(19, []), point(21, [])),
    )
    expect(missed.clusters[0]!.findings!.spark!.line.match(/M/g)).toHaveLength(2)
  })
  it('begins with the second day, and reaches back thirty', () => {
    expect(trendsView({ trends: [trend('one', point(21, []))] }, english)).toBeNull()
    expect(trendsView({}, english)).toBeNull()
    expect(renderPage(pageView(quietReport([]), english))).not.toContain('id="trends"')
    const old = shown(
      trend('one', point(10, [], { day: '2026-10-01' }), point(20, []), point(21, [])),
    )
    expect(old.lead).toMatch(/^2 days from 2026-11-20/)
  })
  it('is bounded, and what is left out is counted', () => {
    const many = Array.from({ length: 40 }, (_, index) =>
      trend(`cluster-${index}`, point(20, [group('a', 1)]), point(21, [group('a', index)])),
    )
    const view = shown(...many)
    expect([view.clusters.length, view.groups.length]).toEqual([21, 20])
    expect(view.leftOut).toEqual([words.trends.moreClusters(20), words.trends.moreGroups(20)])
    expect(view.groups[0]!.used.value).toBe('39\u00a0%')
  })
  it('shows hostile names as text', () => {
    const html = renderPage(pageView(hostileReport(), english))
    const [section] =
      /<details class="section" id="trends"[\s\S]*?(?=<details class="section")/.exec(html)!
    expect(section).not.toMatch(/<script|\u202e/)
    expect(section.length).toBeLessThan(20_000)
  })
  it('of an owner without whole clusters has no findings', () => {
    const part = trend(
      'prod',
      ...[20, 21].map(day => point(day, [group('a', 60)], { findings: null })),
    )
    expect(shown(part).clusters[0]!.findings).toBeNull()
  })
})

describe('a small line', () => {
  it('is drawn from the day where all lines begin, a value by itself as a dot', () => {
    const { line, faint, end } = sparkline(
      [2, 3, 4],
      { values: [50, null, 54], faint: [50, 52, 54] },
      '',
      0,
    )
    expect(line).toBe('M120 46h0M234 6h0')
    expect(faint).toBe('M120 46h0l57-20l57-20')
    expect(end).toEqual({ x: 234, y: 6 })
  })
  it('hardly moves where hardly anything moved, and never leaves its frame', () => {
    const { line } = sparkline([0, 1], { values: [80, 80.5] }, '', 0)
    expect(line).toBe('M6 29h0l228-5')
    for (const values of [[0, 0], [0, 1e9], [100]]) {
      const { end } = sparkline(
        values.map((_, index) => index),
        { values },
        '',
        0,
      )
      expect(end!.y).toBeGreaterThanOrEqual(6)
      expect(end!.y).toBeLessThanOrEqual(46)
    }
  })
  it('has no end where the last day is not known', () => {
    expect(sparkline([0, 1], { values: [1, null] }, '', 0).end).toBeNull()
  })
})

describe('a week in a mail', () => {
  const fold = (text: string) => text
  const textOf = (...trends: ReportedTrend[]) =>
    mailTrend({ trends }, fold, english)?.replaceAll('\u00a0', ' ')

  it('is a sentence', () => {
    const prod = trend(
      'prod',
      point(10, [group('a', 5)]),
      point(15, [group('a', 60, 3)], { grade: 'C', findings: severitiesOf(2, 4) }),
      point(21, [group('a', 71, 3)], { findings: severitiesOf(1, 4) }),
    )
    expect(textOf(prod)).toMatchSnapshot()
  })
  it('is left out where two days are not remembered, or of which nothing is known', () => {
    expect(textOf(trend('prod', point(20, []), point(21, [])))).toBeUndefined()
    expect(textOf()).toBeUndefined()
    expect(
      textOf(trend('prod', ...[18, 21].map(day => point(day, [], { findings: null })))),
    ).toBeUndefined()
  })
  it('stands in both parts of it', () => {
    const { html, text } = renderMail(withWeek(morningReport()), [])
    for (const part of [html, text])
      expect(part.replace(/\s+/g, ' ')).toContain('In 7 days: findings ')
    const evil: AuditReport = hostileReport()
    expect(renderMail(evil, []).html).not.toContain('<script')
  })
})

/**
 * Trends by day: findings, grades, use of image disks and nodes near image GC, for all clusters,
 * each cluster and each group.
 */

import { by } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import { type Grade, type Severity, severities } from '#model/finding.ts'
import type { GroupPoint } from '#model/history.ts'
import type { AuditReport, ReportedTrend } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { causesAndOutlook } from './causes.ts'
import { subjectText, worstFirst } from './findings.ts'
import { gaugesOf } from './gauge.ts'
import { nameLimit } from './node.ts'
import { verdictView } from './verdict.ts'

/* A small line over days. The text beside it has the same values. */

/** SVG units, two per pixel. Whole numbers keep the many lines of a page short. */
const size = { width: 240, height: 52, margin: 6 }
/** Minimum range of the vertical scale, so that small changes look small. */
const leastSpan = 4

export interface Values {
  /** One value for each day; null: unknown. */
  values: (number | null)[]
  faint?: (number | null)[]
}

/**
 * @param days day numbers, ascending
 * @param from the day at the left end, so that lines can be compared
 */
export function sparkline(
  days: number[],
  { values, faint = [] }: Values,
  label: string,
  from: number,
) {
  const { width, height, margin } = size
  const known = [...values, ...faint].filter(value => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const spare = Math.max(0, leastSpan - (most - least)) / 2
  const [low, high] = [
    Math.max(0, least - spare),
    Math.max(0, least - spare) + Math.max(leastSpan, most - least),
  ]
  const span = Math.max(1, (days.at(-1) ?? from) - from)
  const x = (index: number) =>
    Math.round(margin + ((days[index]! - from) / span) * (width - 2 * margin))
  const y = (value: number) =>
    Math.round(height - margin - ((value - low) / (high - low)) * (height - 2 * margin))
  const last = values.at(-1) ?? null
  return {
    viewBox: `0 0 ${width} ${height}`,
    line: pathOf(values, x, y),
    faint: pathOf(faint, x, y),
    end: last === null ? null : { x: x(values.length - 1), y: y(last) },
    label,
  }
}

/** The SVG path of the values. A value between two unknown values is a dot. */
function pathOf(
  values: (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
) {
  let before: { x: number; y: number } | null = null
  let path = ''
  for (const [index, value] of values.entries()) {
    if (value === null) {
      before = null
      continue
    }
    const point = { x: x(index), y: y(value) }
    const down = before ? point.y - before.y : 0
    path += before
      ? `l${point.x - before.x}${down < 0 ? '' : ' '}${down}`
      : `M${point.x} ${point.y}h0`
    before = point
  }
  return path
}

const limits = { days: 30, clusters: 20, groups: 20 }

/** Values of one day. */
export interface TrendDay {
  day: string
  grade: Grade | null
  findings: Record<Severity, number> | null
  near: number | null
  usedMax: number | null
  usedMedian: number | null
}

/** Null: no earlier day is recorded, so there are no lines. */
export function trendsView({ trends = [] }: Pick<AuditReport, 'trends'>, language: Language) {
  const { trends: words, clusterCount } = language.words
  const recent = trends.map(recentTrend).filter(({ points }) => points.length > 0)
  const days = daysOf(recent)
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined || first === last) return null
  const from = numberOf(first)
  const clusters = recent.map(trend => ({
    title: language.line(trend.cluster, nameLimit),
    about: '',
    days: trend.points.map(dayOfCluster),
  }))
  const groups = recent
    .flatMap(trend => groupsOf(trend, language))
    .toSorted(
      by(
        ({ days }) => -lastUsedMax(days),
        ({ key }) => key,
      ),
    )
  const all =
    recent.length > 1
      ? [{ title: words.allClusters, about: clusterCount(recent.length), days: fleetDays(recent) }]
      : []
  return {
    lead: words.lead(days.length, first, last),
    clusters: [...all, ...clusters.slice(0, limits.clusters)].map(each =>
      rowOf(each, from, language),
    ),
    groups: groups.slice(0, limits.groups).map(each => groupTrendRow(each, from, language)),
    reclaims: recent.slice(0, limits.clusters).flatMap(each => reclaimRow(each, from, language)),
    leftOut: [
      ...(clusters.length > limits.clusters
        ? [words.moreClusters(clusters.length - limits.clusters)]
        : []),
      ...(groups.length > limits.groups ? [words.moreGroups(groups.length - limits.groups)] : []),
    ],
  }
}

const numberOf = (day: string) => Date.parse(day) / dayMs
const daysOf = (trends: ReportedTrend[]) =>
  [...new Set(trends.flatMap(({ points }) => points.map(({ day }) => day)))].toSorted()

function recentTrend({ cluster, points }: ReportedTrend): ReportedTrend {
  const newest = numberOf(points.at(-1)?.day ?? '')
  return { cluster, points: points.filter(({ day }) => newest - numberOf(day) < limits.days) }
}

const dayOfCluster = ({
  day,
  grade,
  findings,
  groups,
}: ReportedTrend['points'][number]): TrendDay => ({
  day,
  grade,
  findings,
  near: sumOf(groups.map(({ nearImageGc }) => nearImageGc)),
  usedMax: maxOrNull(groups.map(({ usedPercent }) => usedPercent?.max ?? null)),
  usedMedian: null,
})

/** All clusters together, by day. Values are null if a cluster known by that day has no point. */
export function fleetDays(trends: ReportedTrend[]): TrendDay[] {
  const known = trends.map(
    ({ points }) => new Map(points.map(point => [point.day, dayOfCluster(point)])),
  )
  const begins = trends.map(({ points }) => points[0]?.day ?? '')
  return daysOf(trends).map(day => {
    const of = known.filter((_, index) => begins[index]! <= day).map(points => points.get(day))
    const found = of.filter(point => point !== undefined)
    const isWhole = found.length === of.length
    return {
      day,
      grade: null,
      findings: isWhole ? sumOfFindings(found) : null,
      near: isWhole ? sumOf(found.map(({ near }) => near)) : null,
      usedMax: isWhole ? maxOrNull(found.map(({ usedMax }) => usedMax)) : null,
      usedMedian: null,
    }
  })
}

function sumOfFindings(days: TrendDay[]) {
  const all = days.flatMap(({ findings }) => findings ?? [])
  if (all.length < days.length) return null
  return Object.fromEntries(
    severities.map(severity => [
      severity,
      all.reduce((sum, findings) => sum + findings[severity], 0),
    ]),
  ) as Record<Severity, number>
}

/** Sum of the known values; null: none is known. */
function sumOf(values: (number | null)[]) {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

function maxOrNull(values: (number | null)[]) {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

interface Went {
  title: string
  about: string
  days: TrendDay[]
}

/** The groups in the cluster's last point, each with its values by day. */
const groupsOf = ({ cluster, points }: ReportedTrend, language: Language) =>
  (points.at(-1)?.groups ?? []).map(group => ({
    key: JSON.stringify([cluster, group.kind, group.name]),
    title:
      group.kind === 'Node'
        ? language.words.fleet.withoutGroup
        : subjectText({ kind: group.kind, namespace: null, name: group.name }, language),
    about: language.words.trends.about(
      language.line(cluster, nameLimit),
      group.known < group.nodes ? group.known : null,
      group.nodes,
    ),
    days: points.map(({ day, groups }) =>
      dayOfGroup(
        day,
        groups.find(one => one.kind === group.kind && one.name === group.name),
      ),
    ),
  }))

const dayOfGroup = (day: string, group: GroupPoint | undefined): TrendDay => ({
  day,
  grade: null,
  findings: null,
  near: group?.nearImageGc ?? null,
  usedMax: group?.usedPercent?.max ?? null,
  usedMedian: group?.usedPercent?.median ?? null,
})

const lastUsedMax = (days: TrendDay[]) => days.at(-1)?.usedMax ?? -1

export const totalOf = (findings: Record<Severity, number>) =>
  severities.reduce((sum, severity) => sum + findings[severity], 0)

function rowOf({ title, about, days }: Went, from: number, language: Language) {
  const { trends: words } = language.words
  const now = days.at(-1)!
  const grades = days.filter(({ grade }) => grade !== null)
  const other = grades.findLast(({ grade }) => grade !== now.grade)
  const cell = (
    what: string,
    of: (day: TrendDay) => number | null,
    shown: (value: number | null) => string,
    faint?: (day: TrendDay) => number | null,
  ) =>
    cellOf({
      what,
      days,
      from,
      values: days.map(of),
      faint: faint && days.map(faint),
      shown,
      language,
    })
  return {
    title,
    about,
    grade:
      grades.length === 0
        ? null
        : {
            value: now.grade ?? words.noGrade,
            note: other ? words.gradeUntil(other.grade!, other.day) : '',
          },
    findings: days.every(({ findings }) => findings === null)
      ? null
      : {
          ...cell(
            words.columns.findings,
            ({ findings }) => findings && totalOf(findings),
            language.count,
            ({ findings }) => findings && findings.critical + findings.high,
          ),
          note: severitiesText(now.findings, language),
        },
    near: cell(words.columns.near, ({ near }) => near, language.count),
    used: {
      ...cell(
        words.columns.used,
        ({ usedMax }) => usedMax,
        language.percent,
        ({ usedMedian }) => usedMedian,
      ),
      note: now.usedMedian === null ? '' : words.median(language.percent(now.usedMedian)),
    },
  }
}

/** The nodes near a threshold, `34`, with those of the first day if they were not as many: `34, 0 at first`. */
function groupTrendRow(group: Went, firstDay: number, language: Language) {
  const row = rowOf(group, firstDay, language)
  const { count, words } = language
  const first = group.days.find(({ near }) => near !== null)?.near ?? null
  const isSteady = first === null || count(first) === row.near.value
  const near = isSteady ? row.near.value : words.trends.atFirst(row.near.value, count(first))
  return { title: row.title, about: row.about, used: row.used, near }
}

/** Observed rounds of image GC by day, and how far the prediction was off. Empty: no round was observed. */
function reclaimRow({ cluster, points }: ReportedTrend, from: number, language: Language) {
  const { trends: words } = language.words
  const days = points.flatMap(({ day, imageGc }) => (imageGc ? [{ day, ...imageGc }] : []))
  const last = days.at(-1)
  if (!last) return []
  const cell = (what: string, values: (number | null)[]) =>
    cellOf({ what, days, from, values, faint: undefined, shown: language.percent, language })
  const freed = days.map(({ countedBytes, freedBytes }) =>
    countedBytes === 0 ? null : (100 * freedBytes) / countedBytes,
  )
  return [
    {
      title: language.line(cluster, nameLimit),
      about: words.rounds(last.rounds, last.day),
      freed: {
        ...cell(words.columns.freed, freed),
        note:
          last.countedBytes === 0
            ? ''
            : words.freedOf(language.bytes(last.freedBytes), language.bytes(last.countedBytes)),
      },
      error: cell(
        words.columns.error,
        days.map(({ errorPercent }) => errorPercent),
      ),
    },
  ]
}

const severitiesText = (findings: Record<Severity, number> | null, { words, count }: Language) =>
  words.list(
    severities.flatMap(severity =>
      findings?.[severity]
        ? [words.findings.tallied(count(findings[severity]), words.severityNames[severity])]
        : [],
    ),
  )

interface CellOptions {
  what: string
  days: readonly { day: string }[]
  from: number
  values: (number | null)[]
  faint: (number | null)[] | undefined
  shown: (value: number | null) => string
  language: Language
}

function cellOf({ what, days, from, values, faint, shown, language: { words } }: CellOptions) {
  const known = values.filter(value => value !== null)
  const last = values.at(-1) ?? null
  const value = last === null ? words.unknown : shown(last)
  if (known.length === 0) return { value, note: '', spark: null }
  const label = words.trends.described(
    what,
    shown(known[0]!),
    shown(Math.min(...known)),
    shown(Math.max(...known)),
    value,
  )
  const numbers = days.map(({ day }) => numberOf(day))
  // Two points are a straight line that shows nothing.
  const spark = values.length < 3 ? null : sparkline(numbers, { values, faint }, label, from)
  return { value, note: '', spark }
}

/* The list of a bucket's runs, newest first, with one plot of their trend. */

/** One run, as `latest/runs.json` lists it. */
export interface ListedRun {
  runId: string
  /** RFC 3339. */
  at: string
  verdict: string
  severity: Severity | 'none'
  /** Number of critical and high findings. */
  severe: number
  /** Used percent of the disk that is nearest to eviction on the fullest node; null: unknown. */
  fullestPercent: number | null
}

export function listedRun(runId: string, report: AuditReport, language: Language): ListedRun {
  const { findings, run } = report.document
  const { causes, outlook } = causesAndOutlook(report, language)
  const { headline } = verdictView(report, { outlook, causeCount: causes.length, language })
  const used = report.nodes.flatMap(node =>
    gaugesOf(node, report, language).flatMap(({ filesystem, kind, usedPercent }) =>
      filesystem !== null && kind === 'disk' && usedPercent !== null ? [usedPercent] : [],
    ),
  )
  return {
    runId,
    at: run.takenAt,
    verdict: headline,
    severity: findings.toSorted(worstFirst)[0]?.severity ?? 'none',
    severe: findings.filter(({ severity }) => severities.indexOf(severity) <= 1).length,
    fullestPercent: used.reduce<number | null>((most, one) => Math.max(most ?? 0, one), null),
  }
}

/** @param runs newest first */
export function runsIndexView(runs: readonly ListedRun[], language: Language) {
  const { words, line, count, percent } = language
  const points = runs.filter(({ at }) => Number.isFinite(Date.parse(at))).toReversed()
  const days = points.map(({ at }) => Date.parse(at) / dayMs)
  const used = points.map(({ fullestPercent }) => fullestPercent)
  const plot = (title: string, values: (number | null)[], textOf: (value: number) => string) => {
    const known = values.filter(value => value !== null)
    const [least, most] = [textOf(Math.min(...known)), textOf(Math.max(...known))]
    return {
      title: words.runs.range(
        title,
        least === most ? least : words.ledger.between(least, most),
        points.length,
      ),
      ends: [0, points.length - 1].map(index => {
        const value = values[index] ?? null
        const at = language.utc(points[index]?.at ?? '')
        return words.said(at, value === null ? words.unknown : textOf(value))
      }),
      spark: sparkline(days, { values }, title, days[0] ?? 0),
    }
  }
  return {
    tag: language.tag,
    words,
    rows: runs.map(run => ({
      href: `runs/${encodeURIComponent(run.runId)}/report.html`,
      at: language.utc(run.at),
      verdict: line(run.verdict, 300),
      severity: run.severity,
      severe: count(run.severe),
      fullest: run.fullestPercent === null ? words.unknown : percent(run.fullestPercent),
    })),
    plots:
      points.length < 3
        ? []
        : [
            plot(
              words.runs.columns.severe,
              points.map(({ severe }) => severe),
              count,
            ),
            ...(used.some(value => value !== null)
              ? [plot(words.runs.columns.fullest, used, percent)]
              : []),
          ],
  }
}

export type RunsIndexView = ReturnType<typeof runsIndexView>

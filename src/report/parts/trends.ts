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
import { subjectText } from './findings.ts'
import { nameLimit } from './node.ts'
import { sparkline } from './sparkline.ts'

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
    groups: groups.slice(0, limits.groups).map(each => groupRow(each, from, language)),
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

/** `34, 0 at first`. */
function groupRow(went: Went, from: number, language: Language) {
  const { title, about, near, used } = rowOf(went, from, language)
  const first = went.days.find(day => day.near !== null)?.near ?? null
  const { count, words } = language
  return {
    title,
    about,
    used,
    near:
      first === null || count(first) === near.value
        ? near.value
        : words.trends.atFirst(near.value, count(first)),
  }
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

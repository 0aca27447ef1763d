import { by } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import type { GarbageRow } from '#model/cluster-garbage.ts'
import { type Finding, severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { type Shown, worstFirst } from '#report/parts/findings.ts'
import { costText, gapText, sizeText } from '#report/parts/garbage-words.ts'
import { nameLimit } from '#report/parts/node.ts'

/** Limits for a light page. `rows` counts all tables; the first cluster always has its table. */
const limits = { tables: 12, rows: 60, clusters: 300, gaps: 20 }

export function clusterGcView(report: AuditReport, on: Shown) {
  const { language } = on
  const judged = judgedGarbage(report)
  const tables = tablesOf(judged)
  const others = judged.slice(tables.length)
  return {
    coverage: coverageText(report, language),
    clusters: tables.map((judged, index) => clusterView(judged, index === 0, on)),
    others: {
      rows: others
        .slice(0, limits.clusters)
        .map(judged => ({
          name: language.line(judged.overview.cluster, nameLimit),
          about: aboutText(judged, language),
        })),
      leftOut:
        others.length > limits.clusters
          ? language.words.garbage.clustersLeftOut(others.length - limits.clusters)
          : null,
    },
  }
}

function tablesOf(judged: JudgedGarbage[]) {
  let left = limits.rows
  const end = judged.slice(0, limits.tables).findIndex(({ overview: { rows } }, index) => {
    left -= rows.length
    return left < 0 && index > 0
  })
  return judged.slice(0, end < 0 ? limits.tables : end)
}

function aboutText({ overview: { gaps }, found, monthlyUsd }: JudgedGarbage, language: Language) {
  const { garbage: words, list } = language.words
  return list([
    found.length === 0 ? words.nothingToClean : words.toClean(found.length),
    ...(monthlyUsd > 0 ? [costText(monthlyUsd, language)] : []),
    ...(gaps.length > 0 ? [words.notAllRead] : []),
  ])
}

function clusterView(judged: JudgedGarbage, isOpen: boolean, on: Shown) {
  const { language } = on
  const { garbage: words } = language.words
  const { overview, found, quiet } = judged
  const { cluster, at, rows, clean, gaps } = overview
  const name = language.line(cluster, nameLimit)
  return {
    name,
    about: aboutText(judged, language),
    isOpen,
    caption: words.caption(name),
    rows: [...found, ...quiet].map(each => rowView(each, Date.parse(at), on)),
    clean: clean.length > 0 ? words.clean(clean.map(need => words.needs[need])) : null,
    gaps: {
      rows: gaps.slice(0, limits.gaps).map(gap => gapText(gap, language)),
      leftOut: gaps.length > limits.gaps ? words.moreReasons(gaps.length - limits.gaps) : null,
    },
    notes: rows.some(({ monthlyUsd }) => monthlyUsd !== null) ? [words.assumedPrices] : [],
  }
}

function rowView({ row, findings, title }: JudgedRow, nowMs: number, { page, language }: Shown) {
  const { words: all } = language
  const words = all.garbage
  const { count, oldestMs } = row
  const [worst] = findings
  const link = worst
    ? {
        anchor: page.ofFinding(worst.id) ?? page.ofRule(worst.rule),
        link: all.findingCount(findings.length),
      }
    : { anchor: 'waived', link: words.waived }
  return {
    name: language.line(title, 120),
    count: language.count(count),
    age: oldestMs === null ? '' : ageText(Math.max(nowMs - oldestMs, 0), language),
    whose: namespacesText(row, language),
    size: sizeText(row, language),
    fate: words.heads[row.fate],
    isCalm: worst === undefined,
    severity: worst?.severity ?? null,
    severityWord: worst ? all.severities[worst.severity] : '',
    ...link,
  }
}

/** An age, rounded down to seconds below two days, and to days from two days on. */
const ageText = (ms: number, { duration }: Language) =>
  duration(floorTo(ms, ms < 2 * dayMs ? 1000 : dayMs))
const floorTo = (ms: number, unitMs: number) => Math.floor(ms / unitMs) * unitMs

function namespacesText({ namespaces, namespacesLeftOut, count }: GarbageRow, language: Language) {
  const { words, line } = language
  const shares = namespaces.map(
    ({ name, count: part }) =>
      `${line(name, 120)}${part === count || part === 1 ? '' : words.garbage.times(part)}`,
  )
  return words.list([
    ...shares,
    ...(namespacesLeftOut > 0 ? [words.andMore(namespacesLeftOut)] : []),
  ])
}

function coverageText(
  { document: { clusters } }: AuditReport,
  { words: { garbage: words } }: Language,
) {
  const asked = clusters.flatMap(({ coverage }) => coverage.clusterGc ?? [])
  if (asked.length === 0) return words.notLooked
  const sum = (amountOf: (one: (typeof asked)[number]) => number) =>
    asked.reduce((total, one) => total + amountOf(one), 0)
  return words.coverage(
    asked.length,
    clusters.length > asked.length ? clusters.length : null,
    sum(({ read }) => read),
    sum(({ lists }) => lists),
  )
}

type JudgedGarbage = ReturnType<typeof judgedGarbage>[number]
type JudgedRow = { row: GarbageRow; findings: Finding[]; title: string }

/**
 * Leftover objects of each cluster beside their findings. Clusters with the highest cost come
 * first; within a cluster, the worst rows come first.
 */
function judgedGarbage({ document, garbage = [] }: AuditReport) {
  const [open, waived] = [byPlace(document.findings), byPlace(document.waived)]
  return garbage
    .map(overview => {
      const rows = overview.rows.map((row): JudgedRow => {
        const place = placeOf(overview.cluster, row.rule)
        const findings = (open.get(place) ?? []).toSorted(worstFirst)
        const [judged] = [...findings, ...(waived.get(place) ?? [])]
        return { row, findings, title: judged?.docs.title ?? row.rule }
      })
      const found = rows
        .filter(({ findings }) => findings.length > 0)
        .toSorted(
          (a, b) => rankOf(a) - rankOf(b) || (b.row.monthlyUsd ?? 0) - (a.row.monthlyUsd ?? 0),
        )
      const monthlyUsd = found.reduce((sum, { row }) => sum + (row.monthlyUsd ?? 0), 0)
      return {
        overview,
        /** Rows with a finding; worst first, then by cost. */
        found,
        /** Rows without an open finding, for example because all their findings are waived. */
        quiet: rows.filter(({ findings }) => findings.length === 0),
        /** Known cost in USD per month of the rows with a finding. */
        monthlyUsd,
      }
    })
    .toSorted(
      by(
        ({ monthlyUsd }) => -monthlyUsd,
        ({ found }) => -found.length,
        ({ overview }) => overview.cluster,
      ),
    )
}

const placeOf = (cluster: string, rule: string) => JSON.stringify([cluster, rule])
const byPlace = (findings: Finding[]) =>
  Map.groupBy(findings, ({ cluster, rule }) => placeOf(cluster, rule))

const rankOf = ({ findings: [worst] }: JudgedRow) =>
  worst ? severities.indexOf(worst.severity) : severities.length

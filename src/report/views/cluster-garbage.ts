import type { GarbageRow } from '#model/garbage-overview.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { Shown } from './findings.ts'
import { costText, gapText, rowName, sizeText } from './garbage-words.ts'
import { type JudgedGarbage, type JudgedRow, judgedGarbage } from './judged-garbage.ts'
import { nameLimit } from './node.ts'

const dayMs = 86_400_000
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

function tablesOf(judged: JudgedGarbage[]): JudgedGarbage[] {
  let left = limits.rows
  const end = judged.slice(0, limits.tables).findIndex(({ overview: { rows } }, index) => {
    left -= rows.length
    return left < 0 && index > 0
  })
  return judged.slice(0, end < 0 ? limits.tables : end)
}

function aboutText(
  { overview: { gaps }, found, monthlyUsd }: JudgedGarbage,
  language: Language,
): string {
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
  const link =
    worst === undefined
      ? { anchor: 'waived', link: words.waived }
      : {
          anchor: page.ofFinding(worst.id) ?? page.ofRule(worst.rule),
          link: all.findingCount(findings.length),
        }
  return {
    name: rowName(row, title, language),
    count: language.count(count),
    age: oldestMs === null ? '' : ageText(Math.max(nowMs - oldestMs, 0), language),
    whose: whoseText(row, language),
    size: sizeText(row, language),
    fate: words.heads[row.fate],
    isCalm: worst === undefined,
    severity: worst?.severity ?? null,
    severityWord: worst === undefined ? '' : all.severities[worst.severity],
    ...link,
  }
}

/** An age, rounded down to seconds below two days, and to days from two days on. */
const ageText = (ms: number, { duration }: Language): string =>
  duration(floorTo(ms, ms < 2 * dayMs ? 1000 : dayMs))
const floorTo = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs

function whoseText(
  { namespaces, namespacesLeftOut, count }: GarbageRow,
  language: Language,
): string {
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
): string {
  const asked = clusters.flatMap(({ coverage }) => coverage.clusterGc ?? [])
  if (asked.length === 0) return words.notLooked
  const sum = (of: (one: (typeof asked)[number]) => number) =>
    asked.reduce((total, one) => total + of(one), 0)
  return words.coverage(
    asked.length,
    clusters.length > asked.length ? clusters.length : null,
    sum(({ read }) => read),
    sum(({ lists }) => lists),
  )
}

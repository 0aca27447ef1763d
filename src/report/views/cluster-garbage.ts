/** Cluster garbage: for each cluster one table of what lies there and what becomes of it, then the findings that say how to end it. */
import type { Finding, Severity } from '#model/finding.ts'
import type { GarbageRow } from '#model/garbage-overview.ts'
import type { AuditReport } from '#model/report.ts'
import { counted, formatCount, formatDuration } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'
import type { PageAnchors } from './anchors.ts'
import { type FindingsView, findingsView, severityWords } from './findings.ts'
import {
  assumedPrices,
  assumedThreshold,
  costText,
  fateWords,
  gapText,
  garbageName,
  needNames,
  sizeText,
  timesOver,
} from './garbage-words.ts'
import { type JudgedGarbage, type JudgedRow, judgedGarbage } from './judged-garbage.ts'
import { nameLimit } from './node.ts'
import type { Rows } from './remainder.ts'

const dayMs = 86_400_000
/** Rows of all tables together: the page stays light. The first cluster has its table in any case. */
const limits = { tables: 12, rows: 60, clusters: 300, gaps: 20, open: 3 }

interface GarbageRowView {
  name: string
  count: string
  /** Null: none of them is too young to be called garbage. */
  young: string | null
  age: string
  whose: string
  /** Capacity and cost; empty where they hold no disk. */
  size: string
  head: string
  fate: string
  /** No finding tells of it: nothing to do. */
  isCalm: boolean
  /** Of its worst finding; null: there is none. */
  severity: Severity | null
  severityWord: string
  /** Where the page says how to end it, or until when it is waived; empty: nowhere. */
  anchor: string
  link: string
}

interface GarbageClusterView {
  name: string
  about: string
  isOpen: boolean
  caption: string
  rows: GarbageRowView[]
  clean: string | null
  gaps: Rows<string>
  notes: string[]
}

export interface ClusterGcView {
  /** Whether anybody looked, and how far. */
  coverage: string
  clusters: GarbageClusterView[]
  /** Those without a table, in a line each. */
  others: Rows<{ name: string; about: string }>
  findings: FindingsView
}

/** @param sorted the findings on cluster garbage, worst first */
export function clusterGcView(report: AuditReport, sorted: Finding[], page: PageAnchors): ClusterGcView {
  const told = judgedGarbage(report)
  const tables = tablesOf(told)
  const others = told.slice(tables.length)
  return {
    coverage: coverageText(report),
    clusters: tables.map((judged, index) => clusterView(judged, index < limits.open, page)),
    others: {
      rows: others
        .slice(0, limits.clusters)
        .map(judged => ({ name: shownLine(judged.overview.cluster, nameLimit), about: aboutText(judged) })),
      leftOut: others.length > limits.clusters ? `${counted(others.length - limits.clusters, 'more cluster')} not listed here.` : null,
    },
    findings: findingsView(sorted, page),
  }
}

function tablesOf(told: JudgedGarbage[]): JudgedGarbage[] {
  let left = limits.rows
  const end = told.slice(0, limits.tables).findIndex(({ overview: { rows } }, index) => {
    left -= rows.length
    return left < 0 && index > 0
  })
  return told.slice(0, end < 0 ? limits.tables : end)
}

function aboutText({ overview: { rows, gaps }, found, monthlyUsd }: JudgedGarbage): string {
  const none = rows.length === 0 ? 'nothing lies there' : 'nothing that has to be cleaned up'
  return [
    found.length === 0 ? none : `${counted(found.length, 'kind')} of object to clean up`,
    ...(monthlyUsd > 0 ? [costText(monthlyUsd)] : []),
    ...(gaps.length > 0 ? ['not all was read'] : []),
  ].join(', ')
}

function clusterView(judged: JudgedGarbage, isOpen: boolean, page: PageAnchors): GarbageClusterView {
  const { overview, found, quiet } = judged
  const { cluster, at, minAgeHours, rows, clean, gaps } = overview
  const name = shownLine(cluster, nameLimit)
  const isAssumed = rows.some(({ fate }) => fate.is === 'threshold' && fate.isAssumed)
  return {
    name,
    about: aboutText(judged),
    isOpen,
    caption: `What lies in ${name}`,
    rows: [...found, ...quiet].map(each => rowView(each, Date.parse(at), minAgeHours, page)),
    clean: clean.length > 0 ? `Looked through, and nothing lies there: ${clean.map(need => needNames[need]).join(', ')}.` : null,
    gaps: {
      rows: gaps.slice(0, limits.gaps).map(gapText),
      leftOut: gaps.length > limits.gaps ? `${counted(gaps.length - limits.gaps, 'more reason')} in the section Not audited.` : null,
    },
    notes: [...(isAssumed ? [assumedThreshold] : []), ...(rows.some(({ monthlyUsd }) => monthlyUsd !== null) ? [assumedPrices] : [])],
  }
}

function rowView({ row, findings, isWaived }: JudgedRow, nowMs: number, minAgeHours: number, page: PageAnchors): GarbageRowView {
  const { count, young, oldestMs, kind, rules } = row
  const { head, text } = fateWords(row, nowMs)
  const [worst] = findings
  return {
    name: garbageName(kind),
    count: formatCount(count),
    // What no rule judges is nobody's garbage, young or old.
    young:
      young === 0 || rules.length === 0 ? null : `${young === count ? '' : `${formatCount(young)} of them `}under ${minAgeHours}\u00a0h`,
    age: oldestMs === null ? '' : ageText(Math.max(nowMs - oldestMs, 0)),
    whose: whoseText(row),
    size: sizeText(row),
    head,
    fate: text,
    isCalm: worst === undefined,
    severity: worst?.severity ?? null,
    severityWord: worst === undefined ? '' : severityWords[worst.severity],
    anchor: worst === undefined ? (isWaived ? 'waived' : '') : (page.ofFinding(worst.id) ?? page.ofRule(worst.rule)),
    link: worst === undefined ? (isWaived ? 'waived' : '') : counted(findings.length, 'finding'),
  }
}

/** From two days on in days. */
const ageText = (ms: number): string => formatDuration(floorTo(ms, ms < 2 * dayMs ? 1000 : dayMs))
const floorTo = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs

function whoseText({ whose, whoseLeftOut, count }: GarbageRow): string {
  const shares = whose.map(({ name, count: part }) => `${shownLine(name, 120)}${part === count ? '' : timesOver(part)}`)
  return [...shares, ...(whoseLeftOut > 0 ? [`and ${formatCount(whoseLeftOut)} more`] : [])].join(', ')
}

function coverageText({ document: { clusters } }: AuditReport): string {
  const asked = clusters.flatMap(({ coverage }) => coverage.clusterGc ?? [])
  if (asked.length === 0) return 'No cluster was looked through for garbage (policy clusterGarbage).'
  const sum = (of: (one: (typeof asked)[number]) => number) => asked.reduce((total, one) => total + of(one), 0)
  const notSwept = asked.reduce((total, one) => total + (one.notSwept?.count ?? 0), 0)
  const of = clusters.length > asked.length ? ` of ${formatCount(clusters.length)}` : ''
  return `${formatCount(asked.length)}${of} ${clusters.length === 1 ? 'cluster' : 'clusters'} looked through, ${formatCount(sum(({ read }) => read))} of ${counted(
    sum(({ lists }) => lists),
    'list',
  )} read to the end.${notSwept === 0 ? '' : ` What finalizers hold was not looked for in ${counted(notSwept, 'other kind')} of objects (policy clusterGarbage.sweep).`}`
}

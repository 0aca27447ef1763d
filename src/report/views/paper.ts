/**
 * What is not printed, and how much. The print style sheet hides it by the same numbers; the screen
 * shows everything.
 */
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { ClusterGcView } from './cluster-garbage.ts'
import type { FindingsView } from './findings.ts'
import type { FleetView } from './fleet.ts'
import type { RemainderView, Rows } from './remainder.ts'
import type { ThresholdsView } from './thresholds.ts'
import type { VerdictView } from './verdict.ts'

/** As `report.css` has them under `@media print`. */
const printed = {
  wholeFindings: 10,
  findingRows: 30,
  nodeGroups: 3,
  rows: 10,
  clusters: 24,
} as const

/** Null: all of it is printed. */
export interface PaperView {
  clusters: string | null
  findings: string | null
  garbage: string | null
  thresholds: string | null
  nodes: string | null
  waived: string | null
  unknowns: string | null
  notAudited: string | null
  rules: string | null
}

interface Page {
  verdict: VerdictView
  findings: FindingsView
  clusterGc: ClusterGcView
  thresholds: ThresholdsView
  fleet: FleetView
  waived: Rows<unknown>
  remainder: RemainderView
  rules: unknown[]
}

export function paperView(
  { nodes }: AuditReport,
  page: Page,
  { words: { paper: words } }: Language,
): PaperView {
  const { verdict, findings, clusterGc, thresholds, fleet, waived, remainder, rules } = page
  const drawn = fleet.groups
    .slice(0, printed.nodeGroups)
    .filter(group => group.nodes.length > 0).length
  const folded = thresholds.cohorts.filter(({ isOpen }) => !isOpen).length
  const tables = clusterGc.clusters.filter(({ isOpen }) => !isOpen).length
  return {
    clusters: rowsNote(verdict.clusters.length, printed.clusters, words.clusters),
    findings: findingsNote(findings, words),
    garbage: garbageNote(tables, clusterGc.findings, words),
    thresholds: folded > 0 ? words.thresholds(folded) : null,
    nodes: nodes.length > drawn ? words.nodes(drawn, nodes.length - drawn) : null,
    waived: rowsNote(waived.rows.length, printed.rows, words.waived),
    unknowns: rowsNote(remainder.unknowns.rows.length, printed.rows, words.unknowns),
    notAudited: rowsNote(remainder.notAudited.rows.length, printed.rows, words.notAudited),
    rules: rules.length > 0 ? words.rules(rules.length) : null,
  }
}

const rowsNote = (all: number, limit: number, text: (shown: number, all: number) => string) =>
  all > limit ? text(limit, all) : null

function garbageNote(
  tables: number,
  findings: FindingsView,
  words: Language['words']['paper'],
): string | null {
  const notes = [tables > 0 ? words.tables(tables) : null, findingsNote(findings, words)]
  return notes.filter(note => note !== null).join(' ') || null
}

function findingsNote(
  { cards, rows }: FindingsView,
  words: Language['words']['paper'],
): string | null {
  if (cards.length === 0) return null
  const { wholeFindings: whole, findingRows } = printed
  return words.findings(
    Math.max(cards.length - whole, 0),
    whole,
    Math.max(rows.length - findingRows, 0),
  )
}

/**
 * What of the page is not printed, and how much that is. The style sheet leaves it out, by the same numbers; the screen shows all of it.
 */
import type { AuditReport } from '#model/report.ts'
import { counted, formatCount } from '#report/numbers.ts'
import type { ClusterGcView } from './cluster-garbage.ts'
import type { FindingsView } from './findings.ts'
import type { FleetView } from './fleet.ts'
import type { RemainderView, Rows } from './remainder.ts'
import type { ThresholdsView } from './thresholds.ts'
import type { VerdictView } from './verdict.ts'

/** As `report.css` has them under `@media print`. */
const printed = { wholeFindings: 10, findingRows: 30, nodeGroups: 3, rows: 10, clusters: 24 } as const

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

export function paperView({ nodes }: AuditReport, page: Page): PaperView {
  const { verdict, findings, clusterGc, thresholds, fleet, waived, remainder, rules } = page
  const drawn = fleet.groups.slice(0, printed.nodeGroups).filter(group => group.nodes.length > 0).length
  const folded = thresholds.cohorts.filter(({ isOpen }) => !isOpen).length
  const tables = clusterGc.clusters.filter(({ isOpen }) => !isOpen).length
  return {
    clusters: rowsNote(verdict.clusters.length, printed.clusters, 'cluster'),
    findings: findingsNote(findings),
    garbage:
      [tables > 0 ? `${counted(tables, 'more table')} to unfold on the page.` : null, findingsNote(clusterGc.findings)]
        .filter(Boolean)
        .join(' ') || null,
    thresholds: folded > 0 ? `Only tables that are unfolded are printed; ${counted(folded, 'more table')} to unfold on the page.` : null,
    nodes:
      nodes.length > drawn
        ? `Of the first ${counted(drawn, 'group')} the node nearest to eviction; ${counted(nodes.length - drawn, 'node')} only on the page.`
        : null,
    waived: rowsNote(waived.rows.length, printed.rows, 'waived finding'),
    unknowns: rowsNote(remainder.unknowns.rows.length, printed.rows, 'question'),
    notAudited: rowsNote(remainder.notAudited.rows.length, printed.rows, 'entry', 'entries'),
    rules: rules.length > 0 ? `${counted(rules.length, 'rule')} explained on the page.` : null,
  }
}

function rowsNote(all: number, limit: number, noun: string, plural = `${noun}s`): string | null {
  return all > limit ? `${formatCount(limit)} of ${counted(all, noun, plural)}; the others on the page.` : null
}

function findingsNote({ cards, rows }: FindingsView): string | null {
  if (cards.length === 0) return null
  const short = Math.max(cards.length - printed.wholeFindings, 0)
  const left = Math.max(rows.length - printed.findingRows, 0)
  return [
    'Evidence, names, commands and the text for new nodes stand on the page.',
    ...(short > 0 ? [`${counted(short, 'finding')} after the first ${printed.wholeFindings} in short.`] : []),
    ...(left > 0 ? [`${counted(left, 'more row')} only there.`] : []),
  ].join(' ')
}

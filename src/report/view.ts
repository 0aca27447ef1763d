/** Everything that the page shows, computed: the templates only put it in its place. */
import type { AuditReport } from '#model/report.ts'
import { type FindingsView, findingsView, type RuleView, rulesOf, type WaivedView, waivedView, worstFirst } from '#report/views/findings.ts'
import { type FleetView, fleetView } from '#report/views/fleet.ts'
import { type PlanView, planView } from '#report/views/plan.ts'
import { type RemainderView, type Rows, remainderView } from '#report/views/remainder.ts'
import { type ThresholdsView, thresholdsView } from '#report/views/thresholds.ts'
import { type VerdictView, verdictView } from '#report/views/verdict.ts'
import { counted, formatCount, formatUtc } from './numbers.ts'

export interface PageView {
  title: string
  takenAt: string
  verdict: VerdictView
  findings: FindingsView
  findingsCount: string
  /** Null: none was asked for. */
  plan: PlanView | null
  thresholds: ThresholdsView
  fleet: FleetView
  nodesCount: string
  waived: Rows<WaivedView>
  waivedRules: RuleView[]
  waivedCount: string
  unknownsCount: string
  notAuditedCount: string
  remainder: RemainderView
}

const shownWaived = 300

export function pageView(report: AuditReport): PageView {
  const { document, nodes } = report
  const verdict = verdictView(document)
  const waived = document.waived.toSorted(worstFirst)
  return {
    title: `${verdict.headline} in ${counted(document.clusters.length, 'cluster')} · highwater`,
    takenAt: formatUtc(document.run.takenAt),
    verdict,
    findings: findingsView(document.findings),
    findingsCount: formatCount(document.findings.length),
    plan: planView(report.plan ?? null),
    thresholds: thresholdsView(nodes),
    fleet: fleetView(report),
    nodesCount: formatCount(nodes.length),
    waived: {
      rows: waived.slice(0, shownWaived).map(waivedView),
      leftOut: waived.length > shownWaived ? `${formatCount(waived.length - shownWaived)} more in findings.json.` : null,
    },
    waivedRules: rulesOf(waived.slice(0, shownWaived)),
    waivedCount: formatCount(waived.length),
    unknownsCount: formatCount(document.unknowns.length),
    notAuditedCount: formatCount(document.notAudited.length),
    remainder: remainderView(report),
  }
}

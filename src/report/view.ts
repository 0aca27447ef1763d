/** Everything that the page shows, computed: the templates only put it in its place. */
import type { Finding } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { anchorsOf } from '#report/views/anchors.ts'
import { type ClusterGcView, clusterGcView } from '#report/views/cluster-garbage.ts'
import {
  type FindingsView,
  findingsView,
  oneOfEachRule,
  type RuleView,
  ruleView,
  type WaivedView,
  waivedView,
  worstFirst,
} from '#report/views/findings.ts'
import { type FleetView, fleetView, groupNodes } from '#report/views/fleet.ts'
import { type Moment, momentOf } from '#report/views/moment.ts'
import { type NewsView, newsView } from '#report/views/news.ts'
import { type OpportunitiesView, opportunitiesView } from '#report/views/opportunities.ts'
import { type OutlookView, outlookView } from '#report/views/outlook.ts'
import { type OverviewView, overviewView } from '#report/views/overview.ts'
import { type PaperView, paperView } from '#report/views/paper.ts'
import { type PlanView, planView } from '#report/views/plan.ts'
import { type RemainderView, type Rows, remainderView } from '#report/views/remainder.ts'
import { type ThresholdsView, thresholdsView } from '#report/views/thresholds.ts'
import { type TrendsView, trendsView } from '#report/views/trends.ts'
import { type VerdictView, verdictView } from '#report/views/verdict.ts'
import { changesOf } from '#report/views/what-to-change.ts'
import { counted, formatCount } from './numbers.ts'
import { shownLine } from './text.ts'

export interface PageView {
  title: string
  takenAt: Moment
  /** Whose part of the fleet it is; null: all of it. */
  audience: string | null
  verdict: VerdictView
  news: NewsView
  outlook: OutlookView
  opportunities: OpportunitiesView
  findings: FindingsView
  /** Null: none was asked for. */
  plan: PlanView | null
  thresholds: ThresholdsView
  overview: OverviewView
  /** Null: no other day is remembered. */
  trends: TrendsView | null
  fleet: FleetView
  nodesCount: string
  clusterGc: ClusterGcView
  waived: Rows<WaivedView>
  waivedCount: string
  /** Every rule that found something, waived or not. */
  rules: RuleView[]
  unknownsCount: string
  notAuditedCount: string
  remainder: RemainderView
  paper: PaperView
}

const shownWaived = 300

export function pageView(report: AuditReport): PageView {
  const { document, nodes } = report
  const verdict = verdictView(document)
  const sorted = document.findings.toSorted(worstFirst)
  const isGarbage = ({ family }: Finding) => family === 'cluster-gc'
  const ofNodes = sorted.filter(finding => !isGarbage(finding))
  const garbage = sorted.filter(isGarbage)
  const waived = document.waived.toSorted(worstFirst)
  const told = oneOfEachRule([...waived, ...sorted])
  const page = anchorsOf([ofNodes, garbage], told)
  const groups = groupNodes(report)
  const view = {
    title: `${verdict.headline} in ${counted(document.clusters.length, 'cluster')} · highwater`,
    takenAt: momentOf(document.run.takenAt),
    audience:
      report.owner === undefined
        ? null
        : `For ${shownLine(report.owner, 80)}: only what is theirs. Coverage, outcomes and grades are of their part of each cluster.`,
    verdict,
    news: newsView(report, page.ofFinding),
    outlook: outlookView(
      report,
      changesOf(report, ({ id }) => page.ofFinding(id)),
    ),
    opportunities: opportunitiesView(report, ({ id }) => page.ofFinding(id)),
    findings: findingsView(ofNodes, page),
    plan: planView(report.plan ?? null),
    thresholds: thresholdsView(nodes),
    overview: overviewView(groups),
    trends: trendsView(report),
    fleet: fleetView(groups),
    nodesCount: formatCount(nodes.length),
    clusterGc: clusterGcView(report, garbage, page),
    waived: {
      rows: waived.slice(0, shownWaived).map(waivedView),
      leftOut: waived.length > shownWaived ? `${formatCount(waived.length - shownWaived)} more in findings.json.` : null,
    },
    waivedCount: formatCount(waived.length),
    rules: told.map(finding => ruleView(finding, page)),
    unknownsCount: formatCount(document.unknowns.length),
    notAuditedCount: formatCount(document.notAudited.length),
    remainder: remainderView(report),
  }
  return { ...view, paper: paperView(report, view) }
}

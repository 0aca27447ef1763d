/** Everything that the page shows, computed: the templates only put it in its place. */
import type { Finding } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { anchorsOf } from '#report/views/anchors.ts'
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
import { type PlanView, planView } from '#report/views/plan.ts'
import { type RemainderView, type Rows, remainderView } from '#report/views/remainder.ts'
import { type ThresholdsView, thresholdsView } from '#report/views/thresholds.ts'
import { type VerdictView, verdictView } from '#report/views/verdict.ts'
import { counted, formatCount } from './numbers.ts'

export interface PageView {
  title: string
  takenAt: Moment
  verdict: VerdictView
  news: NewsView
  outlook: OutlookView
  opportunities: OpportunitiesView
  findings: FindingsView
  /** Null: none was asked for. */
  plan: PlanView | null
  thresholds: ThresholdsView
  overview: OverviewView
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
}

/** What the control plane's collectors have left. */
interface ClusterGcView {
  findings: FindingsView
  /** Whether anybody looked, and how far. */
  coverage: string
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
  return {
    title: `${verdict.headline} in ${counted(document.clusters.length, 'cluster')} · highwater`,
    takenAt: momentOf(document.run.takenAt),
    verdict,
    news: newsView(report, page.ofFinding),
    outlook: outlookView(report),
    opportunities: opportunitiesView(report, ({ id }) => page.ofFinding(id)),
    findings: findingsView(ofNodes, page),
    plan: planView(report.plan ?? null),
    thresholds: thresholdsView(nodes),
    overview: overviewView(groups),
    fleet: fleetView(groups),
    nodesCount: formatCount(nodes.length),
    clusterGc: { findings: findingsView(garbage, page), coverage: garbageCoverage(report) },
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
}

function garbageCoverage({ document: { clusters } }: AuditReport): string {
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

/** Computes everything that the page shows. Templates only place the values. */
import type { AuditReport } from '#model/report.ts'
import { type Language, sourceTag } from '#report/languages/language.ts'
import { anchorsOf, momentOf } from '#report/parts/anchors.ts'
import {
  causeLink,
  causeLinks,
  causeOnNode,
  causesAndOutlook,
  causesView,
  type FoundCause,
  firstCause,
  stepsAlone,
} from '#report/parts/causes.ts'
import { clustersView, isClusterRead } from '#report/parts/clusters.ts'
import {
  findingsView,
  oneOfEachRule,
  ruleView,
  waivedView,
  worstFirst,
} from '#report/parts/findings.ts'
import { fleetView, groupNodes } from '#report/parts/fleet.ts'
import { ledgersView } from '#report/parts/ledger.ts'
import { noticesView, policyNotices } from '#report/parts/notices.ts'
import type { OutlookView } from '#report/parts/outlook.ts'
import { planView } from '#report/parts/plan.ts'
import { titlesOf } from '#report/parts/rule-words.ts'
import { segmentKinds } from '#report/parts/segment-kind.ts'
import { kindLegend } from '#report/parts/segments.ts'
import { stepsText } from '#report/parts/steps.ts'
import { trendsView } from '#report/parts/trends.ts'
import { verdictView } from '#report/parts/verdict.ts'
import { changesView } from './changes.ts'
import { clusterGcView } from './cluster-garbage.ts'
import { fleetStrip } from './fleet-strip.ts'
import { pictureView, smallBar } from './picture.ts'
import { remainderView } from './remainder.ts'
import { thresholdsView } from './thresholds.ts'
import { upgradesView } from './upgrades.ts'

const shownWaived = 300
const shownPolicyNotices = 20
const shownLedgers = 60

export type PageView = ReturnType<typeof pageView>

/** @param listedBytes limit in bytes for the rows of nodes; further nodes are only counted */
export function pageView(report: AuditReport, language: Language, listedBytes?: number) {
  const { words, count } = language
  const { document, nodes } = report
  const titleOf = titlesOf(report, language)
  const sorted = document.findings.toSorted(worstFirst)
  const waived = document.waived.toSorted(worstFirst)
  const explained = oneOfEachRule([...waived, ...sorted])
  const page = anchorsOf(sorted, explained)
  const on = { page, titleOf, language, takenAt: document.run.takenAt }
  const groups = groupNodes(report, language)
  const { causes: found, outlook } = causesAndOutlook(report, language)
  const causes = causesView(found, on, page.ofFinding, document.clusters.some(isClusterRead))
  const ledgers = ledgersView(report, shownLedgers, language)
  const drawnDisks = new Set(ledgers?.nodes.map(({ node }) => node))
  const fleet = fleetView(groups, report, drawnDisks, language, listedBytes)
  const rows = withSteps(outlook, found, language).map(row => {
    return { ...row, anchor: fleet.anchorOf(row.node), bar: smallBar(row.node, report, language) }
  })
  const ofNode = (one: NonNullable<typeof ledgers>['nodes'][number]) => {
    const nodeAnchor = fleet.anchorOf(one.node)
    const anchor = nodeAnchor?.replace(/^node-/, 'disk-') ?? null
    return { ...one, anchor, nodeAnchor, bar: smallBar(one.node, report, language) }
  }
  const gauged = groups.flatMap(({ members }) => members)
  const picture = pictureView(rows[0], found, report, language)
  const verdict = verdictView(report, { outlook, causeCount: found.length, language })
  return {
    tag: language.tag,
    sourceTag: sourceTag(language),
    words,
    scriptWords: scriptWords(words),
    title: words.page.title(verdict.headline, words.clusterCount(document.clusters.length)),
    takenAt: momentOf(document.run.takenAt, language),
    audience:
      report.owner === undefined ? null : words.page.audience(language.line(report.owner, 80)),
    verdict: { ...verdict, first: firstCause(found, outlook.rows, on) },
    picture,
    strip: fleetStrip(gauged, fleet.anchorOf, language),
    causes,
    outlook: { ...outlook, rows, kinds: kindLegend(kindsBeside(picture, rows), language) },
    kinds: kindLegend(segmentKinds, language),
    changes: changesView(report, on),
    clusters: clustersView(report, groups, language),
    ledgers: ledgers === null ? null : { ...ledgers, nodes: ledgers.nodes.map(ofNode) },
    findings: findingsView(sorted, { ...on, causeOf: causeLinks(found, language) }),
    plan: planView(report.plan ?? null, language),
    notices: noticesView(report.notices, language),
    thresholds: thresholdsView(nodes, language),
    upgrades: upgradesView(report, language),
    trends: trendsView(report, language),
    fleet,
    nodesCount: count(nodes.length),
    clusterGc: clusterGcView(report, on),
    waived: {
      rows: waived.slice(0, shownWaived).map(finding => waivedView(finding, on)),
      leftOut:
        waived.length > shownWaived ? words.waived.leftOut(waived.length - shownWaived) : null,
    },
    policyNotices: policyNotices(report, language).slice(0, shownPolicyNotices),
    waivedCount: count(waived.length),
    rules: explained.map(finding => ruleView(finding, on)),
    unknownsCount: count(document.unknowns.length),
    notAuditedCount: count(document.notAudited.length),
    remainder: remainderView(report, language),
  }
}

/** Adds to each node the step that ends its cause, and since when the cause is open. */
const withSteps = ({ rows }: OutlookView, causes: FoundCause[], language: Language) =>
  rows.map(row => {
    const cause = causes[row.cause ?? -1]
    const link = cause && causeLink(row.cause!, language)
    const text = cause
      ? stepsAlone(causeOnNode(cause, row), language)
      : stepsText(row.steps, null, null, language, 'without commands')
    return {
      ...row,
      since: cause?.since ?? null,
      step:
        text === ''
          ? null
          : { anchor: link?.anchor ?? null, number: link ? `${link.text}:` : null, text },
    }
  })

/** Kinds in the bars of the rows that the legend of the picture lacks. */
function kindsBeside(
  picture: ReturnType<typeof pictureView>,
  rows: readonly { bar: ReturnType<typeof smallBar> }[],
) {
  const drawn = new Set(rows.flatMap(({ bar }) => bar?.segments.map(({ kind }) => kind) ?? []))
  for (const { kind } of picture?.legend ?? []) drawn.delete(kind)
  return segmentKinds.filter(kind => drawn.has(kind))
}

/** Texts that the page's script shows, and texts that it recognises in cells when it sorts them. */
const scriptWords = ({ script, severityNames, numbers, next, none, unknown }: Language['words']) =>
  JSON.stringify({
    ...script,
    severities: severityNames,
    durations: numbers.durations,
    least: [next.now, none],
    notKnown: [unknown],
  })

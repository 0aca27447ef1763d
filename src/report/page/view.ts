/** Computes everything that the page shows. Templates only place the values. */

import { by } from '#base/text.ts'
import type { ClusterResult, UnknownOutcome } from '#model/finding.ts'
import { plainClusterName, type ReadMode, readModes, type Subject } from '#model/input/record.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import { englishTag, type Language } from '#report/languages/language.ts'
import { changeRows, mailChanges } from '#report/mail/changes.ts'
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
import {
  findingsView,
  noticesView,
  oneOfEachRule,
  planView,
  policyNotices,
  ruleView,
  type Shown,
  shownTitle,
  subjectText,
  waivedView,
  worstFirst,
} from '#report/parts/findings.ts'
import { clustersView, fleetView, groupNodes } from '#report/parts/fleet.ts'
import { segmentKinds } from '#report/parts/gauge.ts'
import { ledgersView } from '#report/parts/ledger.ts'
import { kindLegend, modeRights, nameLimit, regionOf } from '#report/parts/node.ts'
import type { OutlookView } from '#report/parts/outlook.ts'
import { titlesOf } from '#report/parts/rule-words.ts'
import { stepsText, withoutPrices } from '#report/parts/steps.ts'
import { trendsView } from '#report/parts/trends.ts'
import { hasNodes, verdictView } from '#report/parts/verdict.ts'
import { insightText, nodeUpgradeText } from '#report/terminal/upgrade-text.ts'
import { clusterGcView } from './cluster-garbage.ts'
import { fleetStrip } from './fleet-strip.ts'
import { pictureView, smallBar } from './picture.ts'
import { thresholdsView } from './thresholds.ts'

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
  const causes = causesView(found, on, page.ofFinding, report)
  const ledgers = ledgersView(report, shownLedgers, language)
  const drawnDisks = new Set(ledgers?.nodes.map(({ node }) => node))
  const fleet = fleetView(groups, report, drawnDisks, language, listedBytes)
  const rows = withSteps(outlook, found, language).map(row => {
    return { ...row, anchor: fleet.anchorOf(row.node), bar: smallBar(row.node, report, language) }
  })
  const nodeView = (one: NonNullable<typeof ledgers>['nodes'][number]) => {
    const nodeAnchor = fleet.anchorOf(one.node)
    const anchor = nodeAnchor?.replace(/^node-/, 'disk-') ?? null
    return { ...one, anchor, nodeAnchor, bar: smallBar(one.node, report, language) }
  }
  const gauged = groups.flatMap(({ members }) => members)
  const picture = pictureView(rows[0], found, report, language)
  const verdict = verdictView(report, { outlook, causeCount: found.length, language })
  return {
    tag: language.tag,
    sourceTag: englishTag(language),
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
    outlook: { ...outlook, rows, kinds: kindLegend(kindsNotInPicture(picture, rows), language) },
    kinds: kindLegend(segmentKinds, language),
    changes: changesView(report, on),
    clusters: clustersView(report, groups, language),
    ledgers: ledgers ? { ...ledgers, nodes: ledgers.nodes.map(nodeView) } : null,
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

/** Adds to each node the step that ends its cause. */
const withSteps = ({ rows }: OutlookView, causes: FoundCause[], language: Language) =>
  rows.map(row => {
    const cause = causes[row.cause ?? -1]
    const link = cause && causeLink(row.cause!, language)
    const text = cause
      ? stepsAlone(withoutPrices(causeOnNode(cause, row)), language)
      : stepsText(row.steps, null, null, language, 'without commands')
    return {
      ...row,
      step:
        text === ''
          ? null
          : { anchor: link?.anchor ?? null, number: link ? `${link.text}:` : null, text },
    }
  })

/** A part of a bar: what is smaller needs no colour in the legend. */
const leastSeenPercent = 1

/** Kinds in the bars of the rows that the legend of the picture lacks. */
function kindsNotInPicture(
  picture: ReturnType<typeof pictureView>,
  rows: readonly { bar: ReturnType<typeof smallBar> }[],
) {
  const segments = rows.flatMap(({ bar }) => bar?.segments ?? [])
  const isSeen = ({ width }: { width: string }) => Number.parseFloat(width) >= leastSeenPercent
  const drawn = new Set(segments.filter(isSeen).map(({ kind }) => kind))
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

/* What changed since the last run: new or worse, unclear, ended. */

const shown = { rows: 60, reasons: 4, notes: 10 }

/** Null: no earlier run is known. */
function changesView(report: AuditReport, { page, titleOf, language }: Shown) {
  const { before } = report
  if (!before) return null
  const { words, line } = language
  const changes = mailChanges(report, language)
  const rows = changeRows(changes, language).map(({ finding, label, why, id }) => ({
    label,
    severity: finding.severity,
    severityWord: words.severities[finding.severity],
    ...shownTitle(titleOf(finding), language),
    where: words.of(subjectText(finding.subject, language), line(finding.cluster, nameLimit)),
    why: words.clauses(why.slice(0, shown.reasons).map(reason => line(reason, 240))),
    anchor: id && page.ofFinding(id),
  }))
  const left = rows.length - shown.rows
  return {
    since: momentOf(before.takenAt, language),
    counts: words.list(changes.counts) || words.changes.none,
    absent: changes.absent,
    rows: rows.slice(0, shown.rows),
    leftOut: left > 0 ? words.changes.moreInDiff(left) : null,
    notes: before.delta.notes.slice(0, shown.notes).map(({ text }) => line(text, 300)),
  }
}

/* The end of the page: undecided checks, what was not audited, and how everything was read. */

const remainderLimits = { unknowns: 100, notAudited: 500, inputErrors: 50 }

function remainderView({ document, nodes }: AuditReport, language: Language) {
  const { words: all, line } = language
  const words = all.remainder
  const { run, clusters, unknowns, notAudited } = document
  const byModeBoth = unknowns.filter(({ endedBy }) => endedBy === 'mode-both').length
  return {
    unknowns: {
      lead: byModeBoth === 0 ? null : words.modeBothFirst(byModeBoth, unknowns.length),
      ...rowsOf(
        unknownGroups(unknowns),
        remainderLimits.unknowns,
        group => unknownGroup(group, language),
        language,
      ),
    },
    notAudited: rowsOf(
      notAudited,
      remainderLimits.notAudited,
      ({ cluster, node, reason }) => ({
        cluster: line(cluster, nameLimit),
        node:
          node === null
            ? words[hasNodes(clusters, cluster) ? 'clusterItself' : 'wholeCluster']
            : line(node, nameLimit),
        reason: line(reason, 600),
      }),
      language,
    ),
    run: [
      { what: words.snapshotTaken, value: language.utc(run.takenAt) },
      { what: words.source, value: run.source === 'live' ? words.live : words.saved },
      ...(nodes.length === 0
        ? []
        : [{ what: words.nodes, value: readText(nodes, clusters, language) }]),
      { what: words.account, value: line(run.account ?? all.unknown, 60) },
      { what: words.region, value: line(run.region ?? all.unknown, 60) },
      { what: 'highwater', value: line(run.version, 60) },
      { what: words.rules, value: language.count(run.rules.length) },
    ],
    inputErrors: rowsOf(
      run.inputErrors,
      remainderLimits.inputErrors,
      error => line(error, 400),
      language,
    ),
  }
}

/** Undecided checks by reason; the reason of most checks comes first. */
const unknownGroups = (unknowns: UnknownOutcome[]) =>
  [...Map.groupBy(unknowns, ({ reason }) => reason).values()].toSorted(
    by(
      ({ length }) => -length,
      ([first]) => first!.reason,
    ),
  )

function unknownGroup(group: UnknownOutcome[], language: Language) {
  const { words, line, count } = language
  const clusters = new Set(group.map(({ cluster }) => cluster))
  const rules = new Set(group.map(({ rule }) => rule))
  const ended = group.filter(({ endedBy }) => endedBy === 'mode-both').length
  return {
    checks: count(group.length),
    reason: line(group[0]!.reason, 400),
    where: words.remainder.checksOf(rules.size, clusters.size),
    ends:
      ended === 0
        ? ''
        : words.remainder.modeBoth(ended, ended === group.length ? null : group.length),
  }
}

/**
 * `12 nodes requested through the API server (mode proxy, which needs list nodes, list pods, get
 * nodes/proxy): 10 read, 2 partly read`. Then the nodes with an incomplete list of images.
 */
function readText(
  nodes: AuditReport['nodes'],
  clusters: AuditReport['document']['clusters'],
  { words: all, line }: Language,
) {
  const readings = clusters.flatMap(({ readings = [] }) => readings)
  const rightsOf = (mode: ReadMode) =>
    readings.find(reading => reading.mode === mode)?.rights.join(', ') ?? all.all(modeRights[mode])
  const withoutInsights = clusters.flatMap(({ coverage }) => coverage.insightsUnread ?? [])
  const [unread] = withoutInsights
  const cut = clusters.reduce((sum, { coverage }) => sum + (coverage.cutImageLists ?? 0), 0)
  return all.clauses([
    ...readModes
      .map(mode => ({ mode, asked: nodes.filter(node => node.mode === mode) }))
      .filter(({ asked }) => asked.length > 0)
      .map(({ mode, asked }) =>
        all.remainder.asked(
          asked.length,
          all.ways[mode],
          mode,
          rightsOf(mode),
          answeredTexts(asked, all),
        ),
      ),
    ...(cut > 0 ? [all.remainder.cutImageLists(cut)] : []),
    ...(unread === undefined
      ? []
      : [all.remainder.insightsUnread(withoutInsights.length, line(unread, 400))]),
  ])
}

function answeredTexts(asked: AuditReport['nodes'], words: Language['words']) {
  const states = ['read', 'partlyRead', 'notRead'] as const
  return states
    .map(state => ({ state, count: asked.filter(({ coverage }) => coverage === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => words.remainder.answered(count, words.coverage[state]))
}

const rowsOf = <Item, Row>(
  items: Item[],
  limit: number,
  row: (item: Item) => Row,
  { words }: Language,
) => ({
  rows: items.slice(0, limit).map(row),
  leftOut: items.length > limit ? words.remainder.leftOut(items.length - limit) : null,
})

/* What the upgrade to the minor of their control plane changes on nodes that are behind, and nodegroups whose AMI release is behind. */

const shownGroups = 20
const shownLines = 8

/**
 * Nodes of one group with the same changes are one row; those that would not start come first, releases last. Below are the upgrade
 * insights of EKS that do not pass. Null: no node is behind, and no insight is known.
 */
export function upgradesView(
  { document: { run, clusters }, nodes }: AuditReport,
  language: Language,
) {
  const { words } = language
  const rows = [...kubeletRows(nodes, language), ...releaseRows(nodes, run.region, language)]
  const insights = clusters.flatMap(cluster => insightRows(cluster, language))
  if (rows.length + insights.length === 0) return null
  return {
    count: language.count(rows.length + insights.length),
    insights: insights.slice(0, shownGroups),
    moreInsights:
      insights.length > shownGroups
        ? words.upgrades.moreInsights(insights.length - shownGroups)
        : null,
    commands: [...new Set(rows.flatMap(({ command }) => command ?? []))].slice(0, shownGroups),
    rows: rows.slice(0, shownGroups),
    leftOut: rows.length > shownGroups ? words.upgrades.leftOut(rows.length - shownGroups) : null,
  }
}

const insightRows = ({ name, insights = [] }: ClusterResult, { line }: Language) =>
  insights.map(insight => {
    const [what, ...lines] = insightText(insight)
    return {
      where: line(name, nameLimit),
      isError: insight.insightStatus?.status === 'ERROR',
      what,
      lines,
    }
  })

const placeOf = (cluster: string, group: Subject, language: Language) =>
  language.words.list([language.line(cluster, nameLimit), subjectText(group, language)])

function kubeletRows(nodes: readonly AuditedNode[], language: Language) {
  const { words, line } = language
  const behind = nodes.flatMap(node => (node.upgrade ? [node] : []))
  const alike = Map.groupBy(behind, ({ cluster, identity: { group }, upgrade }) =>
    JSON.stringify([cluster, group, upgrade]),
  )
  return [...alike]
    .toSorted(
      by(
        ([, [first]]) => first!.upgrade!.errors.length === 0,
        ([key]) => key,
      ),
    )
    .map(([, members]) => {
      const [node] = members
      const { cluster, identity, upgrade } = node!
      const { from, to, errors } = upgrade!
      return {
        where: placeOf(cluster, identity.group, language),
        nodes: words.nodeCount(members.length),
        versions: `${line(from ?? words.unknown, nameLimit)} → ${to}`,
        isRefused: errors.length > 0,
        lines: nodeUpgradeText(upgrade!)
          .slice(0, shownLines)
          .map(text => line(text, 1_000)),
        note: null,
        command: `highwater upgrade --to ${to.slice(1, -2)} --cluster ${line(plainClusterName(cluster), nameLimit)}`,
      }
    })
}

/** Nodegroups with an older release than another one of their image and minor. */
function releaseRows(nodes: readonly AuditedNode[], region: string | null, language: Language) {
  const { words, line } = language
  const behind = nodes.filter(({ newerRelease }) => newerRelease !== undefined)
  const groups = Map.groupBy(behind, ({ cluster, identity: { group } }) =>
    placeOf(cluster, group, language),
  )
  return [...groups].map(([where, members]) => {
    const { cluster, identity, release, newerRelease } = members[0]!
    const newer = newerRelease!
    const options = [
      ['region', regionOf(cluster, region)],
      ['cluster-name', plainClusterName(cluster)],
      ['nodegroup-name', identity.group.name],
      ['release-version', newer.release],
    ] as const
    return {
      where,
      nodes: words.nodeCount(members.length),
      versions: words.steps.labelled(
        `${line(release!, nameLimit)} → ${line(newer.release, nameLimit)}`,
        words.steps.effect('replaces', members.length, 0),
      ),
      isRefused: false,
      lines: [],
      note: words.upgrades.newer(placeOf(newer.cluster, newer.group, language)),
      // A shell reads any other character.
      command: options.every(([, value]) => /^[\w.-]{1,255}$/.test(value ?? ''))
        ? `aws eks update-nodegroup-version ${options.map(([name, value]) => `--${name} ${value}`).join(' ')}`
        : null,
    }
  })
}

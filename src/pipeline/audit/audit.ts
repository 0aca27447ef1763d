/** The use case of an audit. A live fleet and a saved snapshot differ only in their source. */

import { documentLimits as limits } from '#base/limits.ts'
import { byText } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { listNodesPermission } from '#collect/collect.ts'
import { collectorsOf } from '#collect/modes.ts'
import { monthlyUsd } from '#facts/aws/ebs-prices.ts'
import { holders } from '#facts/holders.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { mostUnpacking } from '#facts/kubelet/unpacking.ts'
import { causesOf } from '#judge/causes.ts'
import { mergedGrowth } from '#judge/compare/history/fill.ts'
import type { Rule } from '#judge/rule.ts'
import type { JudgementOptions } from '#judge/run/judge.ts'
import { type RuleError, withShownNames } from '#judge/run/result.ts'
import { utcDay, waiverNotices } from '#judge/run/waivers.ts'
import { plural, shorten } from '#judge/text.ts'
import {
  type ClusterResult,
  type Finding,
  type FindingsDocument,
  type NodeReading,
  type NotAudited,
  type RunInfo,
  type Severity,
  severities,
} from '#model/finding.ts'
import {
  type MalformedLine,
  promisedSources,
  type ReadMode,
  readModes,
  type SnapshotRecord,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type {
  Assumptions,
  AuditedNode,
  AuditReport,
  Delivery,
  PlanBeside,
  RemediationNotices,
  RenderedFile,
} from '#model/report.ts'
import { type KeptRecords, keepRecords } from '#pipeline/audit/saved/kept-records.ts'
import type { Compared, History } from '#pipeline/history/history.ts'
import type { Channel } from '#publish/publish.ts'
import { type Format, renderReport } from '#report/format.ts'
import { ownerlessFindings } from '#report/share.ts'
import type { SnapshotWriter } from '#snapshot/write.ts'
import type { SecondReading } from './fleet.ts'
import { type Judged, type JudgingContext, judgeRecords, unknownTime } from './judge-records.ts'
import { withNewerReleases } from './newer-releases.ts'
import { type Audience, publishReport, unsubscribeAddresses } from './publication.ts'

/** The parts of an audit, in their order. */
export type AuditStage = 'read' | 'judge' | 'compare' | 'plan' | 'render' | 'publish'

/** Everything that a report needs after judging. */
export interface ConclusionContext {
  source: RunInfo['source']
  version: string
  policy: Policy
  rules: readonly Rule[]
  formats: Format[]
  channels: Channel[]
  /** The audiences of the report and their channels. The mail of an audience without a channel is kept as a file. */
  audiences: Audience[]
  /** Compares with earlier runs and records this one; null: neither. */
  history: History | null
  options?: JudgementOptions
  /** Findings that are less severe are left out. */
  leastSeverity?: Severity
  /** Only some clusters, groups or nodes were chosen. */
  isPart?: boolean
  /** Plans fixes for the findings, from the written snapshot (null: none); never throws. Absent: no plan. */
  plan?: (snapshot: string | null) => Promise<PlanBeside>
  /** Runs and refusals of remediation; absent: remediation is off. */
  notices?: RemediationNotices
  /** Called when a stage begins. */
  onStage?: (stage: AuditStage) => void
}

export interface AuditContext extends ConclusionContext, Pick<JudgingContext, 'verify' | 'onNode'> {
  /** Errors of the input before its first record; part of the report. */
  inputErrors?: string[]
  /** Writes the records; null: they are not written. */
  snapshot: SnapshotWriter | null
  /** For a live fleet; absent: growth is known from earlier runs only. */
  secondReading?: SecondReading
}

export interface AuditResult {
  document: FindingsDocument
  nodes: AuditedNode[]
  files: RenderedFile[]
  deliveries: Delivery[]
  /** Rules that threw: bugs of highwater. */
  ruleErrors: RuleError[]
  /** The source of page and mails. */
  report: AuditReport
}

/** @throws the source's error if it has nothing to read, and the errors of `verify` */
export async function audit(
  source: AsyncIterable<SnapshotRecord | MalformedLine>,
  context: AuditContext,
): Promise<AuditResult> {
  const { policy, rules, inputErrors, verify, onNode, onStage, secondReading, history } = context
  const snapshot = keepRecords(context.snapshot)
  // A finding can be compared with the finding of another day only if it names every node.
  const isEveryNodeNamed = history !== null || context.options?.allNodes === true
  let judged: Judged
  try {
    judged = await judgeRecords(source, {
      policy,
      rules,
      snapshot,
      isEveryNodeNamed,
      refusalsOf: context.options?.refusalsOf,
      keep: context.options?.keep,
      inputErrors,
      verify,
      onNode,
      onStage,
      secondReading,
      earlier: history?.earlier,
    })
  } catch (error) {
    await snapshot.discard()
    throw error
  }
  await snapshot.close()
  return conclude(judged, snapshot, context)
}

function filterSeverity(least: Severity | undefined, result: Judged['result']) {
  if (least === undefined) return result
  const isSevere = ({ severity }: Finding) =>
    severities.indexOf(severity) <= severities.indexOf(least)
  return {
    ...result,
    findings: result.findings.filter(isSevere),
    waived: result.waived.filter(isSevere),
  }
}

/** The second half of an audit: compares, renders, publishes and records. @param judged names every node, unless `history` is null */
export async function conclude(
  judged: Judged,
  snapshot: Pick<KeptRecords, 'keptAt' | 'failure'>,
  context: ConclusionContext,
): Promise<AuditResult> {
  const { policy, rules, formats, history } = context
  const enters = context.onStage ?? (() => undefined)
  const { nodes, tags } = judged
  const { ruleErrors, garbage, ...result } = filterSeverity(context.leastSeverity, judged.result)
  const whole = documentOf({ ...judged, result }, context)
  if (history) enters('compare')
  const before = history && (await history.compare({ document: whole, nodes, ruleErrors }))
  const grown = before
    ? nodes.map((node, index) => ({
        ...node,
        ...before.disks[index],
        growth: mergedGrowth(before.disks[index]?.growth, node.growth),
      }))
    : nodes
  const named = context.options?.allNodes === true ? whole : { ...whole, ...withShownNames(whole) }
  const bounded = { ...named, ...boundedLists(named) }
  const settled = before ? withHistory(bounded, before) : bounded
  const document = { ...settled, causes: causesOf({ document: settled, nodes: grown }) }
  if (context.plan) enters('plan')
  const planned = await context.plan?.(snapshot.keptAt())
  const report: AuditReport = {
    document,
    nodes: withNewerReleases(grown),
    alertPercent: policy.alertPercent,
    criticalAlertPercent: policy.criticalAlertPercent,
    isAlertAssumed: policy.isAlertAssumed,
    assumptions: assumptionsOf(policy),
    before: before?.before ?? null,
    trends: before?.trends ?? [],
    ruleTitles: Object.fromEntries(
      rules.map(({ id, docs, titles }) => [id, { usual: docs.title, ...titles }]),
    ),
    tags,
    garbage,
    plan: planned?.reported,
    notices: context.notices,
  }
  report.ownerless = ownerlessFindings(report, policy.report.owners)
  enters('render')
  const rendered = renderReport(report, formats)
  const files = [...rendered, ...(planned?.file ? [planned.file] : [])]
  enters('publish')
  const { channels, audiences } = context
  const isPublished = channels.length > 0 || audiences.some(({ channels: ways }) => ways.length > 0)
  const publication = {
    channels,
    audiences,
    hasPage: formats.some(({ id }) => id === 'html'),
    unsubscribe: unsubscribeAddresses(policy.report),
    attach: policy.report.attach,
    isPart: context.isPart === true,
    snapshotPath: snapshot.keptAt(),
  }
  const deliveries = isPublished ? await publishReport(report, files, publication) : []
  const remembered = history ? await history.record() : []
  return {
    document,
    nodes: grown,
    files,
    deliveries: [...deliveries, ...snapshot.failure(), ...remembered],
    ruleErrors,
    report,
  }
}

/** All that was judged, before it is compared and cut. */
export function documentOf(
  {
    header,
    nodes,
    inputErrors,
    lostLines,
    result,
  }: Omit<Judged, 'result'> & { result: Omit<Judged['result'], 'ruleErrors' | 'garbage'> },
  context: DocumentContext,
): FindingsDocument {
  return {
    schema: 'highwater.findings/1',
    run: {
      version: context.version,
      source: context.source,
      takenAt: header?.takenAt ?? unknownTime,
      account: header?.account ?? null,
      region: header?.region ?? null,
      rules: context.rules.map(({ id }) => id),
      inputErrors,
      ...(lostLines > 0 && { lostLines }),
    },
    ...result,
    clusters: withReadings(result.clusters, nodes),
    ...noticesOf(context, result, header?.takenAt ?? unknownTime),
  }
}

type DocumentContext = Pick<ConclusionContext, 'source' | 'version' | 'policy' | 'rules' | 'isPart'>

function noticesOf(
  { isPart, policy }: DocumentContext,
  result: Parameters<typeof waiverNotices>[1],
  takenAt: string,
): Pick<FindingsDocument, 'waiverNotices'> {
  const notices = isPart ? [] : waiverNotices(policy.waivers, result, utcDay(takenAt))
  return notices.length === 0 ? {} : { waiverNotices: notices }
}

function withHistory(
  document: FindingsDocument,
  { since, delta, unread }: Compared,
): FindingsDocument {
  const dateFinding = (finding: Finding): Finding => ({
    ...finding,
    since: since.get(finding.id) ?? finding.since,
  })
  return {
    ...document,
    run: { ...document.run, inputErrors: [...document.run.inputErrors, ...unread] },
    findings: document.findings.map(dateFinding),
    waived: document.waived.map(dateFinding),
    delta,
  }
}

const assumptionsOf = ({
  assumedGrowthPercent,
  volumeUsdPerGiBMonth,
  idleImageDays,
}: Policy): Assumptions => ({
  growthPercent: assumedGrowthPercent,
  imageGcPeriodMs,
  usdPerGiBMonth: volumeUsdPerGiBMonth ?? monthlyUsd(gibibyte, null) ?? 0,
  idleImageDays,
  mostUnpacking,
  holders,
})

/* Bounds the findings document of a fleet. Grades, outcomes and the comparison are of all findings: they are made before. */

type Lists = Pick<FindingsDocument, 'findings' | 'waived' | 'unknowns' | 'notAudited'>

/** The first entries of each list, and for each cluster the number of the others. The least severe findings are the last ones. */
export function boundedLists({ findings, waived, unknowns, notAudited }: Lists): Lists {
  const leftOut = new Map<string, string[]>()
  const cut = <Entry extends { cluster: string }>(
    entries: Entry[],
    maxBytes: number,
    noun: string,
  ) => {
    let bytes = 0
    const end = entries.findIndex(entry => {
      bytes += Buffer.byteLength(JSON.stringify(entry))
      return bytes > maxBytes
    })
    if (end === -1) return entries
    for (const [cluster, hidden] of Map.groupBy(entries.slice(end), entry => entry.cluster))
      leftOut.set(cluster, [...(leftOut.get(cluster) ?? []), plural(hidden.length, noun)])
    return entries.slice(0, end)
  }
  const kept = {
    findings: cut(findings, limits.findings, 'finding'),
    waived: cut(waived, limits.waived, 'waived finding'),
    unknowns: cut(unknowns, limits.unknowns, 'unknown outcome'),
    notAudited: cut(notAudited, limits.notAudited, 'unread part'),
  }
  const notes = [...leftOut].map(
    ([cluster, counts]): NotAudited => ({
      cluster,
      node: null,
      cause: 'length',
      reason: `left out, because the report would be too long: ${counts.join(', ')}`,
    }),
  )
  return {
    ...kept,
    notAudited: [...kept.notAudited, ...notes.toSorted((a, b) => byText(a.cluster, b.cluster))],
  }
}

/* The read modes of each cluster with their rights. Only nodes of less common modes are named. */

/** The rights to read nodes, without those for other objects of the cluster. */
export const nodeRights = (mode: ReadMode) => [
  ...new Set([
    listNodesPermission,
    ...collectorsOf[mode].flatMap(({ permissions }) => [
      ...permissions.kubernetes,
      ...(permissions.aws ?? []),
    ]),
  ]),
]

/** The clusters with their readings; empty for clusters without nodes. */
export function withReadings(
  clusters: readonly ClusterResult[],
  nodes: readonly AuditedNode[],
): ClusterResult[] {
  const ofCluster = Map.groupBy(nodes, ({ cluster }) => shorten(cluster))
  return clusters.map(cluster => ({
    ...cluster,
    readings: readingsOf(ofCluster.get(cluster.name) ?? []),
  }))
}

function readingsOf(nodes: readonly AuditedNode[]): NodeReading[] {
  const byMode = Map.groupBy(nodes, ({ mode }) => mode)
  const most = Math.max(0, ...[...byMode.values()].map(({ length }) => length))
  const usual = readModes.find(mode => byMode.get(mode)?.length === most)
  return readModes.flatMap(mode => {
    const read = byMode.get(mode)
    if (!read) return []
    const names =
      mode === usual ? null : read.map(({ identity }) => shorten(identity.name)).toSorted(byText)
    return [
      {
        mode,
        sources: [...promisedSources[mode]],
        rights: nodeRights(mode),
        nodes: { count: read.length, names },
      },
    ]
  })
}

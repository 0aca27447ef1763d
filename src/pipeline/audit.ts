/** The story of an audit. A live fleet and a saved snapshot take the same way; only the source differs. */
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { garbageOverview } from '#judge/garbage-overview/overview.ts'
import type { Ledger } from '#judge/history/ledger.ts'
import { type JudgementOptions, openJudgement, type RuleError } from '#judge/judge.ts'
import type { Rule } from '#judge/rule.ts'
import { withShownNames } from '#judge/samples.ts'
import type { Finding, FindingsDocument, RunInfo } from '#model/finding.ts'
import type { Policy } from '#model/policy.ts'
import type { MalformedLine, SnapshotHeader, SnapshotRecord } from '#model/record.ts'
import type { Assumptions, AuditedNode, AuditReport, Delivery, RenderedFile, ResourceTags } from '#model/report.ts'
import type { Channel } from '#publish/channel.ts'
import { openClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { replay } from '#replay/replay.ts'
import type { Format } from '#report/format.ts'
import { renderReport } from '#report/report.ts'
import { prune } from '#snapshot/prune.ts'
import type { SnapshotWriter } from '#snapshot/write.ts'
import type { History } from './history/history.ts'
import type { PlanBeside } from './plan-beside.ts'
import { type Audience, publishReport, unsubscribeAddresses } from './publication.ts'
import { withReadings } from './readings.ts'
import type { AuditStage } from './run-watch.ts'
import { tagsOf } from './tags.ts'

export interface AuditContext {
  /** What was wrong with the input before the first record: it stands in the report. */
  inputErrors?: string[]
  source: RunInfo['source']
  version: string
  policy: Policy
  rules: readonly Rule[]
  formats: Format[]
  channels: Channel[]
  /** Who is told of it, and how; an audience without a way has its mail kept as a file. */
  audiences: Audience[]
  /** Where the records are kept; null: nowhere. */
  snapshot: SnapshotWriter | null
  /** What was before, and what the next run is to know; null: nothing is remembered. */
  history: History | null
  options?: JudgementOptions
  /** Makes a plan of what was found, from the snapshot that was kept (null: none was); never throws. Absent: none is asked for. */
  plan?: (snapshot: string | null) => Promise<PlanBeside>
  /** The last word before anything is written: what it throws stops the run. */
  verify?: (nodes: AuditedNode[]) => void
  onNode?: (node: AuditedNode) => void
  /** A part of the story begins. */
  onStage?: (stage: AuditStage) => void
}

export interface AuditResult {
  document: FindingsDocument
  nodes: AuditedNode[]
  files: RenderedFile[]
  deliveries: Delivery[]
  /** Rules that threw: our mistakes. */
  ruleErrors: RuleError[]
}

/** @throws whatever the source throws when it has nothing at all to read, and what `verify` throws */
export async function audit(source: AsyncIterable<SnapshotRecord | MalformedLine>, context: AuditContext): Promise<AuditResult> {
  const { policy, rules, formats, history } = context
  const isEveryNodeNamed = context.options?.allNodes === true
  // Only a finding that names every node can be told from that of another day.
  const judgement = openJudgement(rules, policy, history === null ? context.options : { ...context.options, allNodes: true })
  const clusters = openClusterReplay()
  const nodes: AuditedNode[] = []
  const tags: ResourceTags[] = []
  const seen = new Set<string>()
  const inputErrors = [...(context.inputErrors ?? [])]
  const snapshot = keepRecords(context.snapshot)
  let header: SnapshotHeader | null = null
  const enters = context.onStage ?? (() => undefined)
  enters('read')
  try {
    for await (const read of source) {
      if (read.kind === 'Malformed') {
        inputErrors.push(`line ${read.line}: ${read.message}`)
        continue
      }
      const record = prune(read)
      if (record.kind === 'Node' && seen.size === seen.add(`${record.cluster}/${record.node.metadata?.name}`).size) {
        inputErrors.push(
          `the node ${record.node.metadata?.name} of cluster ${record.cluster} comes a second time: only the first is audited`,
        )
        continue
      }
      await snapshot.write(record)
      if (record.kind === 'Snapshot') header = record
      if (record.kind === 'Cluster') {
        tags.push(...tagsOf(record))
        judgement.takeCluster(record)
        clusters.takeCluster(record)
      }
      if (record.kind === 'Objects') {
        judgement.takeObjects(record)
        clusters.takeObjects(record)
      }
      if (record.kind === 'Node') {
        clusters.takeNode(record)
        const node = judgement.take(record, replay(record, header?.takenAt ?? unknownTime))
        nodes.push(node)
        context.onNode?.(node)
      }
    }
    context.verify?.(nodes)
  } catch (error) {
    await snapshot.discard()
    throw error
  }
  await snapshot.close()

  enters('judge')
  const takenAt = header?.takenAt ?? unknownTime
  const predictions = clusters.close(takenAt)
  const { ruleErrors, ...judged } = judgement.close(takenAt, predictions)
  const whole: FindingsDocument = {
    schema: 'highwater.findings/1',
    run: {
      version: context.version,
      source: context.source,
      takenAt,
      account: header?.account ?? null,
      region: header?.region ?? null,
      rules: rules.map(({ id }) => id),
      inputErrors,
    },
    ...judged,
    clusters: withReadings(judged.clusters, nodes),
  }
  nodes.sort(byClusterAndName)
  if (history !== null) enters('compare')
  const before = history && (await history.compare({ document: whole, nodes, ruleErrors }))
  const grown = before ? nodes.map((node, index) => ({ ...node, growth: before.growth[index] })) : nodes
  const named = history === null || isEveryNodeNamed ? whole : { ...whole, ...withShownNames(whole) }
  const document = before ? withHistory(named, before) : named
  if (context.plan) enters('plan')
  const planned = await context.plan?.(snapshot.keptAt())
  const report: AuditReport = {
    document,
    nodes: grown,
    alertPercent: policy.alertPercent,
    assumptions: assumptionsOf(policy),
    before: before?.before ?? null,
    trends: before?.trends ?? [],
    tags,
    garbage: predictions.flatMap(prediction => garbageOverview(prediction, policy) ?? []),
    plan: planned?.reported,
  }
  enters('render')
  const rendered = renderReport(report, formats)
  const { unfit } = rendered
  const files = [...rendered.files, ...(planned?.file ? [planned.file] : [])]
  enters('publish')
  const { channels, audiences } = context
  const pageFormat = formats.find(({ id }) => id === 'html')
  const isPublished = channels.length > 0 || audiences.some(({ channels: ways }) => ways.length > 0)
  const publication = { channels, audiences, pageFormat, unsubscribe: unsubscribeAddresses(policy.report), snapshotPath: snapshot.keptAt() }
  const deliveries = isPublished ? await publishReport(report, files, publication) : []
  const remembered = history === null ? [] : await history.record()
  return { document, nodes: grown, files, deliveries: [...deliveries, ...unfit, ...snapshot.failure(), ...remembered], ruleErrors }
}

function withHistory(document: FindingsDocument, { since, delta }: Pick<Ledger, 'since' | 'delta'>): FindingsDocument {
  const dated = (finding: Finding): Finding => ({ ...finding, since: since.get(finding.id) ?? finding.since })
  return { ...document, findings: document.findings.map(dated), waived: document.waived.map(dated), delta }
}

const assumptionsOf = ({ assumedGrowthPercent, strandedPercent, strandedGiB }: Policy): Assumptions => ({
  growthPercent: assumedGrowthPercent,
  imageGcPeriodMs,
  strandedPercent,
  strandedBytes: strandedGiB * 2 ** 30,
})

/** A disk that takes no snapshot (full, gone) costs the snapshot, not the audit. */
function keepRecords(writer: SnapshotWriter | null) {
  let failed: string | null = null
  const attempt = async (step: (writer: SnapshotWriter) => Promise<void>) => {
    if (writer === null || failed !== null) return
    try {
      await step(writer)
    } catch (error) {
      failed = error instanceof Error ? error.message : String(error)
      await writer.discard().catch(() => undefined)
    }
  }
  return {
    write: (record: SnapshotRecord) => attempt(open => open.write(record)),
    close: () => attempt(open => open.close()),
    discard: () => attempt(open => open.discard()),
    keptAt: () => (writer === null || failed !== null ? null : writer.path),
    failure: (): Delivery[] =>
      writer === null || failed === null
        ? []
        : [
            {
              channel: 'snapshot',
              location: null,
              link: null,
              error: `${writer.path} could not be written (${failed}): free space there, or choose another place`,
            },
          ],
  }
}

/** Only a file without its first line has no time of its own; its nodes usually do. */
const unknownTime = '1970-01-01T00:00:00Z'

const byClusterAndName = (left: AuditedNode, right: AuditedNode) =>
  compare(left.cluster, right.cluster) || compare(left.identity.name, right.identity.name)
const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0)

/** The first half of an audit: writes and judges records as they arrive. The result is much smaller than the records. */

import { keepInMemory } from '#base/keep.ts'
import { byText } from '#base/text.ts'
import { growthOf, withReading } from '#judge/compare/history/fill.ts'
import type { Rule } from '#judge/rule.ts'
import { type Judgement, type JudgementOptions, openJudgement } from '#judge/run/judge.ts'
import { type JudgementResult, mergedJudgements } from '#judge/run/result.ts'
import type { EarlierNodes } from '#model/history.ts'
import {
  type ClusterInput,
  InputErrors,
  type MalformedLine,
  type NodeInput,
  type NodeRecord,
  type SnapshotHeader,
  type SnapshotRecord,
  type Subject,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { AuditedNode, ResourceTags, TakenNode } from '#model/report.ts'
import type { KeptRecords } from '#pipeline/audit/saved/kept-records.ts'
import { openClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { refusalsOf } from '#replay/configuration/configuration-change.ts'
import { replay } from '#replay/replay.ts'
import { clusterInput, nodeInput, objectsInput } from '#snapshot/input.ts'
import { isListWhole, type SecondReading } from './fleet.ts'
import { openNextUpgrades } from './fleet-upgrade.ts'
import { openLocalVolumes } from './local-volumes.ts'

export interface JudgingContext extends Pick<JudgementOptions, 'refusalsOf' | 'onFound' | 'keep'> {
  policy: Policy
  rules: readonly Rule[]
  /** Writes the records. */
  snapshot: Pick<KeptRecords, 'write'>
  /** True: findings name all of their nodes; false: the first ones. */
  isEveryNodeNamed: boolean
  /** Errors of the input before its first record. */
  inputErrors?: readonly string[]
  /** Called before the rules that need all records; its error stops the run. @param areListsWhole the nodes of all clusters were listed completely */
  verify?: (nodes: TakenNode[], areListsWhole: boolean) => void
  onNode?: (node: TakenNode) => void
  onStage?: (stage: 'read' | 'judge') => void
  /** Absent: no node is read a second time. */
  secondReading?: Pick<SecondReading, 'take' | 'read'>
  /** What earlier runs read. Absent: no history. */
  earlier?: (takenAt: string) => Promise<EarlierNodes>
}

/** The result of judging a fleet, or a part of it. */
export interface Judged {
  /** Null: the records have none. */
  header: SnapshotHeader | null
  result: JudgementResult
  /** By cluster and name. */
  nodes: AuditedNode[]
  tags: ResourceTags[]
  inputErrors: string[]
  /** Number of input lines that are not records. */
  lostLines: number
}

/** @throws the source's error if it has nothing to read, and the errors of `verify` */
export async function judgeRecords(
  source: AsyncIterable<SnapshotRecord | MalformedLine>,
  context: JudgingContext,
): Promise<Judged> {
  const judgement = openJudgement(context.rules, context.policy, judgementOptions(context))
  const clusters = openClusterReplay(context.keep ?? undefined)
  const tags: ResourceTags[] = []
  const upgrades = openNextUpgrades()
  const labels = openNodeLabels(context.policy)
  const { nodes, nextUpgrades, take } = openNodes(judgement, upgrades, labels, context)
  const seen = new Set<string>()
  const inputErrors = new InputErrors(context.inputErrors)
  let lostLines = 0
  let header: SnapshotHeader | null = null
  let takenAt = unknownTime
  let areListsWhole = true
  const localVolumes = openLocalVolumes(context.keep ?? keepInMemory)
  context.onStage?.('read')
  for await (const record of source) {
    if (record.kind === 'Malformed') {
      lostLines++
      inputErrors.add(`line ${record.line}: ${record.message}`)
      continue
    }
    if (record.kind === 'Node' && wasSeen(seen, record)) {
      inputErrors.add(
        `the node ${record.node.metadata?.name} of cluster ${record.cluster} comes a second time: only the first is audited`,
      )
      continue
    }
    await context.snapshot.write(record)
    if (record.kind === 'Snapshot') [header, takenAt] = [record, record.takenAt]
    if (record.kind === 'Cluster') {
      areListsWhole &&= isListWhole(record)
      const input = clusterInput(record)
      tags.push(...tagsOf(input))
      for (const each of [upgrades, judgement, clusters]) each.takeCluster(input)
    }
    if (record.kind === 'Objects') {
      const input = objectsInput(record)
      localVolumes.take(input)
      for (const each of [judgement, clusters]) each.takeObjects(input)
    }
    if (record.kind === 'Node') {
      const input = nodeInput(record)
      clusters.takeNode(input)
      if (!localVolumes.defer(record, input)) take(localVolumes.added(input), takenAt)
    }
  }
  for (const record of localVolumes.deferred())
    take(localVolumes.added(nodeInput(record())), takenAt)
  context.verify?.(nodes, areListsWhole)
  const before = (await context.earlier?.(takenAt)) ?? (() => null)
  const growth = await growthBySecondReading(before, context)
  const completeNode = (node: AuditedNode, index: number) => {
    return { ...node, ...nextUpgrades[index], ...growth.get(nodes[index]!) }
  }
  context.onStage?.('judge')
  const { nodes: judged, ...result } = judgement.close(takenAt, clusters.close(takenAt), before)
  return {
    header,
    result,
    nodes: judged.map(completeNode).toSorted(byClusterAndName),
    tags: [...tags, ...labels.list()],
    inputErrors: inputErrors.list(),
    lostLines,
  }
}

function openNodes(
  judgement: Judgement,
  upgrades: ReturnType<typeof openNextUpgrades>,
  labels: ReturnType<typeof openNodeLabels>,
  { secondReading, onNode }: JudgingContext,
) {
  const nodes: TakenNode[] = []
  const nextUpgrades: ReturnType<typeof upgrades.nextUpgrade>[] = []
  const take = (input: NodeInput, takenAt: string) => {
    const node = judgement.take(input, replay(input, takenAt))
    nodes.push(node)
    nextUpgrades.push(upgrades.nextUpgrade(input, node.identity, takenAt))
    labels.take(node.cluster, node.identity.group, input.node.metadata?.labels ?? {})
    secondReading?.take(node, input.node)
    onNode?.(node)
  }
  return { nodes, nextUpgrades, take }
}

const judgementOptions = ({
  isEveryNodeNamed: allNodes,
  refusalsOf: ownRefusals = refusalsOf,
  earlier,
  onFound,
  keep,
}: JudgingContext): JudgementOptions => ({
  allNodes,
  refusalsOf: ownRefusals,
  hasHistory: earlier !== undefined,
  onFound,
  keep,
})

/** Reads nodes near a threshold a second time if no earlier run measured their growth. */
async function growthBySecondReading(before: EarlierNodes, { secondReading }: JudgingContext) {
  if (!secondReading) return new Map<TakenNode, never>()
  const isGrowthKnown = (node: TakenNode) => {
    const series = withReading(before(node)?.fill ?? null, node)
    return Object.values(growthOf(series, node)).some(({ isSeen }) => isSeen)
  }
  return secondReading.read(isGrowthKnown)
}

/** Whether an earlier record had the same node; if not, the node is remembered. */
function wasSeen(seen: Set<string>, { cluster, node }: NodeRecord) {
  const key = `${cluster}/${node.metadata?.name}`
  if (seen.has(key)) return true
  seen.add(key)
  return false
}

/** Equal to judging the records of all parts at once. No two parts may have the same cluster; findings must name every node. */
export function mergedJudged(
  header: SnapshotHeader,
  parts: readonly Omit<Judged, 'header'>[],
): Judged {
  return {
    header,
    result: mergedJudgements(parts.map(({ result }) => result)),
    nodes: parts.flatMap(({ nodes }) => nodes).toSorted(byClusterAndName),
    tags: parts.flatMap(({ tags }) => tags),
    inputErrors: parts.flatMap(({ inputErrors }) => inputErrors),
    lostLines: parts.reduce((sum, part) => sum + part.lostLines, 0),
  }
}

/** For files without a header line. Their nodes usually have times. */
export const unknownTime = '1970-01-01T00:00:00Z'

const byClusterAndName = (left: AuditedNode, right: AuditedNode) =>
  byText(left.cluster, right.cluster) || byText(left.identity.name, right.identity.name)

/** Unread clusters and nodegroups have no entry. */
function tagsOf({ cluster, eks, nodegroups }: ClusterInput): ResourceTags[] {
  const ofGroups = (nodegroups ?? []).flatMap(({ nodegroupName: nodegroup, tags = {}, labels }) =>
    nodegroup === undefined ? [] : [{ cluster, nodegroup, tags, ...(labels && { labels }) }],
  )
  return eks ? [{ cluster, nodegroup: null, tags: eks.tags ?? {} }, ...ofGroups] : ofGroups
}

/** Labels that the policy's owners name. A nodepool has the labels that all its nodes have; a node without a group has its own. */
export function openNodeLabels({ report: { owners } }: Policy) {
  const wanted = [...new Set(owners.flatMap(({ match }) => Object.keys(match.labels ?? {})))]
  const found = new Map<string, ResourceTags & { labels: Record<string, string> }>()
  return {
    take(cluster: string, { kind, name }: Subject, labels: Record<string, string | undefined>) {
      if (wanted.length === 0 || kind === 'Nodegroup') return
      const key = JSON.stringify([cluster, kind, name])
      const before = found.get(key)?.labels ?? labels
      const common = wanted.filter(
        label => Object.hasOwn(labels, label) && before[label] === labels[label],
      )
      found.set(key, {
        cluster,
        nodegroup: null,
        tags: {},
        group: { kind, name },
        labels: Object.fromEntries(common.map(label => [label, labels[label]!])),
      })
    },
    list: (): ResourceTags[] => [...found.values()],
  }
}

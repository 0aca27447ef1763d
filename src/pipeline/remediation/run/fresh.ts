/** Reads the nodes of a plan anew, from their source. Verification and blockers use these records, never remembered ones. */

import { messageOf } from '#base/operator-error.ts'
import { alarmStates } from '#clients/aws/cloudwatch.ts'
import { credentialSource } from '#clients/aws/credentials.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import type { ReadDepth } from '#collect/collectors/node.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import type {
  ClusterRecord,
  MalformedLine,
  ObjectsRecord,
  Selection,
  SnapshotRecord,
} from '#model/input/record.ts'
import {
  type Plan,
  type PlanStep,
  type Verification,
  type VerificationReport,
  verificationSchema,
} from '#model/plan/plan.ts'
import type { Policy } from '#model/policy.ts'
import { type LiveOptions, liveFleet } from '#pipeline/audit/fleet.ts'
import { withoutFiles } from '#pipeline/remediation/plan/node.ts'
import { stateOf } from '#pipeline/remediation/plan/state.ts'
import { budgetResource } from '#remediate/pods.ts'
import type { FreshCluster } from '#remediate/run/blockers.ts'
import { stepKey } from '#remediate/run/journal.ts'
import { kubeletStartedAt } from '#remediate/verify/found-on-node.ts'
import { verifyStep } from '#remediate/verify/verify.ts'
import { notYet } from '#remediate/verify/verify-health.ts'
import { withConfigurationOnDisk } from '#replay/configuration/threshold-origins.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/prune.ts'

export interface PlannedNode {
  cluster: string
  node: string
}

export interface FreshOptions {
  policy: Policy
  signal: AbortSignal
  /** Source of the records; default: the live EKS clusters. */
  read?: (selection: Selection, depth?: ReadDepth) => AsyncIterable<SnapshotRecord | MalformedLine>
  /** How much is read. Absent: all that each cluster's mode reads. */
  depth?: ReadDepth
}

/**
 * Records of these nodes and of their clusters, one by one, each with its own time. If configz is unread, the record has
 * the configuration on disk.
 * @throws OperatorError when there is nothing to read at all
 */
export async function* freshRecords(
  nodes: readonly PlannedNode[],
  {
    policy,
    signal,
    depth,
    read = selection => liveNodes({ selection, policy, signal, depth }),
  }: FreshOptions,
): AsyncGenerator<ClusterRecord | NodeInput | ObjectsRecord> {
  if (nodes.length === 0) return
  const clusters = new Set(nodes.map(({ cluster }) => cluster))
  const wanted = new Set(nodes.map(stepKey))
  let takenAt: string | null = null
  for await (const record of read(
    { clusters: [...clusters], nodegroups: [], nodes: [...new Set(nodes.map(({ node }) => node))] },
    depth,
  )) {
    if (record.kind === 'Snapshot') takenAt = record.takenAt
    if (record.kind === 'Snapshot' || record.kind === 'Malformed' || !clusters.has(record.cluster))
      continue
    if (record.kind !== 'Node') yield record
    // As in an audit, only the first of two records of a node counts.
    else if (wanted.delete(recordKey(record)))
      yield { ...withConfigurationOnDisk(nodeInput(record)).input, at: record.at ?? takenAt }
  }
}

/** `cluster/node` of a record. */
export const recordKey = ({ cluster, node }: Pick<NodeInput, 'cluster' | 'node'>): string =>
  stepKey({ cluster, node: nodeIdentity(node).name })

/** Collects fresh records by cluster. Every named cluster has an entry, even if nothing of it was found. The nodes must fit into memory. */
export async function freshClusters(
  nodes: readonly PlannedNode[],
  options: FreshOptions,
): Promise<Map<string, FreshCluster>> {
  const alarms = await alarmsAgainst(options.policy, options.signal)
  const clusters = new Map<string, FreshCluster>()
  for (const { cluster } of nodes)
    clusters.set(cluster, { cluster: null, nodes: [], budgets: null, alarms })
  for await (const record of freshRecords(nodes, options)) {
    const fresh = clusters.get(record.cluster)
    if (fresh === undefined) continue
    if (record.kind === 'Cluster') fresh.cluster = record
    else if (record.kind === 'Node') fresh.nodes.push(record)
    else if (record.resource === budgetResource)
      fresh.budgets = [...(fresh.budgets ?? []), ...record.items]
  }
  // An incomplete list of budgets might lack the budget that matters, so it counts as unread.
  for (const fresh of clusters.values())
    if (fresh.cluster?.errors?.some(({ what }) => what === budgetResource)) fresh.budgets = null
  return clusters
}

const liveNodes = ({ selection, ...live }: LiveOptions) =>
  liveFleet({
    ...live,
    selection: { ...selection, clusters: eksNames(selection.clusters) },
    objects: 'budgets',
  })

/** Names of the clusters in EKS. With several accounts or regions, a record's cluster name has them before the EKS name. */
export const eksNames = (clusters: readonly string[]): string[] => [
  ...new Set(clusters.map(cluster => cluster.slice(cluster.lastIndexOf('/') + 1))),
]

/**
 * Describes the policy's alarms that are in ALARM in an audited account and region, or that could not be read. An alarm that exists nowhere counts as
 * unread: otherwise a misspelt name would guard nothing.
 */
export async function alarmsAgainst(
  { accounts, remediation }: Policy,
  signal: AbortSignal,
): Promise<string[]> {
  const names = [...new Set(remediation.alarms)]
  if (names.length === 0) return []
  const found = new Set<string>()
  const against = new Set<string>()
  const unread: string[] = []
  for (const { roleArn, externalId, regions } of accounts) {
    for (const region of regions ?? [await sdkRegion()]) {
      if (region === null) {
        unread.push('no AWS region is set')
        continue
      }
      try {
        const states = await alarmStates(
          region,
          credentialSource(roleArn, externalId, region),
          names,
          signal,
        )
        for (const [name, state] of states) {
          found.add(name)
          if (state === 'ALARM') against.add(`${name} is in ALARM in ${region}`)
        }
      } catch (error) {
        signal.throwIfAborted()
        unread.push(messageOf(error))
      }
    }
  }
  const [reason] = unread
  if (reason !== undefined) return [...against, `states could not all be read: ${reason}`]
  return [
    ...against,
    ...names
      .filter(name => !found.has(name))
      .map(name => `${name} could not be read: there is none of that name`),
  ]
}

/* Verifies a plan: reads its nodes anew, replays them, and compares them with the promise of each step. */

/** Known facts about the applied change. */
interface Applied {
  /** Time at which the change was seen to be done, RFC 3339. */
  at: string
  /** `namespace/name` of pods that were ready before; null: not known. */
  readyPods: readonly string[] | null
}

/** @param fresh from `freshRecords`, with the time of its reading */
export function verifyNode(
  step: PlanStep,
  fresh: NodeInput,
  policy: Policy,
  applied: Applied,
): Verification {
  const at = fresh.at ?? applied.at
  const present = { ...fresh, host: withoutFiles(fresh.host) }
  const replayed = stateOf(present, replay(present, at), policy)
  return verifyStep(step, fresh, replayed, applied.readyPods, at, applied.at)
}

/**
 * For a plan that was carried out by hand: neither the time nor the earlier state is known.
 * @param steps the requested steps of the plan
 * @param onNode after each node that was read
 * @throws OperatorError and the errors of the source
 */
export async function verifyPlan(
  plan: Plan,
  steps: readonly PlanStep[],
  options: FreshOptions,
  onNode: () => void,
): Promise<VerificationReport> {
  const byKey = new Map(steps.map(step => [stepKey(step), step]))
  const found = new Map<string, Verification>()
  const clusters = new Map<string, ClusterRecord>()
  for await (const record of freshRecords(steps, options)) {
    if (record.kind === 'Cluster') clusters.set(record.cluster, record)
    if (record.kind !== 'Node') continue
    const step = byKey.get(recordKey(record))
    if (step === undefined) continue
    found.set(stepKey(step), verifyRecord(plan, step, record, options.policy))
    onNode()
  }
  const nodes = steps.map(step => {
    const { cluster, node } = step
    return { cluster, node, ...(found.get(stepKey(step)) ?? missingNode(clusters.get(cluster))) }
  })
  const count = (state: Verification['state']) => nodes.filter(one => one.state === state).length
  return {
    schema: verificationSchema,
    plan: plan.digest,
    counts: { verified: count('verified'), notYet: count('not-yet'), wrong: count('wrong') },
    nodes,
  }
}

function verifyRecord(plan: Plan, step: PlanStep, record: NodeInput, policy: Policy) {
  // Node data from before the plan says nothing about the change.
  if (Date.parse(record.at ?? '') <= Date.parse(plan.createdAt))
    return notYet(`it was read at ${record.at}, before the plan was made: read it after the change`)
  return verifyNode(step, record, policy, { at: changedAt(plan, record), readyPods: null })
}

function missingNode(cluster: ClusterRecord | undefined): Verification {
  if (cluster === undefined) return notYet('its cluster was not found, or not reached')
  const error = (cluster.errors ?? []).find(({ what }) => what === 'cluster' || what === 'nodes')
  return {
    state: 'not-yet',
    why:
      error === undefined
        ? 'the node was not found: it may be gone'
        : `the node was not read: ${error.message}`,
  }
}

/** The last start of the node's kubelet if it was after the plan, else the plan's time. A start after the reading shows a wrong clock. */
function changedAt({ createdAt }: Plan, record: NodeInput) {
  const started = Date.parse(kubeletStartedAt(record) ?? '')
  const isSince = started > Date.parse(createdAt) && started <= Date.parse(record.at ?? '')
  return isSince ? new Date(started).toISOString() : createdAt
}

/** Reads the nodes of a plan anew, from their source. Verification and blockers use these records, never remembered ones. */

import { messageOf } from '#base/operator-error.ts'
import { alarmStates } from '#clients/aws/cloudwatch.ts'
import { credentialSource } from '#clients/aws/credentials.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import type { ReadDepth } from '#collect/modes.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type {
  ClusterRecord,
  MalformedLine,
  NodeInput,
  ObjectsRecord,
  Selection,
  SnapshotRecord,
} from '#model/input/record.ts'
import { stepKey } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { budgetResource } from '#remediate/pods.ts'
import type { FreshCluster } from '#remediate/run/blockers.ts'
import { withConfigurationOnDisk } from '#replay/configuration/configuration-on-disk.ts'
import { nodeInput } from '#snapshot/input.ts'

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
    read = selection =>
      liveFleet({
        policy,
        signal,
        depth,
        selection: { ...selection, clusters: eksNames(selection.clusters) },
        objects: 'budgets',
      }),
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
export const recordKey = ({ cluster, node }: Pick<NodeInput, 'cluster' | 'node'>) =>
  stepKey({ cluster, node: nodeIdentity(node).name })

/** Collects fresh records by cluster. Every named cluster has an entry, even if nothing of it was found. The nodes must fit into memory. */
export async function freshClusters(nodes: readonly PlannedNode[], options: FreshOptions) {
  const alarms = await alarmsAgainst(options.policy, options.signal)
  const clusters = new Map<string, FreshCluster>()
  for (const { cluster } of nodes)
    clusters.set(cluster, { cluster: null, nodes: [], budgets: null, alarms })
  const withCutBudgets = new Set<string>()
  for await (const record of freshRecords(nodes, options)) {
    const fresh = clusters.get(record.cluster)
    if (!fresh) continue
    if (record.errors?.some(({ what }) => what === budgetResource))
      withCutBudgets.add(record.cluster)
    if (record.kind === 'Cluster') fresh.cluster = record
    else if (record.kind === 'Node') fresh.nodes.push(record)
    else if (record.resource === budgetResource)
      fresh.budgets = [...(fresh.budgets ?? []), ...record.items]
  }
  // An incomplete list of budgets might lack the budget that matters, so it counts as unread.
  for (const cluster of withCutBudgets) clusters.get(cluster)!.budgets = null
  return clusters
}

/** Names of the clusters in EKS. With several accounts or regions, a record's cluster name has them before the EKS name. */
export const eksNames = (clusters: readonly string[]) => [
  ...new Set(clusters.map(cluster => cluster.slice(cluster.lastIndexOf('/') + 1))),
]

/**
 * Describes the policy's alarms that are in ALARM in an audited account and region, or that could not be read. An alarm that exists nowhere counts as
 * unread: otherwise a misspelt name would guard nothing.
 */
export async function alarmsAgainst({ accounts, remediation }: Policy, signal: AbortSignal) {
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

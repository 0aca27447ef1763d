/** What blocks a change of nodes now, by a new reading of the nodes and their cluster. Data that was not read blocks the change, too. */

import type { RawObject } from '#base/raw-object.ts'
import { firstNames, linesOf } from '#base/text.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { keepsContainerStatus } from '#facts/kubelet/restart.ts'
import type { ClusterRecord, NodeInput } from '#model/input/record.ts'
import { type PlanStep, restartsKubelet } from '#model/plan.ts'
import type { RemediationPolicy } from '#model/policy.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import { budgetResource, FleetPods } from '#remediate/pods.ts'
import { isWindowOpen, windowsText } from './window.ts'

/** One cluster, read anew. */
export interface FreshCluster {
  /** Null: the cluster was no longer found, or not reached. */
  cluster: ClusterRecord | null
  /** The nodes of the plan that were found. */
  nodes: NodeInput[]
  /** PodDisruptionBudgets; null: not read. */
  budgets: RawObject[] | null
  /** The policy's alarms that block a change, in words: `disk-full is in ALARM in eu-west-1`, `disk-full could not be read: …`. */
  alarms: string[]
}

export interface Blockers {
  /** Reasons that block every node of the wave: the wave waits. */
  cluster: string[]
  /** Reasons that block one node of the wave, by node name. */
  nodes: Map<string, string>
  /** Names of nodes that are changed after the others of the wave: together they would disrupt more pods than PodDisruptionBudgets allow. */
  later: Set<string>
  /** Checks that were not possible and do not block the change. */
  unasked: string[]
}

const shownNames = 5
const namesText = (names: readonly string[]) => firstNames(names, shownNames)

/** @param wave steps of one cluster */
export function blockersOf(
  wave: readonly PlanStep[],
  fresh: FreshCluster,
  policy: RemediationPolicy,
  now: Date,
): Blockers {
  const byName = new Map(fresh.nodes.map(record => [nodeIdentity(record.node).name, record]))
  const nodes = new Map(
    wave.flatMap(step => {
      const why = nodeBlocker(step, byName.get(step.node), fresh.cluster)
      return why === null ? [] : [[step.node, why] as const]
    }),
  )
  const records = wave.flatMap(({ node }) => byName.get(node) ?? [])
  const restarting = wave
    .filter(({ method, node }) => restartsKubelet(method) && !nodes.has(node))
    .flatMap(({ node }) => byName.get(node) ?? [])
  const budgets = budgetBlockers(restarting, fresh)
  return {
    cluster: linesOf(
      !isWindowOpen(policy.windows, now) &&
        `the policy lets nodes be changed only ${windowsText(policy.windows, shownNames)}`,
      fresh.alarms.map(alarm => `the alarm ${alarm}`),
      statusBlockers(fresh.cluster, records, policy),
      nodegroupBlockers(records, fresh.cluster, policy),
      unreadyBlockers(fresh.nodes, policy),
      budgets.reasons,
    ),
    nodes,
    later: budgets.later,
    unasked: uncheckedNotes(fresh.cluster, records, policy),
  }
}

/** Null: nothing blocks the node. */
function nodeBlocker(
  { instanceId }: PlanStep,
  record: NodeInput | undefined,
  cluster: ClusterRecord | null,
) {
  if (!record) {
    const error = (cluster?.errors ?? []).find(({ what }) => what === 'nodes' || what === 'cluster')
    if (!cluster || error) return `the node was not read again${error ? `: ${error.message}` : ''}`
    return 'the node is gone'
  }
  const { metadata, spec, status } = record.node
  const found = instanceIdOf(nodeIdentity(record.node))
  if (found !== instanceId)
    return `the node is another instance now: ${found ?? 'none that is known'}, planned was ${instanceId}`
  if (metadata?.deletionTimestamp) return 'the node is being deleted'
  if (spec?.unschedulable) return 'the node is cordoned'
  const conditions = status?.conditions ?? []
  if (!conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    return 'the node is NotReady'
  const pressures = conditions.flatMap(({ type, status: is }) =>
    type && /Pressure$/.test(type) && is === 'True' ? [type] : [],
  )
  return pressures.length > 0 ? `the node is under ${pressures.join(' and ')}` : null
}

const isOfEks = (records: readonly NodeInput[]) =>
  records.some(({ node }) => nodeIdentity(node).owner === 'managed-nodegroup')

/** Absent `eks`: a cluster of a kubeconfig. Only the nodes can show that it is an EKS cluster. */
function statusBlockers(
  cluster: ClusterRecord | null,
  records: readonly NodeInput[],
  policy: RemediationPolicy,
) {
  if (!cluster) return ['the cluster was not found again, or not reached']
  const { eks } = cluster
  if (eks === undefined) {
    const errors = (cluster.errors ?? []).flatMap(({ what, message }) =>
      what === 'cluster' ? [message] : [],
    )
    if (errors.length > 0 || !isOfEks(records) || !policy.requireEksStatus) return errors
    return [
      'its nodes are of EKS nodegroups, and no EKS cluster of its address was found: whether EKS is changing it is not known. Reach it without --kubeconfig, or set remediation.requireEksStatus to false',
    ]
  }
  if (!eks)
    return policy.requireEksStatus
      ? [`whether EKS is changing the cluster was not read${readErrorText(cluster, 'cluster')}`]
      : []
  const { status } = eks
  return status === 'ACTIVE' ? [] : [`EKS is changing the cluster: it is ${String(status)}`]
}

/** Checks that were not possible. Each run lists these, so that none looks passed. */
function uncheckedNotes(
  cluster: ClusterRecord | null,
  records: readonly NodeInput[],
  { requireEksStatus }: RemediationPolicy,
) {
  if (!cluster || cluster.eks) return []
  if (cluster.eks === undefined && !isOfEks(records))
    return [
      'nothing says that it is a cluster of EKS, so it is unknown whether it is being upgraded',
    ]
  return requireEksStatus
    ? []
    : [
        `whether EKS is changing it was not read, and the policy lets that be (remediation.requireEksStatus)`,
      ]
}

/** Only nodegroups with a node in the wave: updates of others do not affect the wave. */
function nodegroupBlockers(
  records: readonly NodeInput[],
  cluster: ClusterRecord | null,
  { requireEksStatus }: RemediationPolicy,
) {
  if (!cluster?.eks) return []
  const wanted = new Set(
    records.flatMap(({ node }) => {
      const { owner, group } = nodeIdentity(node)
      return owner === 'managed-nodegroup' ? [group.name] : []
    }),
  )
  if (wanted.size === 0) return []
  if (!Array.isArray(cluster.nodegroups))
    return requireEksStatus
      ? [`whether nodegroups are being updated was not read${readErrorText(cluster, 'nodegroups')}`]
      : []
  const statuses = new Map(
    cluster.nodegroups.map(({ nodegroupName, status }) => [nodegroupName, status]),
  )
  return [...wanted].sort().flatMap(name => {
    const status = statuses.get(name)
    if (!statuses.has(name))
      return requireEksStatus
        ? [
            `whether the nodegroup ${name} is being updated was not read${readErrorText(cluster, `nodegroup ${name}`)}`,
          ]
        : []
    // DEGRADED may last for weeks, and does not mean that an update runs.
    return status === 'ACTIVE' || status === 'DEGRADED'
      ? []
      : [`the nodegroup ${name} is ${String(status)}`]
  })
}

function readErrorText({ errors }: ClusterRecord, source: string) {
  const error = (errors ?? []).find(({ what }) => what === source)
  return error ? `: ${error.message}` : ''
}

function unreadyBlockers(nodes: readonly NodeInput[], { maxUnreadyPercent }: RemediationPolicy) {
  const unready = nodes
    .map(({ node }) => nodeIdentity(node))
    .filter(({ ready }) => ready !== 'True')
  if (unready.length * 100 <= nodes.length * maxUnreadyPercent) return []
  return [
    `${unready.length} of the ${nodes.length} planned nodes are NotReady, more than the ${maxUnreadyPercent} % of the policy: ${namesText(unready.map(({ name }) => name).sort())}`,
  ]
}

/** A kubelet's restart turns pods NotReady, which counts like an eviction. Nodes that are changed at the same time count together. */
function budgetBlockers(
  restarting: readonly NodeInput[],
  { cluster: read, budgets }: FreshCluster,
) {
  const later = new Set<string>()
  const turning = restarting.filter(record => !isStatusKept(record))
  if (turning.length === 0) return { reasons: [], later }
  const blocked = (reason: string) => ({ reasons: [reason], later })
  if (!budgets)
    return blocked(
      `PodDisruptionBudgets were not read${read ? readErrorText(read, budgetResource) : ''}`,
    )
  const pods = new FleetPods()
  const [{ cluster = '' } = {}] = turning
  pods.takeObjects({ kind: 'Objects', cluster, resource: budgetResource, items: [...budgets] })
  const unread = turning
    .filter(record => !Array.isArray(record.pods))
    .map(({ node }) => node.metadata?.name ?? '')
  if (unread.length > 0)
    return blocked(
      `which PodDisruptionBudgets cover their pods is not known: the pods of ${namesText(unread)} were not read`,
    )
  const atLimit = new Set<string>()
  const tooFew = new Set<string>()
  const taken = new Map<string, number>()
  for (const record of turning) {
    const disruptions = [...pods.disruptionsOf(record)]
    const { name } = nodeIdentity(record.node)
    for (const [budget, { pods: count, allowed }] of disruptions) {
      if (allowed <= 0) atLimit.add(budget)
      else if (count > allowed)
        tooFew.add(`${budget} (${allowed}, and ${name} has ${count} of its pods)`)
    }
    if (
      disruptions.some(
        ([budget, { pods: count, allowed }]) => (taken.get(budget) ?? 0) + count > allowed,
      )
    )
      later.add(name)
    else
      for (const [budget, { pods: count }] of disruptions)
        taken.set(budget, (taken.get(budget) ?? 0) + count)
  }
  const reasons = linesOf(
    atLimit.size > 0 &&
      `PodDisruptionBudgets that cover its pods allow no disruption now: ${namesText([...atLimit].sort())}`,
    tooFew.size > 0 &&
      `PodDisruptionBudgets allow fewer disruptions now than the restart of one kubelet makes: ${namesText([...tooFew])}`,
  )
  return { reasons, later }
}

const isStatusKept = ({ node, configuration }: NodeInput) =>
  configuration !== null &&
  configuration.printed !== null &&
  keepsContainerStatus(
    featuresOf(nodeIdentity(node).kubeletVersion),
    configuration.fields.featureGates ?? {},
  )

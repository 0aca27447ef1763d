/** First function of a fan-out: lists clusters and nodes and divides them into shards. A retry uses the files of the first try, or starts again. */

import pMap from 'p-map'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import { countNodes, listNodes } from '#collect/collect.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { isAcrossPlaces } from '#discover/places.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import {
  accountInArn,
  type NodeIdentity,
  promisedSources,
  type ReadError,
} from '#model/input/record.ts'
import { type Policy, readModeOf } from '#model/policy.ts'
import { type AuditRequest, type RunAnswer, type Settings, unauditedAnswer } from '#model/run.ts'
import {
  foundTargets,
  isListWhole,
  type LiveOptions,
  liveHeader,
  rejectUnknownNames,
} from '#pipeline/audit/fleet.ts'
import { policyOf, readingSeconds, type ServiceRuntime } from '#pipeline/service/runtime.ts'
import { prune } from '#snapshot/prune.ts'
import {
  type ClusterWork,
  type FanOutContext,
  type FanOutRun,
  keys,
  noteInvocation,
  readJson,
  type WorkItem,
  writeJson,
  writeRecords,
} from './context.ts'

/** Input of the state machine's map: the place of its items and its concurrency. */
export interface Discovered {
  run: string
  bucket: string
  key: string
  clustersAtOnce: number
  clusters: number
  nodes: number
  /** The state machine puts the map's error here. States pass on only existing fields, so the field starts as null. */
  failure: null
}

/** @throws OperatorError if the run was not requested or selects nothing to audit */
export async function discoverShards(context: FanOutContext): Promise<Discovered> {
  const { runId, store, runtime, limits } = context
  runtime.watch.enters('discover')
  const before = await readJson<FanOutRun>(store, keys.run(runId))
  if (before !== null) return discoverAnswer(before, context)
  const request = await readJson<AuditRequest>(store, keys.request(runId))
  if (request === null)
    throw new OperatorError(
      `Run ${runId} was not requested: ${store.location}/${keys.request(runId)} is not there. The function audit writes it`,
    )
  const { policy, text, mistakes } = await policyOf(store, runtime, context.settings)
  const live = { policy, selection: request.selection, signal: limits.reading, now: runtime.now }
  const header = await liveHeader(live)
  const listed: ListedCluster = { nodes: [], areWhole: true }
  const targets = await Array.fromAsync(foundTargets(live))
  const sharing = new Map(
    ssmGroups(targets, policy).flatMap(group =>
      group.map(target => [target, group.length] as const),
    ),
  )
  const atOnce = clustersAtOnce([...sharing.values()], policy)
  const clusters = await pMap(
    targets,
    (target, number) =>
      writeCluster(target, number, ssmShare(sharing.get(target) ?? 0, atOnce, policy), listed, {
        ...context,
        ...live,
      }),
    { concurrency: policy.pace.clusters },
  )
  rejectUnknownNames(request.selection, listed.nodes, listed.areWhole)
  const items: WorkItem[] = clusters.map(({ shards }, cluster) => ({
    run: runId,
    cluster,
    shards: [...Array(shards).keys()],
  }))
  await writeJson(store, keys.work(runId), items)
  const run: FanOutRun = {
    schema: 'highwater.fan-out/1',
    runId,
    request,
    header,
    policy: text,
    mistakes,
    clustersAtOnce: atOnce,
    clusters,
  }
  await writeJson(store, keys.run(runId), run)
  return discoverAnswer(run, context)
}

function discoverAnswer(run: FanOutRun, { settings }: FanOutContext): Discovered {
  const { bucket, prefix } = settings
  return {
    run: run.runId,
    bucket: bucket ?? '',
    key: `${prefix}${keys.work(run.runId)}`,
    clustersAtOnce: run.clustersAtOnce,
    clusters: run.clusters.length,
    nodes: run.clusters.reduce((sum, { nodes }) => sum + nodes, 0),
    failure: null,
  }
}

/** The nodes of all clusters, and whether all their lists are complete. */
interface ListedCluster {
  nodes: { identity: Pick<NodeIdentity, 'name'> }[]
  areWhole: boolean
}

type DiscoverContext = FanOutContext & Parameters<typeof listNodes>[2]

async function writeCluster(
  target: ClusterTarget,
  number: number,
  { requestsPerSecond, nodesPerShard }: SsmShare,
  listed: ListedCluster,
  context: DiscoverContext,
): Promise<ClusterWork> {
  const { runId, store, runtime } = context
  const { record, endpoint, place } = target
  const { cluster } = record
  const folder = `${runtime.folder}/${number}`
  await writeRecords(store, keys.cluster(runId, number), [prune(record)], folder)
  const listErrors: ReadError[] = []
  const nodes: KubernetesNode[] = []
  if (endpoint !== null)
    for await (const node of listNodes(record, endpoint, context, listErrors))
      nodes.push(keptOf(cluster, node))
  for (const node of nodes) listed.nodes.push({ identity: { name: nodeIdentity(node).name } })
  listed.areWhole &&= isListWhole(record) && listErrors.length === 0
  const shards = shardsOf(nodes, nodesPerShard)
  for (const [shard, members] of shards.entries()) {
    const records = members.map(node => ({ kind: 'Node' as const, cluster, node }))
    await writeRecords(store, keys.nodes(runId, number, shard), records, folder)
  }
  const at = place && { region: place.region, roleArn: place.roleArn, externalId: place.externalId }
  return {
    cluster,
    at,
    nodes: nodes.length,
    shards: shards.length,
    listErrors,
    ssmRequestsPerSecond: requestsPerSecond,
  }
}

/** Keeps only the fields of the snapshot and the kubelet's port. */
function keptOf(cluster: string, node: KubernetesNode) {
  const kept = prune({ kind: 'Node', cluster, node }).node
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  return typeof port === 'number'
    ? { ...kept, status: { ...kept.status, daemonEndpoints: { kubeletEndpoint: { Port: port } } } }
    : kept
}

/* Divides the nodes of a cluster into shards; one function reads one shard. */

/** Nodes of one group stay together if they fit. Shards do not depend on the order of the list. */
function shardsOf(nodes: readonly KubernetesNode[], mostNodes: number): KubernetesNode[][] {
  const groups = Map.groupBy(
    nodes.map(node => ({ node, identity: nodeIdentity(node) })),
    ({ identity: { group } }) => (group.kind === 'Node' ? '' : `${group.kind}/${group.name}`),
  )
  const shards: KubernetesNode[][] = []
  for (const [, members] of [...groups].toSorted(byKey)) {
    const sorted = members
      .toSorted((a, b) => (a.identity.name < b.identity.name ? -1 : 1))
      .map(({ node }) => node)
    const last = shards.at(-1)
    if (last && last.length + sorted.length <= mostNodes) last.push(...sorted)
    else
      for (let start = 0; start < sorted.length; start += mostNodes)
        shards.push(sorted.slice(start, start + mostNodes))
  }
  return shards
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

interface SsmShare {
  /** SSM requests per second for one cluster. */
  requestsPerSecond: number
  nodesPerShard: number
}

/** Estimated SSM calls for one node: the output of each of two documents is one call, the other calls serve up to 50 nodes. */
export const ssmCallsPerNodeMax = 3

type ShardLimits = Pick<Policy, 'pace' | 'fanOut'>

/** Seconds before the first answer and after the last one: start, scripts, writing. */
const aroundSeconds = 60
const requestSeconds = readingSeconds - aroundSeconds

/** The clusters read by SSM, grouped by account and region. */
function ssmGroups(targets: readonly ClusterTarget[], policy: Policy): ClusterTarget[][] {
  const isBySsm = ({ record, place }: ClusterTarget) =>
    place !== null && promisedSources[readModeOf(policy, record.cluster)].includes('host')
  const placeOf = ({ record: { eks }, place }: ClusterTarget) => {
    const account = typeof eks?.arn === 'string' ? accountInArn(eks.arn) : null
    return `${account ?? place?.roleArn ?? 'own'} ${place?.region}`
  }
  return [...Map.groupBy(targets.filter(isBySsm), placeOf).values()]
}

/** Nodes of one account and region that one function can read by SSM in its time: 1,100 at the default pace. */
const ssmNodesMax = ({ pace }: Pick<Policy, 'pace'>): number =>
  Math.floor((pace.ssmRequestsPerSecond * requestSeconds) / ssmCallsPerNodeMax)

/**
 * @param sharing per account and region, the number of clusters that are read by SSM
 * @returns clusters read at once, few enough that a shard has the nodes of at least one command
 */
export function clustersAtOnce(sharing: readonly number[], { pace, fanOut }: ShardLimits): number {
  const most = Math.max(1, Math.floor(ssmNodesMax({ pace }) / commandInstancesMax))
  const isShared = sharing.some(clusters => clusters > most)
  return isShared ? Math.min(most, fanOut.clustersAtOnce) : fanOut.clustersAtOnce
}

/**
 * @param sharing number of clusters of its account and region that are read by SSM; 0: this cluster is not
 * @param atOnce clusters read at once, of all accounts
 */
export function ssmShare(sharing: number, atOnce: number, { pace, fanOut }: ShardLimits): SsmShare {
  if (sharing === 0)
    return { requestsPerSecond: pace.ssmRequestsPerSecond, nodesPerShard: fanOut.nodesPerShard }
  const requestsPerSecond = pace.ssmRequestsPerSecond / Math.min(sharing, atOnce)
  const mostNodes = Math.floor((requestsPerSecond * requestSeconds) / ssmCallsPerNodeMax)
  return {
    requestsPerSecond,
    nodesPerShard: Math.max(1, Math.min(fanOut.nodesPerShard, mostNodes)),
  }
}

/* Starts the state machine if a fleet is too large for one function. The execution has the name of the run, so a tick starts only one. */

interface FanOutRequest {
  runId: string
  request: AuditRequest
  /** Null: the stack has no bucket, so fan-out is off. */
  store: Store | null
  settings: Settings
  /** The caller has a kubeconfig whose clusters no other function would find. */
  isOwnFleet: boolean
  runtime: Pick<ServiceRuntime, 'requestId' | 'watch'>
}

interface FanOutDecision {
  /** The answer of the function; null: the function reads the fleet itself. */
  answer: RunAnswer | null
  /** Clusters that were found for the decision; absent: none were searched. */
  targets?: ClusterTarget[]
  /** Why this function reads a fleet that is too large for one function, for the report. Null: it does not. */
  mistake: string | null
}

/** @throws OperatorError if there is nothing to audit */
export async function fanOut(
  { runId, request, store, settings, isOwnFleet, runtime }: FanOutRequest,
  live: LiveOptions,
): Promise<FanOutDecision> {
  const { stateMachineArn } = settings
  if (stateMachineArn === null || store === null || request.isDryRun || isOwnFleet)
    return { answer: null, mistake: null }
  const { isLarge, targets, unknown } = await sizeOf(live)
  if (!isLarge) return { answer: null, mistake: null, targets }
  try {
    await writeJson(store, keys.request(runId), request)
    const { startRun } = await import('./execution.ts')
    const { name, status } = await startRun(stateMachineArn, runId, live.signal)
    await noteInvocation(store, runId, runtime, false)
    const location = `${status === null ? 'started' : `had been started, and is ${status}`}: execution ${name} of ${stateMachineArn}${unknown ?? ''}`
    const deliveries = [{ channel: 'fan-out', location, link: null, error: null }]
    const answer: RunAnswer = { runId, state: 'fanned-out', ...unauditedAnswer, deliveries }
    return { answer, mistake: null }
  } catch (error) {
    const reason = messageOf(error)
    return {
      answer: null,
      mistake: `the fleet was not handed to many functions, and this one has read what it could: ${reason}`,
      targets,
    }
  }
}

const countedAtOnce = 10

interface FleetSize {
  isLarge: boolean
  targets?: ClusterTarget[]
  /** Why a fleet of unknown size counts as large, for people. */
  unknown?: string
}

/** Counts nodes by one small request to each API server. If a part of the fleet cannot be counted, the fleet counts as large. */
async function sizeOf(live: LiveOptions): Promise<FleetSize> {
  const { fanOut } = live.policy
  // A selection by name is small.
  if (live.selection.nodes.length > 0) return { isLarge: false }
  const isAcross = fanOut.acrossPlaces && (await isAcrossPlaces(live.policy))
  const { aboveNodes } = fanOut
  if (isAcross ? live.selection.clusters.length === 0 : aboveNodes === null)
    return { isLarge: isAcross }
  // A selected cluster that does not exist fails here, before a state machine starts.
  const targets = await Array.fromAsync(foundTargets(live))
  if (isAcross || aboveNodes === null) return { isLarge: isAcross, targets }
  const known = { nodes: 0, reason: null }
  const counts = await pMap(
    targets,
    async target => ({
      target,
      ...(target.endpoint === null ? known : await countNodes(target.endpoint, live)),
    }),
    { concurrency: countedAtOnce },
  )
  const nodesIn = (part: readonly ClusterTarget[]) =>
    counts.reduce((sum, { target, nodes }) => sum + (part.includes(target) ? (nodes ?? 0) : 0), 0)
  const ssmMost = ssmNodesMax(live.policy)
  if (
    nodesIn(targets) > aboveNodes ||
    ssmGroups(targets, live.policy).some(group => nodesIn(group) > ssmMost)
  )
    return { isLarge: true, targets }
  const silent = counts.find(({ nodes }) => nodes === null)
  if (silent === undefined) return { isLarge: false, targets }
  return {
    isLarge: true,
    targets,
    unknown: ` (the size of the fleet is unknown: cluster ${silent.target.record.cluster} was not counted: ${silent.reason})`,
  }
}

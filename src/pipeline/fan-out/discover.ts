/** First function of a fan-out: lists clusters and nodes and divides them into shards. A retry uses the files of the first try, or starts again. */
import pMap from 'p-map'
import { OperatorError } from '#base/operator-error.ts'
import { listNodes } from '#collect/collect.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubernetesNode, NodeIdentity, NodeRecord, ReadError } from '#model/input/record.ts'
import type { AuditRequest } from '#model/run.ts'
import { foundTargets, isListWhole, liveHeader, rejectUnknownNames } from '#pipeline/audit/fleet.ts'
import { policyOf } from '#pipeline/runtime/runtime.ts'
import { prune } from '#snapshot/prune.ts'
import {
  type ClusterWork,
  type FanOutContext,
  type FanOutRun,
  keys,
  readJson,
  writeJson,
  writeRecords,
} from './files.ts'
import { clustersAtOnce, type SsmShare, shardsOf, ssmGroups, ssmShare } from './shards.ts'

/** @throws OperatorError if the run was not requested or selects nothing to audit */
export async function discoverShards(context: FanOutContext) {
  const { runId, store, runtime, limits } = context
  runtime.watch.enterStage('discover')
  const before = await readJson<FanOutRun>(store, keys.run(runId))
  if (before) return discoverAnswer(before, context)
  const request = await readJson<AuditRequest>(store, keys.request(runId))
  if (!request)
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
  // The items of the state machine's map.
  const items = clusters.map(({ shards }, cluster) => ({
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

/** Input of the state machine's map: the place of its items and its concurrency. */
function discoverAnswer(run: FanOutRun, { settings }: FanOutContext) {
  const { bucket, prefix } = settings
  return {
    run: run.runId,
    bucket: bucket ?? '',
    key: `${prefix}${keys.work(run.runId)}`,
    clustersAtOnce: run.clustersAtOnce,
    clusters: run.clusters.length,
    nodes: run.clusters.reduce((sum, { nodes }) => sum + nodes, 0),
    // The state machine puts the map's error here. States pass on only existing fields, so the field starts as null.
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
  const nodes: NodeRecord[] = []
  if (endpoint)
    for await (const node of listNodes(record, endpoint, context, listErrors))
      nodes.push(keptRecord(cluster, node))
  for (const { node } of nodes) listed.nodes.push({ identity: { name: nodeIdentity(node).name } })
  listed.areWhole &&= isListWhole(record) && listErrors.length === 0
  const shards = shardsOf(nodes, nodesPerShard)
  for (const [shard, members] of shards.entries())
    await writeRecords(store, keys.nodes(runId, number, shard), members, folder)
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
function keptRecord(cluster: string, node: KubernetesNode) {
  const kept = prune<NodeRecord>({ kind: 'Node', cluster, node })
  const { kubeletEndpoint: { Port } = {} } = node.status?.daemonEndpoints ?? {}
  if (typeof Port !== 'number') return kept
  const status = { ...kept.node.status, daemonEndpoints: { kubeletEndpoint: { Port } } }
  return { ...kept, node: { ...kept.node, status } }
}

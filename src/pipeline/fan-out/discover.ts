/** First of a fan-out: which clusters and nodes there are, in shards. Done again after a crash it finds what is there, or begins anew. */
import pMap from 'p-map'
import { listNodes } from '#collect/collect.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubernetesNode } from '#model/kubernetes.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import { promisedSources, readModeOf } from '#model/read-mode.ts'
import type { ReadError } from '#model/record.ts'
import type { AuditRequest } from '#model/run.ts'
import { foundTargets, liveHeader } from '#pipeline/fleet.ts'
import { rejectUnknownNames } from '#pipeline/selection-check.ts'
import { policyOf } from '#pipeline/service/runtime.ts'
import { prune } from '#snapshot/prune.ts'
import { type FanOutContext, runPolicy } from './context.ts'
import { type ClusterWork, type FanOutRun, keys, readJson, type WorkItem, writeJson, writeRecords } from './files.ts'
import { shardsOf } from './shards.ts'

/** What the state machine goes on with: where its map finds its items, and how many of them at once. */
export interface Discovered {
  run: string
  bucket: string
  key: string
  clustersAtOnce: number
  clusters: number
  nodes: number
}

/** @throws OperatorError when the run was never asked for, or there is nothing to audit of what was asked for: before anybody reads for it */
export async function discoverShards(context: FanOutContext): Promise<Discovered> {
  const { runId, store, runtime, limits } = context
  runtime.watch.enters('discover')
  const before = await readJson<FanOutRun>(store, keys.run(runId))
  if (before !== null) return discovered(before, context)
  const request = await readJson<AuditRequest>(store, keys.request(runId))
  if (request === null)
    throw new OperatorError(
      `Nobody asked for run ${runId}: ${store.location}/${keys.request(runId)} is not there. The function audit writes it`,
    )
  const { policy, text, mistakes } = await policyOf(store, runtime)
  const live = { policy, selection: request.selection, signal: limits.reading, now: runtime.now }
  const header = await liveHeader(live)
  let found = 0
  const listed: { identity: Pick<NodeIdentity, 'name'> }[] = []
  const clusters = await pMap(foundTargets(live), target => writeCluster(target, found++, listed, { ...context, ...live }), {
    concurrency: policy.pace.clusters,
  })
  rejectUnknownNames(request.selection, listed)
  const shared = clusters.map(cluster => ({ ...cluster, ssmRequestsPerSecond: ssmShare(cluster, clusters, policy) }))
  const items: WorkItem[] = clusters.map(({ shards }, cluster) => ({ run: runId, cluster, shards: [...Array(shards).keys()] }))
  await writeJson(store, keys.work(runId), items)
  const run: FanOutRun = { schema: 'highwater.fan-out/1', runId, request, header, policy: text, mistakes, clusters: shared }
  await writeJson(store, keys.run(runId), run)
  return discovered(run, context)
}

function discovered(run: FanOutRun, context: FanOutContext): Discovered {
  const { bucket, prefix } = context.settings
  return {
    run: run.runId,
    bucket: bucket ?? '',
    key: `${prefix}${keys.work(run.runId)}`,
    clustersAtOnce: runPolicy(run, context).fanOut.clustersAtOnce,
    clusters: run.clusters.length,
    nodes: run.clusters.reduce((sum, { nodes }) => sum + nodes, 0),
  }
}

type DiscoverContext = FanOutContext & Parameters<typeof listNodes>[2]

async function writeCluster(
  target: ClusterTarget,
  number: number,
  listed: { identity: Pick<NodeIdentity, 'name'> }[],
  context: DiscoverContext,
): Promise<Omit<ClusterWork, 'ssmRequestsPerSecond'>> {
  const { runId, store, runtime, policy } = context
  const { record, endpoint, place } = target
  const { cluster } = record
  const folder = `${runtime.folder}/${number}`
  await writeRecords(store, keys.cluster(runId, number), [prune(record)], folder)
  const listErrors: ReadError[] = []
  const nodes: KubernetesNode[] = []
  if (endpoint !== null) for await (const node of listNodes(record, endpoint, context, listErrors)) nodes.push(keptOf(cluster, node))
  listed.push(...nodes.map(node => ({ identity: { name: nodeIdentity(node).name } })))
  const shards = shardsOf(nodes, policy.fanOut.nodesPerShard)
  for (const [shard, members] of shards.entries()) {
    const records = members.map(node => ({ kind: 'Node' as const, cluster, node }))
    await writeRecords(store, keys.nodes(runId, number, shard), records, folder)
  }
  const at = place && { region: place.region, roleArn: place.roleArn, externalId: place.externalId }
  return { cluster, at, nodes: nodes.length, shards: shards.length, listErrors }
}

/** What stays of it for the snapshot, and where its kubelet listens. */
function keptOf(cluster: string, node: KubernetesNode): KubernetesNode {
  const kept = prune({ kind: 'Node', cluster, node }).node
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  return typeof port === 'number' ? { ...kept, status: { ...kept.status, daemonEndpoints: { kubeletEndpoint: { Port: port } } } } : kept
}

/** The limits of SSM are an account's and region's together; each cluster has its part of them, as many as may be read at once. */
function ssmShare(one: Pick<ClusterWork, 'at'>, all: readonly Pick<ClusterWork, 'at' | 'cluster'>[], policy: Policy): number {
  const isBeside = ({ at, cluster }: Pick<ClusterWork, 'at' | 'cluster'>) =>
    at?.region === one.at?.region && at?.roleArn === one.at?.roleArn && promisedSources[readModeOf(policy, cluster)].includes('host')
  const beside = all.filter(isBeside).length
  return policy.pace.ssmRequestsPerSecond / Math.max(1, Math.min(beside, policy.fanOut.clustersAtOnce))
}

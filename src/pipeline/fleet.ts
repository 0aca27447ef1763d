/** Where records come from: a live fleet, clusters of a kubeconfig, or a saved snapshot. Right of here nobody can tell which. */
import { credentialSource } from '#clients/credentials.ts'
import { sdkRegion } from '#clients/eks.ts'
import type { KubernetesEndpoint } from '#clients/kubernetes.ts'
import { callerAccount } from '#clients/sts.ts'
import { type CollectOptions, collect } from '#collect/collect.ts'
import { clusterCollectors, collectors } from '#collect/collectors/index.ts'
import { type ClusterTarget, discover } from '#discover/discover.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { Policy } from '#model/policy.ts'
import { type MalformedLine, type NodeRecord, type SnapshotHeader, type SnapshotRecord, snapshotSchema } from '#model/record.ts'
import { type Selection, selectsCluster, selectsNode } from '#model/selection.ts'
import { prune } from '#snapshot/prune.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { merge } from './merge.ts'

export interface LiveOptions {
  policy: Policy
  selection: Selection
  /** The run's deadline, or the operator's Ctrl-C. */
  signal: AbortSignal
  onNodes?: CollectOptions['onNodes']
}

/** One context of a kubeconfig. */
export interface NamedEndpoint {
  context: string
  endpoint: KubernetesEndpoint
}

/** Every selected EKS cluster. @throws OperatorError when there is nothing to audit. */
export async function* liveFleet(options: LiveOptions): AsyncGenerator<SnapshotRecord> {
  const region = options.policy.accounts[0]?.regions?.[0] ?? (await sdkRegion())
  yield header(region === null ? null : await ownAccount(region, options.signal), region)
  yield* readAll(untilAborted(discover(options.policy, options.selection, options.signal), options.signal), options)
}

/** Clusters outside EKS, or reached as kubectl does. */
export async function* kubeconfigFleet(endpoints: NamedEndpoint[], options: LiveOptions): AsyncGenerator<SnapshotRecord> {
  yield header(null, null)
  yield* readAll(kubeconfigTargets(endpoints, options.policy), options)
}

/** There is no IAM behind a kubeconfig: kubelets see its token, where the policy says so, or none. */
export const kubeconfigTargets = (endpoints: NamedEndpoint[], { kubelet: { useOwnToken } }: Policy): ClusterTarget[] =>
  endpoints.map(({ context, endpoint }) => ({
    record: { kind: 'Cluster', cluster: context, errors: [] },
    endpoint,
    kubelet: useOwnToken && endpoint.ca !== undefined ? { ca: endpoint.ca, authorization: endpoint.authorization } : null,
  }))

/** A saved snapshot, cut to the selection. @throws OperatorError */
export async function* savedFleet(path: string, selection: Selection): AsyncGenerator<SnapshotRecord | MalformedLine> {
  for await (const record of readSnapshot(path)) {
    if (record.kind !== 'Snapshot' && record.kind !== 'Malformed' && !selectsCluster(selection, record.cluster)) continue
    if (record.kind === 'Node' && !isSelectedNode(record, selection)) continue
    yield record
  }
}

const isSelectedNode = (record: NodeRecord, selection: Selection) =>
  (selection.nodes.length === 0 && selection.nodegroups.length === 0) || selectsNode(selection, nodeIdentity(prune(record).node))

function readAll(
  targets: AsyncIterable<ClusterTarget> | Iterable<ClusterTarget>,
  { policy, selection, signal, onNodes }: LiveOptions,
): AsyncGenerator<SnapshotRecord> {
  async function* streams(): AsyncGenerator<AsyncIterable<SnapshotRecord>> {
    for await (const { record, endpoint, kubelet } of targets)
      yield collect(record, endpoint, { collectors, clusterCollectors, kubelet, policy, selection, signal, onNodes })
  }
  return merge(streams(), policy.pace.clusters)
}

/** What the deadline cut off is said in the snapshot, not thrown. */
async function* untilAborted(targets: AsyncIterable<ClusterTarget>, signal: AbortSignal): AsyncGenerator<ClusterTarget> {
  try {
    yield* targets
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `not all clusters were found: ${signal.reason instanceof Error ? signal.reason.message : signal.reason}`
    yield { record: { kind: 'Cluster', cluster: '*', errors: [{ what: 'clusters', message }] }, endpoint: null }
  }
}

const header = (account: string | null, region: string | null): SnapshotHeader => ({
  kind: 'Snapshot',
  schema: snapshotSchema,
  takenAt: new Date().toISOString(),
  account,
  region,
})

/** For the report's header only: an audit does not stop because STS does not answer. */
async function ownAccount(region: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await callerAccount(region, credentialSource(null, null, region), signal)
  } catch {
    // Whatever is wrong with the credentials, discovery meets it next and says it.
    return null
  }
}

/** Sources of records: a live fleet, clusters of a kubeconfig, or a saved snapshot. Later stages do not see the difference. */

import { messageOf, OperatorError } from '#base/operator-error.ts'
import { credentialSource } from '#clients/aws/credentials.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import { callerAccount } from '#clients/aws/sts.ts'
import { endedByIn } from '#clients/failure.ts'
import type { NamedEndpoint } from '#clients/kubernetes/kubeconfig.ts'
import type { KubernetesEndpoint } from '#clients/kubernetes/kubernetes.ts'
import { type CollectOptions, collect } from '#collect/collect.ts'
import type { ClusterInAws } from '#collect/collector.ts'
import { clusterCollectorsOf, disruptionBudgets, events } from '#collect/collectors/cluster.ts'
import { Inspector } from '#collect/inspect/inspector.ts'
import { collectorsOf, type ReadDepth, shallowCollectors } from '#collect/modes.ts'
import { type AwsPlace, type ClusterTarget, discover } from '#discover/discover.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { readForNodes } from '#facts/kubernetes/discovery.ts'
import {
  type ClusterRecord,
  type MalformedLine,
  type NodeRecord,
  promisedSources,
  type Selection,
  type SnapshotHeader,
  type SnapshotRecord,
  selectsAllNodes,
  selectsCluster,
  selectsNode,
  snapshotSchema,
  sources,
} from '#model/input/record.ts'
import { type Policy, readModeOf } from '#model/policy.ts'
import { clusterInput } from '#snapshot/input.ts'
import { completeNode, prune, pruneParts } from '#snapshot/prune.ts'
import { type ReadOptions, readSnapshot } from '#snapshot/read.ts'

const objectCollectors = {
  all: clusterCollectorsOf,
  budgets: () => [disruptionBudgets],
  events: () => [events],
  none: () => [],
}

export interface LiveOptions {
  policy: Policy
  selection: Selection
  /** The run's deadline, or the operator's Ctrl-C. */
  signal: AbortSignal
  /** Clock for the times of records. Default: the machine's clock. */
  now?: () => Date
  onNodes?: CollectOptions['onNodes']
  /** Called before a cluster is read. */
  onTarget?: (target: ClusterTarget) => void
  /** Objects of a cluster to read beside its nodes; default: all that an audit needs. */
  objects?: keyof typeof objectCollectors
  /** Absent: everything that the mode reads. */
  depth?: ReadDepth
  /** Clusters that were found already. */
  targets?: readonly ClusterTarget[]
  /** Looks up clusters of a kubeconfig in EKS. Absent: no lookup. */
  behind?: ClusterLookup
}

interface ClusterLookup {
  /** @param context of a kubeconfig */
  clusterBehind(
    context: string,
    endpoint: Pick<KubernetesEndpoint, 'server'>,
  ): Promise<Pick<ClusterRecord, 'eks' | 'nodegroups' | 'errors'>>
}

/** Every selected EKS cluster. @throws OperatorError if there is nothing to audit. */
export async function* liveFleet(options: LiveOptions): AsyncGenerator<SnapshotRecord> {
  yield await liveHeader(options)
  yield* readAll(options.targets ?? foundTargets(options), options)
}

/** The first record of a live fleet. @throws OperatorError if the policy does not permit the read mode */
export async function liveHeader({ policy, signal, now }: LiveOptions): Promise<SnapshotHeader> {
  requireKubeletIdentity(policy)
  const region = policy.accounts[0]?.regions?.[0] ?? (await sdkRegion())
  return header(region === null ? null : await ownAccount(region, signal), region, now)
}

/** Yields the targets of eksTargets until the deadline. @throws OperatorError as liveFleet */
export const foundTargets = (options: LiveOptions): AsyncGenerator<ClusterTarget> =>
  untilAborted(eksTargets(options), options.signal)

/** Clusters of a kubeconfig, EKS or not. */
export async function* kubeconfigFleet(
  endpoints: NamedEndpoint[],
  options: LiveOptions,
): AsyncGenerator<SnapshotRecord> {
  requireKubeletIdentity(options.policy)
  yield header(null, null, options.now)
  yield* readAll(await kubeconfigTargets(endpoints, options.policy, options.behind), options)
}

/** Mode `kubelet` needs an explicit decision about the token that every kubelet sees. @throws OperatorError */
export function requireKubeletIdentity({ modes, kubelet: { roleArn, useOwnToken } }: Policy): void {
  if (roleArn === null && !useOwnToken && modes.some(({ mode }) => mode === 'kubelet'))
    throw new OperatorError(
      'Mode kubelet shows a token to every kubelet, and none is configured. Set kubelet.roleArn in the policy to a role that may do nothing else ' +
        '(docs/permissions.md), or kubelet.useOwnToken: true where the token of the run itself may be seen',
    )
}

/** The selected EKS clusters, and how to reach each. @throws OperatorError as liveFleet */
export const eksTargets = ({
  policy,
  selection,
  signal,
}: LiveOptions): AsyncGenerator<ClusterTarget> => discover(policy, selection, signal)

/** A kubeconfig has no IAM role for kubelets: they see its own token if the policy permits, else none. */
export async function kubeconfigTargets(
  endpoints: NamedEndpoint[],
  policy: Policy,
  behind?: LiveOptions['behind'],
): Promise<ClusterTarget[]> {
  const place = await ownPlace(policy)
  const isShown = policy.kubelet.useOwnToken
  const targets: ClusterTarget[] = []
  for (const { context, endpoint } of endpoints)
    targets.push({
      record: {
        kind: 'Cluster',
        cluster: context,
        errors: [],
        ...(await behind?.clusterBehind(context, endpoint)),
      },
      endpoint,
      place,
      kubelet:
        isShown && endpoint.ca !== undefined
          ? { ca: endpoint.ca, authorization: endpoint.authorization }
          : null,
    })
  return targets
}

/** A saved snapshot, cut to the selection. @throws OperatorError, or the signal's reason */
export async function* savedFleet(
  path: string,
  selection: Selection,
  signal?: AbortSignal,
  needed: Pick<ReadOptions, 'cut' | 'nodeKeys'> = {},
): AsyncGenerator<SnapshotRecord | MalformedLine> {
  for await (const record of readSnapshot(path, { signal, ...needed })) {
    if (
      record.kind !== 'Snapshot' &&
      record.kind !== 'Malformed' &&
      !selectsCluster(selection, record.cluster)
    )
      continue
    if (record.kind === 'Node' && !isSelectedNode(record, selection)) continue
    // As in a live fleet: objects without a node can be judged only if all nodes of the cluster are selected.
    if (
      record.kind === 'Objects' &&
      !selectsAllNodes(selection) &&
      !readForNodes.has(record.resource)
    )
      continue
    yield record
  }
}

const isSelectedNode = (record: NodeRecord, selection: Selection) =>
  selectsAllNodes(selection) || selectsNode(selection, nodeIdentity(record.node))

/** For clusters without an account in the policy: the caller's account, and the policy's first region or the SDK's. */
async function ownPlace({ accounts }: Policy): Promise<AwsPlace | null> {
  const region = accounts[0]?.regions?.[0] ?? (await sdkRegion())
  return region === null
    ? null
    : { region, roleArn: null, externalId: null, credentials: credentialSource(null, null, region) }
}

async function* readAll(
  targets: AsyncIterable<ClusterTarget> | Iterable<ClusterTarget>,
  options: LiveOptions,
): AsyncGenerator<SnapshotRecord> {
  const { policy, signal, objects } = options
  // All clusters of an account and region share an inspector, because they share the limits of SSM.
  const inspectors = new Map<AwsPlace, Inspector>()
  const inspectorOf = (place: AwsPlace) => {
    const inspector =
      inspectors.get(place) ?? new Inspector(place, policy, signal, objects === undefined)
    inspectors.set(place, inspector)
    return inspector
  }
  async function* streams(): AsyncGenerator<AsyncIterable<SnapshotRecord>> {
    for await (const target of targets) {
      options.onTarget?.(target)
      yield prunedRecords(
        collect(target.record, target.endpoint, collectOptionsOf(target, options, inspectorOf)),
      )
    }
  }
  try {
    yield* merge(streams(), policy.pace.clusters)
  } finally {
    for (const inspector of inspectors.values()) inspector.close()
  }
}

/** The parts of a node's record were cut as they arrived. */
async function* prunedRecords(
  records: AsyncIterable<SnapshotRecord>,
): AsyncGenerator<SnapshotRecord> {
  for await (const record of records)
    yield record.kind === 'Node' ? completeNode(record) : prune(record)
}

/** The options to read a cluster. @param inspectorOf called only if its nodes are read by SSM */
export function collectOptionsOf(
  { record, place, kubelet }: ClusterTarget,
  { policy, selection, signal, now, onNodes, objects, depth }: LiveOptions,
  inspectorOf: (place: AwsPlace) => Inspector,
): CollectOptions {
  const mode = readModeOf(policy, record.cluster)
  return {
    mode,
    collectors: depth === undefined ? collectorsOf[mode] : shallowCollectors(depth, mode),
    clusterCollectors: objectCollectors[objects ?? 'all'](policy),
    readsVolumes: depth === undefined && objects === undefined,
    inspector:
      depth === undefined && place && promisedSources[mode].includes('host')
        ? inspectorOf(place)
        : null,
    aws: place && clusterInAws(record, place),
    kubelet: kubelet ?? null,
    policy,
    selection,
    signal,
    prune: pruneParts,
    now,
    onNodes,
  }
}

/** Uses the cluster's name in EKS: the context of a kubeconfig can have any name. */
export function clusterInAws(
  record: ClusterRecord,
  { region, credentials }: AwsPlace,
): ClusterInAws | null {
  const name = clusterInput(record).eks?.name
  return name === undefined ? null : { name, region, credentials }
}

/** At the deadline, yields an error record instead of throwing. */
async function* untilAborted(
  targets: AsyncIterable<ClusterTarget>,
  signal: AbortSignal,
): AsyncGenerator<ClusterTarget> {
  try {
    yield* targets
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `not all clusters were found: ${messageOf(signal.reason)}`
    yield {
      record: {
        kind: 'Cluster',
        cluster: '*',
        errors: [{ what: 'clusters', message, ...endedByIn(signal.reason) }],
      },
      endpoint: null,
      place: null,
    }
  }
}

const header = (
  account: string | null,
  region: string | null,
  now = () => new Date(),
): SnapshotHeader => ({
  kind: 'Snapshot',
  schema: snapshotSchema,
  takenAt: now().toISOString(),
  account,
  region,
  parts: sources,
})

/** Only for the report's header: an audit continues if STS does not answer. */
async function ownAccount(region: string, signal: AbortSignal) {
  try {
    return await callerAccount(region, credentialSource(null, null, region), signal)
  } catch {
    // Discovery reports errors of the credentials.
    return null
  }
}

/** Merges streams in the order of arrival; at most `limit` streams are open at once. */
export async function* merge<T>(
  streams: AsyncIterable<AsyncIterable<T>>,
  limit: number,
): AsyncGenerator<T> {
  const source = streams[Symbol.asyncIterator]()
  const pulled = new Map<AsyncIterator<T>, Promise<Event<T>>>()
  const pull = (stream: AsyncIterator<T>) =>
    pulled.set(
      stream,
      stream.next().then(result => ({ stream, result })),
    )
  const openNext = () => source.next().then((opened): Event<T> => ({ opened }))
  let opening: Promise<Event<T>> | null = openNext()
  try {
    while (opening || pulled.size > 0) {
      const mayOpen: Promise<Event<T>>[] = opening && pulled.size < limit ? [opening] : []
      const event: Event<T> = await Promise.race([...mayOpen, ...pulled.values()])
      if ('opened' in event) {
        opening = event.opened.done ? null : openNext()
        if (!event.opened.done) pull(event.opened.value[Symbol.asyncIterator]())
      } else if (event.result.done) pulled.delete(event.stream)
      else {
        yield event.result.value
        // Only now: a value requested earlier would take memory while the consumer works.
        pull(event.stream)
      }
    }
  } finally {
    await Promise.allSettled([
      source.return?.(),
      ...[...pulled.keys()].map(stream => stream.return?.()),
    ])
  }
}

/** The source has opened a stream (or has ended), or an open stream has a result. */
type Event<T> =
  | { opened: IteratorResult<AsyncIterable<T>> }
  | { stream: AsyncIterator<T>; result: IteratorResult<T> }

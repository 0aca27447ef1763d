/** Reads one cluster: its nodes page by page, each node's collectors, then the cluster's objects. Each failure becomes an entry of `errors`. */

import { messageOf } from '#base/operator-error.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { firstNames } from '#base/text.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import { Ec2Api } from '#clients/aws/ec2.ts'
import { endedByIn, type FailureKind, RequestFailure, readErrorOf } from '#clients/failure.ts'
import {
  type GetOptions,
  KubeletApi,
  type KubeletIdentity,
  KubernetesClient,
  type KubernetesEndpoint,
} from '#clients/kubernetes/kubernetes.ts'
import type { Inspector } from '#collect/inspect/inspector.ts'
import { attachedFilter, attachedInstancesMax } from '#facts/aws/cluster-resources.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'
import { endpointAccess } from '#facts/eks/endpoint-access.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { type KubeletAddress, kubeletAddress } from '#facts/kubelet/endpoints.ts'
import type { ClusterNeed } from '#model/cluster-garbage.ts'
import {
  type ClusterRecord,
  type KubernetesNode,
  type NodeIdentity,
  type NodeRecord,
  type ObjectsRecord,
  type ReadError,
  type ReadMode,
  type ResourceName,
  type Selection,
  type Source,
  selectsAllNodes,
  selectsNode,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'

export interface CollectOptions {
  mode: ReadMode
  /** The collectors of the mode. */
  collectors: readonly Collector[]
  clusterCollectors: readonly ClusterCollector[]
  /** For the cluster's account and region; null: they are unknown, or the mode needs none. */
  inspector: Inspector | null
  /** Null: EKS does not know the cluster, or its account or region is unknown. */
  aws: ClusterInAws | null
  /** Whether the nodes' volumes are requested from EC2. */
  readsVolumes: boolean
  /** Client for direct calls to kubelets. Null: no identity is configured, or the mode needs none. */
  kubelet: KubeletIdentity | null
  policy: Policy
  selection: Selection
  /** Aborted by the run's deadline or the operator's Ctrl-C. The reason's message becomes the error of unread nodes. */
  signal: AbortSignal
  /** Selects the kept part of an answer; the rest is dropped after parsing. Default: everything is kept. */
  prune?: <Parts extends Partial<NodeRecord>>(parts: Parts) => Parts
  /** Default: the machine's clock. */
  now?: (() => Date) | undefined
  onNodes?: (event: NodesFound) => void
}

/** For the progress line: number of a cluster's nodes, as far as the API server has reported it. */
interface NodesFound {
  cluster: string
  nodes: number
}

/** The right that listing the nodes needs, in addition to the collectors' rights. */
export const listNodesPermission = 'list nodes'
/** The purpose of that right. */
export const listNodesPurpose = 'the list of nodes: without it nothing of the cluster is audited'

const fargate =
  'a Fargate node: AWS runs its kubelet and gives no access to it, so there is nothing to audit'

/** Yields the cluster's record, then its nodes' records as they are read, then its objects. Failures of the cluster become `errors`, not exceptions. */
export async function* collect(
  record: ClusterRecord,
  endpoint: KubernetesEndpoint | null,
  options: CollectOptions,
): AsyncGenerator<ClusterRecord | NodeRecord | ObjectsRecord> {
  if (!endpoint) return yield record
  const kubernetes = new KubernetesClient(endpoint, { pace: options.policy.pace })
  try {
    const errors: ReadError[] = []
    let isRecordYielded = false
    const nodesWithPods = new Set<string>()
    for await (const node of readNodes(
      record.cluster,
      kubernetes,
      selectedNodes(record, kubernetes, options, errors),
      options,
    )) {
      if (!isRecordYielded) yield record
      isRecordYielded = true
      if (Array.isArray(node.pods)) nodesWithPods.add(nodeIdentity(node.node).name)
      yield node
    }
    if (asksForObjects(options.selection, isRecordYielded, errors)) {
      if (!isRecordYielded) {
        yield record
        yield* emptyNodeList(record.cluster, errors)
      }
      isRecordYielded = true
      yield* readAllObjects(record.cluster, kubernetes, nodesWithPods, options, errors)
    }
    // If a list broke off, the cluster's record reports it: the first record if no node came, else a second record at the end.
    if (!isRecordYielded || errors.length > 0)
      yield { ...record, errors: [...(record.errors ?? []), ...errors] }
  } finally {
    kubernetes.close()
  }
}

/** Reads by a client of its own, which is closed at the end. */
async function* readBy<Found>(
  endpoint: KubernetesEndpoint,
  { policy: { pace } }: Pick<CollectOptions, 'policy'>,
  read: (kubernetes: KubernetesClient) => AsyncIterable<Found>,
): AsyncGenerator<Found> {
  const kubernetes = new KubernetesClient(endpoint, { pace })
  try {
    yield* read(kubernetes)
  } finally {
    kubernetes.close()
  }
}

/** Yields the selected nodes of a cluster, without a call to any kubelet. A failure of the list goes into `errors`. */
export const listNodes = (
  record: ClusterRecord,
  endpoint: KubernetesEndpoint,
  options: Pick<CollectOptions, 'policy' | 'selection' | 'signal'>,
  errors: ReadError[],
): AsyncGenerator<KubernetesNode> =>
  readBy(endpoint, options, kubernetes => selectedNodes(record, kubernetes, options, errors))

interface NodeCount {
  /** Null: the API server did not report the number. */
  nodes: number | null
  /** Why the number is unknown, for people; null: it is known. */
  reason: string | null
}

/** Approximate number of nodes, by one small request with the usual retries. 0: the cluster cannot be read at all. Null: the failure may be temporary. */
export async function countNodes(
  endpoint: KubernetesEndpoint,
  { policy: { pace, timeoutsMs }, signal }: Pick<CollectOptions, 'policy' | 'signal'>,
): Promise<NodeCount> {
  const kubernetes = new KubernetesClient(endpoint, { pace })
  try {
    return {
      nodes: await kubernetes.count('/api/v1/nodes', { signal, timeoutMs: timeoutsMs.list }),
      reason: null,
    }
  } catch (error) {
    // The collectors meet the same error and report it.
    return isPermanentFailure(error)
      ? { nodes: 0, reason: null }
      : { nodes: null, reason: messageOf(error) }
  } finally {
    kubernetes.close()
  }
}

const keptOut: readonly FailureKind[] = ['gone', 'name', 'refused', 'tls']
/** Whether a repeated request would fail, too: not if the API server is only busy or slow. */
const isPermanentFailure = (error: unknown) =>
  error instanceof RequestFailure &&
  (keptOut.includes(error.kind) || [401, 403].includes(error.status ?? 0))

/** Reads some nodes that were listed before. Failures become `errors`, not exceptions. */
export const collectNodes = (
  cluster: string,
  endpoint: KubernetesEndpoint,
  nodes: Iterable<KubernetesNode>,
  options: CollectOptions,
): AsyncGenerator<NodeRecord> =>
  readBy(endpoint, options, kubernetes => readNodes(cluster, kubernetes, nodes, options))

/** Yields a cluster's own objects, after its nodes. @param nodesWithPods names of nodes whose pods are known @param errors receives the reason if a list breaks off */
export const collectObjects = (
  cluster: string,
  endpoint: KubernetesEndpoint,
  nodesWithPods: ReadonlySet<string>,
  options: CollectOptions,
  errors: ReadError[],
): AsyncGenerator<ObjectsRecord> =>
  readBy(endpoint, options, kubernetes =>
    readAllObjects(cluster, kubernetes, nodesWithPods, options, errors),
  )

/**
 * Whether the cluster's objects are requested: not if no selected node was found. If the API server refuses only the list of nodes,
 * the other lists are requested, because a missing right costs only its own list. @param errors of the list of nodes
 */
export const asksForObjects = (
  selection: Selection,
  hasNodes: boolean,
  errors: readonly ReadError[],
): boolean =>
  hasNodes || (selectsAllNodes(selection) && errors.every(({ status }) => status === forbidden))

const forbidden = 403

/** An empty record if the list of nodes was read and is empty, so that it differs from an unread list. @param errors of the list of nodes */
export const emptyNodeList = (cluster: string, errors: readonly ReadError[]): ObjectsRecord[] =>
  errors.length > 0 ? [] : [{ kind: 'Objects', cluster, resource: 'nodes', items: [] }]

async function* readNodes(
  cluster: string,
  kubernetes: KubernetesClient,
  nodes: AsyncIterable<KubernetesNode> | Iterable<KubernetesNode>,
  options: CollectOptions,
): AsyncGenerator<NodeRecord> {
  const { pace, timeoutsMs } = options.policy
  const kubelet = options.kubelet && new KubeletApi(options.kubelet, pace)
  const context = {
    kubernetes,
    inspector: options.inspector,
    kubelet,
    signal: options.signal,
    timeoutsMs,
  }
  // SSM gets batches of nodes: while one batch runs, the next one fills. The API server's pace limit still applies.
  const atOnce = options.inspector
    ? Math.max(pace.concurrency, 2 * commandInstancesMax)
    : pace.concurrency
  const aws = options.readsVolumes ? options.aws : null
  const listed = withVolumes(nodes, aws, options.signal)
  const read = asCompleted(listed, each => readNode(cluster, each, options, context), atOnce)
  for await (const parse of read) yield parse()
}

/** Reads the cluster's objects: garbage only if the selection is the whole cluster. */
async function* readAllObjects(
  cluster: string,
  kubernetes: KubernetesClient,
  nodesWithPods: ReadonlySet<string>,
  { clusterCollectors, selection, aws, signal, policy }: CollectOptions,
  errors: ReadError[],
): AsyncGenerator<ObjectsRecord> {
  const isWholeCluster = selectsAllNodes(selection)
  const asked = clusterCollectors.filter(
    ({ garbage, isOfAws }) =>
      (isWholeCluster || garbage === undefined) && (aws !== null || isOfAws !== true),
  )
  const objects = { kubernetes, nodesWithPods, aws, signal, timeoutsMs: policy.timeoutsMs }
  for (const collector of asked) yield* readObjects(cluster, collector, objects, errors)
}

/** A page stays in memory until its last node is read; a node with 50 images takes 20 KB. */
const nodesAtOnce = '100'

/** Yields the cluster's nodes, page by page. If the list breaks off, `errors` gets the reason. */
async function* selectedNodes(
  { cluster, eks }: ClusterRecord,
  kubernetes: KubernetesClient,
  {
    selection,
    signal,
    onNodes,
    policy,
  }: Pick<CollectOptions, 'selection' | 'signal' | 'onNodes' | 'policy'>,
  errors: ReadError[],
): AsyncGenerator<KubernetesNode> {
  let nodes = 0
  try {
    for await (const page of kubernetes.list(
      '/api/v1/nodes',
      { limit: nodesAtOnce },
      { signal, timeoutMs: policy.timeoutsMs.list },
    )) {
      const wanted = page.items.filter(node => selectsNode(selection, nodeIdentity(node)))
      nodes += wanted.length
      onNodes?.({ cluster, nodes: nodes + (page.remaining ?? 0) })
      yield* wanted
    }
  } catch (error) {
    const access = isUnreached(error) ? endpointAccess(eks) : ''
    errors.push({
      what: 'nodes',
      ...(error instanceof RequestFailure && error.status !== null && { status: error.status }),
      message: `the list of nodes${selectedNames(selection)} could not be read${nodes > 0 ? ' to its end' : ''}: ${messageOf(error)}${access}`,
      ...endedByIn(error),
    })
  }
}

/** Lists the selection for the error message: these nodes are unread. */
function selectedNames({ nodegroups, nodes }: Selection) {
  const names = [...nodegroups.map(name => `nodegroup ${name}`), ...nodes]
  return names.length === 0 ? '' : ` (selected: ${firstNames(names, namesShown)})`
}

const namesShown = 5

const unreached: readonly FailureKind[] = ['network', 'refused', 'timeout']
const isUnreached = (error: unknown) =>
  error instanceof RequestFailure && unreached.includes(error.kind)

/** Requests everything of one node. @returns a function that parses the answers, which wait as text until the record is needed */
async function readNode(
  cluster: string,
  { node, volumes }: ListedNode,
  options: Pick<CollectOptions, 'mode' | 'collectors' | 'now' | 'prune'>,
  context: CollectContext,
) {
  const { mode, collectors, now = () => new Date(), prune = parts => parts } = options
  const identity = nodeIdentity(node)
  const attempts = identity.ready === 'True' ? undefined : 1
  const nodeContext = { ...context, attempts, address: kubeletAddress(node) }
  const received = await Promise.all(
    collectors.map(collector => attempt(collector, identity, nodeContext)),
  )
  const attached = await volumes
  const at = now().toISOString()
  return () => {
    const errors: ReadError[] = []
    const record: NodeRecord = { kind: 'Node', cluster, at, mode, node, errors }
    // Each answer is cut before the next one is parsed.
    const parsers: (() => Partial<NodeRecord>)[] = [() => ({ node }), ...received, () => attached]
    for (const parse of parsers) {
      const { errors: failures = [], ...answers } = prune(parse())
      Object.assign(record, answers)
      errors.push(...failures)
    }
    return record
  }
}

/** A node that was listed but not read. @param message why, for people */
export function unreadNode(
  cluster: string,
  node: KubernetesNode,
  { mode, collectors }: Pick<CollectOptions, 'mode' | 'collectors'>,
  message: string,
): NodeRecord {
  return {
    kind: 'Node',
    cluster,
    at: null,
    mode,
    node,
    errors: collectors.flatMap(({ answers }) => answers.map(what => ({ what, message }))),
  }
}

/** Yields one record per page. An empty record means that there are no objects; no record means that it is unknown. */
async function* readObjects(
  cluster: string,
  { resource, collect: pagesOf }: ClusterCollector,
  context: ObjectsContext,
  errors: ReadError[],
): AsyncGenerator<ObjectsRecord> {
  let isEmpty = true
  try {
    for await (const items of pagesOf(context)) {
      if (items.length === 0) continue
      isEmpty = false
      yield { kind: 'Objects', cluster, resource, items }
    }
    if (isEmpty) yield { kind: 'Objects', cluster, resource, items: [] }
  } catch (error) {
    errors.push({ what: resource as ResourceName, message: messageOf(error), ...endedByIn(error) })
  }
}

async function attempt(
  collector: Collector,
  node: NodeIdentity,
  context: NodeContext,
): Promise<() => CollectedParts> {
  const failedParts = (error: unknown): CollectedParts => ({
    errors: collector.answers.map(what => readErrorOf(what, error)),
  })
  if (node.owner === 'fargate' && collector.isAnsweredByKubelet)
    return () => failedParts(new Error(fargate))
  try {
    const parse = await collector.collect(node, context)
    return () => {
      try {
        return parse()
      } catch (error) {
        return failedParts(error)
      }
    }
  } catch (error) {
    const failure = failedParts(error)
    return () => failure
  }
}

/**
 * Yields results as they arrive, so a slow one delays no other. At most `atOnce` results are running or unconsumed, so a consumer
 * that is slower than the work limits the memory.
 */
export async function* asCompleted<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  atOnce: number,
): AsyncGenerator<Result> {
  // No Promise.race: a slow promise would keep the results of all other promises in memory.
  const settled: Promise<Result>[] = []
  let held = 0
  let wake = () => {}
  const takeResult = async () => {
    while (settled.length === 0) await new Promise<void>(resolve => (wake = resolve))
    held -= 1
    return settled.shift() as Promise<Result>
  }
  for await (const item of items) {
    const result = work(item)
    const settle = () => {
      settled.push(result)
      wake()
    }
    result.then(settle, settle)
    held += 1
    if (held >= atOnce) yield await takeResult()
  }
  while (held > 0) yield await takeResult()
}

/* Reads the EBS volumes of nodes: one request to EC2 for as many instances as a filter accepts. */

const timeoutMs = 20_000
const lateMessage = `EC2 did not list the volumes of the nodes within ${timeoutMs / 1000} s`

/** Attached volumes, by instance id; or the reason why EC2 did not list them. */
type Attached = ReadonlyMap<string, RawObject[]> | ReadError

interface ListedNode {
  node: KubernetesNode
  /** `volumes`, or the reason why they are unknown. Never rejects. Empty: EC2 was not requested. */
  volumes: Promise<PartsOfVolumes>
}

type PartsOfVolumes = Pick<NodeRecord, 'volumes' | 'errors'>

/** Yields the nodes in their order. @param aws null: volumes are not read */
async function* withVolumes(
  nodes: AsyncIterable<KubernetesNode> | Iterable<KubernetesNode>,
  aws: ClusterInAws | null,
  signal: AbortSignal,
): AsyncGenerator<ListedNode> {
  let batch: KubernetesNode[] = []
  for await (const node of nodes) {
    batch.push(node)
    if (aws && batch.length < attachedInstancesMax) continue
    yield* nodesAndVolumes(batch, aws, signal)
    batch = []
  }
  yield* nodesAndVolumes(batch, aws, signal)
}

function* nodesAndVolumes(
  nodes: KubernetesNode[],
  aws: ClusterInAws | null,
  signal: AbortSignal,
): Generator<ListedNode> {
  const found = nodes.map(node => ({ node, id: ec2Instance(node) }))
  const ids = found.flatMap(({ id }) => id ?? [])
  const attached = !aws || ids.length === 0 ? null : attachedTo(ids, aws, signal)
  for (const { node, id } of found)
    yield {
      node,
      volumes: Promise.resolve(attached).then(known =>
        !known || id === null ? {} : partsOf(known, id),
      ),
    }
}

const partsOf = (attached: Attached, id: string): PartsOfVolumes =>
  'what' in attached ? { errors: [attached] } : { volumes: attached.get(id) ?? [] }

/** A hybrid node has an id from SSM instead of EC2. */
function ec2Instance(node: KubernetesNode) {
  const { instanceId } = nodeIdentity(node)
  return instanceId?.startsWith('i-') ? instanceId : null
}

async function attachedTo(
  ids: string[],
  { region, credentials }: ClusterInAws,
  signal: AbortSignal,
): Promise<Attached> {
  const ec2 = new Ec2Api(region, credentials)
  // Every node of the batch waits for this answer.
  const timeout = AbortSignal.timeout(timeoutMs)
  const within = AbortSignal.any([signal, timeout])
  const volumes = new Map<string, RawObject[]>()
  try {
    for await (const page of ec2.volumes([attachedFilter(ids)], within))
      for (const { Attachments, ...volume } of page)
        for (const { InstanceId, Device } of attachmentsOf(Attachments)) {
          const known = volumes.get(String(InstanceId)) ?? []
          volumes.set(String(InstanceId), [...known, { ...volume, Device }])
        }
    return volumes
  } catch (error) {
    const isLate = timeout.aborted && !signal.aborted
    return readErrorOf('volumes', isLate ? new Error(lateMessage) : error)
  } finally {
    ec2.close()
  }
}

const attachmentsOf = (attachments: unknown) =>
  Array.isArray(attachments) ? attachments.filter(isRawObject) : []

/* Types of collectors: each makes one request, to a node or to a cluster. */

/** Context of every call to a cluster. */
export interface ClusterContext {
  kubernetes: KubernetesClient
  signal: AbortSignal
  timeoutsMs: Policy['timeoutsMs']
}

export interface CollectContext extends ClusterContext {
  /** For the cluster's account and region; null: the place of the instances is unknown. */
  inspector: Inspector | null
  /** Direct access to kubelets; null: no identity is configured. */
  kubelet: KubeletApi | null
}

export interface NodeContext extends CollectContext {
  /** The kubelet's address for direct calls. */
  address: KubeletAddress
  /** Tries of one request; fewer for a node that does not post its status. */
  attempts?: number
}

/** Options for a request that the kubelet answers, directly or through the API server. */
export const kubeletOptions = (
  { signal, attempts, timeoutsMs }: NodeContext,
  kind: 'configz' | 'summary',
): GetOptions => ({ signal, attempts, timeoutMs: timeoutsMs[kind], isProxied: true, kind })

/** The keys of a node's record that a request can fill. */
export type Answered = Exclude<Source, 'node'>

/** The result of one request. An answer may fill several keys, and `errors` has the reasons for missing parts. */
export type CollectedParts = Partial<Pick<NodeRecord, Answered>> & { errors?: ReadError[] }

/** Requests data and throws on failure. The caller adds the error to the record's `errors`. */
export interface Collector {
  /** The record's keys that the collector fills. Its failure is reported under the same names. */
  answers: readonly Answered[]
  /** Rights that the call needs: `verb resource` in the cluster, IAM actions in the account. */
  permissions: { kubernetes: string[]; aws?: string[] }
  /** What the collector reads, and what is unknown without the right: a noun phrase. */
  purpose: string
  /** Whether it calls the kubelet or the machine, which is not possible on Fargate. */
  isAnsweredByKubelet: boolean
  /** @returns a function that parses the answer. A run calls it after all answers of the node have arrived, so that parsed answers do not wait in memory. */
  collect(node: NodeIdentity, context: NodeContext): Promise<() => CollectedParts>
}

/** Context of requests for garbage, which are sent after the nodes have been read. */
export interface ObjectsContext extends ClusterContext {
  /** Names of the nodes whose records contain their pods. */
  nodesWithPods: ReadonlySet<string>
  /** Place in AWS; null: EKS does not know the cluster, or its region is unknown. */
  aws: ClusterInAws | null
}

/** An EKS cluster, with credentials to read its account. */
export interface ClusterInAws {
  name: string
  region: string
  credentials: CredentialSource
}

/** Lists one kind of object, page by page. Throws on failure; pages yielded before are kept. */
export interface ClusterCollector {
  /** The record's resource, `plural` or `plural.group`, and the name under which its failure is reported. */
  resource: string
  /** Policy kinds; any one turns the collector on. Absent: always on. Garbage is collected only for whole clusters. */
  garbage?: readonly ClusterNeed[]
  permissions: { kubernetes: string[]; aws?: string[] }
  /** Objects of the AWS account. If the account is unknown, the collector does not run. */
  isOfAws?: true
  /** Like the `purpose` of a Collector. */
  purpose: string
  collect(context: ObjectsContext): AsyncGenerator<RawObject[]>
}

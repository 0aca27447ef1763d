/** Sources of records: a live fleet, clusters of a kubeconfig, or a saved snapshot. Later stages do not see the difference. */

import pMap from 'p-map'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { byText, firstNames } from '#base/text.ts'
import { credentialSource } from '#clients/aws/credentials.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import { callerAccount } from '#clients/aws/sts.ts'
import { endedByIn } from '#clients/failure.ts'
import type { NamedEndpoint } from '#clients/kubernetes/kubeconfig.ts'
import type { KubernetesEndpoint } from '#clients/kubernetes/kubernetes.ts'
import { sleep } from '#clients/pace.ts'
import { type ClusterInAws, type CollectOptions, collect, collectNodes } from '#collect/collect.ts'
import { clusterCollectorsOf, disruptionBudgets, events } from '#collect/collectors/cluster.ts'
import { Inspector } from '#collect/inspect/inspector.ts'
import { collectorsOf, type ReadDepth, shallowCollectors } from '#collect/modes.ts'
import { type AwsPlace, type ClusterTarget, discover } from '#discover/discover.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { readForNodes } from '#facts/kubernetes/discovery.ts'
import { rateBetween } from '#judge/compare/history/fill.ts'
import {
  type ClusterRecord,
  type KubernetesNode,
  type MalformedLine,
  type NodeIdentity,
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
import type { AuditedNode, TakenNode } from '#model/report.ts'
import { replay } from '#replay/replay.ts'
import { clusterInput, nodeInput } from '#snapshot/input.ts'
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
export function requireKubeletIdentity({ modes, kubelet: { roleArn, useOwnToken } }: Policy) {
  if (roleArn === null && !useOwnToken && modes.some(({ mode }) => mode === 'kubelet'))
    throw new OperatorError(
      'Mode kubelet shows a token to every kubelet, and none is configured. Set kubelet.roleArn in the policy to a role that may do nothing else ' +
        '(docs/permissions.md), or kubelet.useOwnToken: true where the token of the run itself may be seen',
    )
}

/** The selected EKS clusters, and how to reach each. @throws OperatorError as liveFleet */
export const eksTargets = ({ policy, selection, signal }: LiveOptions) =>
  discover(policy, selection, signal)

/** A kubeconfig has no IAM role for kubelets: they see its own token if the policy permits, else none. */
export async function kubeconfigTargets(
  endpoints: NamedEndpoint[],
  policy: Policy,
  behind?: LiveOptions['behind'],
) {
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
    if (
      record.kind === 'Node' &&
      !(selectsAllNodes(selection) || selectsNode(selection, nodeIdentity(record.node)))
    )
      continue
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

/*
 * Reads the nodes with the least headroom a second time, at the end of reading: a first rate of growth within one run.
 * Only `stats/summary` is requested, at the pace of the first reading.
 */

/** Minimum milliseconds between the two readings of a node. */
const apartMs = 60_000
/** Nodes with more headroom are far from eviction: they are not worth a minute's wait. */
const mostHeadroomPercent = 15
/** Maximum share of the remaining reading time for waiting. */
const waitingShare = 1 / 4

export interface SecondReading {
  /** Registers a cluster of the run. */
  expect(target: ClusterTarget): void
  /** Registers a node of the first reading. */
  take(node: TakenNode, object: KubernetesNode): void
  /** Waits, then reads. @param isKnown whether growth is known from earlier runs. @returns growth of the nodes that answered */
  read(isKnown: (node: TakenNode) => boolean): Promise<Map<TakenNode, Pick<AuditedNode, 'growth'>>>
}

export interface SecondReadingOptions
  extends Pick<LiveOptions, 'policy' | 'selection' | 'signal' | 'now'> {
  /** Reading time that is left. */
  remainingMs: () => number
  /** @param nodes number to read again; 0: no node has little headroom and unknown growth. @param waitMs null: no time is left to wait */
  onWait?: (nodes: number, waitMs: number | null) => void
  /** Default: the machine's timer. It throws when the signal is aborted. */
  sleep?: (durationMs: number, signal: AbortSignal) => Promise<void>
}

interface ReadingCandidate {
  node: TakenNode
  object: KubernetesNode
  headroomPercent: number
}

export function openSecondReading(options: SecondReadingOptions): SecondReading {
  const { policy, signal, remainingMs, onWait, now = () => new Date() } = options
  const { sleep: wait = sleep } = options
  const targets = new Map<string, ClusterTarget>()
  const candidates = new Map<string, ReadingCandidate[]>()
  return {
    expect: target => void targets.set(target.record.cluster, target),
    take(node, object) {
      if (collectorsIn(policy, node.cluster).length === 0) return
      const headroomPercent = headroomOf(node)
      if (headroomPercent === null || headroomPercent < 0 || headroomPercent > mostHeadroomPercent)
        return
      const { cluster } = node
      candidates.set(
        cluster,
        [...(candidates.get(cluster) ?? []), { node, object, headroomPercent }]
          .toSorted(
            (a, b) =>
              a.headroomPercent - b.headroomPercent ||
              byText(a.node.identity.name, b.node.identity.name),
          )
          .slice(0, policy.secondReadings),
      )
    },
    async read(isKnown) {
      const chosen = [...candidates.values()].flat().filter(({ node }) => !isKnown(node))
      if (chosen.length === 0) {
        onWait?.(0, null)
        return new Map()
      }
      const lastMs = Math.max(...chosen.map(({ node }) => Date.parse(node.at)))
      const waitMs = Math.max(0, lastMs + apartMs - now().getTime())
      const hasTime = waitMs + policy.timeoutsMs.summary <= waitingShare * remainingMs()
      onWait?.(chosen.length, hasTime ? waitMs : null)
      if (!hasTime) return new Map()
      try {
        await wait(waitMs, signal)
      } catch (error) {
        if (!signal.aborted) throw error
        return new Map()
      }
      return readAgain(chosen, targets, options)
    },
  }
}

/** The smallest margin above a disk threshold, in percent of that disk's capacity; null: unknown. */
function headroomOf({ prediction: { eviction, filesystems } }: TakenNode) {
  const percents = (eviction?.thresholds ?? []).flatMap(({ signal, margin }) => {
    const disk = signal === 'nodefs.available' ? filesystems.nodefs : filesystems.imagefs
    const isDisk = signal === 'nodefs.available' || signal === 'imagefs.available'
    const capacityBytes = disk?.capacityBytes ?? 0
    return isDisk && margin !== null && capacityBytes > 0 ? [(100 * margin) / capacityBytes] : []
  })
  return percents.length === 0 ? null : Math.min(...percents)
}

async function readAgain(
  chosen: ReadingCandidate[],
  targets: ReadonlyMap<string, ClusterTarget>,
  options: SecondReadingOptions,
) {
  const growth = new Map<TakenNode, Pick<AuditedNode, 'growth'>>()
  const clusters = Map.groupBy(chosen, ({ node }) => node.cluster)
  await pMap(
    clusters,
    async ([cluster, members]) => {
      const target = targets.get(cluster)
      if (!target?.endpoint) return
      const firsts = new Map(members.map(({ node }) => [node.identity.name, node]))
      const records = collectNodes(
        cluster,
        target.endpoint,
        members.map(({ object }) => object),
        {
          ...collectOptionsOf(target, { ...options, depth: 'nodes' }, noInspector),
          collectors: collectorsIn(options.policy, cluster),
        },
      )
      for await (const record of records) {
        const input = nodeInput(record)
        const { filesystems } = replay(input, record.at ?? '')
        const first = firsts.get(record.node.metadata?.name ?? '')
        if (first && record.at)
          growth.set(first, { growth: rateBetween(first, record.at, filesystems) })
      }
    },
    { concurrency: options.policy.pace.clusters },
  )
  return growth
}

/** Collectors of disk usage. None in mode ssm: nodes answer by a script there, which reads far more than the disks. */
const collectorsIn = (policy: Policy, cluster: string) =>
  collectorsOf[readModeOf(policy, cluster)].filter(({ answers }) =>
    answers.every(answer => answer === 'summary'),
  )

const noInspector = () => {
  throw new Error('A second reading asks kubelets only')
}

const named = 10

/** Parts of a cluster whose errors leave nodes unknown. `isListBroken` is the same check for a report. */
const listErrors = ['nodes', 'cluster', 'clusters']

/** Whether all of the cluster's nodes are known. */
export const isListWhole = ({ errors }: ClusterRecord) =>
  errors?.some(({ what }) => listErrors.includes(what)) !== true

/**
 * A selected name that no node has is probably a typing error, so it is rejected.
 * @param areListsWhole false: a list broke off, so a missing name might exist. The report shows the broken list
 * @throws OperatorError
 */
export function rejectUnknownNames(
  { nodes: wanted, nodegroups }: Selection,
  nodes: readonly { identity: Pick<NodeIdentity, 'name'> }[],
  areListsWhole = true,
) {
  if (!areListsWhole) return
  const names = new Set(nodes.map(({ identity }) => identity.name))
  const unknown = wanted.filter(name => !names.has(name))
  if (unknown.length > 0)
    throw new OperatorError(
      `No node is named ${firstNames(unknown, named)} in what was read. Names are those of kubectl get nodes`,
    )
  if (nodegroups.length > 0 && nodes.length === 0)
    throw new OperatorError(
      `No node belongs to the nodegroup ${nodegroups.join(', ')} in what was read`,
    )
}

import { by } from '#base/text.ts'
import { isNamespaceOfNodeEvents, isReasonOfNodes } from '#facts/kubelet/event-reasons.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { isGarbageResource, podResource } from '#facts/kubernetes/garbage-resources.ts'
import { reasonsWithoutNode } from '#facts/kubernetes/volume-events.ts'
import type { FieldValue } from '#judge/drift/drift.ts'
import type { StartFact } from '#judge/drift/layers.ts'
import type { ContainerLog } from '#judge/logs/running-logs.ts'
import { podName, shorten } from '#judge/text.ts'
import type { CoverageState } from '#model/finding.ts'
import type { Happening, NodeGrowth, ReclaimRound, RememberedImage } from '#model/history.ts'
import {
  type ClusterInput,
  type InvolvedObject,
  type KubernetesEvent,
  type KubernetesPod,
  type NodeIdentity,
  type NodeInput,
  type ObjectsInput,
  type PersistentVolume,
  promisedSources,
  ReadErrors,
  type ReadFailure,
  type ReadObjects,
  type Source,
} from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { EvictionPrediction, Filesystems, NodePrediction } from '#model/prediction.ts'
import { type PodOwner, PodOwners } from './pod-owners.ts'

/**
 * One node as the rules see it. A field that is null is unknown; `missing` has the reason. `at` is the node's own "now": keep it out of facts,
 * or no two facts are equal. `runtime` and `host` are sources that only the node itself has; mode `proxy` does not read them.
 */
export interface NodeSubject
  extends Pick<
      NodePrediction,
      | 'at'
      | 'filesystems'
      | 'imageGC'
      | 'nextStart'
      | 'containerGC'
      | 'localStorageEvictions'
      | 'nearOwnLimits'
      | 'allocatable'
      | 'overRequested'
      | 'ledger'
    >,
    Pick<
      NodeInput,
      'cluster' | 'node' | 'pods' | 'summary' | 'runtime' | 'host' | 'mode' | 'localVolumes'
    > {
  identity: NodeIdentity
  /** The node's own conditions: `DiskPressure` → `True`. */
  conditions: Record<string, string>
  configuration: KubeletConfiguration | null
  /** The compared fields of the configuration, computed on first use. */
  runningValues(): Readonly<Record<string, FieldValue>>
  /** Short; equal only for equal `runningValues`. */
  runningKey(): string
  /** The logs of running containers, computed on first use. */
  runningLogs(): readonly ContainerLog[]
  /** `unusedImages` of the node and its pods, computed on first use. */
  unusedImages(): string | null
  /** `recentStarts` of the pods, computed on first use. */
  recentStarts(): Readonly<Record<string, string>>
  /** True: the configuration was computed from files and flags, not read. It runs only if the kubelet restarted after their last change. */
  isConfigurationOnDisk: boolean
  /** Like `filesystems`; null if no filesystem has a known size. */
  disks: Filesystems | null
  /** Also null if the running eviction settings do not parse. Thresholds of 0, which are never met, are left out. */
  eviction: EvictionPrediction | null
  /** What the files and flags come to, computed on first use. Null: it is unknown. */
  startFact(): StartFact | null
  coverage: CoverageState
  /** The sources that the node's mode promises but that could not be read, each with the reason. */
  unread: Partial<Record<Source, string>>
  isKubeletDown: boolean
  /** Why a source was not read. Null: for another reason, or every source was read. */
  readFailure: ReadFailure | null
  /** Why a need is null. */
  missing: Partial<Record<Need, string>>
  /** Open questions about a known need: the real state may be worse than the known one. */
  doubts: Partial<Record<Need, string>>
}

interface NeedFacts {
  /** Data that it comes from, in Markdown. */
  words: readonly string[]
  /** Sources that it depends on in every mode. Absent: several sources can meet it. */
  sources?: readonly Source[]
  isOfConfiguration?: true
}

const needs = {
  configuration: { words: ['`configz`'], isOfConfiguration: true },
  disks: { words: ['`stats/summary`'], sources: ['summary'] },
  imageGC: { words: ['`configz`', '`stats/summary`'], isOfConfiguration: true },
  eviction: { words: ['`configz`', '`stats/summary`'], isOfConfiguration: true },
  nextStart: {
    words: ["the configuration files on the node's disk (`host` in the snapshot)"],
    sources: ['host'],
  },
  containerGC: {
    words: ["the runtime's containers and sandboxes (`runtime` in the snapshot)", 'pods'],
    sources: ['runtime'],
  },
  localStorageEvictions: {
    words: ['`configz`', '`stats/summary`', 'pods'],
    isOfConfiguration: true,
  },
  allocatable: { words: ['`configz`', 'the Node object'], isOfConfiguration: true },
  ledger: { words: ['`stats/summary`', 'what the node measured of its disks (`host.diskUse`)'] },
  pods: { words: ['pods'] },
  summary: { words: ['`stats/summary`'], sources: ['summary'] },
  runtime: {
    words: ["the runtime's images and containers (`runtime` in the snapshot)"],
    sources: ['runtime'],
  },
  host: { words: ['data of the node itself (`host` in the snapshot)'], sources: ['host'] },
} satisfies Record<string, NeedFacts>

/** Data of a node that a rule may need. */
export type Need = keyof typeof needs

export const needFacts: Readonly<Record<Need, NeedFacts>> = needs

export type JudgedNode = Pick<
  NodeSubject,
  'cluster' | 'identity' | 'isConfigurationOnDisk' | 'mode'
>

/** Whether the mode reads this of such a node. If it was not read, rules on it are unknown. The documents of SSM run on Linux only. */
export const isSourceExpected = (
  { mode, identity }: Pick<NodeSubject, 'mode' | 'identity'>,
  source: 'host' | 'runtime',
) => identity.operatingSystem === 'linux' && promisedSources[mode].includes(source)

/** Whether images may be missing: the Node object lists as many as it can, and the runtime was not asked. Upstream: pkg/kubelet/nodestatus/setters.go Images */
export function isImageListCut({
  runtime,
  node,
  configuration,
}: Pick<NodeSubject, 'runtime' | 'node' | 'configuration'>) {
  const most = configuration?.nodeStatusMaxImages ?? configurationDefaults.nodeStatusMaxImages ?? 50
  const listed = node.status?.images?.length ?? 0
  return runtime?.images === undefined && most >= 0 && listed > 0 && listed >= most
}

/** An event about a node or one of its pods. Equal events are one, with first and last time. */
export interface NodeEvent {
  reason: string
  /** Null: the event is about the node itself. */
  pod: { namespace: string; name: string; uid?: string } | null
  message: string
  count: number
  /** RFC 3339; null: the event has no time. */
  firstTime: string | null
  lastTime: string | null
}

type ObjectsOf = <Resource extends keyof ReadObjects>(
  resource: Resource,
) => readonly ReadObjects[Resource][] | null

/** Complete only when everything has been read. Null: unknown; `why` returns the reason. */
export interface ClusterContext
  extends Pick<ClusterInput, 'eks' | 'nodegroups' | 'launchTemplates'> {
  /** All objects of a resource, `plural` or `plural.group`. Empty: the cluster has none. */
  objects: ObjectsOf
  /** @param what `nodegroups`, `launchTemplates`, `events`, or another resource */
  why(what: string): string
  /** Why the resource was not read, or only in part. Null: no error is recorded. */
  failed(what: string): string | null
}

export interface NodeContext extends ClusterContext {
  /** RFC 3339: when the node was read. */
  at: string
  /** Sorted by time. Null: unknown. */
  events: readonly NodeEvent[] | null
  /** Of a pod, as `namespace/name`: those that name no node. */
  podEvents(pod: string): readonly NodeEvent[]
  /** The controller of a pod that is gone, by the name of the pod. Null: no controller with a pod in the cluster. */
  ownerOfName(namespace: string, pod: string): PodOwner | null
  /** The CSI driver of a PersistentVolume. Null: it has none, or was not read. */
  volumeDriver(volume: string): string | null
  /** Pending pods without a node. */
  waitingPods: readonly KubernetesPod[]
  /** The largest images of the node, with the days since which earlier readings show them unused. */
  images: readonly RememberedImage[]
  /** Day since which readings show which images are in use. Null: no reading did. */
  imagesSince: string | null
  /** Rounds of image GC in this and the earlier readings. */
  rounds(): readonly ReclaimRound[]
  /** What happened on the machine, in this and the earlier readings of about a day, by time. */
  happened(): readonly Happening[]
  /** Of the disks, by this and the earlier readings. */
  growth(): NodeGrowth
}

/** Longest message of an event. Upstream: pkg/apis/core/validation/events.go NoteLengthLimit. */
const messageLength = 1024

export class ClusterFacts implements ClusterContext {
  eks: ClusterInput['eks'] = null
  nodegroups: ClusterInput['nodegroups'] = null
  launchTemplates: ClusterInput['launchTemplates'] = null
  readonly #errors = new ReadErrors()
  readonly #objects = new Map<string, object[]>()
  readonly #waitingPods: KubernetesPod[] = []
  readonly owners = new PodOwners()
  readonly #dnsNames = new Map<string, string>()
  readonly #volumeDrivers = new Map<string, string>()
  #hasEvents = false
  readonly #events = new Map<string, Map<string, NodeEvent>>()
  /** The last results are kept, because all rules request the same node one after the other. */
  readonly #eventsByNode = new Map<string, readonly NodeEvent[]>()

  /** A cluster may arrive twice: before its nodes, and again if a list was cut off. */
  takeCluster({ eks, nodegroups, launchTemplates, errors }: ClusterInput): void {
    this.eks = eks ?? this.eks
    this.nodegroups = nodegroups ?? this.nodegroups
    this.launchTemplates = launchTemplates ?? this.launchTemplates
    this.#errors.add(errors)
  }

  takeObjects({ resource, items, errors }: ObjectsInput): void {
    this.#errors.add(errors)
    if (eventResources.has(resource)) {
      this.#hasEvents = true
      for (const item of items) this.#takeEvent(item)
    } else if (resource === podResource.resource) {
      this.owners.take(items as KubernetesPod[])
      for (const pod of items as KubernetesPod[])
        if (pod.status?.phase === 'Pending' && !pod.spec?.nodeName) this.#waitingPods.push(pod)
    } else if (resource === 'persistentvolumes') {
      for (const { metadata, spec } of items as PersistentVolume[])
        if (metadata?.name && spec?.csi?.driver)
          this.#volumeDrivers.set(metadata.name, spec.csi.driver)
    } else if (resource === 'instances.ec2.amazonaws.com') {
      for (const { InstanceId, PrivateDnsName } of items as ReadObjects[typeof resource][])
        if (InstanceId && PrivateDnsName) this.#dnsNames.set(InstanceId, PrivateDnsName)
    } else if (!isGarbageResource(resource)) {
      const known = this.#objects.get(resource)
      if (known) for (const item of items) known.push(item)
      else this.#objects.set(resource, [...items])
    }
  }

  /** The host name that EC2 gave the instance. Undefined: not read. */
  dnsNameOf(instanceId: string): string | undefined {
    return this.#dnsNames.get(instanceId)
  }

  objects<Resource extends keyof ReadObjects>(
    resource: Resource,
  ): readonly ReadObjects[Resource][] | null {
    return (this.#objects.get(resource) as ReadObjects[Resource][] | undefined) ?? null
  }

  why(what: string): string {
    return this.failed(what) ?? shorten(`${what}: not in the snapshot`)
  }

  failed(what: string): string | null {
    const messages = this.#errors
      .list()
      .filter(error => error.what === what)
      .map(({ message }) => message)
    return messages.length === 0
      ? null
      : shorten(`${what}: ${messages.filter(Boolean).join('; ') || 'not read'}`)
  }

  contextOf(
    node: string,
  ): ClusterContext &
    Pick<NodeContext, 'events' | 'podEvents' | 'ownerOfName' | 'volumeDriver' | 'waitingPods'> {
    const { eks, nodegroups, launchTemplates } = this
    return {
      eks,
      nodegroups,
      launchTemplates,
      events: this.#hasEvents ? this.#eventsOf(node) : null,
      podEvents: pod => this.#eventsOf(pod),
      ownerOfName: (namespace, pod) => this.owners.find(namespace, pod),
      volumeDriver: volume => this.#volumeDrivers.get(volume) ?? null,
      waitingPods: this.#waitingPods,
      objects: resource => this.objects(resource),
      why: what => this.why(what),
      failed: what => this.failed(what),
    }
  }

  #eventsOf(place: string): readonly NodeEvent[] {
    const known =
      this.#eventsByNode.get(place) ?? mergeEvents([...(this.#events.get(place)?.values() ?? [])])
    this.#eventsByNode.set(place, known)
    return known
  }

  /** An event may arrive twice, on two pages or in both API forms. It counts once, in its latest state. */
  #takeEvent(item: KubernetesEvent) {
    const found = placedEvent(item)
    if (!found) return
    const { place, uid, event } = found
    const events = this.#events.get(place) ?? new Map<string, NodeEvent>()
    const key = uid || JSON.stringify(event)
    const known = events.get(key)
    if (!known || byAge(event, known) > 0) events.set(key, event)
    this.#events.set(place, events)
    this.#eventsByNode.delete(place)
  }
}

const byAge = by<NodeEvent>(
  ({ count }) => count,
  ({ lastTime }) => lastTime ?? '',
  event => JSON.stringify(event),
)

function mergeEvents(events: NodeEvent[]): NodeEvent[] {
  const alike = Map.groupBy(events, ({ reason, pod, message }) =>
    JSON.stringify([reason, pod, message]),
  )
  const merged = [...alike.values()].map(group => {
    const times = group
      .flatMap(({ firstTime, lastTime }) => [firstTime, lastTime])
      .filter(time => time !== null)
    const sorted = times.toSorted()
    return {
      ...group[0]!,
      count: group.reduce((sum, { count }) => sum + count, 0),
      firstTime: sorted[0] ?? null,
      lastTime: sorted.at(-1) ?? null,
    }
  })
  return merged.toSorted(byTime)
}

const eventResources: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io'])

/**
 * Null: the event is about neither a node nor a pod, or no component writes it there. The kubelet names itself as source host or as reporting
 * instance. Where no node is named, the pod stands for it.
 */
function placedEvent(
  item: KubernetesEvent,
): { place: string; uid: string; event: NodeEvent } | null {
  const subject = item.involvedObject ?? item.regarding ?? {}
  const { namespace, uid = '' } = item.metadata ?? {}
  const isOfNode = subject.kind === 'Node'
  const isWritten = isOfNode
    ? isNamespaceOfNodeEvents(namespace)
    : subject.kind === 'Pod' && subject.namespace === namespace && !isReasonOfNodes(item.reason)
  if (!isWritten) return null
  const { component, host } = item.source ?? item.deprecatedSource ?? {}
  // Whoever may create events may name any source. A pod's event counts for a node only if the kubelet is its source.
  const reporter = component === 'kubelet' ? host || item.reportingInstance : undefined
  const placed = reasonsWithoutNode.has(item.reason) ? podName(subject) : reporter
  const place = isOfNode ? subject.name : placed
  // A source with a slash would be the place of another pod.
  if (!place || (place === reporter && place.includes('/'))) return null
  const times = [
    ...[item.firstTimestamp, item.deprecatedFirstTimestamp, item.eventTime],
    ...[item.lastTimestamp, item.deprecatedLastTimestamp, item.series?.lastObservedTime],
  ]
    .filter(time => time !== undefined)
    .filter(text => text !== '' && !Number.isNaN(Date.parse(text)))
    .toSorted()
  const event: NodeEvent = {
    reason: shorten(item.reason ?? '', 100),
    pod: isOfNode ? null : podOf(subject),
    message: shorten(item.message ?? item.note ?? '', messageLength),
    count: Math.max(1, item.series?.count ?? 0, item.count ?? 0, item.deprecatedCount ?? 0),
    firstTime: times[0] ?? null,
    lastTime: times.at(-1) ?? null,
  }
  return { place, uid, event }
}

const podOf = ({ namespace = '', name = '', uid = '' }: InvolvedObject) => ({
  namespace,
  name,
  ...(uid !== '' && { uid }),
})

const byTime = by<NodeEvent>(
  ({ lastTime }) => lastTime ?? '',
  ({ reason }) => reason,
  event => JSON.stringify(event),
)

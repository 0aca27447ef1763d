/** A node's record, parsed once. Any number of configurations can be replayed on the result. */

import { once, oncePerText } from '#base/once.ts'
import { byText } from '#base/text.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { type Unpacking, unpackingOf } from '#facts/kubelet/unpacking.ts'
import type { Host } from '#model/input/inspection.ts'
import type {
  ContainerSpec,
  ContainerStatus,
  KubernetesNode,
  KubernetesPod,
  NodeInput,
  Summary,
} from '#model/input/record.ts'
import type {
  Filesystems,
  NodeCondition,
  ProtectedPod,
  RankedPod,
  Signal,
} from '#model/prediction.ts'
import {
  type DiskLayout,
  diskLayoutOf,
  diskObservations,
  isUnobservedUpstream,
  makeSignalObservations,
  type Observations,
} from '#replay/eviction/thresholds.ts'
import { deadContainers, type PredictedContainerGc, predictContainerGc } from './container-gc.ts'
import type { ReportedCondition } from './eviction/bounds.ts'
import {
  limitsExceeded,
  localStorageEviction,
  type PodRank,
  rankPods,
  resourceOf,
  type StorageLimitExceeded,
} from './eviction/victims.ts'
import { filesystemLayout } from './filesystem-layout.ts'
import { type PreparedImages, prepareImages, type RemovedContainers } from './image-gc/bounds.ts'
import { imageEvidence, type NodeImages } from './image-gc/users.ts'
import {
  isActive,
  type Pod,
  type PodStatsIndex,
  parsePod,
  podQosClass,
  podStatsIn,
  protectionOf,
} from './pods.ts'
import { type Kubelet, kubeletOf, type TimeBounds } from './times.ts'

export interface PreparedNode {
  input: NodeInput
  name: string
  kubeletVersion: string | null
  features: KubeletFeatures
  kubelet: Kubelet
  operatingSystem: 'linux' | 'windows'
  /** The predicted moment, as RFC 3339. */
  at: string
  atMs: number
  /** When the record was read. */
  readMs: number
  kubeletStart: TimeBounds | null
  summary: Summary | null
  host: Host | null
  filesystems: Filesystems
  /** Null: not known. */
  layout: DiskLayout | null
  reported: Readonly<Partial<Record<NodeCondition, ReportedCondition>>>
  observations: Observations
  /** Whether the kubelet observes the signal but this record does not contain it. */
  isUnobserved(signal: Signal): boolean
  /** What is known of each image. */
  imageEvidence: NodeImages
  /** Of listed image sizes. */
  unpacking: Unpacking
  /** Computed on first use. */
  containerGc(): PredictedContainerGc
  /** Containers that container GC has removed between the reading and the predicted moment. */
  removedSince: RemovedContainers
  /** The images for a round of image GC. */
  images: PreparedImages
  /** The images after eviction has removed these containers. */
  imagesWithout(containers: RemovedContainers): PreparedImages
  /** All pods of the record; null: not read. */
  pods: readonly Pod[] | null
  /** The pods that the eviction manager considers. */
  activePods: readonly Pod[]
  podStats: PodStatsIndex
  /** `activePods` sorted by name. Upstream does not order equal pods, so the output must not depend on the listed order. */
  podsByName: readonly Pod[]
  /** The order of eviction, computed on first use for each signal. */
  rankedPods(signal: Signal): RankedPod[]
  overLimits(): readonly StorageLimitExceeded[]
  /** Not over a limit, and near one. */
  nearLimits(): readonly StorageLimitExceeded[]
  protectedPods: readonly ProtectedPod[]
}

const conditionNames: readonly NodeCondition[] = ['DiskPressure', 'MemoryPressure', 'PIDPressure']
/** Share of a pod's own limit from which on the pod is named. */
const nearShare = 0.85
const sharedDisk: DiskLayout = { dedicatedImageFs: false, splitContainerImageFs: false }

/**
 * @param takenAt the snapshot's time, for a record without its own
 * @param at the moment to predict; null: the record's own time
 * @param asRead the input before its configuration was changed. Facts read under the old configuration stay as they were.
 */
export function prepareNode(
  input: NodeInput,
  takenAt: string,
  at: string | null,
  asRead: NodeInput = input,
): PreparedNode {
  const { summary, host } = input
  const { metadata, status } = input.node
  const nodeInfo = status?.nodeInfo
  const kubeletVersion = nodeInfo?.kubeletVersion ?? null
  const features = featuresOf(kubeletVersion)
  const kubelet = kubeletOf(kubeletVersion, input.configuration?.fields.featureGates ?? null)
  const runtimes = ['containerd', 'cri-o'] as const
  const runtime = runtimes.find(name => nodeInfo?.containerRuntimeVersion?.startsWith(`${name}://`))
  const filesystems = filesystemLayout(summary, host, runtime ?? null)
  const layout = filesystems.layout === null ? null : diskLayoutOf(filesystems.layout)
  const read = input.at ?? takenAt
  const readMs = millisecondsOf(read) ?? 0
  const pods = podsOf(input, kubelet)
  const activePods = (pods ?? []).filter(isActive)
  const podStats = podStatsIn(summary)
  const evidence = imageEvidence({ ...input, configuration: asRead.configuration }, readMs, kubelet)
  const atMs = millisecondsOf(at ?? read) ?? 0
  const containerGc = containerGcOf(input, readMs, atMs)
  const removedSince: RemovedContainers =
    atMs > readMs
      ? (containerGc().prediction?.removedSince ??
        possibleRemovals(deadContainers(input), readMs, atMs))
      : new Map()
  const images = prepareImages(evidence, atMs, removedSince)
  const observations = observationsOf(summary, filesystems)
  return {
    input,
    name: metadata?.name ?? '',
    kubeletVersion,
    features,
    kubelet,
    operatingSystem: (nodeInfo?.operatingSystem ?? null) === 'windows' ? 'windows' : 'linux',
    at: at ?? read,
    atMs,
    readMs,
    kubeletStart: evidence.kubeletStart,
    summary,
    host,
    filesystems,
    layout,
    reported: reportedConditions(status),
    observations,
    isUnobserved: signal =>
      observations[signal] === undefined && !(summary && isUnobservedUpstream(signal, summary)),
    imageEvidence: evidence,
    unpacking: unpackingOf(nodeInfo?.containerRuntimeVersion),
    containerGc,
    removedSince,
    images,
    imagesWithout: removed =>
      removed.size === 0
        ? images
        : prepareImages(evidence, atMs, bothRemoved(removedSince, removed)),
    pods,
    activePods,
    podStats,
    ...victimsAmong(activePods.toSorted(byName), podStats, layout ?? sharedDisk, kubelet),
    protectedPods: protectedOf(activePods),
  }
}

/**
 * Prepares a node with several configurations. What was read of it is prepared once, under the configuration with which it was read.
 */
export function openPreparing(asRead: NodeInput): typeof prepareNode {
  let last: PreparedNode | null = null
  return (input, takenAt, at) => {
    last =
      last && at === null && hasSameFacts(last.input, input)
        ? {
            ...last,
            input,
            host: input.host,
            ...(input.host !== last.host && {
              containerGc: containerGcOf(input, last.readMs, last.atMs),
            }),
          }
        : prepareNode(input, takenAt, at, asRead)
    return last
  }
}

const hasSameFacts = (a: NodeInput, b: NodeInput) =>
  isSameBut(['configuration', 'host'], a, b) &&
  isSameBut(['kubelet'], a.host ?? {}, b.host ?? {}) &&
  a.host?.kubelet?.startedAt === b.host?.kubelet?.startedAt &&
  JSON.stringify(a.configuration?.fields.featureGates) ===
    JSON.stringify(b.configuration?.fields.featureGates)

const isSameBut = (but: readonly string[], a: object, b: object) =>
  Object.entries({ ...a, ...b }).every(
    ([key, value]) => but.includes(key) || (a as Record<string, unknown>)[key] === value,
  )

const containerGcOf = ({ runtime, host, pods }: NodeInput, readMs: number, nowMs: number) =>
  once(() => predictContainerGc({ runtime, host, pods, readMs, nowMs }))

const observationsOf = (summary: Summary | null, disks: Filesystems) =>
  summary ? makeSignalObservations(summary) : diskObservations(disks)

function podsOf(input: NodeInput, kubelet: Kubelet) {
  const allocatedPod = (pod: KubernetesPod) =>
    usesAllocatedResources(kubelet) ? withAllocatedResources(pod) : pod
  return input.pods?.map(pod => parsePod(allocatedPod(pod))).filter(pod => pod !== null) ?? null
}

function victimsAmong(
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  disks: DiskLayout,
  kubelet: Kubelet,
): Pick<PreparedNode, 'podsByName' | 'rankedPods' | 'overLimits' | 'nearLimits'> {
  const rankedPods = oncePerText((signal: Signal) =>
    rankPods(signal, pods, podStats, disks, kubelet)
      .filter(({ isPlaceKnown }) => isPlaceKnown)
      .map(pod => rankedPod(signal, pod, kubelet)),
  )
  const isOneDisk = !disks.dedicatedImageFs
  const overLimits = () => localStorageEviction(pods, podStats, disks, kubelet)
  return {
    podsByName: pods,
    rankedPods: signal => rankedPods(rankingSignal(signal, isOneDisk)),
    overLimits,
    nearLimits() {
      const over = new Set(overLimits().map(({ pod }) => pod))
      const others = pods.filter(pod => !over.has(pod))
      return limitsExceeded(others, podStats, disks.dedicatedImageFs, kubelet, nearShare)
    },
  }
}

/** Dead containers that container GC possibly removes. */
const possibleRemovals = (ids: string[], earliestMs: number, latestMs: number): RemovedContainers =>
  new Map(ids.map(id => [id, { isSure: false, removal: { earliestMs, latestMs } }]))

/** A container in both maps is certainly removed if one of them is certain. */
function bothRemoved(since: RemovedContainers, now: RemovedContainers): RemovedContainers {
  const removed = new Map(now)
  for (const [id, before] of since) {
    const { isSure } = now.get(id) ?? before
    removed.set(id, { ...before, isSure: before.isSure || isSure })
  }
  return removed
}

const byName = (a: Pod, b: Pod) => byText(a.namespace, b.namespace) || byText(a.name, b.name)

/** Signals of one resource on one disk rank pods alike, so one ranking serves both. */
function rankingSignal(signal: Signal, isOneDisk: boolean) {
  const resource = resourceOf(signal)
  if (resource === 'memory') return 'memory.available'
  if (!isOneDisk) return signal
  if (resource === 'inodes') return 'nodefs.inodesFree'
  return resource === 'ephemeral-storage' ? 'nodefs.available' : signal
}

function millisecondsOf(time: string | undefined) {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? null : ms
}

function reportedConditions(status: KubernetesNode['status']) {
  const reported: Partial<Record<NodeCondition, ReportedCondition>> = {}
  for (const raw of status?.conditions ?? []) {
    const condition = conditionNames.find(known => known === raw.type)
    if (condition === undefined || (raw.status !== 'True' && raw.status !== 'False')) continue
    reported[condition] = {
      isTrue: raw.status === 'True',
      sinceMs: millisecondsOf(raw.lastTransitionTime),
    }
  }
  return reported
}

function rankedPod(signal: Signal, ranked: PodRank, kubelet: Kubelet): RankedPod {
  const { pod, rank, usage, request } = ranked
  const { namespace, name, priority } = pod
  return {
    namespace,
    name,
    rank,
    qos: podQosClass(pod, kubelet),
    priority,
    usage,
    request,
    reason: rankReason(signal, ranked),
  }
}

function protectedOf(pods: readonly Pod[]) {
  const found: ProtectedPod[] = []
  for (const pod of pods) {
    const reason = protectionOf(pod)
    if (reason !== null) found.push({ namespace: pod.namespace, name: pod.name, reason })
  }
  return found
}

/** The reason for a pod's rank in the order of eviction, for people. */
export function rankReason(
  signal: Signal,
  { pod: { priority }, usage, request, exceedsRequest }: PodRank,
): string {
  const resource = resourceOf(signal)
  if (resource === 'pids')
    return `priority ${priority}, ${usage === null ? 'no statistics: none of its containers runs' : `${usage} processes`}`
  if (usage === null)
    return 'no statistics, because none of its containers runs: such pods go first'
  if (resource === 'inodes')
    return `priority ${priority}, ${usage} inodes${request === 0 ? '' : `, less ${request} bytes of storage that it requests`}`
  const name = resource === 'memory' ? 'memory' : 'disk'
  const asked =
    request === 0
      ? 'and requests none'
      : `${exceedsRequest ? 'above' : 'within'} its request of ${mebibytes(request)}`
  return `priority ${priority}, uses ${mebibytes(usage)} of ${name} ${asked}`
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`

/**
 * The resources that the kubelet has allocated to a pod. They differ from the manifest's while an in-place resize is pending.
 *
 * Replays       pkg/kubelet/allocation/allocation_manager.go  UpdatePodFromAllocation;  pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses
 * Read at       1.32 to 1.37, with the gate InPlacePodVerticalScaling
 * Kept exactly  only requests of cpu and memory: nothing else can be resized
 * Left out      limits of cpu and memory, which no decision reads; pod-level resources, whose resize is alpha
 */
export const usesAllocatedResources = ({ features, isGateOn }: Kubelet): boolean =>
  features.has('evictionUsesAllocatedResources') && isGateOn('InPlacePodVerticalScaling')

/** The pod with the requests that its status reports as allocated. Requests without a report stay as in the manifest. */
export function withAllocatedResources(pod: KubernetesPod): KubernetesPod {
  const { spec, status } = pod
  if (!spec) return pod
  if (!status) return pod
  const containers = allocatedContainers(spec.containers, status.containerStatuses)
  const initContainers = allocatedContainers(spec.initContainers, status.initContainerStatuses)
  return containers === spec.containers && initContainers === spec.initContainers
    ? pod
    : { ...pod, spec: { ...spec, containers, initContainers } }
}

/** Mostly the list itself: no status reports an amount. */
function allocatedContainers(
  containers: ContainerSpec[] | undefined,
  statuses: readonly ContainerStatus[] = [],
) {
  if (!statuses.some(({ resources, allocatedResources }) => resources ?? allocatedResources))
    return containers
  return containers?.map(container => {
    const status = statuses.find(({ name }) => name === container.name)
    const requests = { ...status?.resources?.requests, ...status?.allocatedResources }
    const written = container.resources?.requests ?? {}
    const resized = ['cpu', 'memory'].filter(
      name => (requests[name] ?? written[name]) !== written[name],
    )
    if (resized.length === 0) return container
    const changed = Object.fromEntries(resized.map(name => [name, requests[name]]))
    return {
      ...container,
      resources: { ...container.resources, requests: { ...written, ...changed } },
    }
  })
}

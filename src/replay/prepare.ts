/** A node's record, parsed once. Any number of configurations can be replayed on the result. */

import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import type { KubernetesNode, KubernetesPod } from '#model/kubernetes.ts'
import type { Host, NodeInput, Summary } from '#model/node-input.ts'
import type { Filesystems, ProtectedPod, RankedPod, Signal } from '#model/prediction.ts'
import { byText } from '#model/text-order.ts'
import { deadContainers, type PredictedContainerGc, predictContainerGc } from './container-gc.ts'
import type { ReportedCondition } from './eviction/bounds.ts'
import { type DiskLayout, diskLayoutOf } from './eviction/layout.ts'
import { localStorageEviction, type StorageLimitExceeded } from './eviction/local-storage.ts'
import {
  diskObservations,
  isUnobservedUpstream,
  makeSignalObservations,
  type Observations,
} from './eviction/observations.ts'
import { protectionOf } from './eviction/protected.ts'
import { rankReason } from './eviction/rank-reason.ts'
import { type PodRank, rankPods } from './eviction/ranking.ts'
import { type NodeCondition, resourceOf } from './eviction/signals.ts'
import { filesystemLayout } from './filesystem-layout.ts'
import type { RemovedContainers } from './image-gc/bounds.ts'
import { type PreparedImages, prepareImages } from './image-gc/bounds.ts'
import { imageEvidence, type NodeImages } from './image-gc/evidence.ts'
import type { TimeBounds } from './image-gc/known-times.ts'
import { type Kubelet, kubeletOf } from './kubelet.ts'
import { usesAllocatedResources, withAllocatedResources } from './pods/allocated-resources.ts'
import { isActive, type Pod, parsePod } from './pods/pod.ts'
import { podQosClass } from './pods/pod-qos.ts'
import { type PodStatsIndex, podStatsIn } from './pods/pod-stats.ts'

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
  protectedPods: readonly ProtectedPod[]
}

const conditionNames: readonly NodeCondition[] = ['DiskPressure', 'MemoryPressure', 'PIDPressure']
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
  const containerGc = memoized((_: 'once') =>
    predictContainerGc({ runtime: input.runtime, host, pods: input.pods, readMs, nowMs: atMs }),
  )
  const removedSince: RemovedContainers =
    atMs > readMs
      ? (containerGc('once').prediction?.removedSince ??
        perhapsRemoved(deadContainers(input), readMs, atMs))
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
    containerGc: () => containerGc('once'),
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

const observationsOf = (summary: Summary | null, disks: Filesystems) =>
  summary ? makeSignalObservations(summary) : diskObservations(disks)

function podsOf(input: NodeInput, kubelet: Kubelet): Pod[] | null {
  const allocated = (pod: KubernetesPod) =>
    usesAllocatedResources(kubelet) ? withAllocatedResources(pod) : pod
  return input.pods?.map(pod => parsePod(allocated(pod))).filter(pod => pod !== null) ?? null
}

function victimsAmong(
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  disks: DiskLayout,
  kubelet: Kubelet,
): Pick<PreparedNode, 'podsByName' | 'rankedPods' | 'overLimits'> {
  const rankedPods = memoized((signal: Signal) =>
    rankPods(signal, pods, podStats, disks, kubelet)
      .filter(({ isPlaceKnown }) => isPlaceKnown)
      .map(pod => rankedPod(signal, pod, kubelet)),
  )
  const isOneDisk = !disks.dedicatedImageFs
  return {
    podsByName: pods,
    rankedPods: signal => rankedPods(alikeSignal(signal, isOneDisk)),
    overLimits: () => localStorageEviction(pods, podStats, disks, kubelet),
  }
}

/** Dead containers that container GC possibly removes. */
const perhapsRemoved = (ids: string[], earliestMs: number, latestMs: number): RemovedContainers =>
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

const byName = (a: Pod, b: Pod): number =>
  byText(a.namespace, b.namespace) || byText(a.name, b.name)

/** Signals of one resource on one disk rank pods alike, so one ranking serves both. */
function alikeSignal(signal: Signal, isOneDisk: boolean): Signal {
  const resource = resourceOf(signal)
  if (resource === 'memory') return 'memory.available'
  if (!isOneDisk) return signal
  if (resource === 'inodes') return 'nodefs.inodesFree'
  return resource === 'ephemeral-storage' ? 'nodefs.available' : signal
}

function memoized<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return key => {
    const found = known.get(key) ?? compute(key)
    known.set(key, found)
    return found
  }
}

function millisecondsOf(time: string | undefined): number | null {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? null : ms
}

function reportedConditions(
  status: KubernetesNode['status'],
): Partial<Record<NodeCondition, ReportedCondition>> {
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

function protectedOf(pods: readonly Pod[]): ProtectedPod[] {
  const found: ProtectedPod[] = []
  for (const pod of pods) {
    const reason = protectionOf(pod)
    if (reason !== null) found.push({ namespace: pod.namespace, name: pod.name, reason })
  }
  return found
}

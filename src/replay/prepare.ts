/** What a node's record tells, read once: any number of configurations can be replayed on it. */
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import type { Filesystems, ProtectedPod, RankedPod, Signal } from '#model/prediction.ts'
import { isRawObject, type NodeRecord, type RawObject } from '#model/record.ts'
import { type DiskLayout, diskLayoutOf } from './eviction/layout.ts'
import { localStorageEviction, type StorageLimitExceeded } from './eviction/local-storage.ts'
import {
  diskObservations,
  isUnobservedUpstream,
  makeSignalObservations,
  type Observations,
} from './eviction/observations.ts'
import type { ReportedCondition } from './eviction/pass.ts'
import { protectionOf } from './eviction/protected.ts'
import { rankReason } from './eviction/rank-reason.ts'
import { type PodRank, rankPods } from './eviction/ranking.ts'
import { type NodeCondition, resourceOf } from './eviction/signals.ts'
import { filesystemLayout } from './filesystem-layout.ts'
import type { RemovedContainers } from './image-gc/bounds.ts'
import { imageEvidence, type NodeImages } from './image-gc/evidence.ts'
import type { TimeBounds } from './image-gc/known-times.ts'
import { type PreparedImages, prepareImages } from './image-gc/prepared.ts'
import { type Kubelet, kubeletOf } from './kubelet.ts'
import { isActive, type Pod, parsePod } from './pods/pod.ts'
import { podQosClass } from './pods/pod-qos.ts'
import { type PodStatsIndex, parsePodStats } from './pods/pod-stats.ts'
import { listAt, objectAt, textAt } from './untrusted.ts'

export interface PreparedNode {
  record: NodeRecord
  name: string
  kubeletVersion: string | null
  features: KubeletFeatures
  kubelet: Kubelet
  operatingSystem: 'linux' | 'windows'
  /** RFC 3339: the moment that is predicted. */
  at: string
  atMs: number
  /** When the record was read. */
  readMs: number
  kubeletStart: TimeBounds | null
  summary: RawObject | null
  host: RawObject | null
  filesystems: Filesystems
  /** Null: not known. */
  layout: DiskLayout | null
  reported: Readonly<Partial<Record<NodeCondition, ReportedCondition>>>
  observations: Observations
  /** Signals that the kubelet sees and this record does not. */
  isUnobserved(signal: Signal): boolean
  /** What is known of each image. */
  imageEvidence: NodeImages
  /** For a round of image GC. */
  images: PreparedImages
  /** After eviction has removed these containers. */
  imagesWithout(containers: RemovedContainers): PreparedImages
  /** All of the record; null: they were not read. */
  pods: readonly Pod[] | null
  /** Those that the eviction manager looks at. */
  activePods: readonly Pod[]
  podStats: PodStatsIndex
  /** Computed when first asked for. */
  ranking(signal: Signal): readonly PodRank[]
  rankedPods(signal: Signal): RankedPod[]
  overLimits(): readonly StorageLimitExceeded[]
  protectedPods: readonly ProtectedPod[]
}

const conditionNames: readonly NodeCondition[] = ['DiskPressure', 'MemoryPressure', 'PIDPressure']
const sharedDisk: DiskLayout = { dedicatedImageFs: false, splitContainerImageFs: false }

/**
 * @param takenAt the snapshot's time, for a record without its own
 * @param at the moment to predict; null: the record's own
 * @param asRead the record before its configuration was changed: what was read under it stays what it was
 */
export function prepareNode(
  record: NodeRecord,
  takenAt: string,
  at: string | null,
  asRead: NodeRecord = record,
): PreparedNode {
  const status = objectAt(record.node, 'status')
  const nodeInfo = objectAt(status, 'nodeInfo')
  const kubeletVersion = textAt(nodeInfo, 'kubeletVersion')
  const features = featuresOf(kubeletVersion)
  const kubelet = kubeletOf(kubeletVersion, featureGatesOf(record.configz))
  const summary = isRawObject(record.summary) ? record.summary : null
  const host = isRawObject(record.host) ? record.host : null
  const isContainerd =
    textAt(nodeInfo, 'containerRuntimeVersion')?.startsWith('containerd://') ?? false
  const filesystems = filesystemLayout(summary, host, isContainerd)
  const layout = filesystems.layout === null ? null : diskLayoutOf(filesystems.layout)
  const read = typeof record.at === 'string' ? record.at : takenAt
  const readMs = millisecondsOf(read) ?? 0
  const pods = Array.isArray(record.pods)
    ? record.pods.map(parsePod).filter(pod => pod !== null)
    : null
  const activePods = (pods ?? []).filter(isActive)
  const podStats = parsePodStats(summary)
  // Upstream has no order among equals: written by name they are the same bytes, however they were listed.
  const named = memoized((_: 'all') => activePods.toSorted(byName))
  const ranked = memoized((signal: Signal) =>
    rankPods(signal, named('all'), podStats, layout ?? sharedDisk, kubelet),
  )
  const told = memoized((signal: Signal) =>
    ranked(signal).map(pod => rankedPod(signal, pod, kubelet)),
  )
  const isOneDisk = !(layout ?? sharedDisk).dedicatedImageFs
  const limits = memoized((_: 'all') =>
    localStorageEviction(activePods, podStats, layout ?? sharedDisk, kubelet),
  )
  const evidence = imageEvidence({ ...record, configz: asRead.configz }, readMs, kubelet)
  const atMs = millisecondsOf(at ?? read) ?? 0
  const images = prepareImages(evidence, atMs, kubelet)
  const observations = summary
    ? makeSignalObservations(summary, features)
    : diskObservations(filesystems, features)
  return {
    record,
    name: textAt(objectAt(record.node, 'metadata'), 'name') ?? '',
    kubeletVersion,
    features,
    kubelet,
    operatingSystem: textAt(nodeInfo, 'operatingSystem') === 'windows' ? 'windows' : 'linux',
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
    images,
    imagesWithout: removed =>
      removed.certain.size + removed.possible.size === 0
        ? images
        : prepareImages(evidence, atMs, kubelet, removed),
    pods,
    activePods,
    podStats,
    ranking: signal => ranked(alikeSignal(signal, isOneDisk)),
    rankedPods: signal => told(alikeSignal(signal, isOneDisk)),
    overLimits: () => limits('all'),
    protectedPods: protectedOf(activePods),
  }
}

const byName = (a: Pod, b: Pod): number =>
  compareText(a.namespace, b.namespace) || compareText(a.name, b.name)
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Signals of one resource on one disk rank alike: it is enough to rank once. */
function alikeSignal(signal: Signal, isOneDisk: boolean): Signal {
  const resource = resourceOf(signal)
  if (resource === 'memory') return 'memory.available'
  return isOneDisk && resource === 'inodes'
    ? 'nodefs.inodesFree'
    : isOneDisk && resource === 'ephemeral-storage'
      ? 'nodefs.available'
      : signal
}

function memoized<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return key => {
    const found = known.get(key) ?? compute(key)
    known.set(key, found)
    return found
  }
}

/** What the running configuration sets; null: none is known, and every gate stands at its default. */
function featureGatesOf(configz: unknown): Record<string, boolean> | null {
  const gates = objectAt(objectAt(configz, 'kubeletconfig'), 'featureGates')
  return (
    gates &&
    Object.fromEntries(
      Object.entries(gates).filter(
        (gate): gate is [string, boolean] => typeof gate[1] === 'boolean',
      ),
    )
  )
}

function millisecondsOf(time: unknown): number | null {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

function reportedConditions(
  status: RawObject | null,
): Partial<Record<NodeCondition, ReportedCondition>> {
  const reported: Partial<Record<NodeCondition, ReportedCondition>> = {}
  for (const raw of listAt(status, 'conditions').filter(isRawObject)) {
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

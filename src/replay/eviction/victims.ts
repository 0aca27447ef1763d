/** The pods that a pass evicts: those above their own limits of local storage, and under pressure the first of an order. */

import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  type Quantity,
  quantityNumber,
  quantityValue,
  signOf,
} from '#base/go/quantity.ts'
import type { FilesystemLayout, LocalStorageEviction, PodName, Signal } from '#model/prediction.ts'
import {
  ephemeralStorageLimit,
  type FsUsage,
  firstVolumes,
  getResourceRequestQuantity,
  isCriticalPod,
  type Pod,
  type PodStats,
  type PodStatsIndex,
  podStatsOf,
} from '#replay/pods.ts'
import type { Kubelet } from '#replay/times.ts'
import { type DiskLayout, placementOf } from './thresholds.ts'

/*
 * The resource of each eviction signal.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  signalToResource
 * Read at       1.29 to 1.37; alike except for the signals of containerfs
 */

export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

const resources: Record<Signal, StarvedResource> = {
  'memory.available': 'memory',
  'allocatableMemory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'containerfs.available': 'ephemeral-storage',
  'containerfs.inodesFree': 'inodes',
  'pid.available': 'pids',
}

export const resourceOf = (signal: Signal): StarvedResource => resources[signal]

/*
 * Pods above their own local storage limits. Every pass evicts all of them at once, with or without pressure.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  localStorageEviction, emptyDirLimitEviction, podEphemeralStorageLimitEviction,
 *                                                         containerEphemeralStorageLimitEviction
 * Read at       1.29 to 1.37; restartable init containers have their own limit since 1.37; memory-backed
 *               emptyDirs are skipped with a gate of 1.37
 * Kept exactly  emptyDir, then pod, then container: the first hit decides; above, not at; one limited container limits the whole pod; a container's
 *               writable layer counts only if images share the disk of everything else
 * Left out      a volume's statistics without usage, on which upstream crashes
 */

export interface StorageLimitExceeded extends Omit<LocalStorageEviction, keyof PodName> {
  pod: Pod
}

/** In the order of `pods`. */
export function localStorageEviction(
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  { dedicatedImageFs }: DiskLayout,
  kubelet: Kubelet,
): readonly StorageLimitExceeded[] {
  return podStats.once(['limits', pods, dedicatedImageFs, kubelet], () =>
    limitsExceeded(pods, podStats, dedicatedImageFs, kubelet),
  )
}

/** @param limitShare 1: over the limit, as upstream; less: over that share of it */
export function limitsExceeded(
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  dedicatedImageFs: boolean,
  kubelet: Kubelet,
  limitShare = 1,
): readonly StorageLimitExceeded[] {
  const exceeded: StorageLimitExceeded[] = []
  for (const pod of pods) {
    if (!hasStorageLimit(pod) || isCriticalPod(pod)) continue
    const stats = podStatsOf(podStats, pod)
    if (!stats) continue
    const found =
      emptyDirLimitEviction(pod, stats, kubelet, limitShare) ??
      podEphemeralStorageLimitEviction(pod, stats, limitShare) ??
      containerEphemeralStorageLimitEviction(pod, stats, dedicatedImageFs, kubelet, limitShare)
    if (found) exceeded.push(found)
  }
  return exceeded
}

/** Most pods have no limit. */
const hasStorageLimit = ({ volumes, containers, initContainers }: Pod) =>
  volumes.some(({ emptyDir }) => emptyDir?.sizeLimit) ||
  containers.some(hasLimit) ||
  initContainers.some(hasLimit)

const hasLimit = ({ limits }: Pod['containers'][number]) =>
  limits.get('ephemeral-storage') !== undefined

function emptyDirLimitEviction(
  pod: Pod,
  { volumes }: PodStats,
  { isGateOn }: Kubelet,
  limitShare: number,
): StorageLimitExceeded | null {
  // The last statistic of a name counts.
  const byName = new Map(volumes.map(volume => [volume.name, volume]))
  for (const { name, emptyDir } of pod.volumes) {
    // The kernel enforces the size of such a volume: it can be full, and never above.
    const isSkipped = limitShare < 1 || isGateOn('InPlacePodVerticalScalingMemoryBackedVolumes')
    if (emptyDir?.isMemory && isSkipped) continue
    const limit = emptyDir?.sizeLimit
    if (!limit || signOf(limit) <= 0) continue
    const usedBytes = byName.get(name)?.usedBytes ?? null
    if (usedBytes === null || !isAbove(usedBytes / limitShare, limit)) continue
    return { pod, limit: 'emptyDir', what: name, usedBytes, limitBytes: limitBytesOf(limit) }
  }
  return null
}

function podEphemeralStorageLimitEviction(
  pod: Pod,
  stats: PodStats,
  limitShare: number,
): StorageLimitExceeded | null {
  const limit = ephemeralStorageLimit(pod)
  const usedBytes = stats.ephemeralStorageUsedBytes ?? 0
  if (!limit || !isAbove(usedBytes / limitShare, limit)) return null
  return { pod, limit: 'pod', what: pod.name, usedBytes, limitBytes: limitBytesOf(limit) }
}

function containerEphemeralStorageLimitEviction(
  pod: Pod,
  { containers }: PodStats,
  dedicatedImageFs: boolean,
  kubelet: Kubelet,
  limitShare: number,
): StorageLimitExceeded | null {
  const limits = containerLimits(pod, kubelet)
  if (!limits) return null
  for (const { name, logs, rootfs } of containers) {
    const limit = limits.get(name)
    const usedBytes = (logs.usedBytes ?? 0) + (dedicatedImageFs ? 0 : (rootfs.usedBytes ?? 0))
    if (!limit || !isAbove(usedBytes / limitShare, limit)) continue
    return { pod, limit: 'container', what: name, usedBytes, limitBytes: limitBytesOf(limit) }
  }
  return null
}

/** Null: no container has a limit, as in most pods. */
function containerLimits(
  { containers, initContainers }: Pod,
  { features }: Kubelet,
): ReadonlyMap<string, Quantity> | null {
  let limits: Map<string, Quantity> | null = null
  const limited = features.has('sidecarStorageLimits')
    ? [...containers, ...initContainers.filter(({ isSidecar }) => isSidecar)]
    : containers
  for (const { name, limits: ofContainer } of limited) {
    const limit = ofContainer.get('ephemeral-storage')
    if (!limit || quantityValue(limit) === 0n) continue
    limits ??= new Map()
    limits.set(name, limit)
  }
  return limits
}

const isAbove = (usedBytes: number, limit: Quantity) =>
  limit.safeInteger === null
    ? compareQuantities(binaryQuantity(Math.floor(usedBytes)), limit) > 0
    : usedBytes > limit.safeInteger

const limitBytesOf = (limit: Quantity) => Math.min(quantityNumber(limit), Number.MAX_VALUE)

/*
 * The order in which the kubelet evicts pods under one signal.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  buildSignalToRankFunc, rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure, podDiskUsage
 * Read at       1.29 to 1.37; a pod's requests are counted differently since 1.34 (pod-requests.ts), split filesystems since 1.29
 * Kept exactly  pods without statistics come first, for pids only within their priority; usage above the request comes before priority,
 *               priority before the excess amount; inodes are ranked minus the requested bytes of ephemeral storage
 * Left out      the order of equal pods, which upstream's sort leaves open: they share a rank; sums above 2^53 bytes in one pod
 */

export interface PodRank {
  pod: Pod
  /** 0 is evicted first. Pods with equal ranks have no order upstream. */
  rank: number
  /** Bytes, inodes or processes, as the order counts them. Null: the kubelet has no statistics of the pod. */
  usage: number | null
  /** Amount subtracted from the usage: bytes, even from inodes; 0 for processes. */
  request: number
  /** Null: the order does not use it. */
  exceedsRequest: boolean | null
  /** False: a statistic of the pod is malformed. Its true rank is unknown; here it ranks last. */
  isPlaceKnown: boolean
}

interface MeasuredPod {
  pod: Pod
  usage: number | null
  request: Quantity
  exceeds: boolean
  /** Usage minus request. Null: a double might not hold it exactly. */
  over: number | null
  isPlaceKnown: boolean
}

/** Sorted: the first pod is evicted first. */
export function rankPods(
  signal: Signal,
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  layout: DiskLayout,
  kubelet: Kubelet,
): readonly PodRank[] {
  const placement = placementOf(layout)
  return podStats.once(['ranks', signal, pods, placement, kubelet], () =>
    rankMeasuredPods(signal, pods, podStats, measureOf(signal, placement, kubelet)),
  )
}

/** The evictable pods that may stand first: equal ones, and those of unknown place. */
export function firstVictims(
  signal: Signal,
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  layout: DiskLayout,
  kubelet: Kubelet,
): readonly Pod[] {
  const placement = placementOf(layout)
  const resource = resourceOf(signal)
  const { rootfs, logsAndVolumes } = statsToMeasure(signal, placement)
  const isDisk = resource === 'inodes' || resource === 'ephemeral-storage'
  const parts = isDisk ? [rootfs, logsAndVolumes] : []
  return podStats.once(['first', resource, pods, kubelet, ...parts], () => {
    const measured = podStats.once(
      ['measured', resource, kubelet, ...parts],
      () => new Map<Pod, MeasuredPod>(),
    )
    const { measuredOf, compare } = orderOf(signal, podStats, measureOf(signal, placement, kubelet))
    let first: MeasuredPod | null = null
    const evictable: MeasuredPod[] = []
    for (const pod of pods) {
      if (isCriticalPod(pod)) continue
      const one = measured.get(pod) ?? measuredOf(pod)
      measured.set(pod, one)
      evictable.push(one)
      if (!first || compare(one, first) < 0) first = one
    }
    return evictable
      .filter(one => !one.isPlaceKnown || (first !== null && compare(one, first) === 0))
      .map(({ pod }) => pod)
  })
}

function orderOf(signal: Signal, podStats: PodStatsIndex, measure: Measure) {
  const resource = resourceOf(signal)
  const inTurn = resource === 'pids' ? rankPIDPressure : rankByUsage
  return {
    compare: (a: MeasuredPod, b: MeasuredPod) =>
      trueFirst(a.isPlaceKnown, b.isPlaceKnown) || inTurn(a, b),
    measuredOf: (pod: Pod) => {
      const stats = podStatsOf(podStats, pod)
      const one = measure(pod, stats)
      return stats?.malformed.includes(resource) === true ? { ...one, isPlaceKnown: false } : one
    },
  }
}

function rankMeasuredPods(
  signal: Signal,
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  measure: Measure,
): readonly PodRank[] {
  const { compare, measuredOf } = orderOf(signal, podStats, measure)
  const sorted = pods.map(measuredOf).sort(compare)
  let rank = 0
  return sorted.map((measured, index) => {
    const before = sorted[index - 1]
    if (before && compare(before, measured) !== 0) rank = index
    const { pod, usage, request, exceeds, isPlaceKnown } = measured
    return {
      pod,
      rank,
      usage,
      request: request.safeInteger ?? Math.min(quantityNumber(request), Number.MAX_VALUE),
      exceedsRequest: usage === null || resourceOf(signal) === 'pids' ? null : exceeds,
      isPlaceKnown,
    }
  })
}

/** Upstream: rankMemoryPressure and rankDiskPressureFunc. */
const rankByUsage = (a: MeasuredPod, b: MeasuredPod) =>
  missingFirst(a, b) || exceedingFirst(a, b) || byPriority(a, b) || largerOverFirst(a, b)

const rankPIDPressure = (a: MeasuredPod, b: MeasuredPod) =>
  byPriority(a, b) || missingFirst(a, b) || (b.usage ?? 0) - (a.usage ?? 0)

const missingFirst = (a: MeasuredPod, b: MeasuredPod) =>
  trueFirst(a.usage === null, b.usage === null)
const exceedingFirst = (a: MeasuredPod, b: MeasuredPod) => trueFirst(a.exceeds, b.exceeds)
const byPriority = (a: MeasuredPod, b: MeasuredPod) => a.pod.priority - b.pod.priority
const trueFirst = (a: boolean, b: boolean) => Number(b) - Number(a)

function largerOverFirst(a: MeasuredPod, b: MeasuredPod) {
  if (a.usage === null || b.usage === null) return 0
  if (a.over !== null && b.over !== null) return b.over - a.over
  return compareQuantities(
    addQuantities(binaryQuantity(b.usage), a.request),
    addQuantities(binaryQuantity(a.usage), b.request),
  )
}

type Measure = (pod: Pod, stats: PodStats | null) => MeasuredPod

function measureOf(signal: Signal, placement: FilesystemLayout, kubelet: Kubelet): Measure {
  const resource = resourceOf(signal)
  if (resource === 'pids')
    return (pod, stats) =>
      measuredPod(pod, stats && (stats.processCount ?? 0), noRequest, noRequest)
  if (resource === 'memory') {
    return (pod, stats) => {
      const request = getResourceRequestQuantity(pod, 'memory', kubelet)
      return measuredPod(pod, stats && (stats.memory?.workingSetBytes ?? 0), request, request)
    }
  }
  const parts = statsToMeasure(signal, placement)
  const usedOf = resource === 'inodes' ? inodesOf : bytesOf
  return (pod, stats) => {
    const request = getResourceRequestQuantity(pod, 'ephemeral-storage', kubelet)
    const limit =
      resource === 'inodes' ? getResourceRequestQuantity(pod, 'inodes', kubelet) : request
    return measuredPod(pod, stats && podDiskUsage(stats, pod, parts, usedOf), limit, request)
  }
}

const noRequest = binaryQuantity(0)

function measuredPod(
  pod: Pod,
  usage: number | null,
  exceeded: Quantity,
  request: Quantity,
): MeasuredPod {
  if (usage === null) return { pod, usage, request, exceeds: false, over: null, isPlaceKnown: true }
  const over = request.safeInteger === null ? null : usage - request.safeInteger
  return {
    pod,
    usage,
    request,
    exceeds:
      exceeded.safeInteger === null
        ? compareQuantities(binaryQuantity(usage), exceeded) > 0
        : usage > exceeded.safeInteger,
    over: Number.isSafeInteger(over) ? over : null,
    isPlaceKnown: true,
  }
}

interface RankParts {
  rootfs: boolean
  logsAndVolumes: boolean
}

/** Which parts of a pod lie on the signal's filesystem. Pods own no image, so on a disk of images alone priority decides. */
function statsToMeasure(signal: Signal, placement: FilesystemLayout): RankParts {
  if (placement === 'shared') return { rootfs: true, logsAndVolumes: true }
  if (placement === 'split')
    return signal.startsWith('imagefs.')
      ? { rootfs: false, logsAndVolumes: false }
      : { rootfs: true, logsAndVolumes: true }
  return signal.startsWith('nodefs.')
    ? { rootfs: false, logsAndVolumes: true }
    : { rootfs: true, logsAndVolumes: false }
}

const bytesOf = ({ usedBytes }: FsUsage) => usedBytes ?? 0
const inodesOf = ({ inodesUsed }: FsUsage) => inodesUsed ?? 0

function podDiskUsage(
  stats: PodStats,
  pod: Pod,
  { rootfs, logsAndVolumes }: RankParts,
  usedOf: (usage: FsUsage) => number,
) {
  let total = 0
  for (const container of stats.containers) {
    if (rootfs) total += usedOf(container.rootfs)
    if (logsAndVolumes) total += usedOf(container.logs)
  }
  if (!logsAndVolumes) return total
  const volumes = firstVolumes(stats)
  for (const { name, isLocal } of pod.volumes) {
    const volume = isLocal ? volumes.get(name) : undefined
    if (volume) total += usedOf(volume)
  }
  return total
}

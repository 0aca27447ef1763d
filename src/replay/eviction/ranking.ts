/**
 * The order in which the kubelet evicts pods under one signal.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  buildSignalToRankFunc, rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure, podDiskUsage
 * Read at       1.29 to 1.37; a pod's requests are counted differently since 1.34 (pod-requests.ts), split filesystems since 1.29
 * Kept exactly  pods without statistics come first, for pids only within their priority; usage above the request comes before priority,
 *               priority before the excess amount; inodes are ranked minus the requested bytes of ephemeral storage
 * Left out      the order of equal pods, which upstream's sort leaves open: they share a rank; sums above 2^53 bytes in one pod
 */

import {
  addQuantities,
  binaryQuantity,
  compareQuantities,
  type Quantity,
  quantityNumber,
} from '#base/go/quantity.ts'
import type { FilesystemLayout, Signal } from '#model/prediction/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { isCriticalPod, type Pod } from '#replay/pods/pod.ts'
import { getResourceRequestQuantity } from '#replay/pods/pod-requests.ts'
import {
  type FsUsage,
  type PodStats,
  type PodStatsIndex,
  podStatsOf,
} from '#replay/pods/pod-stats.ts'
import { type DiskLayout, placementOf } from './layout.ts'
import { remembering } from './remembering.ts'
import { resourceOf } from './signals.ts'

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

const answered = remembering<readonly PodRank[]>()

/** Sorted: the first pod is evicted first. */
export function rankPods(
  signal: Signal,
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  layout: DiskLayout,
  kubelet: Kubelet,
): readonly PodRank[] {
  const placement = placementOf(layout)
  return answered(podStats, [signal, pods, placement, kubelet], () =>
    ranked(signal, pods, podStats, measureOf(signal, placement, kubelet)),
  )
}

const firsts = remembering<readonly Pod[]>()

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
  return firsts(podStats, [resource, pods, kubelet, ...parts], () => {
    const { measuredOf, compare } = orderOf(signal, podStats, measureOf(signal, placement, kubelet))
    let first: MeasuredPod | null = null
    const evictable: MeasuredPod[] = []
    for (const pod of pods) {
      if (isCriticalPod(pod)) continue
      const one = measuredOf(pod)
      evictable.push(one)
      if (first === null || compare(one, first) < 0) first = one
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
    measuredOf: (pod: Pod): MeasuredPod => {
      const stats = podStatsOf(podStats, pod)
      const isPlaceKnown = stats?.malformed.includes(resource) !== true
      return { ...measure(pod, stats), isPlaceKnown }
    },
  }
}

function ranked(
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

type Measure = (pod: Pod, stats: PodStats | null) => Omit<MeasuredPod, 'isPlaceKnown'>

function measureOf(signal: Signal, placement: FilesystemLayout, kubelet: Kubelet): Measure {
  const resource = resourceOf(signal)
  if (resource === 'pids')
    return (pod, stats) => measured(pod, stats && (stats.processCount ?? 0), noRequest, noRequest)
  if (resource === 'memory') {
    return (pod, stats) => {
      const request = getResourceRequestQuantity(pod, 'memory', kubelet)
      return measured(pod, stats && (stats.memory?.workingSetBytes ?? 0), request, request)
    }
  }
  const parts = statsToMeasure(signal, placement)
  const usedOf = resource === 'inodes' ? inodesOf : bytesOf
  return (pod, stats) => {
    const request = getResourceRequestQuantity(pod, 'ephemeral-storage', kubelet)
    const limit =
      resource === 'inodes' ? getResourceRequestQuantity(pod, 'inodes', kubelet) : request
    return measured(pod, stats && podDiskUsage(stats, pod, parts, usedOf), limit, request)
  }
}

const noRequest = binaryQuantity(0)

function measured(
  pod: Pod,
  usage: number | null,
  exceeded: Quantity,
  request: Quantity,
): Omit<MeasuredPod, 'isPlaceKnown'> {
  if (usage === null) return { pod, usage, request, exceeds: false, over: null }
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
  { containers, volumes }: PodStats,
  pod: Pod,
  { rootfs, logsAndVolumes }: RankParts,
  usedOf: (usage: FsUsage) => number,
) {
  let total = 0
  for (const container of containers) {
    if (rootfs) total += usedOf(container.rootfs)
    if (logsAndVolumes) total += usedOf(container.logs)
  }
  if (!logsAndVolumes) return total
  for (const { name, isLocal } of pod.volumes) {
    const volume = isLocal ? volumes.find(known => known.name === name) : undefined
    if (volume) total += usedOf(volume)
  }
  return total
}

/**
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
import {
  binaryQuantity,
  compareQuantities,
  type Quantity,
  quantityNumber,
  quantityValue,
  signOf,
} from '#base/go/quantity.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { isCriticalPod, type Pod } from '#replay/pods/pod.ts'
import { ephemeralStorageLimit } from '#replay/pods/pod-requests.ts'
import { type PodStats, type PodStatsIndex, podStatsOf } from '#replay/pods/pod-stats.ts'
import type { DiskLayout } from './layout.ts'
import { remembering } from './remembering.ts'

export interface StorageLimitExceeded {
  pod: Pod
  limit: 'emptyDir' | 'pod' | 'container'
  /** Name of the volume or the container. For a pod's limit, the pod's name. */
  what: string
  usedBytes: number
  limitBytes: number
}

const answered = remembering<readonly StorageLimitExceeded[]>()

/** In the order of `pods`. */
export function localStorageEviction(
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  { dedicatedImageFs }: DiskLayout,
  kubelet: Kubelet,
): readonly StorageLimitExceeded[] {
  return answered(podStats, [pods, dedicatedImageFs, kubelet], () =>
    limitsExceeded(pods, podStats, dedicatedImageFs, kubelet),
  )
}

function limitsExceeded(
  pods: readonly Pod[],
  podStats: PodStatsIndex,
  dedicatedImageFs: boolean,
  kubelet: Kubelet,
): readonly StorageLimitExceeded[] {
  const exceeded: StorageLimitExceeded[] = []
  for (const pod of pods) {
    if (!hasStorageLimit(pod) || isCriticalPod(pod)) continue
    const stats = podStatsOf(podStats, pod)
    if (!stats) continue
    const found =
      emptyDirLimitEviction(pod, stats, kubelet) ??
      podEphemeralStorageLimitEviction(pod, stats) ??
      containerEphemeralStorageLimitEviction(pod, stats, dedicatedImageFs, kubelet)
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
): StorageLimitExceeded | null {
  for (const { name, emptyDir } of pod.volumes) {
    // The kernel enforces the size of such a volume.
    if (emptyDir?.isMemory && isGateOn('InPlacePodVerticalScalingMemoryBackedVolumes')) continue
    const limit = emptyDir?.sizeLimit
    if (!limit || signOf(limit) <= 0) continue
    const usedBytes = volumes.findLast(volume => volume.name === name)?.usedBytes ?? null
    if (usedBytes === null || !isAbove(usedBytes, limit)) continue
    return { pod, limit: 'emptyDir', what: name, usedBytes, limitBytes: bytesOf(limit) }
  }
  return null
}

function podEphemeralStorageLimitEviction(pod: Pod, stats: PodStats): StorageLimitExceeded | null {
  const limit = ephemeralStorageLimit(pod)
  const usedBytes = stats.ephemeralStorageUsedBytes ?? 0
  if (!limit || !isAbove(usedBytes, limit)) return null
  return { pod, limit: 'pod', what: pod.name, usedBytes, limitBytes: bytesOf(limit) }
}

function containerEphemeralStorageLimitEviction(
  pod: Pod,
  { containers }: PodStats,
  dedicatedImageFs: boolean,
  kubelet: Kubelet,
): StorageLimitExceeded | null {
  const limits = containerLimits(pod, kubelet)
  if (limits === null) return null
  for (const { name, logs, rootfs } of containers) {
    const limit = limits.get(name)
    const usedBytes = (logs.usedBytes ?? 0) + (dedicatedImageFs ? 0 : (rootfs.usedBytes ?? 0))
    if (!limit || !isAbove(usedBytes, limit)) continue
    return { pod, limit: 'container', what: name, usedBytes, limitBytes: bytesOf(limit) }
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
    ? compareQuantities(binaryQuantity(usedBytes), limit) > 0
    : usedBytes > limit.safeInteger

const bytesOf = (limit: Quantity) => Math.min(quantityNumber(limit), Number.MAX_VALUE)

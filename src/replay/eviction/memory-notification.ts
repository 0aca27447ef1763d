/**
 * At which usage of memory the kernel wakes the eviction manager, without waiting for its next look.
 *
 * Replays       pkg/kubelet/eviction/memory_threshold_notifier_others.go  UpdateThreshold (memory_threshold_notifier.go up to 1.30);
 *               eviction_manager.go  Start, synchronize;  threshold_notifier_linux.go  NewCgroupNotifier
 * Read at       1.24 to 1.37, alike
 * Kept exactly  the kernel counts usage and the kubelet working set: inactive file memory comes on top; a pass updates the kernel's
 *               value if the last update is more than 10 s old; cgroup v2 has no such notification, whatever is configured
 * Left out      Windows, where a loop of its own looks every 10 s
 */
import { notifierRefreshIntervalMs } from '#facts/kubelet/periods.ts'
import type { MemoryStats, Summary } from '#model/node-input.ts'
import type { Threshold } from '#model/prediction.ts'
import { addQuantities, binaryQuantity, negated, quantityValue } from '#model/quantity.ts'
import { countOf } from '#replay/counters.ts'
import { getThresholdQuantity } from './thresholds.ts'

export interface NotificationSettings {
  kernelMemcgNotification: boolean
  /** Null: not known. */
  cgroupVersion: 1 | 2 | null
}

/** A threshold with the bytes of usage that wake the kubelet; null: its statistics lack a number, and the last one stands. */
export interface MemoryNotification {
  threshold: Threshold
  usageBytes: bigint | null
}

/** None where the kernel does not notify; null: it is not known whether it can. */
export function memoryNotifications(
  thresholds: readonly Threshold[],
  summary: Summary,
  { kernelMemcgNotification, cgroupVersion }: NotificationSettings,
): MemoryNotification[] | null {
  if (!kernelMemcgNotification || cgroupVersion === 2) return []
  if (cgroupVersion === null) return null
  return thresholds
    .filter(
      ({ signal }) => signal === 'memory.available' || signal === 'allocatableMemory.available',
    )
    .map(threshold => ({
      threshold,
      usageBytes: notifiedUsage(threshold, memoryOf(threshold, summary)),
    }))
}

/** Upstream: the pass updates the kernel's notification only then. */
export const isNotifierUpdated = (lastUpdatedMs: number, nowMs: number): boolean =>
  nowMs - lastUpdatedMs > notifierRefreshIntervalMs

function memoryOf({ signal }: Threshold, summary: Summary): MemoryStats | undefined {
  const { node } = summary
  if (signal === 'memory.available') return node?.memory
  return node?.systemContainers?.find(({ name }) => name === 'pods')?.memory
}

/** Capacity less the threshold, plus what the kernel counts and the working set does not. */
function notifiedUsage({ value }: Threshold, memory: MemoryStats | undefined): bigint | null {
  const usage = countOf(memory?.usageBytes)
  const workingSet = countOf(memory?.workingSetBytes)
  const available = countOf(memory?.availableBytes)
  if (usage === null || workingSet === null || available === null) return null
  const capacity = available + workingSet
  const working = addQuantities(
    binaryQuantity(capacity),
    negated(getThresholdQuantity(value, capacity)),
  )
  return quantityValue(addQuantities(working, binaryQuantity(usage - workingSet)))
}

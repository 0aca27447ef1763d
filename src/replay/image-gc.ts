/**
 * Image garbage collection, the arithmetic: how full the image filesystem is, whether that triggers, and how much is to be freed.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  NewImageGCManager, GarbageCollect;  pkg/kubelet/kubelet.go StartGarbageCollection
 * Read at       1.24 to 1.37; alike in all but what stops the loop
 * Kept exactly  the available percentage is floored, so 85 triggers above 84 % used; `>=`; int64 division; a statistic that is missing is 0;
 *               available is at most the capacity
 * Left out      which images go: order, ages, in use, pinned
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { FilesystemState, ImageGcPrediction } from '#model/prediction.ts'

export interface ImageGcPolicy {
  highThresholdPercent: number
  lowThresholdPercent: number
  /** Whether `imageMaximumGCAge` is set and its gate is on. */
  hasMaximumAge: boolean
}

/** Upstream's text where it would not even construct the manager; else null. */
export function imageGcPolicyError({ highThresholdPercent, lowThresholdPercent }: Omit<ImageGcPolicy, 'hasMaximumAge'>): string | null {
  if (highThresholdPercent < 0 || highThresholdPercent > 100)
    return `invalid HighThresholdPercent ${highThresholdPercent}, must be in range [0-100]`
  if (lowThresholdPercent < 0 || lowThresholdPercent > 100)
    return `invalid LowThresholdPercent ${lowThresholdPercent}, must be in range [0-100]`
  if (lowThresholdPercent <= highThresholdPercent) return null
  return `LowThresholdPercent ${lowThresholdPercent} can not be higher than HighThresholdPercent ${highThresholdPercent}`
}

/** What one round would do at this moment. `imagefs` null: not observed. */
export function predictImageGc(policy: ImageGcPolicy, imagefs: FilesystemState | null, features: KubeletFeatures): ImageGcPrediction {
  const { highThresholdPercent, lowThresholdPercent } = policy
  const isStopped = highThresholdPercent === 100 && !(policy.hasMaximumAge && features.has('maximumAgeKeepsImageGc'))
  const prediction: ImageGcPrediction = {
    enabled: !isStopped,
    highThresholdPercent,
    lowThresholdPercent,
    triggered: null,
    usagePercent: null,
    bytesUntilTrigger: null,
    bytesToFree: null,
    error: imageGcPolicyError(policy),
  }
  if (!imagefs || prediction.error !== null) return prediction

  const capacity = imagefs.capacityBytes ?? 0
  const available = Math.min(imagefs.availableBytes ?? 0, capacity)
  if (capacity === 0) return { ...prediction, triggered: false, error: 'invalid capacity 0 on image filesystem' }
  const usagePercent = usagePercentOf(capacity, available)
  if (isStopped) return { ...prediction, usagePercent, triggered: false, bytesToFree: 0 }
  const triggered = usagePercent >= highThresholdPercent
  return {
    ...prediction,
    usagePercent,
    triggered,
    bytesUntilTrigger: Math.max(0, available - greatestTriggering(capacity, highThresholdPercent)),
    bytesToFree: triggered ? divided(capacity, 100 - lowThresholdPercent, 100) - available : 0,
  }
}

/** 100 − the floored percentage that is available, in percent. */
export const usagePercentOf = (capacityBytes: number, availableBytes: number): number =>
  100 - divided(Math.min(availableBytes, capacityBytes), 100, capacityBytes)

/** The most that may be available with image GC still triggered: available × 100 < (101 − high) × capacity. */
const greatestTriggering = (capacity: number, highThresholdPercent: number): number => {
  const product = (101 - highThresholdPercent) * capacity
  if (Number.isSafeInteger(product)) return Math.floor((product - 1) / 100)
  return Number((BigInt(101 - highThresholdPercent) * BigInt(capacity) - 1n) / 100n)
}

/** value × factor ÷ divisor as int64 does it: doubles cannot hold the product of a disk of 90 TB and 100. */
function divided(value: number, factor: number, divisor: number): number {
  const product = value * factor
  if (Number.isSafeInteger(product)) return Math.trunc(product / divisor)
  return Number((BigInt(value) * BigInt(factor)) / BigInt(divisor))
}

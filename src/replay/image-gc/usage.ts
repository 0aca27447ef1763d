/**
 * How full the image filesystem is for image GC, what that triggers, how much to free, and the kubelet's error if that fails.
 *
 * Replays       pkg/kubelet/images/image_gc_manager.go  GarbageCollect, formatSize
 * Read at       1.29 to 1.37; alike except for the text about too little freed
 * Kept exactly  the available percentage is floored, so 85 triggers above 84 % used; `>=`; int64 division; a statistic that is missing is 0;
 *               available is at most the capacity; one decimal, rounded half to even of the exact double
 * Left out      logging, metrics
 */

import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { startsBelowAvailableBytes } from '#model/kubelet/image-gc-trigger.ts'

/** The image filesystem's statistics. Null: the statistics lack that number. */
export interface ImageFsStats {
  capacityBytes: number | null
  availableBytes: number | null
}

export interface ImageFsUsage {
  capacityBytes: number
  availableBytes: number
  usagePercent: number
}

export const invalidCapacity = 'invalid capacity 0 on image filesystem'

/** Null: the capacity is 0. Upstream refuses that with `invalidCapacity`. */
export function imageFsUsage({ capacityBytes, availableBytes }: ImageFsStats): ImageFsUsage | null {
  const capacity = capacityBytes ?? 0
  const available = Math.min(availableBytes ?? 0, capacity)
  return capacity === 0
    ? null
    : {
        capacityBytes: capacity,
        availableBytes: available,
        usagePercent: usagePercentOf(capacity, available),
      }
}

/** 100 minus the floored available percentage, in percent. */
export const usagePercentOf = (capacityBytes: number, availableBytes: number): number =>
  100 - divide(Math.min(availableBytes, capacityBytes), 100, capacityBytes)

/** In bytes. Negative: more is available than the low threshold requires. */
export const amountToFree = (
  { capacityBytes, availableBytes }: ImageFsUsage,
  lowThresholdPercent: number,
): number => divide(capacityBytes, 100 - lowThresholdPercent, 100) - availableBytes

/** Bytes that can still be written before the trigger. 0: GC is triggered. */
export const bytesUntilTrigger = (
  { capacityBytes, availableBytes }: ImageFsUsage,
  highThresholdPercent: number,
): number =>
  Math.max(0, availableBytes - startsBelowAvailableBytes(capacityBytes, highThresholdPercent) + 1)

/** value × factor ÷ divisor in int64. Doubles cannot hold the product of 100 and a disk of 90 TB. */
function divide(value: number, factor: number, divisor: number) {
  const product = value * factor
  if (Number.isSafeInteger(product)) return Math.trunc(product / divisor)
  return Number((BigInt(value) * BigInt(factor)) / BigInt(divisor))
}

/** Upstream's error, and event FreeDiskSpaceFailed, for a round that freed less than it wanted. */
export function notEnoughFreed(
  { capacityBytes, usagePercent }: ImageFsUsage,
  wantedBytes: number,
  freedBytes: number,
  features: KubeletFeatures,
): string {
  if (features.has('imageGcShortfallNamesUsage')) {
    const disk = `Insufficient free disk space on the node's image filesystem (${usagePercent}% of ${formatSize(capacityBytes)} used).`
    const freed = `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes).`
    return `${disk} ${freed} Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`
  }
  return `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`
}

const units = ['KiB', 'MiB', 'GiB', 'TiB']

function formatSize(sizeBytes: number) {
  if (sizeBytes < 1024) return `${sizeBytes} B`
  let size = sizeBytes / 1024
  let unit = 0
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024
  return `${oneDecimal(size)} ${units[unit]}`
}

/** Go rounds the exact value half to even, toFixed half up. They differ only at exactly x.x5: in a double, only .25 and .75. */
function oneDecimal(size: number) {
  const isHalf = Number.isInteger(size * 4) && !Number.isInteger(size * 2)
  return isHalf && (Math.floor(size * 10) & 1) === 0
    ? (Math.floor(size * 10) / 10).toFixed(1)
    : size.toFixed(1)
}

/**
 * Where image GC starts.
 *
 * Upstream: pkg/kubelet/images/image_gc_manager.go GarbageCollect. The used percentage is 100 − the floored available one, and image GC
 * starts at `used >= high`. So it starts above high − 1 % used, and below (101 − high) % available.
 */

/** Image GC starts above this used percentage. −1 for a threshold of 0: image GC always runs. */
export const startsAboveUsedPercent = (highThresholdPercent: number) => highThresholdPercent - 1

/** High threshold with which image GC starts below this available percentage. It can have a fraction. */
export const highStartingBelow = (availablePercent: number) => 101 - availablePercent

/** Smallest number of available bytes with which image GC does not start. Exact for disks of any size. */
export function startsBelowAvailableBytes(capacityBytes: number, highThresholdPercent: number) {
  const availablePercent = 100 - startsAboveUsedPercent(highThresholdPercent)
  const product = availablePercent * capacityBytes
  if (Number.isSafeInteger(product)) return Math.ceil(product / 100)
  return Number((BigInt(availablePercent) * BigInt(capacityBytes) - 1n) / 100n) + 1
}

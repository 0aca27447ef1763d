/** Signals that thresholds watch. On a shared disk, a threshold on a signal of nodefs also watches the signal of imagefs, and vice versa. */
import type { EvaluatedThreshold, Filesystems, Signal } from '#model/prediction/prediction.ts'

export type NodeCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

/** Upstream: pkg/kubelet/eviction/helpers.go signalToNodeCondition. */
export function conditionOf(signal: Signal): NodeCondition {
  if (signal === 'memory.available' || signal === 'allocatableMemory.available')
    return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

/** A threshold of 0 (`0.0%`) parses but is never met. */
export const canBeMet = ({ resolved }: Pick<EvaluatedThreshold, 'resolved'>): boolean =>
  resolved !== 0

/** Signals of nodefs and imagefs that watch the same thing where both are one filesystem. */
const sisters: Record<string, Signal> = {
  'nodefs.available': 'imagefs.available',
  'nodefs.inodesFree': 'imagefs.inodesFree',
  'imagefs.available': 'nodefs.available',
  'imagefs.inodesFree': 'nodefs.inodesFree',
}

export const sisterOf = (signal: string): Signal | null => sisters[signal] ?? null

/** Whether a hard or soft threshold watches `signal` or, on a shared disk, its sister. Null: the answer depends on the unknown layout. */
export function isWatched(
  signal: string,
  thresholds: Pick<EvaluatedThreshold, 'signal' | 'resolved'>[],
  layout: Filesystems['layout'],
): boolean | null {
  const watchedSignals = new Set<string>(
    thresholds.filter(canBeMet).map(threshold => threshold.signal),
  )
  if (watchedSignals.has(signal)) return true
  const sister = sisterOf(signal)
  if (sister === null || !watchedSignals.has(sister)) return false
  return layout === null ? null : layout === 'shared'
}

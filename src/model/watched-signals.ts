/** Which thresholds watch what: a signal by itself, or on one disk by its twin of the other filesystem. */
import type { EvaluatedThreshold, Filesystems, Signal } from './prediction.ts'

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

/** Whether a threshold, hard or soft, watches what `signal` would; null: it depends on the layout, which is not known. */
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

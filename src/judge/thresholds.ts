/** What rules ask of eviction thresholds: what watches what, and how far image GC stands from them. */
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { Policy } from '#model/policy.ts'
import type { EvaluatedThreshold, Filesystems, Signal } from '#model/prediction.ts'
import type { NodeSubject } from './rule.ts'
import { bounded } from './text.ts'

/** Upstream: pkg/kubelet/eviction/helpers.go signalToNodeCondition. */
export function conditionOf(signal: Signal): 'MemoryPressure' | 'DiskPressure' | 'PIDPressure' {
  if (signal === 'memory.available' || signal === 'allocatableMemory.available') return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

/** A threshold of 0 (`0.0%`) parses but is never met. */
export const canBeMet = ({ resolved }: EvaluatedThreshold): boolean => resolved !== 0

/** Where the threshold stands: `configz evictionHard.imagefs.available`. A soft one with grace 0 acts as hard; some the kubelet adds by itself. */
export function configuredAt({ signal, value, hard }: EvaluatedThreshold, configuration: KubeletConfiguration | null): string {
  const isIn = (map: 'evictionHard' | 'evictionSoft') => configuration?.[map]?.[signal] === value
  if (isIn('evictionHard') && hard) return `configz evictionHard.${signal}`
  if (isIn('evictionSoft')) return `configz evictionSoft.${signal}`
  return `${hard ? 'hard' : 'soft'} threshold ${signal}`
}

/** Signals of nodefs and imagefs that watch the same thing where both are one filesystem. */
const sisters: Record<string, Signal> = {
  'nodefs.available': 'imagefs.available',
  'nodefs.inodesFree': 'imagefs.inodesFree',
  'imagefs.available': 'nodefs.available',
  'imagefs.inodesFree': 'nodefs.inodesFree',
}

/** Whether a threshold, hard or soft, watches what `signal` would; null: it depends on the layout, which is not known. */
export function isWatched(signal: string, thresholds: EvaluatedThreshold[], layout: Filesystems['layout']): boolean | null {
  const watchedSignals = new Set<string>(thresholds.filter(canBeMet).map(threshold => threshold.signal))
  if (watchedSignals.has(signal)) return true
  const sister = sisters[signal]
  if (sister === undefined || !watchedSignals.has(sister)) return false
  return layout === null ? null : layout === 'shared'
}

/** Why something of the summary is not known. */
export const whyUnobserved = ({ unread }: Pick<NodeSubject, 'unread'>, what: string): string =>
  unread.summary === undefined ? `stats/summary does not tell ${bounded(what)}` : `summary: ${unread.summary}`

export interface ImageGcPercentages {
  imageGCHighThresholdPercent: number
  imageGCLowThresholdPercent: number
}

/** Below this a high threshold would have image GC run all the time; the eviction threshold is what is wrong then. */
const lowestSoundHigh = 20
const bandPercent = 10

/**
 * The highest image-GC percentages whose trigger, `available` < (101 − high) %, comes before eviction at `evictionPercent` with twice the
 * growth of one GC period between them, and not above the team's alert. Null where there is none worth setting.
 */
export function soundImageGc(evictionPercent: number, { assumedGrowthPercent, alertPercent }: Policy): ImageGcPercentages | null {
  const beforeEviction = Math.ceil(101 - evictionPercent - 2 * assumedGrowthPercent) - 1
  const high = Math.min(beforeEviction, Math.floor(alertPercent))
  return high < lowestSoundHigh ? null : { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: high - bandPercent }
}

/** The image-GC percentages to set along with a new `imagefs.available` threshold in percent; nothing where the running ones are sound beside it. */
export function imageGcBeside(threshold: string, highThresholdPercent: number, policy: Policy): Partial<ImageGcPercentages> {
  const evictionPercent = Number.parseFloat(threshold)
  if (!threshold.endsWith('%') || 101 - highThresholdPercent - evictionPercent >= policy.assumedGrowthPercent) return {}
  return soundImageGc(evictionPercent, policy) ?? {}
}

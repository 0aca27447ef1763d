/** What rules ask of eviction thresholds: what watches what, and how far image GC stands from them. */
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { Policy } from '#model/policy.ts'
import type { EvaluatedThreshold, Signal } from '#model/prediction.ts'
import type { NodeSubject } from './rule.ts'
import { bounded } from './text.ts'

export { canBeMet, isWatched } from '#model/watched-signals.ts'

/** Upstream: pkg/kubelet/eviction/helpers.go signalToNodeCondition. */
export function conditionOf(signal: Signal): 'MemoryPressure' | 'DiskPressure' | 'PIDPressure' {
  if (signal === 'memory.available' || signal === 'allocatableMemory.available') return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

/** Where the threshold stands: `configz evictionHard.imagefs.available`. A soft one with grace 0 acts as hard; some the kubelet adds by itself. */
export function configuredAt({ signal, value, hard }: EvaluatedThreshold, configuration: KubeletConfiguration | null): string {
  const isIn = (map: 'evictionHard' | 'evictionSoft') => configuration?.[map]?.[signal] === value
  if (isIn('evictionHard') && hard) return `configz evictionHard.${signal}`
  if (isIn('evictionSoft')) return `configz evictionSoft.${signal}`
  return `${hard ? 'hard' : 'soft'} threshold ${signal}`
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

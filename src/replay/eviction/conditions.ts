/**
 * The node conditions that thresholds raise, and how long they stay.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  nodeConditions, nodeConditionsLastObservedAt, nodeConditionsObservedSince
 * Read at       1.29 to 1.37, alike
 * Kept exactly  a soft threshold raises its condition before its grace period has passed; a condition ends once the whole transition period
 *               has passed, so with a period of 0 it is never reported
 * Left out      the order of a map's entries: conditions are sorted here
 */
import type { Threshold } from '#model/prediction.ts'
import { conditionOf, type NodeCondition } from './signals.ts'

/** When a threshold of the condition was met last, in ms. */
export type ConditionTimes = Readonly<Partial<Record<NodeCondition, number>>>

/** Sorted. */
const all: readonly NodeCondition[] = ['DiskPressure', 'MemoryPressure', 'PIDPressure']
const none: readonly NodeCondition[] = []

export function nodeConditions(thresholds: readonly Threshold[]): readonly NodeCondition[] {
  if (thresholds.length === 0) return none
  return all.filter(condition => thresholds.some(({ signal }) => conditionOf(signal) === condition))
}

export function nodeConditionsLastObservedAt(
  conditions: readonly NodeCondition[],
  lastObserved: ConditionTimes,
  nowMs: number,
): ConditionTimes {
  if (conditions.length === 0) return lastObserved
  return { ...lastObserved, ...Object.fromEntries(conditions.map(condition => [condition, nowMs])) }
}

export function nodeConditionsObservedSince(
  lastObserved: ConditionTimes,
  periodMs: number,
  nowMs: number,
): readonly NodeCondition[] {
  const isRecent = (condition: NodeCondition) => {
    const lastMs = lastObserved[condition]
    return lastMs !== undefined && nowMs - lastMs < periodMs
  }
  return all.some(isRecent) ? all.filter(isRecent) : none
}

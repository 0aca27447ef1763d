/**
 * What the eviction manager remembers between passes, and how each pass updates that memory before it acts.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, up to thresholdsUpdatedStats;
 *               pkg/kubelet/eviction/helpers.go  thresholdsFirstObservedAt, thresholdsMetGracePeriod, thresholdsUpdatedStats
 * Read at       1.29 to 1.37, alike except for the layout (layout.ts)
 * Kept exactly  a threshold acted on in the previous pass stays met until its minimum reclaim is reached; one pass not met restarts its grace period;
 *               statistics that are not newer delay an eviction, but not a condition or a grace period
 */
import type { Observation, Threshold } from '#model/prediction/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import { type DiskLayout, isRefusedLayout } from './layout.ts'
import { isUpdated, type Observations } from './observations.ts'
import { conditionOf, type NodeCondition } from './signals.ts'
import {
  type EvictionConfig,
  isSameKey,
  mergeThresholds,
  thresholdsMet,
  updateContainerFsThresholds,
} from './thresholds.ts'

interface FirstObserved {
  threshold: Threshold
  atMs: number
}

/**
 * State that the kubelet holds only in memory: a restart begins with `startEviction` again.
 * Thresholds are compared by identity.
 */
export interface EvictionState {
  /** Null until the first pass has determined it; then fixed. */
  layout: DiskLayout | null
  /** The configured thresholds, plus the thresholds of containerfs once the layout is known. */
  thresholds: readonly Threshold[]
  /** For each threshold met in the last pass: since when it has been met without a break. */
  firstObserved: readonly FirstObserved[]
  /** Thresholds met in the last pass whose grace period has passed. */
  thresholdsMet: readonly Threshold[]
  conditionsLastObserved: ConditionTimes
  /** The conditions as reported, sorted. */
  conditions: readonly NodeCondition[]
  lastObservations: Observations
}

const noThresholds: readonly Threshold[] = []
const nothingObserved: readonly FirstObserved[] = []

export const startEviction = ({ thresholds }: EvictionConfig): EvictionState => ({
  layout: null,
  thresholds,
  firstObserved: nothingObserved,
  thresholdsMet: noThresholds,
  conditionsLastObserved: {},
  conditions: [],
  lastObservations: {},
})

export interface Learnt {
  state: EvictionState
  /** Thresholds that this pass uses. Added thresholds act from the next pass on. */
  thresholds: readonly Threshold[]
  /** Upstream's error text, with which the pass ends; null: no text. */
  error: string | null
  isOver: boolean
}

/** Determines the layout in the first pass; later passes change nothing. */
export function learnLayout(
  state: EvictionState,
  layout: DiskLayout | null,
  kubelet: Kubelet,
): Learnt {
  const asBefore = { state, thresholds: state.thresholds, error: null, isOver: false }
  if (state.layout !== null) return asBefore
  if (layout === null)
    return {
      ...asBefore,
      error: 'eviction manager: failed to get HasDedicatedImageFs',
      isOver: true,
    }
  if (isRefusedLayout(layout, kubelet)) {
    const error = 'KubeletSeparateDiskGC is turned off but we still have a split filesystem'
    return { ...asBefore, state: { ...state, layout }, error, isOver: true }
  }
  const { configured, added } = updateContainerFsThresholds(state.thresholds, layout)
  return {
    ...asBefore,
    state: { ...state, layout, thresholds: [...configured, ...added] },
    thresholds: configured,
  }
}

export interface Observed {
  state: EvictionState
  /** Thresholds that the pass can act on, in a stable order. */
  actionable: readonly Threshold[]
}

/** @param thresholds the thresholds that this pass uses */
export function observe(
  state: EvictionState,
  thresholds: readonly Threshold[],
  observations: Observations,
  { pressureTransitionPeriodMs }: EvictionConfig,
  nowMs: number,
): Observed {
  const met = mergeThresholds(
    thresholdsMet(thresholds, observations, false),
    thresholdsMet(state.thresholdsMet, observations, true),
  )
  const firstObserved = thresholdsFirstObservedAt(met, state.firstObserved, nowMs)
  const conditionsLastObserved = nodeConditionsLastObservedAt(
    nodeConditions(met),
    state.conditionsLastObserved,
    nowMs,
  )
  const metGracePeriod = thresholdsMetGracePeriod(firstObserved, nowMs)
  return {
    state: {
      layout: state.layout,
      thresholds: state.thresholds,
      firstObserved,
      thresholdsMet: metGracePeriod,
      conditionsLastObserved,
      conditions: nodeConditionsObservedSince(
        conditionsLastObserved,
        pressureTransitionPeriodMs,
        nowMs,
      ),
      lastObservations: observations,
    },
    actionable: thresholdsUpdatedStats(metGracePeriod, observations, state.lastObservations),
  }
}

function thresholdsFirstObservedAt(
  met: readonly Threshold[],
  previous: readonly FirstObserved[],
  nowMs: number,
): readonly FirstObserved[] {
  if (met.length === 0) return nothingObserved
  const observed: FirstObserved[] = []
  for (const threshold of met) {
    const isSame = (known: FirstObserved) => isSameKey(known.threshold, threshold)
    if (!observed.some(isSame))
      observed.push({ threshold, atMs: previous.find(isSame)?.atMs ?? nowMs })
  }
  return observed
}

function thresholdsMetGracePeriod(
  observed: readonly FirstObserved[],
  nowMs: number,
): readonly Threshold[] {
  if (observed.length === 0) return noThresholds
  return observed
    .filter(({ threshold, atMs }) => nowMs - atMs >= threshold.gracePeriodMs)
    .map(({ threshold }) => threshold)
}

function thresholdsUpdatedStats(
  met: readonly Threshold[],
  observations: Observations,
  last: Observations,
): readonly Threshold[] {
  if (met.length === 0) return noThresholds
  const isNew = (observed: Observation | undefined, before: Observation | undefined) =>
    observed !== undefined && isUpdated(observed, before)
  return met.filter(({ signal }) => isNew(observations[signal], last[signal]))
}

/*
 * The node conditions that thresholds raise, and how long they stay.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  nodeConditions, nodeConditionsLastObservedAt, nodeConditionsObservedSince
 * Read at       1.29 to 1.37, alike
 * Kept exactly  a soft threshold raises its condition before its grace period has passed; a condition ends once the whole transition period
 *               has passed, so with a period of 0 it is never reported
 * Left out      the order of a map's entries: conditions are sorted here
 */

/** When a threshold of the condition was met last, in ms. */
type ConditionTimes = Readonly<Partial<Record<NodeCondition, number>>>

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

/**
 * One pass of the eviction manager, as a step from state to state.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, reclaimNodeLevelResources, evictPod;
 *               pkg/kubelet/eviction/helpers.go  byEvictionPriority, getReclaimableThreshold
 * Read at       1.29 to 1.37; only the parts of the pass differ (node-reclaim below; ../filesystem-layout.ts, grace periods below)
 * Kept exactly  limits of local storage come first; if one is exceeded, the pass ends; memory comes before the rest; after node-level reclaim
 *               any threshold still met, in its grace period or not, evicts a pod; one pod per pass
 * Left out      low-memory notifications from a cgroup or from Windows
 *
 * If upstream follows a map's order, a pass may act on one of several thresholds, the `candidates`. `synchronize` takes the first,
 * `synchronizeAlternatives` each in turn. Of the pods with equal rank, `victims`, the first in input order is evicted. The state afterwards
 * is always the same.
 */

import { nodeReclaimKinds as kinds, type ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import {
  conditionOf,
  type NodeCondition,
  type Observation,
  type Signal,
  type Threshold,
} from '#model/prediction.ts'
import type { Pod, PodStatsIndex } from '#replay/pods.ts'
import type { Kubelet } from '#replay/times.ts'
import {
  type DiskLayout,
  type EvictionConfig,
  isHardThreshold,
  isRefusedLayout,
  isSameKey,
  isUpdated,
  mergeThresholds,
  type Observations,
  placementOf,
  thresholdsMet,
  updateContainerFsThresholds,
} from './thresholds.ts'
import {
  firstVictims,
  localStorageEviction,
  resourceOf,
  type StorageLimitExceeded,
} from './victims.ts'

export interface Pass {
  nowMs: number
  /** Null: no summary was available. */
  observations: Observations | null
  /** Active pods: pods that are not known to have ended. */
  pods: readonly Pod[]
  podStats: PodStatsIndex
  /** Null: the kubelet could not determine it. Only the first pass reads it. */
  layout: DiskLayout | null
  config: EvictionConfig
  kubelet: Kubelet
  /** Runs GC and observes again. Null: no new summary. Called at most once for each candidate. */
  reclaim(kinds: readonly ReclaimKind[], signal: Signal): Observations | null
}

export interface Eviction {
  pod: Pod
  /** The signal under pressure, or of the exceeded limit. */
  signal: Signal | null
  exceeded: StorageLimitExceeded | null
  gracePeriodOverrideSeconds: number
  gracePeriodSeconds: number
  /** The longest time for which the pass waits for the pod to stop, in ms. */
  killTimeoutMs: number
}

export interface Outcome {
  /** Conditions reported from now on, sorted. */
  conditions: readonly NodeCondition[]
  /** Thresholds met whose grace period has passed. */
  thresholdsMet: readonly Threshold[]
  /** Upstream may pick any of these. Their order here is stable. */
  candidates: readonly Threshold[]
  picked: Threshold | null
  /** Kinds reclaimed on the node, in upstream's order. */
  reclaimed: readonly ReclaimKind[]
  /** True: no threshold is met after the reclaim, so no pod is evicted. */
  isEnough: boolean
  /** Under pressure, upstream evicts whichever of these comes first in its varying order of pods. */
  victims: readonly Pod[]
  evictions: readonly Eviction[]
  error: string | null
}

const calm: Outcome = {
  conditions: [],
  thresholdsMet: [],
  candidates: [],
  picked: null,
  reclaimed: [],
  isEnough: false,
  victims: [],
  evictions: [],
  error: null,
}

export function synchronize(
  state: EvictionState,
  pass: Pass,
): { state: EvictionState; outcome: Outcome } {
  const begun = begin(state, pass)
  const [threshold] = begun.outcome.candidates
  return threshold ? { state: begun.state, outcome: act(begun, pass, threshold) } : begun
}

/** What this pass does for each candidate. The first result equals that of `synchronize`. */
export function synchronizeAlternatives(
  state: EvictionState,
  pass: Pass,
): { state: EvictionState; outcomes: readonly Outcome[] } {
  const begun = begin(state, pass)
  const { candidates } = begun.outcome
  const outcomes =
    candidates.length === 0
      ? [begun.outcome]
      : candidates.map(threshold => act(begun, pass, threshold))
  return { state: begun.state, outcomes }
}

interface StartedPass {
  state: EvictionState
  outcome: Outcome
}

/** The pass up to the pick of a threshold. */
function begin(state: EvictionState, pass: Pass): StartedPass {
  const { config, kubelet, observations } = pass
  if (state.thresholds.length === 0 && !config.localStorageCapacityIsolation)
    return unchangedPass(state, null)
  const learnt = learnLayout(state, pass.layout, kubelet)
  if (learnt.isOver || !observations) return unchangedPass(learnt.state, learnt.error)
  const observed = observe(learnt.state, learnt.thresholds, observations, config, pass.nowMs)
  const outcome = {
    ...calm,
    conditions: observed.state.conditions,
    thresholdsMet: observed.state.thresholdsMet,
  }
  const exceeded = limitsExceeded(observed.state, pass)
  if (exceeded.length > 0)
    return {
      state: observed.state,
      outcome: { ...outcome, evictions: exceeded.map(limitEviction(pass)) },
    }
  return {
    state: observed.state,
    outcome: { ...outcome, candidates: byEvictionPriority(observed.actionable) },
  }
}

const unchangedPass = (state: EvictionState, error: string | null): StartedPass => ({
  state,
  outcome: { ...calm, conditions: state.conditions, thresholdsMet: state.thresholdsMet, error },
})

function limitsExceeded({ layout }: EvictionState, pass: Pass) {
  if (!pass.config.localStorageCapacityIsolation || !layout) return []
  return localStorageEviction(pass.pods, pass.podStats, layout, pass.kubelet)
}

/** All thresholds that might stand first. Upstream puts memory first and leaves the rest to a map's order. */
function byEvictionPriority(actionable: readonly Threshold[]) {
  const isMemory = ({ signal }: Threshold) => resourceOf(signal) === 'memory'
  return actionable.some(isMemory) ? actionable.filter(isMemory) : actionable
}

function act({ state, outcome }: StartedPass, pass: Pass, threshold: Threshold) {
  const { layout } = state
  if (!layout) return outcome
  const { signal } = threshold
  const reclaimed = nodeReclaim(signal, layout, pass.kubelet)
  const isEnough = reclaimed.length > 0 && hasRelieved(state, pass.reclaim(reclaimed, signal))
  const acted = { ...outcome, picked: threshold, reclaimed, isEnough }
  if (isEnough || isRefusedLayout(layout, pass.kubelet) || pass.pods.length === 0) return acted
  const victims = firstVictims(signal, pass.pods, pass.podStats, layout, pass.kubelet)
  return {
    ...acted,
    victims,
    evictions: victims.slice(0, 1).map(pod => pressureEviction(pod, threshold, pass)),
  }
}

/** Whether no threshold is met any more, minimum reclaim included. */
const hasRelieved = ({ thresholds }: EvictionState, observations: Observations | null) =>
  observations !== null && thresholdsMet(thresholds, observations, true).length === 0

function pressureEviction(pod: Pod, threshold: Threshold, { config, kubelet }: Pass): Eviction {
  const overrideSeconds = gracePeriodOverride(
    isHardThreshold(threshold),
    pod,
    config.maxPodGracePeriodSeconds,
    kubelet,
  )
  return { ...evictPod(pod, overrideSeconds, kubelet), signal: threshold.signal, exceeded: null }
}

const limitEviction =
  ({ config, kubelet }: Pass) =>
  (exceeded: StorageLimitExceeded): Eviction => ({
    ...evictPod(
      exceeded.pod,
      gracePeriodOverride(true, exceeded.pod, config.maxPodGracePeriodSeconds, kubelet),
      kubelet,
    ),
    signal: null,
    exceeded,
  })

const evictPod = (pod: Pod, overrideSeconds: number, kubelet: Kubelet) => ({
  pod,
  gracePeriodOverrideSeconds: overrideSeconds,
  gracePeriodSeconds: calculateEffectiveGracePeriod(pod, overrideSeconds, kubelet),
  killTimeoutMs: killTimeoutMs(overrideSeconds),
})

/**
 * What the kubelet reclaims on the node before it evicts a pod.
 *
 * Replays       pkg/kubelet/eviction/helpers.go  buildSignalToNodeReclaimFuncs
 * Read at       1.29 to 1.37; split filesystems since 1.29; pressure on containerfs reclaims only since 1.32
 */
const nothing: readonly ReclaimKind[] = []

/** In upstream's order. Empty: pressure on this signal evicts at once. */
export function nodeReclaim(
  signal: Signal,
  layout: DiskLayout,
  kubelet: Kubelet,
): readonly ReclaimKind[] {
  if (isRefusedLayout(layout, kubelet)) return nothing
  const placement = placementOf(layout)
  if (signal.startsWith('nodefs.')) return kinds[placement].nodefs
  if (signal.startsWith('imagefs.')) return kinds[placement].imagefs
  if (!signal.startsWith('containerfs.') || !kubelet.features.has('containerfsNodeReclaim'))
    return nothing
  return placement === 'imagefs' ? kinds.imagefs.imagefs : kinds[placement].nodefs
}

/*
 * How long an evicted pod gets to stop.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, evictPod (gracePeriodOverride);
 *               pkg/kubelet/pod_workers.go  calculateEffectiveGracePeriod, killPodNow
 * Read at       1.29 to 1.37; 1 s for hard evictions since 1.31, and since then an override of 0 counts; soft evictions capped since 1.32, without
 *               a gate since 1.35
 * Kept exactly  up to 1.30 an override of 0 means the pod's own grace period, up to 1.31 `evictionMaxPodGracePeriod` can even exceed that period;
 *               the kubelet waits according to the override, not the effective grace period
 * Left out      the minimum of 2 s that the runtime gets for each container; a termination that the pod object does not show yet
 */

/** The grace period that the eviction manager requests, in seconds. */
export function gracePeriodOverride(
  isHard: boolean,
  pod: Pod,
  maxPodGracePeriodSeconds: number,
  kubelet: Kubelet,
): number {
  if (isHard) return kubelet.features.has('immediateEviction') ? 1 : 0
  const ownSeconds = pod.terminationGracePeriodSeconds
  return ownSeconds !== null && isCapped(kubelet)
    ? Math.min(maxPodGracePeriodSeconds, ownSeconds)
    : maxPodGracePeriodSeconds
}

function isCapped({ features, isGateOn }: Kubelet) {
  if (features.has('softGracePeriodCapUngated')) return true
  return (
    features.has('softGracePeriodCapped') &&
    !isGateOn('AllowOverwriteTerminationGracePeriodSeconds')
  )
}

/** The grace period that the pod gets, in seconds. */
export function calculateEffectiveGracePeriod(
  pod: Pod,
  overrideSeconds: number,
  { features }: Kubelet,
): number {
  const { deletionGracePeriodSeconds, terminationGracePeriodSeconds } = pod
  const deletionSeconds = deletionGracePeriodSeconds ?? 0
  const seconds =
    deletionSeconds === 0 ? overrideSeconds : Math.min(deletionSeconds, overrideSeconds)
  const isUnset = seconds === 0 && !features.has('immediateEviction')
  return Math.max(1, isUnset ? (terminationGracePeriodSeconds ?? 0) : seconds)
}

/** How long the pass waits for the pod to end, in ms. Even if the time runs out, the pod counts as evicted. */
export const killTimeoutMs = (overrideSeconds: number): number =>
  Math.max(10, overrideSeconds + Math.trunc(overrideSeconds / 2)) * 1000

/*
 * What the eviction manager remembers between passes, and how each pass updates that memory before it acts.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, up to thresholdsUpdatedStats;
 *               pkg/kubelet/eviction/helpers.go  thresholdsFirstObservedAt, thresholdsMetGracePeriod, thresholdsUpdatedStats
 * Read at       1.29 to 1.37, alike except for the layout (../filesystem-layout.ts)
 * Kept exactly  a threshold acted on in the previous pass stays met until its minimum reclaim is reached; one pass not met restarts its grace period;
 *               statistics that are not newer delay an eviction, but not a condition or a grace period
 */

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

interface Learnt {
  state: EvictionState
  /** Thresholds that this pass uses. Added thresholds act from the next pass on. */
  thresholds: readonly Threshold[]
  /** Upstream's error text, with which the pass ends; null: no text. */
  error: string | null
  isOver: boolean
}

/** Determines the layout in the first pass; later passes change nothing. */
function learnLayout(state: EvictionState, layout: DiskLayout | null, kubelet: Kubelet): Learnt {
  const asBefore = { state, thresholds: state.thresholds, error: null, isOver: false }
  if (state.layout) return asBefore
  if (!layout)
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

interface Observed {
  state: EvictionState
  /** Thresholds that the pass can act on, in a stable order. */
  actionable: readonly Threshold[]
}

/** @param thresholds the thresholds that this pass uses */
function observe(
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
) {
  if (met.length === 0) return nothingObserved
  const observed: FirstObserved[] = []
  for (const threshold of met) {
    const isSame = (known: FirstObserved) => isSameKey(known.threshold, threshold)
    if (!observed.some(isSame))
      observed.push({ threshold, atMs: previous.find(isSame)?.atMs ?? nowMs })
  }
  return observed
}

function thresholdsMetGracePeriod(observed: readonly FirstObserved[], nowMs: number) {
  if (observed.length === 0) return noThresholds
  return observed
    .filter(({ threshold, atMs }) => nowMs - atMs >= threshold.gracePeriodMs)
    .map(({ threshold }) => threshold)
}

function thresholdsUpdatedStats(
  met: readonly Threshold[],
  observations: Observations,
  last: Observations,
) {
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
  const observed = { ...lastObserved }
  for (const condition of conditions) observed[condition] = nowMs
  return observed
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

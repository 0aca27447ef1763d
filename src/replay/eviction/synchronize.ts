/**
 * One pass of the eviction manager, as a step from state to state.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, reclaimNodeLevelResources, evictPod;
 *               pkg/kubelet/eviction/helpers.go  byEvictionPriority, getReclaimableThreshold
 * Read at       1.24 to 1.37; the pass itself differs in what its parts do (layout.ts, node-reclaim.ts, kill.ts, messages.ts)
 * Kept exactly  limits of local storage first, and if one is exceeded nothing else in that pass; memory before the rest; after node-level reclaim
 *               any threshold of any signal that is still met, its grace period or not, costs a pod; one pod in a pass
 * Left out      notifications of little memory, from a cgroup or from Windows
 *
 * Where upstream goes by a map's order, a pass may act on one of several thresholds: `candidates` names them, `synchronize` takes the first,
 * `synchronizeAlternatives` each in turn. Among pods that rank alike, `victims`, the first in the order given goes. What is remembered afterwards
 * is the same in every case.
 */
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import type { Signal, Threshold } from '#model/prediction.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod } from '#replay/pods/pod.ts'
import { type PodStatsIndex, podStatsOf } from '#replay/pods/pod-stats.ts'
import { type EvictionState, learnLayout, observe } from './bookkeeping.ts'
import type { EvictionConfig } from './config.ts'
import { calculateEffectiveGracePeriod, gracePeriodOverride, killTimeoutMs } from './kill.ts'
import { type DiskLayout, isRefusedLayout } from './layout.ts'
import { localStorageEviction, type StorageLimitExceeded } from './local-storage.ts'
import { evictionMessage, evictionThresholdMetMessage } from './messages.ts'
import { nodeReclaim } from './node-reclaim.ts'
import type { Observations } from './observations.ts'
import { isCriticalPod } from './protected.ts'
import { type PodRank, rankPods } from './ranking.ts'
import { type NodeCondition, resourceOf, type StarvedResource } from './signals.ts'
import { isHardThreshold, thresholdsMet } from './thresholds.ts'

export interface Pass {
  nowMs: number
  /** Null: the summary could not be had. */
  observations: Observations | null
  /** The active ones: not known to have ended. */
  pods: readonly Pod[]
  podStats: PodStatsIndex
  /** Null: the kubelet could not find out. Read by the first pass only. */
  layout: DiskLayout | null
  config: EvictionConfig
  kubelet: Kubelet
  /** Runs GC and observes again; null: no new summary. Called at most once for each candidate. */
  reclaim(kinds: readonly ReclaimKind[], signal: Signal): Observations | null
}

export interface Eviction {
  pod: Pod
  /** Of the pressure, or of the limit that was exceeded. */
  signal: Signal | null
  exceeded: StorageLimitExceeded | null
  gracePeriodOverrideSeconds: number
  gracePeriodSeconds: number
  /** The pass waits so long at most for the pod to stop. */
  killTimeoutMs: number
  phase: 'Failed'
  reason: 'Evicted'
  message: string
  /** Of the event; null where upstream gives none. */
  annotations: Readonly<Record<string, string>> | null
  disruptionTarget: { status: 'True'; reason: 'TerminationByKubelet'; message: string } | null
}

export interface Outcome {
  /** Reported from now on, sorted. */
  conditions: readonly NodeCondition[]
  /** With their grace period over. */
  thresholdsMet: readonly Threshold[]
  /** Any of these upstream may pick; one in a stable order first. */
  candidates: readonly Threshold[]
  picked: Threshold | null
  /** The resource in the node's event, and its text. */
  reclaiming: StarvedResource | null
  event: string | null
  /** Collected on the node, in upstream's order. */
  reclaimed: readonly ReclaimKind[]
  /** Nothing is met after that: no pod has to go. */
  isEnough: boolean
  /** The order for the picked threshold; null: none was needed. */
  ranking: readonly PodRank[] | null
  /** Whichever of these comes first in upstream's unsteady order of pods is evicted under pressure. */
  victims: readonly Pod[]
  evictions: readonly Eviction[]
  error: string | null
}

const calm: Outcome = {
  conditions: [],
  thresholdsMet: [],
  candidates: [],
  picked: null,
  reclaiming: null,
  event: null,
  reclaimed: [],
  isEnough: false,
  ranking: null,
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

/** What this pass may do for each of the candidates, the first as `synchronize` does it. */
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

/** Up to the pick, which is left open. */
function begin(state: EvictionState, pass: Pass): StartedPass {
  const { config, kubelet, observations } = pass
  if (state.thresholds.length === 0 && !config.localStorageCapacityIsolation)
    return unchanged(state, null)
  const learnt = learnLayout(state, pass.layout, kubelet)
  if (learnt.isOver || observations === null) return unchanged(learnt.state, learnt.error)
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

const unchanged = (state: EvictionState, error: string | null): StartedPass => ({
  state,
  outcome: { ...calm, conditions: state.conditions, thresholdsMet: state.thresholdsMet, error },
})

function limitsExceeded({ layout }: EvictionState, pass: Pass): readonly StorageLimitExceeded[] {
  if (!pass.config.localStorageCapacityIsolation || !layout) return []
  return localStorageEviction(pass.pods, pass.podStats, layout, pass.kubelet)
}

/** All that may stand first: upstream puts memory before the rest, and leaves all else to a map's order. */
function byEvictionPriority(actionable: readonly Threshold[]): readonly Threshold[] {
  const isMemory = ({ signal }: Threshold) => resourceOf(signal) === 'memory'
  return actionable.some(isMemory) ? actionable.filter(isMemory) : actionable
}

function act({ state, outcome }: StartedPass, pass: Pass, threshold: Threshold): Outcome {
  const { layout } = state
  if (!layout) return outcome
  const { signal } = threshold
  const resource = resourceOf(signal)
  const reclaimed = nodeReclaim(signal, layout, pass.kubelet)
  const isEnough = reclaimed.length > 0 && hasRelieved(state, pass.reclaim(reclaimed, signal))
  const acted = {
    ...outcome,
    picked: threshold,
    reclaiming: resource,
    event: evictionThresholdMetMessage(resource),
    reclaimed,
    isEnough,
  }
  if (isEnough || isRefusedLayout(layout, pass.kubelet) || pass.pods.length === 0) return acted
  const ranking = rankPods(signal, pass.pods, pass.podStats, layout, pass.kubelet)
  const first = ranking.find(({ pod }) => !isCriticalPod(pod))
  const victims = ranking
    .filter(({ pod, rank }) => rank === first?.rank && !isCriticalPod(pod))
    .map(({ pod }) => pod)
  return {
    ...acted,
    ranking,
    victims,
    evictions: victims.slice(0, 1).map(pod => pressureEviction(pod, threshold, pass)),
  }
}

/** Whether nothing at all is met any more, minimum reclaim included. */
const hasRelieved = ({ thresholds }: EvictionState, observations: Observations | null): boolean =>
  observations !== null && thresholdsMet(thresholds, observations, true).length === 0

function pressureEviction(
  pod: Pod,
  threshold: Threshold,
  { podStats, observations, config, kubelet }: Pass,
): Eviction {
  const { message, annotations } = evictionMessage(
    threshold,
    observations?.[threshold.signal],
    pod,
    podStatsOf(podStats, pod),
    kubelet,
  )
  const overrideSeconds = gracePeriodOverride(
    isHardThreshold(threshold),
    pod,
    config.maxPodGracePeriodSeconds,
    kubelet,
  )
  return {
    ...killed(pod, overrideSeconds, kubelet),
    signal: threshold.signal,
    exceeded: null,
    message,
    annotations,
    disruptionTarget: setsDisruptionTarget(kubelet)
      ? { status: 'True', reason: 'TerminationByKubelet', message }
      : null,
  }
}

const setsDisruptionTarget = ({ features, isGateOn }: Kubelet): boolean =>
  features.has('disruptionTargetUngated') ||
  (features.has('evictionDisruptionTarget') && isGateOn('PodDisruptionConditions'))

const limitEviction =
  ({ config, kubelet }: Pass) =>
  (exceeded: StorageLimitExceeded): Eviction => ({
    ...killed(
      exceeded.pod,
      gracePeriodOverride(true, exceeded.pod, config.maxPodGracePeriodSeconds, kubelet),
      kubelet,
    ),
    signal: null,
    exceeded,
    message: exceeded.message,
    annotations: null,
    disruptionTarget: null,
  })

const killed = (pod: Pod, overrideSeconds: number, kubelet: Kubelet) => ({
  pod,
  gracePeriodOverrideSeconds: overrideSeconds,
  gracePeriodSeconds: calculateEffectiveGracePeriod(pod, overrideSeconds, kubelet),
  killTimeoutMs: killTimeoutMs(overrideSeconds),
  phase: 'Failed' as const,
  reason: 'Evicted' as const,
})

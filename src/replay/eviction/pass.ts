/**
 * One pass of the eviction manager at one moment, for a kubelet with an unknown past: what it certainly does, and what it might do.
 *
 * Replays       pkg/kubelet/eviction/eviction_manager.go  synchronize, reclaimNodeLevelResources
 * Read at       1.24 to 1.37
 * Kept exactly  memory comes first, other signals have no order; limits of local storage come before thresholds; node-level reclaim is
 *               enough only if no threshold is still met, minimum reclaim and soft thresholds in their grace period included
 * Left out      statistics that did not advance since the previous pass, which delay the pass
 *
 * Not observable, so bounded: since when a threshold is met, whether the previous pass acted on it (minimum reclaim), when a condition was last
 * seen, what garbage collection frees, and which of several thresholds upstream's map yields first.
 */
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import type { Certainty, Signal, Threshold, Unknown, Victim } from '#model/prediction.ts'
import type { TimeBounds } from '#replay/image-gc/known-times.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod } from '#replay/pods/pod.ts'
import { nodeConditions, nodeConditionsObservedSince } from './conditions.ts'
import { type DiskLayout, isRefusedLayout } from './layout.ts'
import { nodeReclaim } from './node-reclaim.ts'
import type { Observations } from './observations.ts'
import { protectionOf } from './protected.ts'
import type { PodRank } from './ranking.ts'
import { conditionOf, type NodeCondition, resourceOf } from './signals.ts'
import { isHardThreshold, isThresholdMet } from './thresholds.ts'

/** A condition as the node reported it when it was read. */
export interface ReportedCondition {
  isTrue: boolean
  /** Null: not reported. */
  sinceMs: number | null
}

export interface Pass {
  atMs: number
  /** When the node was read. The replay assumes no change since. */
  readMs: number
  /** Null: not known. */
  kubeletStart: TimeBounds | null
  reported: Readonly<Partial<Record<NodeCondition, ReportedCondition>>>
  /** Includes thresholds of containerfs. */
  thresholds: readonly Threshold[]
  observations: Observations
  /** Signals that the kubelet observes and this record does not contain. */
  unobserved: ReadonlySet<Signal>
  transitionPeriodMs: number
  /** How often the kubelet reports the node's status with its conditions. */
  statusUpdateMs: number
  /** Null: not known. The replay then assumes one disk, and nothing on disks is certain. */
  layout: DiskLayout | null
  /** False: derived from sizes. Then a result is certain only if all possible layouts give it. */
  isLayoutSure: boolean
  kubelet: Kubelet
  ranking(signal: Signal): readonly PodRank[]
  /** Pods that exceed their local storage limits, which the pass evicts. */
  overLimits: readonly Pod[]
  /** False: reclaiming these kinds would certainly find nothing. */
  isCollectable(kinds: readonly ReclaimKind[]): boolean
}

export interface PassOutcome {
  conditions: readonly NodeCondition[]
  /** Signals the pass may act on. It might also act on unobserved signals, which are not listed. */
  actsOn: readonly Signal[]
  /** Whether the pass certainly acts on a threshold, or only possibly. */
  acts: Certainty
  nodeReclaim: readonly ReclaimKind[]
  /** Whether all of `nodeReclaim` certainly runs, or only possibly. */
  reclaims: Certainty
  victims: Victim[]
  unknowns: Unknown[]
}

const sharedDisk: DiskLayout = { dedicatedImageFs: false, splitContainerImageFs: false }
const dedicatedDisk: DiskLayout = { dedicatedImageFs: true, splitContainerImageFs: false }

export function evictionPass(pass: Pass): PassOutcome {
  const unknowns: Unknown[] = []
  const { conditions, isOpen } = conditionsOf(pass)
  for (const condition of isOpen) {
    unknowns.push({
      what: `eviction.conditions: ${condition}`,
      effect:
        'the node reports it although no threshold is met: it ends when none was for the transition period, and since when is not known',
    })
  }
  const { overLimits } = pass
  if (overLimits.length > 0) {
    const victims = overLimits.map(pod => ({
      namespace: pod.namespace,
      name: pod.name,
      certainty: 'certain' as const,
    }))
    return {
      conditions,
      actsOn: [],
      acts: 'certain',
      nodeReclaim: [],
      reclaims: 'certain',
      victims,
      unknowns,
    }
  }

  const acting = pass.thresholds.map(threshold => ({
    threshold,
    certainty: actingOf(threshold, pass),
  }))
  for (const { threshold, certainty } of acting) {
    if (certainty !== 'possible') continue
    unknowns.push({
      what: `eviction.${threshold.signal}`,
      effect: pass.unobserved.has(threshold.signal)
        ? 'it is not observed: whether the pass acts on it is not known'
        : 'since when its threshold is met, or whether the pass before acted on it, is not known: the pass may act on it, or not yet',
    })
  }
  const certain = acting
    .filter(({ certainty }) => certainty === 'certain')
    .map(({ threshold }) => threshold.signal)
  const possible = acting
    .filter(({ certainty }) => certainty !== null)
    .map(({ threshold }) => threshold.signal)
  const actsOn = [...new Set(picks(certain, possible))]
  const acts = certain.length > 0 ? 'certain' : 'possible'

  const layout = pass.layout ?? sharedDisk
  const reclaimOf = (signal: Signal) => nodeReclaim(signal, layout, pass.kubelet)
  const kinds = actsOn.map(reclaimOf)
  // Sorting by name gives upstream's order.
  const reclaim = [...new Set(kinds.flat())].sort()
  const isReclaimSure =
    acts === 'certain' &&
    actsOn
      .flatMap(signal => possibleLayouts(pass).map(one => nodeReclaim(signal, one, pass.kubelet)))
      .every(({ length }) => length === reclaim.length)
  return {
    conditions,
    actsOn: actsOn.filter(signal => pass.observations[signal] !== undefined),
    acts,
    nodeReclaim: reclaim,
    reclaims: isReclaimSure ? 'certain' : 'possible',
    victims: victimsOf(actsOn, acts, layout, pass),
    unknowns,
  }
}

/** All layouts that are possible: sizes might hide a dedicated disk. `layout` is the one that sizes suggest. */
const possibleLayouts = ({ layout, isLayoutSure }: Pass): DiskLayout[] =>
  layout !== null && isLayoutSure ? [layout] : [sharedDisk, dedicatedDisk, layout ?? sharedDisk]

/** Upstream: byEvictionPriority, for every subset of the possible signals that might act. */
function picks(certain: readonly Signal[], possible: readonly Signal[]): readonly Signal[] {
  const isMemory = (signal: Signal) => resourceOf(signal) === 'memory'
  return certain.some(isMemory) ? possible.filter(isMemory) : possible
}

/** Null: the pass certainly does not act on the threshold. */
function actingOf(threshold: Threshold, pass: Pass): Certainty | null {
  const { signal, gracePeriodMs } = threshold
  const observed = pass.observations[signal]
  if (!observed) return pass.unobserved.has(signal) ? 'possible' : null
  if (isThresholdMet(threshold, observed, false)) {
    if (isHardThreshold(threshold)) return 'certain'
    if (pass.atMs - pass.readMs - evictionMonitoringPeriodMs >= gracePeriodMs) return 'certain'
    return longestHeldMs(signal, pass) >= gracePeriodMs ? 'possible' : null
  }
  // Minimum reclaim applies only to a threshold that the previous pass acted on. The node may not
  // have reported its condition yet.
  return threshold.minReclaim !== null && isThresholdMet(threshold, observed, true)
    ? 'possible'
    : null
}

function longestHeldMs(signal: Signal, pass: Pass): number {
  const { atMs, readMs, kubeletStart, transitionPeriodMs, statusUpdateMs } = pass
  // The kubelet sets a condition one pass after the threshold is met, and reports it with the next
  // status update. Without a transition period it never does.
  const reportedAfterMs = evictionMonitoringPeriodMs + statusUpdateMs
  const condition = transitionPeriodMs > 0 ? pass.reported[conditionOf(signal)] : undefined
  const reportedMs = condition?.isTrue === false ? readMs : (condition?.sinceMs ?? null)
  return (
    atMs -
    Math.max(
      reportedMs === null ? Number.NEGATIVE_INFINITY : reportedMs - reportedAfterMs,
      kubeletStart?.earliestMs ?? Number.NEGATIVE_INFINITY,
    )
  )
}

/** Conditions reported after the pass. `isOpen`: earlier conditions that might have ended. */
function conditionsOf({
  thresholds,
  observations,
  reported,
  transitionPeriodMs,
  atMs,
  readMs,
  kubeletStart,
}: Pass) {
  const met = thresholds.filter(threshold => {
    const observed = observations[threshold.signal]
    return observed !== undefined && isThresholdMet(threshold, observed, false)
  })
  const now = nodeConditions(met)
  const lastSeen: Partial<Record<NodeCondition, number>> = Object.fromEntries(
    now.map(condition => [condition, atMs]),
  )
  const isOpen: NodeCondition[] = []
  for (const [name, { isTrue, sinceMs }] of Object.entries(reported)) {
    const condition = name as NodeCondition
    if (!isTrue || now.includes(condition)) continue
    const isOwnState = sinceMs !== null && kubeletStart !== null && kubeletStart.latestMs <= sinceMs
    if (isOwnState && atMs - sinceMs < transitionPeriodMs) lastSeen[condition] = sinceMs
    else if (atMs - readMs < transitionPeriodMs) isOpen.push(condition)
  }
  return { conditions: nodeConditionsObservedSince(lastSeen, transitionPeriodMs, atMs), isOpen }
}

function victimsOf(
  actsOn: readonly Signal[],
  acts: Certainty,
  layout: DiskLayout,
  pass: Pass,
): Victim[] {
  const groups = actsOn.map(signal =>
    isRefusedLayout(layout, pass.kubelet) ? [] : firstEvictable(pass.ranking(signal)),
  )
  const isSure =
    acts === 'certain' &&
    actsOn.every(
      (signal, index) => groups[index]?.length === 1 && isEvictionSure(signal, layout, pass),
    )
  const pods = new Map(groups.flat().map(pod => [`${pod.namespace}/${pod.name}`, pod]))
  const certainty = isSure && pods.size === 1 ? 'certain' : 'possible'
  return [...pods.values()].map(({ namespace, name }) => ({ namespace, name, certainty }))
}

/** The first evictable pods: those that share the first rank, and those of unknown rank. Protected pods are skipped. */
function firstEvictable(ranking: readonly PodRank[]): Pod[] {
  const evictable = ranking.filter(({ pod }) => protectionOf(pod) === null)
  const [first] = evictable
  return evictable
    .filter(({ rank, isPlaceKnown }) => rank === first?.rank || !isPlaceKnown)
    .map(({ pod }) => pod)
}

/** Whether a pod must certainly be evicted even after node-level reclaim. */
function isEvictionSure(signal: Signal, layout: DiskLayout, pass: Pass): boolean {
  const kinds = nodeReclaim(signal, layout, pass.kubelet)
  if (
    possibleLayouts(pass).length > 1 &&
    resourceOf(signal) !== 'memory' &&
    resourceOf(signal) !== 'pids'
  )
    return false
  if (kinds.length === 0 || !pass.isCollectable(kinds)) return true
  // Node-level reclaim frees disk space, not memory or processes.
  return pass.thresholds.some(threshold => {
    const resource = resourceOf(threshold.signal)
    const observed = pass.observations[threshold.signal]
    return (
      (resource === 'memory' || resource === 'pids') &&
      observed !== undefined &&
      isThresholdMet(threshold, observed, true)
    )
  })
}

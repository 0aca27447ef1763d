/**
 * One pass of the eviction manager at one moment, for a kubelet with an unknown past. The exact step runs once in each world that the record permits:
 * what happens in all worlds is certain, what happens in some is possible.
 *
 * Worlds        differ in the layout of the disks, in a threshold that may act already (met for long, acted on by the pass before, or not observed), and
 *               in whether node-level reclaim frees enough disk
 * Left out      statistics that did not advance since the previous pass, which delay the pass; several thresholds that may act at once, whose pick
 *               is one of theirs alone
 */
import type { ReclaimKind } from '#facts/kubelet/node-reclaim.ts'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import {
  type Certainty,
  conditionOf,
  type NodeCondition,
  type Signal,
  type Threshold,
  type Unknown,
  type Victim,
} from '#model/prediction.ts'
import type { TimeBounds } from '#replay/times.ts'
import {
  type EvictionState,
  type Outcome,
  type Pass,
  startEviction,
  synchronizeAlternatives,
} from './synchronize.ts'
import {
  type DiskLayout,
  diskLayoutOf,
  isHardThreshold,
  isThresholdMet,
  type Observations,
} from './thresholds.ts'

/** A condition as the node reported it when it was read. */
export interface ReportedCondition {
  isTrue: boolean
  /** Null: not reported. */
  sinceMs: number | null
}

export interface ObservedPass extends Omit<Pass, 'observations' | 'reclaim'> {
  observations: Observations
  /** When the node was read. The replay assumes no change since. */
  readMs: number
  /** Null: not known. */
  kubeletStart: TimeBounds | null
  reported: Readonly<Partial<Record<NodeCondition, ReportedCondition>>>
  /** Signals that the kubelet observes and this record does not contain. */
  unobserved: ReadonlySet<Signal>
  /** How often the kubelet reports the node's status with its conditions. */
  statusUpdateMs: number
  /** False: derived from sizes. Then a result is certain only if all possible layouts give it. */
  isLayoutSure: boolean
  /** Whether the runtime can keep containers apart from images. */
  canSplit: boolean
  /** False: reclaiming these kinds would certainly find nothing. */
  isCollectable(kinds: readonly ReclaimKind[]): boolean
}

export interface PassBounds {
  conditions: readonly NodeCondition[]
  /** Signals the pass may act on. It might also act on unobserved signals, which are not listed. */
  actsOn: readonly Signal[]
  nodeReclaim: readonly ReclaimKind[]
  /** Whether all of `nodeReclaim` certainly runs, or only possibly. */
  reclaims: Certainty
  victims: Victim[]
  unknowns: Unknown[]
}

interface World {
  layout: DiskLayout
  /** A threshold that acts already, as far as the facts permit it. Null: only those act that must. */
  acting: Threshold | null
  isReclaimEnough: boolean
  /** One for each threshold that upstream may pick. */
  outcomes: readonly Outcome[]
}

/** The first world: the assumed layout, only what must act, and reclaim that frees nothing. */
export function passBounds(pass: ObservedPass): PassBounds {
  const { thresholds } = pass.config
  const mayAct = thresholds.filter(threshold => isActingOpen(threshold, pass))
  const worlds = possibleLayouts(pass).flatMap(layout =>
    [null, ...mayAct].flatMap(acting => worldsOf(layout, acting, pass)),
  )
  const placeOf = ({ picked }: Outcome) => (picked ? thresholds.indexOf(picked) : -1)
  const all = worlds.flatMap(({ outcomes }) => outcomes)
  const inOrder = all.toSorted((a, b) => placeOf(a) - placeOf(b))
  const conditions = all[0]?.conditions ?? []
  const actsOn = new Set(inOrder.flatMap(({ picked }) => picked?.signal ?? []))
  // Sorting by name gives upstream's order.
  const nodeReclaim = [...new Set(all.flatMap(({ reclaimed }) => reclaimed))].sort()
  const isReclaimSure = all.every(({ reclaimed }) => reclaimed.length === nodeReclaim.length)
  const victims = victimsOf(inOrder)
  const isVictimOpen = victims.some(({ certainty }) => certainty === 'possible')
  const openThresholds = thresholds.flatMap(threshold => openThreshold(threshold, all, pass))
  return {
    conditions,
    actsOn: [...actsOn].filter(signal => pass.observations[signal] !== undefined),
    nodeReclaim,
    reclaims: isReclaimSure ? 'certain' : 'possible',
    victims,
    unknowns: [
      ...unendedConditions(conditions, pass),
      ...(isVictimOpen
        ? [...openThresholds, ...victimUnknowns(worlds)].map(victimsUnknown)
        : openThresholds),
    ],
  }
}

const victimsUnknown = (unknown: Unknown): Unknown => ({ ...unknown, part: 'victims' })

/** All layouts that are possible, the assumed one first: sizes might hide a dedicated disk. */
function possibleLayouts({ layout, isLayoutSure, canSplit }: ObservedPass) {
  const assumed = layout ?? diskLayoutOf('shared')
  if (layout && isLayoutSure) return [assumed]
  const names = ['shared', 'imagefs', ...(canSplit ? (['split'] as const) : [])] as const
  const others = names.map(diskLayoutOf)
  return [
    assumed,
    ...others.filter(
      other =>
        other.dedicatedImageFs !== assumed.dedicatedImageFs ||
        other.splitContainerImageFs !== assumed.splitContainerImageFs,
    ),
  ]
}

/** Whether it is open if the pass acts on the threshold. A minimum reclaim counts only if the pass before acted on it. */
function isActingOpen(threshold: Threshold, { observations, unobserved }: ObservedPass) {
  const observed = observations[threshold.signal]
  if (!observed) return unobserved.has(threshold.signal)
  const isSure = isHardThreshold(threshold) && isThresholdMet(threshold, observed, false)
  return !isSure && isThresholdMet(threshold, observed, true)
}

function worldsOf(layout: DiskLayout, acting: Threshold | null, pass: ObservedPass): World[] {
  const state = stateIn(layout, acting, pass)
  const observations = { ...pass.observations }
  if (acting) observations[acting.signal] ??= nothingLeft
  const worldWith = (isReclaimEnough: boolean): World => ({
    layout,
    acting,
    isReclaimEnough,
    outcomes: synchronizeAlternatives(state, {
      ...pass,
      layout,
      observations,
      reclaim: kinds =>
        isReclaimEnough && pass.isCollectable(kinds) ? withoutDisks(observations) : observations,
    }).outcomes,
  })
  const asRead = worldWith(false)
  const mayReclaim = asRead.outcomes.some(
    ({ reclaimed }) => reclaimed.length > 0 && pass.isCollectable(reclaimed),
  )
  return mayReclaim ? [asRead, worldWith(true)] : [asRead]
}

/** A signal that the record does not contain, and that may be low. */
const nothingLeft = { available: 0, capacity: 2 ** 40, time: null }

/** Node-level reclaim frees disk space, not memory or processes. */
const withoutDisks = (observations: Observations): Observations =>
  Object.fromEntries(
    Object.entries(observations).filter(
      ([signal]) => conditionOf(signal as Signal) !== 'DiskPressure',
    ),
  )

function stateIn(layout: DiskLayout, acting: Threshold | null, pass: ObservedPass): EvictionState {
  const { nowMs, readMs, kubeletStart, config } = pass
  const latestMs = Math.min(nowMs, readMs + evictionMonitoringPeriodMs)
  const lastObserved = Object.entries(pass.reported).filter(
    ([, { isTrue, sinceMs }]) =>
      isTrue && sinceMs !== null && kubeletStart !== null && kubeletStart.latestMs <= sinceMs,
  )
  return {
    ...startEviction(config),
    layout,
    firstObserved: config.thresholds.map(threshold => ({
      threshold,
      atMs: threshold === acting ? earliestMetMs(threshold, pass) : latestMs,
    })),
    thresholdsMet: acting ? [acting] : [],
    conditionsLastObserved: Object.fromEntries(
      lastObserved.map(([condition, { sinceMs }]) => [condition, sinceMs]),
    ),
  }
}

/** The earliest time since when the threshold may be met. */
function earliestMetMs(threshold: Threshold, pass: ObservedPass) {
  const { observations, reported, readMs, kubeletStart, config, statusUpdateMs } = pass
  const observed = observations[threshold.signal]
  if (!observed || !isThresholdMet(threshold, observed, false)) return Number.NEGATIVE_INFINITY
  // The kubelet sets a condition one pass after the threshold is met, and reports it with the next
  // status update. Without a transition period it never does.
  const condition =
    config.pressureTransitionPeriodMs > 0 ? reported[conditionOf(threshold.signal)] : undefined
  const reportedMs = condition?.isTrue === false ? readMs : (condition?.sinceMs ?? null)
  return Math.max(
    (reportedMs ?? Number.NEGATIVE_INFINITY) - evictionMonitoringPeriodMs - statusUpdateMs,
    kubeletStart?.earliestMs ?? Number.NEGATIVE_INFINITY,
  )
}

const podsOf = ({ evictions }: Outcome) => evictions.map(({ pod }) => pod)

function victimsOf(outcomes: readonly Outcome[]): Victim[] {
  const pods = outcomes.flatMap(outcome => [...outcome.victims, ...podsOf(outcome)])
  return [...new Set(pods)].map(pod => {
    const isSure = outcomes.every(
      outcome => outcome.victims.length < 2 && podsOf(outcome).includes(pod),
    )
    const { namespace, name } = pod
    return { namespace, name, certainty: isSure ? 'certain' : 'possible' }
  })
}

/** Reported conditions that no threshold raises now, and that might have ended. @param raised conditions that thresholds raise */
function unendedConditions(
  raised: readonly NodeCondition[],
  { reported, nowMs, readMs, config }: ObservedPass,
): Unknown[] {
  if (nowMs - readMs >= config.pressureTransitionPeriodMs) return []
  return (Object.keys(reported) as NodeCondition[])
    .filter(condition => reported[condition]?.isTrue && !raised.includes(condition))
    .map(condition => ({
      what: `eviction.conditions: ${condition}`,
      effect:
        'the node reports it although no threshold is met: it ends when none was for the transition period, and since when is not known',
    }))
}

function openThreshold(
  threshold: Threshold,
  outcomes: readonly Outcome[],
  { unobserved }: ObservedPass,
): Unknown[] {
  const isActing = ({ candidates, thresholdsMet }: Outcome) =>
    candidates.length > 0 && thresholdsMet.includes(threshold)
  if (!outcomes.some(isActing) || outcomes.every(isActing)) return []
  return [
    {
      what: `eviction.${threshold.signal}`,
      effect: unobserved.has(threshold.signal)
        ? 'it is not observed: whether the pass acts on it is not known'
        : 'since when its threshold is met, or whether the pass before acted on it, is not known: the pass may act on it, or not yet',
    },
  ]
}

/** Why victims are only possible, beside thresholds that may act: each reason alone changes them. */
function victimUnknowns(worlds: readonly World[]) {
  const victimText = (outcomes: readonly Outcome[]) => JSON.stringify(victimsOf(outcomes))
  const texts = new Map(worlds.map(world => [world, victimText(world.outcomes)]))
  const changesVictims = (others: (world: World) => unknown) =>
    worlds.some(one =>
      worlds.some(
        other =>
          others(one) === others(other) &&
          one.acting === other.acting &&
          texts.get(one) !== texts.get(other),
      ),
    )
  const all = worlds.flatMap(({ outcomes }) => outcomes)
  const reasons: [boolean, Unknown][] = [
    [changesVictims(({ isReclaimEnough }) => isReclaimEnough), layoutOpen],
    [changesVictims(({ layout }) => layout), reclaimOpen],
    [
      worlds.some(
        ({ outcomes }) => new Set(outcomes.map(outcome => victimText([outcome]))).size > 1,
      ),
      pickOpen,
    ],
    [all.some(({ victims }) => victims.length > 1), equalPods],
  ]
  return reasons.flatMap(([isOpen, unknown]) => (isOpen ? [unknown] : []))
}

const layoutOpen: Unknown = {
  what: 'filesystems.layout',
  effect: 'it is derived from sizes: on the other layout the pass evicts another pod, or none',
}
const reclaimOpen: Unknown = {
  what: 'eviction.nodeReclaim',
  effect: 'what the kubelet collects first may free enough, so that no pod is evicted',
}
const pickOpen: Unknown = {
  what: 'eviction.actsOn',
  effect: 'upstream has no order among the signals: each may be the one that the pass acts on',
}
const equalPods: Unknown = {
  what: 'eviction.rankings',
  effect: 'several pods may stand first: upstream has no order among equal pods',
}

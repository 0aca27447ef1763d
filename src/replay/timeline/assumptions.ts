/** What a course of events depends on and no record shows. Each assumption is one way in which it may be; the events of all of them give the bounds. */
import { evictionMonitoringPeriodMs, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { lastRoundBy, roundOf, roundWidthMs } from '#replay/clocks.ts'
import type { TimeBounds } from '#replay/image-gc/known-times.ts'

export interface Assumption {
  /** Round `index` of image GC, counted from the start of the kubelet, or if that is unknown from the reading. */
  roundMs(index: number): number
  firstRound: number
  /** When eviction looks: the moment something is due, by its own 10 s, or as late as it can. */
  passes: 'prompt' | 'regular' | 'tardy'
  /** First pass of eviction after the reading. No record shows it: each pass moves the next ones by its own length. */
  firstPassMs: number
  /** How long an evicted pod takes to end, as a share of the longest time for which the kubelet waits. Null: its grace period. */
  cleanupShare: number | null
  /** What deletions and evictions free: from 0, the least, over 0.5, what is likely, to 1, the most. With 0 unknown images are undetected, used and pinned. */
  frees: number
  /** Upstream has no order among equals: they stand in one order, or in the other. */
  isReversed: boolean
}

/**
 * The first is the course that is shown.
 *
 * @param start of the loop of image GC; null: its phase is unknown
 */
export const assumptionsOf = (start: TimeBounds | null, nowMs: number): Assumption[] =>
  start === null ? ofUnknownStart(nowMs) : ofKnownStart(start, nowMs)

/** More space freed can make an event earlier, later, or none at all: what lies between the bounds is tried, too. */
const freesSteps = 8
const coarseFreesSteps = 4

/** Phases of eviction that are tried. */
const phases = 3
const coarsePhases = 1

type Course = Omit<Assumption, 'roundMs' | 'firstRound'>

const periodMs = evictionMonitoringPeriodMs
const usual: Course = {
  passes: 'regular',
  firstPassMs: 0,
  cleanupShare: null,
  frees: 0.5,
  isReversed: false,
}
const prompt: Course = { ...usual, passes: 'prompt', cleanupShare: 0 }
const tardy: Course = {
  ...usual,
  passes: 'tardy',
  firstPassMs: periodMs,
  cleanupShare: 0.25,
  isReversed: true,
}

/** Pods that end slowly are tried with less of what is freed. */
const slowShares = [0.5, 1]
const slowFreesSteps = 2

/** The outermost courses, and between them regular passes of other phases. */
const coursesOf = (steps: number, phases: number): Course[] => [
  ...sharesOf(steps).flatMap(frees => [
    { ...prompt, frees },
    { ...tardy, frees },
  ]),
  ...slowShares.flatMap(cleanupShare =>
    sharesOf(slowFreesSteps).map(frees => ({ ...tardy, cleanupShare, frees })),
  ),
  ...Array.from({ length: phases }, (_, phase) => ({
    ...usual,
    firstPassMs: ((phase + 1) * periodMs) / (phases + 1),
  })),
]

/** From 0 to 1. */
const sharesOf = (steps: number) => Array.from({ length: steps + 1 }, (_, step) => step / steps)

/** The loops of the real kubelet began 1 to 2 s after its process. */
const likelyStartupMs = 2_000

/** Clocks closer than that give the events between them, too. */
const clockStepMs = 30_000

function ofKnownStart(start: TimeBounds, nowMs: number): Assumption[] {
  const loop = { start, periodMs: imageGcPeriodMs }
  const clock = (share: number) => {
    const roundMs = (index: number) => {
      const { earliestMs, latestMs } = roundOf(loop, index)
      return Math.round(earliestMs + share * (latestMs - earliestMs))
    }
    let firstRound = Math.max(0, lastRoundBy(loop, nowMs) - 1)
    while (roundMs(firstRound) < nowMs) firstRound++
    return { roundMs, firstRound }
  }
  const startupMs = start.latestMs - start.earliestMs
  const likely = clock(startupMs === 0 ? 0 : Math.min(1, likelyStartupMs / startupMs))
  const steps = Math.ceil(roundWidthMs(loop, nowMs) / clockStepMs)
  const between = sharesOf(steps).slice(1, -1).map(clock)
  return [
    { ...likely, ...usual },
    ...[clock(0), clock(1)].flatMap(one =>
      coursesOf(freesSteps, phases).map(course => ({ ...one, ...course })),
    ),
    ...between.flatMap(one =>
      coursesOf(coarseFreesSteps, coarsePhases).map(course => ({ ...one, ...course })),
    ),
  ]
}

/** Steps in which an unknown phase is tried. */
const stepMs = 20_000
const coarseStepMs = 100_000

function ofUnknownStart(nowMs: number): Assumption[] {
  const clock = (phaseMs: number) => ({
    roundMs: (index: number) => nowMs + phaseMs + index * imageGcPeriodMs,
    firstRound: 0,
  })
  const phasesOf = (ms: number) =>
    Array.from({ length: imageGcPeriodMs / ms + 1 }, (_, step) => step * ms)
  return [
    ...phasesOf(stepMs).map(phaseMs => ({ ...clock(phaseMs), ...usual })),
    ...phasesOf(coarseStepMs).flatMap(phaseMs =>
      coursesOf(coarseFreesSteps, coarsePhases).map(course => ({ ...clock(phaseMs), ...course })),
    ),
  ]
}

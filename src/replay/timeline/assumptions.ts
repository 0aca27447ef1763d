/** Facts that decide the course of events and that no record shows. Each assumption is one possible set of them; all together give the bounds. */
import { evictionMonitoringPeriodMs, imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { lastRoundBy, roundOf, roundWidthMs, type TimeBounds } from '#replay/times.ts'

export interface Assumption {
  /** Time of image GC round `index`. Counted from the kubelet's start, or from the reading if the start is unknown. */
  roundMs(index: number): number
  firstRound: number
  /** When eviction passes run: the moment something is due, every 10 s, or as late as possible. */
  passes: 'prompt' | 'regular' | 'tardy'
  /** First eviction pass after the reading. No record shows it, because each pass delays the next ones by its own length. */
  firstPassMs: number
  /** How long an evicted pod takes to end, as a share of the kubelet's longest wait. Null: its grace period. */
  cleanupShare: number | null
  /** What deletions and evictions free: 0 the least, 0.5 the likely amount, 1 the most. With 0, unknown images are undetected, used and pinned. */
  frees: number
  /** Upstream has no order among equals. True: they are taken in reverse order. */
  isReversed: boolean
}

/**
 * The first assumption gives the course that is shown.
 *
 * @param start of the image GC loop; null: its phase is unknown
 */
export const assumptionsOf = (start: TimeBounds | null, nowMs: number): Assumption[] =>
  start ? assumptionsOfKnownStart(start, nowMs) : assumptionsOfUnknownStart(nowMs)

/** More freed space can make an event earlier, later, or prevent it. So values between the bounds are tried too. */
const freesSteps = 8
const coarseFreesSteps = 4

/** Number of eviction phases that are tried. */
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

/** For pods that end slowly, fewer amounts of freed space are tried. */
const slowShares = [0.5, 1]
const slowFreesSteps = 2

/** The earliest and latest courses, and regular passes with phases between them. */
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

/** Equally spaced shares from 0 to 1. */
const sharesOf = (steps: number) => Array.from({ length: steps + 1 }, (_, step) => step / steps)

/** The loops of the real kubelet began 1 to 2 s after its process. */
const likelyStartupMs = 2_000

/** Clocks at most this far apart also give the events between them. */
const clockStepMs = 30_000

function assumptionsOfKnownStart(start: TimeBounds, nowMs: number): Assumption[] {
  const loop = { start, periodMs: imageGcPeriodMs }
  const roundClock = (share: number) => {
    const roundMs = (index: number) => {
      const { earliestMs, latestMs } = roundOf(loop, index)
      return Math.round(earliestMs + share * (latestMs - earliestMs))
    }
    let firstRound = Math.max(0, lastRoundBy(loop, nowMs) - 1)
    while (roundMs(firstRound) < nowMs) firstRound++
    return { roundMs, firstRound }
  }
  const startupMs = start.latestMs - start.earliestMs
  const likely = roundClock(startupMs === 0 ? 0 : Math.min(1, likelyStartupMs / startupMs))
  const steps = Math.ceil(roundWidthMs(loop, nowMs) / clockStepMs)
  const between = sharesOf(steps).slice(1, -1).map(roundClock)
  return [
    { ...likely, ...usual },
    ...[roundClock(0), roundClock(1)].flatMap(one =>
      coursesOf(freesSteps, phases).map(course => ({ ...one, ...course })),
    ),
    ...between.flatMap(one =>
      coursesOf(coarseFreesSteps, coarsePhases).map(course => ({ ...one, ...course })),
    ),
  ]
}

/** Steps in which an unknown phase is tried, in ms. */
const stepMs = 20_000
const coarseStepMs = 100_000

function assumptionsOfUnknownStart(nowMs: number): Assumption[] {
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

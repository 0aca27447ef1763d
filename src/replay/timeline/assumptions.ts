/** What a course of events depends on and no record shows. Each assumption is one way in which it may be; the events of all of them give the bounds. */
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { lastRoundBy, roundOf } from '#replay/clocks.ts'
import type { TimeBounds } from '#replay/image-gc/known-times.ts'

export interface Assumption {
  /** Round `index` of image GC, counted from the start of the kubelet, or if that is unknown from the reading. */
  roundMs(index: number): number
  firstRound: number
  /** When eviction looks: the moment something is due, by its own 10 s, or as late as it can. */
  passes: 'prompt' | 'regular' | 'tardy'
  /** What deletions and evictions free: from 0, the least, over 0.5, what is likely, to 1, the most. With 0 unknown images are young, used and pinned. */
  frees: number
  /** Upstream has no order among equals: they stand in one order, or in the other. */
  isReversed: boolean
}

/** The first is the course that is shown. */
export function assumptionsOf(start: TimeBounds | null, nowMs: number): Assumption[] {
  return start === null ? ofUnknownStart(nowMs) : ofKnownStart(start, nowMs)
}

/** More space freed can make an event earlier, later, or none at all: what lies between the bounds is tried, too. */
const freesSteps = 8
const coarseFreesSteps = 4

type Course = Pick<Assumption, 'passes' | 'frees' | 'isReversed'>

const coursesOf = (steps: number): Course[] =>
  Array.from({ length: steps + 1 }, (_, step) => step / steps).flatMap(frees =>
    (['prompt', 'tardy'] as const).map(passes => ({
      frees,
      passes,
      isReversed: passes === 'tardy',
    })),
  )
const usual: Course = { passes: 'regular', frees: 0.5, isReversed: false }

function ofKnownStart(start: TimeBounds, nowMs: number): Assumption[] {
  const loop = { start, periodMs: imageGcPeriodMs }
  const clock = (at: (round: TimeBounds) => number) => {
    const roundMs = (index: number) => at(roundOf(loop, index))
    let firstRound = Math.max(0, lastRoundBy(loop, nowMs) - 1)
    while (roundMs(firstRound) < nowMs) firstRound++
    return { roundMs, firstRound }
  }
  const startMs = Math.round((start.earliestMs + start.latestMs) / 2)
  const middle = clock(({ earliestMs }) => earliestMs + startMs - start.earliestMs)
  const clocks = [clock(({ earliestMs }) => earliestMs), clock(({ latestMs }) => latestMs)]
  return [
    { ...middle, ...usual },
    ...clocks.flatMap(one => coursesOf(freesSteps).map(course => ({ ...one, ...course }))),
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
  const phases = (ms: number) =>
    Array.from({ length: imageGcPeriodMs / ms + 1 }, (_, step) => step * ms)
  return [
    ...phases(stepMs).map(phaseMs => ({ ...clock(phaseMs), ...usual })),
    ...phases(coarseStepMs).flatMap(phaseMs =>
      coursesOf(coarseFreesSteps).map(course => ({ ...clock(phaseMs), ...course })),
    ),
  ]
}

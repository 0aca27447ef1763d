/**
 * The phase of the kubelet's periodic loops.
 *
 * Replays       pkg/kubelet/kubelet.go  StartGarbageCollection, initializeModules;  apimachinery util/wait  Until
 * Read at       1.29 to 1.37
 * Kept exactly  the first round runs at the start; a period begins when the round before it has ended, so the phase drifts by the length of the rounds
 */
import type { TimeBounds } from './image-gc/known-times.ts'

/** From the start of the loops to the runtime's first answer, which starts the detection loop and the eviction manager. */
export const modulesStartMs = 15_000

/** The longest time of a round without a deletion, in ms. Rounds of the real kubelet took 5 to 20 ms. */
const roundMs = 20

export interface Loop {
  start: TimeBounds
  periodMs: number
}

/** Bounds of the start of round `index`; the first round has index 0. */
export const roundOf = ({ start, periodMs }: Loop, index: number): TimeBounds => ({
  earliestMs: start.earliestMs + index * periodMs,
  latestMs: start.latestMs + index * (periodMs + roundMs),
})

/** Index of the last round that might have started by `ms`; negative: none. */
export const lastRoundBy = ({ start, periodMs }: Loop, ms: number): number =>
  Math.floor((ms - start.earliestMs) / periodMs)

/** Width in ms of the interval in which a round starts at about `ms`. It grows by 5 s a day. */
export function roundWidthMs(loop: Loop, ms: number): number {
  const { earliestMs, latestMs } = roundOf(loop, Math.max(0, lastRoundBy(loop, ms)))
  return latestMs - earliestMs
}

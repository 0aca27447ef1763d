import { messageOf } from '#base/operator-error.ts'
import { sleep } from '#clients/pace.ts'

/** The run is paused until it is resumed; the message contains the reason. */
export class Paused extends Error {}

/** @throws Paused if the signal is aborted first */
export async function sleepOrPause(clock: Clock, delayMs: number, signal: AbortSignal) {
  try {
    await clock.sleep(delayMs, signal)
  } catch (error) {
    throwIfPaused(signal)
    throw error
  }
}

/** @throws Paused */
export function throwIfPaused(signal: AbortSignal) {
  if (signal.aborted) throw new Paused(messageOf(signal.reason))
}

/** Whether the outside world failed: any error but a mistake in our code. */
export const isWorldFailure = (error: unknown) =>
  !(error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)

/** For readings that may fail: nothing was read. @throws a mistake in our code */
export function nothingRead(error: unknown) {
  if (!isWorldFailure(error)) throw error
  return new Map<string, never>()
}

/* The clock of a run; tests replace it. */

export interface Clock {
  /** Wall-clock time, for people. Clocks of other machines may differ by minutes. */
  now(): Date
  /** Monotonic time, for durations on this machine. */
  elapsedMs(): number
  /** @throws the signal's reason if it is aborted first */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  sleep,
}

/** The clock of a run; tests replace it. */
import { setTimeout as delay } from 'node:timers/promises'

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
  async sleep(delayMs, signal) {
    signal.throwIfAborted()
    await delay(delayMs, undefined, { signal }).catch(error => {
      signal.throwIfAborted()
      throw error
    })
  },
}

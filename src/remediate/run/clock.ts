/** The clock of a run; tests replace it. */
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** The wall's: what people read, and what other machines may see otherwise by minutes. */
  now(): Date
  /** Only ever forward, and as fast here as anywhere. */
  elapsedMs(): number
  /** @throws the signal's reason when it is aborted first */
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

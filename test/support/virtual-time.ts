/** Time that passes only when nobody has anything else to do, and as far as the next one who waits for it. */
import { type Clock, systemClock } from '#remediate/run/pausing.ts'

/** The machine's clock, but faster: for runs whose stores are real files and requests. */
export function fasterClock(rate: number): Clock {
  const startMs = Date.now()
  const elapsedMs = () => systemClock.elapsedMs() * rate
  const startElapsedMs = elapsedMs()
  return {
    now: () => new Date(startMs + elapsedMs() - startElapsedMs),
    elapsedMs,
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / rate, signal),
  }
}

interface Sleeper {
  atMs: number
  wake(): void
}

export class VirtualTime {
  #elapsedMs = 0
  #sleepers: Sleeper[] = []

  get elapsedMs(): number {
    return this.#elapsedMs
  }

  /** The clock of one machine. @param skewMs how far ahead of the others it is */
  clock(skewMs = 0): Clock {
    return {
      now: () => new Date(Date.parse('2026-11-21T12:00:00Z') + this.#elapsedMs + skewMs),
      elapsedMs: () => this.#elapsedMs,
      sleep: (delayMs, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason)
          const sleeper: Sleeper = {
            atMs: this.#elapsedMs + delayMs,
            wake: () => {
              signal.removeEventListener('abort', stop)
              resolve()
            },
          }
          const stop = () => {
            this.#sleepers = this.#sleepers.filter(other => other !== sleeper)
            reject(signal.reason)
          }
          signal.addEventListener('abort', stop, { once: true })
          this.#sleepers.push(sleeper)
        }),
    }
  }

  /** Until the work is settled. @throws what it throws, or an error where it waits for what never comes */
  async pass<T>(work: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = work.finally(() => {
      isSettled = true
    })
    settled.catch(() => undefined)
    for (;;) {
      await new Promise(resolve => setImmediate(resolve))
      if (isSettled) return settled
      const next = this.#sleepers.toSorted((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) throw new Error('everybody waits, and nobody for the time')
      this.#sleepers = this.#sleepers.filter(other => other !== next)
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs)
      next.wake()
    }
  }
}

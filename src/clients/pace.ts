/**
 * How fast one Kubernetes API server is asked. Proxied requests escape its own flow control (long-running verbs are exempt from API Priority and
 * Fairness), so the caller has to be polite: at most so many a second and at once, halved when the server complains, slowly back up when it does not.
 */
export interface PaceLimits {
  requestsPerSecond: number
  concurrency: number
}

const slowestRequestsPerSecond = 1
/** Of a limit that is lower itself: a complaint never makes anyone faster. */
const slowestShare = 0.2
const recoveryPerSuccess = 0.02

export class Pace {
  private readonly limits: PaceLimits
  private readonly waiting: (() => void)[] = []
  private underWay = 0
  private currentRate: number
  private nextSlotMs = 0
  private pausedUntilMs = 0

  constructor(limits: PaceLimits) {
    this.limits = limits
    this.currentRate = limits.requestsPerSecond
  }

  get requestsPerSecond(): number {
    return this.currentRate
  }

  /** Runs one request in its turn. @throws the signal's reason when it is aborted while waiting. */
  async run<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.enter()
    try {
      await this.slot(signal)
      return await request()
    } finally {
      this.underWay -= 1
      this.waiting.shift()?.()
    }
  }

  succeeded(): void {
    this.currentRate = Math.min(
      this.limits.requestsPerSecond,
      this.currentRate * (1 + recoveryPerSuccess),
    )
  }

  /** The server said that it is too much: half the rate, and nothing at all before `retryAfterMs`. */
  complained(retryAfterMs: number | null): void {
    const slowest = Math.min(slowestRequestsPerSecond, slowestShare * this.limits.requestsPerSecond)
    this.currentRate = Math.max(slowest, this.currentRate / 2)
    if (retryAfterMs !== null)
      this.pausedUntilMs = Math.max(this.pausedUntilMs, performance.now() + retryAfterMs)
  }

  private async enter(): Promise<void> {
    while (this.underWay >= this.limits.concurrency)
      await new Promise<void>(resolve => this.waiting.push(resolve))
    this.underWay += 1
  }

  private async slot(signal: AbortSignal): Promise<void> {
    const now = performance.now()
    const startMs = Math.max(now, this.nextSlotMs, this.pausedUntilMs)
    this.nextSlotMs = startMs + 1000 / this.currentRate
    if (startMs > now) await sleep(startMs - now, signal)
    signal.throwIfAborted()
  }
}

/** @throws the signal's reason when it is aborted first. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const wake = () => {
      signal.removeEventListener('abort', stop)
      resolve()
    }
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(wake, delayMs)
    signal.addEventListener('abort', stop, { once: true })
  })
}

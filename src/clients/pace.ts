/**
 * The request rate for one Kubernetes API server. The server does not limit proxied requests (long-running verbs are exempt from API Priority and
 * Fairness), so the client limits rate and concurrency. A complaint halves the rate; each success raises it slowly.
 */
export interface PaceLimits {
  requestsPerSecond: number
  concurrency: number
}

const slowestRequestsPerSecond = 1
/** For limits below one request per second: the minimum rate, as a share of the limit. */
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

  get requestsPerSecond() {
    return this.currentRate
  }

  /** Runs one request in its turn. @throws the signal's reason when it is aborted while waiting. */
  async run<T>(request: () => Promise<T>, signal: AbortSignal) {
    await this.enter()
    try {
      await this.slot(signal)
      return await request()
    } finally {
      this.underWay -= 1
      this.waiting.shift()?.()
    }
  }

  raiseRate() {
    this.currentRate = Math.min(
      this.limits.requestsPerSecond,
      this.currentRate * (1 + recoveryPerSuccess),
    )
  }

  /** The server complained: halves the rate and pauses for `retryAfterMs`. */
  lowerRate(retryAfterMs: number | null) {
    const slowest = Math.min(slowestRequestsPerSecond, slowestShare * this.limits.requestsPerSecond)
    this.currentRate = Math.max(slowest, this.currentRate / 2)
    if (retryAfterMs !== null)
      this.pausedUntilMs = Math.max(this.pausedUntilMs, performance.now() + retryAfterMs)
  }

  private async enter() {
    while (this.underWay >= this.limits.concurrency)
      await new Promise<void>(resolve => this.waiting.push(resolve))
    this.underWay += 1
  }

  private async slot(signal: AbortSignal) {
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

export interface Retries {
  tries: number
  /** First wait in milliseconds; doubled each time. */
  backoffMs: number
  signal: AbortSignal
  /** Whether a repeated call may succeed a moment later. */
  isPassing: (error: unknown) => boolean
}

/** @throws the last error, or the signal's reason */
export async function retry<T>(
  run: () => Promise<T>,
  { tries, backoffMs, signal, isPassing }: Retries,
) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      signal.throwIfAborted()
      if (attempt >= tries || !isPassing(error)) throw error
      await sleep(backoffMs * 2 ** (attempt - 1), signal)
    }
  }
}

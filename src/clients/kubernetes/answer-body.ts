/** Reads the body of an HTTP answer within the limits of its kind and of the process. */
import type { IncomingMessage } from 'node:http'
import { gunzip } from '#base/gzip.ts'
import { answersInFlightMaxBytes, maxCompressionRatio, smallAnswerMaxBytes } from '#base/limits.ts'
import { RequestFailure } from '#clients/failure.ts'

export interface AnswerBody {
  bytes: Buffer
  /** Whether the body takes bytes from the budget of large answers, so that other answers wait. */
  isLarge: boolean
  /** Frees the bytes of the budget. Must be called after the body is parsed. */
  release(): void
}

export interface BodyOptions {
  /** The request, as error messages show it: `GET /version`. */
  question: string
  maxBytes: number
  /** Longer answers are cut, not refused. */
  isCut: boolean
  /** Aborts the reading, and the wait for memory. */
  signal: AbortSignal
  /** Called before and after waiting for memory, so that the wait does not count as a slow server. */
  onWait(isWaiting: boolean): void
}

const nothingHeld = () => undefined

/** @throws RequestFailure of kind `too-large` or `body`; the signal's reason */
export async function readBody(
  response: IncomingMessage,
  options: BodyOptions,
): Promise<AnswerBody> {
  const { question, maxBytes, isCut, signal } = options
  const isPacked = response.headers['content-encoding'] === 'gzip'
  const chunks: Buffer[] = []
  let release: () => void = nothingHeld
  let bytes = 0
  try {
    for await (const chunk of response) {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > maxBytes && isCut) break
      if (bytes > maxBytes) throw tooLarge(`${question} is larger than ${maxBytes} bytes`)
      if (bytes > smallAnswerMaxBytes && release === nothingHeld) {
        options.onWait(true)
        release = await answersInFlight.take(maxBytes, signal)
        options.onWait(false)
      }
    }
    const [only] = chunks
    const received = chunks.length === 1 && only ? only : Buffer.concat(chunks)
    const whole = isPacked ? unpackBody(received, options) : received
    const isLarge = release !== nothingHeld
    return { bytes: whole.subarray(0, maxBytes), isLarge, release }
  } catch (cause) {
    release()
    signal.throwIfAborted()
    if (cause instanceof RequestFailure) throw cause
    throw new RequestFailure('body', `the answer to ${question} broke off after ${bytes} bytes`, {
      cause,
    })
  }
}

/** @throws RequestFailure */
function unpackBody(packed: Buffer, { question, maxBytes, isCut }: BodyOptions) {
  const bytes = gunzip(packed, maxBytes)
  if (typeof bytes !== 'string') return bytes
  if (bytes === 'broken')
    throw new RequestFailure('body', `the answer to ${question} is no gzip, or broke off`)
  // A caller that accepts a cut answer does not need its text.
  if (isCut) return Buffer.alloc(0)
  throw tooLarge(
    bytes === 'too-long'
      ? `${question} is larger than ${maxBytes} bytes`
      : `${question} is more than ${maxCompressionRatio} times as long as its gzip`,
  )
}

const tooLarge = (what: string) => new RequestFailure('too-large', `the answer to ${what}`)

/* Limits the bytes that a process holds at once. Requests that do not fit wait. */

export class ByteBudget {
  #left: number
  readonly #maxBytes: number
  readonly #waiting: { bytes: number; grant: () => void }[] = []

  constructor(maxBytes: number) {
    this.#left = maxBytes
    this.#maxBytes = maxBytes
  }

  /**
   * Takes bytes, in order of arrival. @returns a function that frees them, once
   * @throws the signal's reason if it is aborted first
   */
  async take(wanted: number, signal: AbortSignal) {
    const bytes = Math.min(wanted, this.#maxBytes)
    signal.throwIfAborted()
    if (this.#waiting.length > 0 || bytes > this.#left) await this.#awaitTurn(bytes, signal)
    else this.#left -= bytes
    let isHeld = true
    return () => {
      if (isHeld) this.#left += bytes
      isHeld = false
      this.#grant()
    }
  }

  #awaitTurn(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = {
        bytes,
        grant: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1)
        reject(signal.reason)
        this.#grant()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(entry)
    })
  }

  #grant() {
    for (let next = this.#waiting[0]; next && next.bytes <= this.#left; next = this.#waiting[0]) {
      this.#left -= next.bytes
      this.#waiting.shift()
      next.grant()
    }
  }
}

const answersInFlight = new ByteBudget(answersInFlightMaxBytes)

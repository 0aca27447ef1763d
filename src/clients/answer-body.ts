/** The body of one HTTP answer, within the limits of its kind and of the process. */
import type { IncomingMessage } from 'node:http'
import { pipeline, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import {
  answersInFlightMaxBytes,
  maxCompressionRatio,
  smallAnswerMaxBytes,
} from '#model/input-limits.ts'
import { ByteBudget } from './byte-budget.ts'
import { RequestFailure } from './failure.ts'

export interface AnswerBody {
  bytes: Buffer
  /** To be called when the body is parsed. */
  release(): void
}

export interface BodyOptions {
  /** For messages: `GET /version`. */
  question: string
  maxBytes: number
  /** What is longer is cut, not refused. */
  isCut: boolean
  /** Ends the reading, and the wait for room. */
  signal: AbortSignal
  /** Runs around the wait for room, which is not the server's fault. */
  onWait(isWaiting: boolean): void
}

const answersInFlight = new ByteBudget(answersInFlightMaxBytes)
const nothingHeld = () => undefined

/** @throws RequestFailure of kind `too-large` or `body`; the signal's reason */
export async function readBody(
  response: IncomingMessage,
  options: BodyOptions,
): Promise<AnswerBody> {
  const { question, maxBytes, isCut, signal } = options
  const chunks: Buffer[] = []
  let release: () => void = nothingHeld
  let bytes = 0
  let packedBytes = 0
  try {
    for await (const chunk of unpacked(response, length => (packedBytes += length))) {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > maxBytes && isCut) break
      if (bytes > maxBytes) throw tooLarge(`${question} is larger than ${maxBytes} bytes`)
      if (bytes > smallAnswerMaxBytes && bytes > maxCompressionRatio * packedBytes)
        throw tooLarge(`${question} is more than ${maxCompressionRatio} times as long as its gzip`)
      if (bytes > smallAnswerMaxBytes && release === nothingHeld) {
        options.onWait(true)
        release = await answersInFlight.take(maxBytes, signal)
        options.onWait(false)
      }
    }
    return { bytes: Buffer.concat(chunks, Math.min(bytes, maxBytes)), release }
  } catch (cause) {
    release()
    signal.throwIfAborted()
    if (cause instanceof RequestFailure) throw cause
    throw new RequestFailure('body', `the answer to ${question} broke off after ${bytes} bytes`, {
      cause,
    })
  }
}

function unpacked(
  response: IncomingMessage,
  onPacked: (bytes: number) => void,
): AsyncIterable<Buffer> {
  if (response.headers['content-encoding'] !== 'gzip') {
    onPacked(Number.POSITIVE_INFINITY)
    return response
  }
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onPacked(chunk.length)
      done(null, chunk)
    },
  })
  // An error on the way reaches the reader of the last stream.
  return pipeline(response, counted, createGunzip(), () => undefined)
}

const tooLarge = (what: string) => new RequestFailure('too-large', `the answer to ${what}`)

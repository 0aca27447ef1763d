/** POSTs JSON to a secret address: who knows the address may write. No message contains the address. */

import { request } from 'node:https'
import { codeOf } from '#base/operator-error.ts'
import { signalWithLimit } from '#clients/aws/aws-failure.ts'
import { connectionFailure, oneLine, RequestFailure } from '#clients/failure.ts'
import { SentSecrets } from '#clients/kubernetes/sent-secrets.ts'
import { retry } from '#clients/pace.ts'

export interface PostOptions {
  signal?: AbortSignal
  /** Limit for all tries together; default 20 s. */
  timeLimitMs?: number
  /** First wait before a retry; doubled each time. Default 500 ms. */
  backoffMs?: number
}

export const postTimeLimitMs = 20_000
const tries = 3
const defaultBackoffMs = 500
const answerMaxBytes = 4096

/**
 * Retries an answer of 429 or 503, and a connection that was never established. Does not follow redirects.
 * @param url https
 * @throws RequestFailure with a message for people, which contains only the host, or the signal's reason
 */
export async function postJson(url: string, body: object, options: PostOptions = {}) {
  const { timeLimitMs = postTimeLimitMs, backoffMs = defaultBackoffMs } = options
  const { host } = new URL(url)
  const limit = AbortSignal.timeout(timeLimitMs)
  const signal = signalWithLimit(options.signal, limit)
  try {
    const request = () => postOnce(url, JSON.stringify(body), signal)
    await retry(request, {
      tries,
      backoffMs,
      signal,
      isPassing: failure =>
        failure instanceof RequestFailure &&
        (['refused', 'name'].includes(failure.kind) || [429, 503].includes(failure.status ?? 0)),
    })
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!limit.aborted) throw error
    throw new RequestFailure(
      'timeout',
      `the webhook at ${host}: no answer within ${timeLimitMs / 1000} s. Whether it took the message is not known`,
    )
  }
}

async function postOnce(url: string, body: string, signal: AbortSignal) {
  const { host } = new URL(url)
  const { status, text } = await post(url, body, signal).catch(error => {
    throw webhookFailure(error, host)
  })
  if (status < 200 || status >= 300)
    throw new RequestFailure('http', refusalText(host, status, text, url), { status })
}

function refusalText(host: string, status: number, text: string, url: string) {
  // The answer may repeat the address.
  const sent = new SentSecrets()
  sent.addUrl(url)
  const answer = oneLine(sent.removeFrom(text, '…'), 200)
  const where = `the webhook at ${host} answered ${status}${answer === '' ? '' : ` (${answer})`}`
  if (status >= 300 && status < 400)
    return `${where}: it leads elsewhere, which is not followed. Give the address that takes the message itself`
  if (status === 401 || status === 403 || status === 404 || status === 410)
    return `${where}: the address is not, or no longer, one that takes messages. Make a new one there, and put it into the stack's secret`
  return where
}

function webhookFailure(error: unknown, host: string) {
  const failure = connectionFailure(error, host)
  const message =
    failure.kind === 'tls'
      ? `TLS with ${host} failed (${codeOf(error) ?? 'no reason given'}): its certificate is not trusted here. Nothing was sent`
      : failure.message
  return new RequestFailure(failure.kind, `the webhook: ${message}`)
}

function post(
  url: string,
  body: string,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    }
    const sent = request(url, { method: 'POST', headers, signal }, response => {
      const chunks: Buffer[] = []
      let bytes = 0
      const respond = () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).subarray(0, answerMaxBytes).toString(),
        })
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes < answerMaxBytes) return
        respond()
        response.destroy()
      })
      response.on('end', respond)
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

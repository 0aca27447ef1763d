/** Describes requests to a Kubernetes API server and parses the answers. */
import { type AnswerKind, answerLimits } from '#base/limits.ts'
import { isRawObject, jsonFlaw, mapOf } from '#base/raw-object.ts'
import { oneLine, RequestFailure } from '#clients/failure.ts'

const maxRetryAfterMs = 30_000

export interface Question {
  method: 'GET' | 'POST'
  path: string
  body?: string
  accept?: string
  kind?: AnswerKind | undefined
}

/** 200, 201, or 202 (deletion is pending). */
export const isSuccess = (status: number) => status === 200 || status === 201 || status === 202

export const limitOf = ({ kind = 'object' }: Question, status: number) =>
  answerLimits[isSuccess(status) ? kind : 'refusal']

/** Removes the secrets that this process sent from a text. */
type Clean = (text: string) => string

/** @param bytes must not be read again: their memory is freed @throws RequestFailure */
export function parsedAnswer(bytes: Buffer, question: Question, clean: Clean): unknown {
  const flaw = jsonFlaw(bytes, limitOf(question, 200))
  if (flaw !== null)
    throw new RequestFailure(
      'too-large',
      `the answer to ${requestLine(question)} is not parsed: ${flaw}`,
    )
  const text = clean(bytes.toString('utf8'))
  const { length } = bytes
  freeBytes(bytes)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RequestFailure(
      'body',
      `the answer to ${requestLine(question)} is no JSON (${length} bytes, cut off or broken)`,
      { cause },
    )
  }
}

/** Frees the memory of an answer at once. Else it waits for a collection of the whole heap. Small buffers share the memory of Node's pool. */
function freeBytes({ buffer, byteOffset, byteLength }: Buffer) {
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength > Buffer.poolSize)
    buffer.transfer(0)
}

export interface ParsedPage {
  items: Record<string, unknown>[]
  continueToken: string | null
  remaining: number | null
}

export function parsePage(body: unknown, path: string): ParsedPage {
  // An empty list of metadata has `items: null`: apiserver pkg/endpoints/handlers/response.go asPartialObjectMetadataList.
  const isEmpty = isRawObject(body) && body.items === null && String(body.kind).endsWith('List')
  const items = isEmpty ? [] : isRawObject(body) && body.items
  if (!isRawObject(body) || !Array.isArray(items))
    throw new RequestFailure('body', `the answer to GET ${withoutQuery(path)} is no list`)
  const { remainingItemCount: remaining } = mapOf(body.metadata)
  const continueToken = offeredContinue(body)
  const unstated = continueToken === null ? 0 : null
  return {
    items: items.filter(isRawObject),
    continueToken,
    remaining: typeof remaining === 'number' ? remaining : unstated,
  }
}

export function objectKey(item: Record<string, unknown>) {
  const metadata = mapOf(item.metadata)
  return String(metadata.uid ?? `${metadata.namespace}/${metadata.name}`)
}

/** The token of the next page; in the Status of a 410, the "inconsistent continue" token. With that the list continues at the newest resource version. Upstream: etcd3 store handleCompactedErrorForPaging. */
export function offeredContinue(body: unknown): string | null {
  const { continue: token } = mapOf(mapOf(body).metadata)
  return typeof token === 'string' && token !== '' ? token : null
}

function parseStatus(bytes: Buffer, clean: Clean): { message: string; body: unknown } {
  const text = clean(bytes.toString('utf8'))
  try {
    const body: unknown = jsonFlaw(bytes, answerLimits.refusal) === null ? JSON.parse(text) : null
    if (isRawObject(body) && typeof body.message === 'string')
      return { message: oneLine(body.message), body }
  } catch {
    // A proxied kubelet answers in plain text.
  }
  return { message: oneLine(text), body: null }
}

/** Messages omit the query, because a selector may be very long. */
const withoutQuery = (path: string) => path.split('?')[0] ?? ''
export const requestLine = ({ method, path }: Question) => `${method} ${withoutQuery(path)}`

interface RefusedAnswer {
  status: number
  retryAfter: string | undefined
  bytes: Buffer
  /** What the user can do. */
  hint: string | undefined
}

/** The failure for an answer without success. */
export function failedAnswer(
  question: Question,
  { status, retryAfter, bytes, hint }: RefusedAnswer,
  clean: Clean,
) {
  const { message, body } = parseStatus(bytes, clean)
  const answer = `${requestLine(question)} was answered ${status}${message === '' ? '' : `: ${message}`}`
  return new RequestFailure('http', hint ? `${answer}. ${hint}` : answer, {
    status,
    body,
    retryAfterMs: retryAfterMs(retryAfter),
    dial: failedDialIn(message),
  })
}

/** A port that refuses has no program that listens; one without an answer is behind a firewall. Source: net.Dial, `dial tcp 10.0.1.2:10250: i/o timeout`. */
const failedDial =
  /dial tcp \S*:10250: (?:connect: )?(?:(?<refused>connection refused)|i\/o timeout|connection timed out|no route to host)/

function failedDialIn(message: string): RequestFailure['dial'] {
  const found = failedDial.exec(message)
  return found && (found.groups?.refused === undefined ? 'unanswered' : 'refused')
}

function retryAfterMs(header: string | undefined) {
  const seconds = Number(header)
  return header === undefined || !Number.isFinite(seconds) || seconds < 0
    ? null
    : Math.min(seconds * 1000, maxRetryAfterMs)
}

/** Why a call failed, for people and for the retry loop. */

import { codeOf, messageOf } from '#base/operator-error.ts'
import { redact, wholeWords } from '#base/redaction/redact.ts'
import type { ReadError, ReadFailure } from '#model/input/record.ts'

export type FailureKind =
  | 'body'
  | 'gone'
  | 'http'
  | 'name'
  | 'network'
  | 'refused'
  | 'timeout'
  | 'tls'
  | 'too-large'

/** A failed request. `message` says what failed, why and what to do; `status` is set for kind `http`. */
export class RequestFailure extends Error {
  readonly kind: FailureKind
  readonly status: number | null
  readonly retryAfterMs: number | null
  /** What AWS refused; null: the call failed for another reason. */
  readonly refusal: ReadError['refusal'] | null
  /** Why the API server has no connection to the kubelet's port; null: it has one, or another call failed. */
  readonly dial: 'refused' | 'unanswered' | null
  /** Body of the answer, cut. Must not be shown unescaped. */
  readonly body: unknown

  constructor(
    kind: FailureKind,
    message: string,
    details: Partial<
      Pick<RequestFailure, 'status' | 'retryAfterMs' | 'refusal' | 'dial' | 'body' | 'cause'>
    > = {},
  ) {
    super(message, { cause: details.cause })
    this.name = 'RequestFailure'
    this.kind = kind
    this.status = details.status ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
    this.refusal = details.refusal ?? null
    this.dial = details.dial ?? null
    this.body = details.body
  }
}

/** A failed call as a ReadError. */
export function readErrorOf(what: ReadError['what'], error: unknown): ReadError {
  const refusal = error instanceof RequestFailure ? error.refusal : null
  return {
    what,
    message: messageOf(error),
    ...(refusal && { refusal }),
    ...readFailure(error),
    ...endedByIn(error),
  }
}

/** The reason of a signal that ends a run. @param endedBy `run's deadline of 840 s`, `run was interrupted` */
export class RunEnd extends Error {
  readonly endedBy: string

  constructor(endedBy: string) {
    super(`not reached before the ${endedBy}`)
    this.endedBy = endedBy
  }
}

/** What ended the run, if that is the cause of the error. */
export function endedByIn(error: unknown): Pick<ReadError, 'endedBy'> {
  if (error instanceof RunEnd) return { endedBy: error.endedBy }
  return error instanceof Error ? endedByIn(error.cause) : {}
}

/** An error that knows why nothing, or not all, was read. `reason` null: another reason. */
export class ReadFailed extends Error {
  readonly reason: ReadFailure | null

  constructor(reason: ReadFailure | null, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Empty: another reason. */
function readFailure(error: unknown): Pick<ReadError, 'reason' | 'isKubeletDown'> {
  if (error instanceof ReadFailed) return error.reason === null ? {} : { reason: error.reason }
  if (!(error instanceof RequestFailure)) return {}
  if (error.dial)
    return error.dial === 'refused' ? { isKubeletDown: true } : { reason: 'unreachable' }
  if (error.status === 403 && error.refusal === null) return { reason: 'forbidden' }
  if (error.kind === 'timeout') return { reason: 'timeout' }
  return error.kind === 'too-large' ? { reason: 'cut' } : {}
}

const tlsCodes = /^(ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_SSL_|EPROTO)/

/** Turns an error of `node:https` or of `fetch` into a RequestFailure about `host`. */
export function connectionFailure(error: unknown, host: string) {
  const code = firstCode(error)
  const text = messageOf(error)
  const fail = (kind: FailureKind, message: string) =>
    new RequestFailure(kind, message, { cause: error })
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return fail(
      'name',
      `the name ${host} does not resolve (${code}): a private endpoint is only known inside its VPC; check DNS and from where highwater runs`,
    )
  if (code === 'ECONNREFUSED')
    return fail(
      'refused',
      `${host} refused the connection: nothing listens there, or a firewall rejects it`,
    )
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return fail(
      'tls',
      `the certificate of ${host} is for another name: ${oneLine(text)}. Nothing was sent; check the endpoint, or a proxy in between`,
    )
  if (code !== null && tlsCodes.test(code))
    return fail(
      'tls',
      `TLS with ${host} failed (${code}): the certificate is not signed by the cluster's CA, or the CA has been rotated. Nothing was sent`,
    )
  if (code === 'ETIMEDOUT')
    return fail(
      'timeout',
      `${host} did not answer the connection: check security groups, publicAccessCidrs and routes`,
    )
  return fail('network', `the connection to ${host} broke (${code ?? oneLine(text)})`)
}

/** The first code among the error and its causes. */
const firstCode = (error: unknown): string | null =>
  codeOf(error) ??
  (typeof error === 'object' && error !== null && 'cause' in error ? firstCode(error.cause) : null)

const foreignTextMaxLength = 8192

/** Foreign text for a message: no secrets, no control characters, white space folded, at most `maxLength` characters. */
export function oneLine(text: string, maxLength = 300): string {
  const folded = redact(wholeWords(text, foreignTextMaxLength))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return folded.length > maxLength ? `${folded.slice(0, maxLength)}…` : folded
}

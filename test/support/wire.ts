/** Canaries at the wire: what servers of this process answer is changed just before it is sent, as a hostile server would. */
import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { onTestFinished, vi } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { Canaries } from './canaries.ts'

export interface Wire {
  /** Number of changed answers by service and kind: `eks planted`, `kubernetes refused`. */
  changed: Map<string, number>
  /** Credentials that requests carried: bearer tokens and signatures. */
  sent: Set<string>
}

export interface WireOptions {
  /** Requests that are refused with an answer that repeats them. */
  refused: readonly RegExp[]
  /** One text of so many is planted. */
  every: number
}

interface Head {
  status: number
  headers: OutgoingHttpHeaders
}

/** `eks`, `ec2`, `ssm` and the like by the signature's scope; `kubernetes` by the bearer token; else `other`. */
function serviceOf({ headers: { authorization = '' } }: IncomingMessage): string {
  if (/^bearer /i.test(authorization)) return 'kubernetes'
  return /Credential=[^/]+\/\d+\/[\w-]+\/([\w-]+)\//.exec(authorization)?.[1] ?? 'other'
}

/** Changes answers until the test is finished. */
export function tapWire(canaries: Canaries, { refused, every }: WireOptions): Wire {
  const wire: Wire = { changed: new Map(), sent: new Set() }
  const heads = new WeakMap<ServerResponse, Head>()
  const { writeHead, end } = ServerResponse.prototype
  const count = (what: string) => wire.changed.set(what, (wire.changed.get(what) ?? 0) + 1)

  const answer = (request: IncomingMessage, head: Head, body: string): [Head, string] => {
    const service = serviceOf(request)
    const { authorization = '' } = request.headers
    const credentials =
      /^bearer (.+)$/i.exec(authorization) ?? /Signature=(\w+)/.exec(authorization)
    if (credentials?.[1] !== undefined) wire.sent.add(credentials[1])
    const asked = `${service} ${request.method} ${request.url} ${request.headers['x-amz-target'] ?? ''}`
    if (head.status < 300 && refused.some(form => form.test(asked))) {
      count(`${service} refused`)
      return refusal(service, request, canaries)
    }
    const changed = planted(service, asked, body)
    if (changed !== body) count(`${service} planted`)
    return [head, changed]
  }
  const planted = (service: string, asked: string, body: string) => {
    if (service === 'ec2')
      return body.replace(
        /<(value|description|message)>([^<]*)</gi,
        (_, name: string, text: string) =>
          `<${name}>${text} ${escaped(canaries.next(`ec2 ${name}`))}<`,
      )
    if (!['eks', 'ssm', 'kubernetes'].includes(service)) return body
    const value = parsed(body)
    if (value === null) return body
    return JSON.stringify(withHidden(canaries.plant(value, every, asked), canaries, asked))
  }

  const spies = [
    vi.spyOn(ServerResponse.prototype, 'writeHead').mockImplementation(function (
      this: ServerResponse,
      status: number,
      headers?: unknown,
    ) {
      heads.set(this, {
        status,
        headers: isRawObject(headers) ? (headers as OutgoingHttpHeaders) : {},
      })
      return this
    }),
    vi.spyOn(ServerResponse.prototype, 'end').mockImplementation(function (
      this: ServerResponse,
      chunk?: unknown,
    ) {
      const head = heads.get(this)
      heads.delete(this)
      if (head === undefined) return end.call(this, chunk, 'utf8')
      const bytes = Buffer.isBuffer(chunk)
        ? chunk
        : Buffer.from(typeof chunk === 'string' ? chunk : '')
      const [{ status, headers }, text] = answer(
        this.req,
        head,
        bytes.toString('latin1') === '' ? '' : bytes.toString(),
      )
      const isSame = text === bytes.toString()
      const body = isSame ? bytes : Buffer.from(text)
      writeHead.call(this, status, { ...headers, 'content-length': String(body.length) })
      return end.call(this, this.req.method === 'HEAD' ? undefined : body, 'utf8')
    }),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return wire
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function parsed(body: string): RawObject | null {
  try {
    const value: unknown = JSON.parse(body)
    return isRawObject(value) ? value : null
  } catch {
    return null
  }
}

/** Objects of a list carry what real objects hide. */
function withHidden(value: RawObject, canaries: Canaries, path: string): RawObject {
  if (!Array.isArray(value.items)) return value
  const items = value.items.map((item, index) =>
    isRawObject(item) && index % 5 === 0 ? { ...item, ...canaries.hiddenIn(path) } : item,
  )
  return { ...value, items }
}

/** In the service's own form: the request's header, path and credentials, as they are and in other notations. */
function refusal(service: string, request: IncomingMessage, canaries: Canaries): [Head, string] {
  const { authorization = '' } = request.headers
  const token = authorization.split(' ')[1] ?? ''
  const echoed = [
    `Authorization: ${authorization}`,
    ...(service === 'kubernetes'
      ? [token, Buffer.from(token).toString('base64'), encodeURIComponent(token)]
      : []),
    canaries.next(`${service} refusal`),
  ].join(' | ')
  const headers = {
    'content-type': 'application/json',
    'www-authenticate': `Bearer realm="x", error_description="${token.slice(0, 500)}"`,
    'x-echo': authorization,
    'retry-after': '0',
  }
  if (service === 'ec2')
    return [
      { status: 403, headers: { ...headers, 'content-type': 'text/xml' } },
      `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>${escaped(echoed)}</Message></Error></Errors><RequestID>1</RequestID></Response>`,
    ]
  if (service === 'kubernetes')
    return [
      { status: request.url?.includes('/proxy/') ? 502 : 403, headers },
      JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', message: echoed }),
    ]
  return [
    { status: 400, headers: { ...headers, 'x-amzn-errortype': 'AccessDeniedException' } },
    JSON.stringify({ __type: 'AccessDeniedException', message: echoed }),
  ]
}

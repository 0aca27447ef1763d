/**
 * Reads from a Kubernetes API server, on pooled keep-alive connections (client-node opens one TLS connection a request, see docs/dev/dependencies.md).
 * Every request goes through the server's pace, has its own time-out and size limit, and gets a limited number of retries.
 */

import http from 'node:http'
import https from 'node:https'
import { isIPv6 } from 'node:net'
import { checkServerIdentity, createSecureContext } from 'node:tls'
import type { AnswerKind } from '#base/limits.ts'
import { once } from '#base/once.ts'
import { noteSlowDown } from '#clients/aws/aws-failure.ts'
import { connectionFailure, RequestFailure } from '#clients/failure.ts'
import { Pace, type PaceLimits, sleep } from '#clients/pace.ts'
import type { KubeletAddress } from '#facts/kubelet/endpoints.ts'
import { type AnswerBody, readBody } from './answer-body.ts'
import {
  failedAnswer,
  isSuccess,
  limitOf,
  objectKey,
  offeredContinue,
  type ParsedPage,
  parsedAnswer,
  parsePage,
  type Question,
  requestLine,
} from './kubernetes-answer.ts'
import { SentSecrets } from './sent-secrets.ts'

/** Address of an API server and credentials for it. */
export interface KubernetesEndpoint {
  /** `https://host[:port][/prefix]` */
  server: string
  /** PEM; only these CAs are trusted. Absent: the system's CAs. */
  ca?: string | Buffer
  clientCertificate?: { cert: string | Buffer; key: string | Buffer }
  /** Name expected in the certificate, if it is not the host. */
  serverName?: string
  /** Names that the certificate may have instead. */
  names?: readonly string[]
  /** Set only if the kubeconfig has `insecure-skip-tls-verify`. */
  skipTlsVerification?: boolean
  /** Returns the Authorization header; null: none is sent. `renew` is true after a 401. */
  authorization: (renew: boolean) => Promise<string | null>
}

export interface KubernetesClientOptions {
  pace: PaceLimits
  /** Tries of one request, the first included. */
  attempts: number
  /** First wait before a retry; doubled each time, with full jitter. */
  backoffMs: number
  /** How long requests wait for an unreachable server. After this time requests fail at once. */
  patienceMs: number
  /** Interval between tries of an unreachable server. */
  probeEveryMs: number
  /** Advice for people, by the status of the answer. */
  hints: Readonly<Record<number, string>>
}

const defaultOptions = {
  attempts: 3,
  backoffMs: 300,
  patienceMs: 30_000,
  probeEveryMs: 2_000,
  hints: {
    401: "The API server does not know this identity: map the role by an EKS access entry (or aws-auth), and check this machine's clock",
    403: "Grant the right in the cluster's role for highwater (docs/permissions.md; highwater doctor says which)",
  },
}
const listPageLimit = '500'
/** Accept header for metadata. Servers without this form return whole objects. Source: Kubernetes API concepts, metadata-only fetches. */
const metadataOnly =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
/** A list with a next page contains this text. A label or an annotation may contain it, too. */
const continueField = '"continue"'
const maxListRestarts = 3
/** After this many requests in a row without a connection the server counts as unreachable, so that the run does not wait again for each node. */
const goneAfterFailures = 15

export interface ListPage {
  items: Record<string, unknown>[]
  /** Number of objects after this page; null: unknown. */
  remaining: number | null
}

export interface GetOptions {
  signal: AbortSignal
  timeoutMs: number
  /** Maximum number of tries. Lower than the default for a node that is probably down. */
  attempts?: number
  /** A node behind the server answers, so a 5xx does not slow down requests to the server. */
  isProxied?: boolean
  /** List only the metadata of objects. */
  isMetadataOnly?: boolean
  /** Selects the limits of the answer. Default: a page of a list, else one object. */
  kind?: AnswerKind
}

export class KubernetesClient {
  private readonly endpoint: KubernetesEndpoint
  private readonly base: URL
  private readonly options: KubernetesClientOptions
  private readonly agent: http.Agent
  /** One for all connections: to make one takes a millisecond. */
  private readonly secureContext = once(() => {
    const { ca, clientCertificate: { cert, key } = {} } = this.endpoint
    return createSecureContext({ ca, cert, key })
  })
  private readonly pace: Pace
  private readonly sent = new SentSecrets()
  private lists: Promise<unknown> = Promise.resolve()
  private aheadMs: number | null = null
  private unreachable = 0
  private goneSinceMs = 0
  private probedMs = 0

  /** @throws TypeError when `endpoint.server` is no http(s) URL. */
  constructor(
    endpoint: KubernetesEndpoint,
    options: Partial<KubernetesClientOptions> & { pace: PaceLimits },
  ) {
    this.endpoint = endpoint
    this.base = new URL(endpoint.server)
    this.options = { ...defaultOptions, ...options }
    this.pace = new Pace(this.options.pace)
    const pool = {
      keepAlive: true,
      maxSockets: this.options.pace.concurrency,
      scheduling: 'fifo' as const,
    }
    this.agent =
      this.base.protocol === 'http:'
        ? new http.Agent(pool)
        : new https.Agent({
            ...pool,
            servername: endpoint.serverName,
            ...(endpoint.names && { checkServerIdentity: anyName(endpoint.names) }),
            rejectUnauthorized: endpoint.skipTlsVerification !== true,
          })
  }

  /** Current request rate per second. */
  get requestsPerSecond() {
    return this.pace.requestsPerSecond
  }

  /** How far this machine's clock is ahead of the server's clock, by the last answer, in whole seconds; null: no answer yet. */
  get clockAheadMs(): number | null {
    return this.aheadMs
  }

  /** GETs one JSON answer. @throws RequestFailure; the signal's reason when aborted. */
  async getJson(path: string, options: GetOptions): Promise<unknown> {
    return this.ask(questionOf(path, options), options)
  }

  /**
   * As getJson, but returns a function that parses the answer. Waiting answers take less memory as text. A large answer is parsed at once.
   *
   * @throws as getJson; a body that is no JSON throws later, in the returned function
   */
  getUnparsed(path: string, options: GetOptions): Promise<Unparsed> {
    return this.receive(questionOf(path, options), options, isSmall)
  }

  /** Reads a list; if it has a second page, it is parsed at once. @throws as getUnparsed */
  async listUnparsed(
    path: string,
    query: Record<string, string>,
    options: GetOptions,
  ): Promise<() => ListPage['items']> {
    let isWhole = false
    const mayWait = (body: AnswerBody) => {
      isWhole = isSmall(body) && !body.bytes.includes(continueField)
      return isWhole
    }
    const question = pageQuestion(path, { ...query, limit: listPageLimit }, options)
    const parse = await this.runInTurn(() => this.receive(question, options, mayWait))
    if (isWhole) return () => parsePage(parse(), path).items
    const pages = this.pages(path, query, options, parsePage(parse(), path))
    const items = (await Array.fromAsync(pages)).flatMap(page => page.items)
    return () => items
  }

  /** POSTs a review, which changes nothing on the server. @throws as getJson */
  postReview(path: string, review: object, options: GetOptions): Promise<unknown> {
    return this.ask({ method: 'POST', path, body: JSON.stringify(review) }, options)
  }

  private async ask(question: Question, options: GetOptions) {
    const parse = await this.receive(question, options, () => false)
    return parse()
  }

  /** @param mayWait whether a body may be parsed later */
  private async receive(
    question: Question,
    { signal, timeoutMs, attempts = this.options.attempts, isProxied = false }: GetOptions,
    mayWait: (body: AnswerBody) => boolean,
  ): Promise<Unparsed> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.awaitServer(signal)
        const answer = await this.pace.run(
          () =>
            this.countFailures(async () => {
              const answer = await this.attempt(question, signal, timeoutMs)
              return this.readAnswer(answer, question, mayWait)
            }),
          signal,
        )
        this.pace.raiseRate()
        return answer
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof RequestFailure)) throw error
        if (error.status === 429) noteSlowDown('Kubernetes')
        if (error.status === 429 || (error.status !== null && error.status >= 500 && !isProxied))
          this.pace.lowerRate(error.retryAfterMs)
        if (attempt >= Math.min(attempts, triesWorth(error))) throw error
        const backoffMs = this.options.backoffMs * 2 ** (attempt - 1) * Math.random()
        await sleep(Math.max(error.retryAfterMs ?? 0, backoffMs), signal)
      }
    }
  }

  /**
   * Yields a list page by page. Lists of one API server run one after the other, because a few large ones at once fill its priority level.
   * If a continue token expires (410), the list continues with the server's new token, else restarts. Objects already seen are skipped.
   * @throws RequestFailure as getJson.
   */
  list(path: string, query: Record<string, string>, options: GetOptions): AsyncGenerator<ListPage> {
    return this.pages(path, query, options, null)
  }

  /** @param first null: the first page has not been requested yet */
  private async *pages(
    path: string,
    query: Record<string, string>,
    options: GetOptions,
    first: ParsedPage | null,
  ): AsyncGenerator<ListPage> {
    const seen = new Set<string>()
    let restarts = 0
    let continueToken: string | null = null
    let received = first
    for (let isDone = false; !isDone; ) {
      const token: Record<string, string> =
        continueToken === null ? {} : { continue: continueToken }
      const pageQuery = { limit: listPageLimit, ...query, ...token }
      try {
        const page = received ?? (await this.listPage(path, pageQuery, options))
        received = null
        const items = page.items.filter(item => !seen.has(objectKey(item)))
        for (const item of items) seen.add(objectKey(item))
        continueToken = page.continueToken
        isDone = continueToken === null
        yield { items, remaining: page.remaining }
      } catch (error) {
        const isExpired =
          error instanceof RequestFailure && error.status === 410 && continueToken !== null
        if (!isExpired || restarts >= maxListRestarts) throw error
        restarts += 1
        continueToken = offeredContinue(error.body)
      }
    }
  }

  /** Approximate number of objects in a list, from a page with one object. Source: Kubernetes API reference, ListMeta remainingItemCount. @throws as getJson */
  async count(path: string, options: GetOptions) {
    const { items, remaining } = await this.listPage(path, { limit: '1' }, options)
    return items.length + (remaining ?? 0)
  }

  close() {
    this.agent.destroy()
  }

  /** Waits for an unreachable server, because most servers return within seconds. After `patienceMs` requests only probe it at intervals. */
  private async awaitServer(signal: AbortSignal) {
    if (this.unreachable < goneAfterFailures) return
    const now = performance.now()
    if (now - this.goneSinceMs < this.options.patienceMs)
      return sleep(this.options.probeEveryMs, signal)
    if (now - this.probedMs < this.options.probeEveryMs)
      throw new RequestFailure(
        'gone',
        `the API server ${this.base.host} has stopped answering: ${this.unreachable} requests in a row did not reach it`,
      )
    this.probedMs = now
  }

  /** Counts consecutive requests without a connection. */
  private async countFailures<T>(request: () => Promise<T>) {
    try {
      const answer = await request()
      this.unreachable = 0
      return answer
    } catch (error) {
      const isReached =
        !(error instanceof RequestFailure) ||
        !['refused', 'name', 'network', 'tls'].includes(error.kind)
      this.unreachable = isReached ? 0 : this.unreachable + 1
      if (this.unreachable === goneAfterFailures) this.goneSinceMs = performance.now()
      throw error
    }
  }

  private async listPage(path: string, query: Record<string, string>, options: GetOptions) {
    const question = pageQuestion(path, query, options)
    return parsePage(await this.runInTurn(() => this.ask(question, options)), path)
  }

  private runInTurn<T>(list: () => Promise<T>) {
    const turn = this.lists.then(list)
    this.lists = turn.catch(() => undefined)
    return turn
  }

  private async attempt(
    question: Question,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<Answer> {
    const known = await this.endpoint.authorization(false)
    const answer = await this.request(question, known, signal, timeoutMs)
    if (answer.status !== 401) return answer
    const renewed = await this.endpoint.authorization(true)
    return this.request(question, renewed, signal, timeoutMs)
  }

  private readAnswer(
    { status, headers, body }: Answer,
    question: Question,
    mayWait: (body: AnswerBody) => boolean,
  ): Unparsed {
    const clean = (text: string) => this.sent.removeFrom(text)
    if (isSuccess(status)) {
      const parse = () => parsedAnswer(body.bytes, question, clean)
      if (mayWait(body)) return parse
      try {
        const parsed = parse()
        return () => parsed
      } finally {
        body.release()
      }
    }
    const refused = { status, bytes: body.bytes, hint: this.options.hints[status] }
    throw failedAnswer(question, { ...refused, retryAfter: headers['retry-after'] }, clean)
  }

  private request(
    question: Question,
    authorization: string | null,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<Answer> {
    const { base, agent } = this
    const { method, path, body, accept = 'application/json' } = question
    const url = new URL(base.pathname.replace(/\/$/, '') + path, base)
    const headers: http.OutgoingHttpHeaders = {
      accept,
      'accept-encoding': 'gzip',
      'user-agent': 'highwater',
    }
    if (authorization !== null) {
      headers.authorization = authorization
      this.sent.addAuthorization(authorization)
    }
    if (body !== undefined)
      Object.assign(headers, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
    return new Promise((resolve, reject) => {
      const ended = new AbortController()
      const settle = (error: unknown, answer?: Answer) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        if (answer) return resolve(answer)
        reject(error)
        ended.abort(error)
      }
      const isSecure = url.protocol === 'https:'
      const request = (isSecure ? https : http).request(url, {
        ...(isSecure && { secureContext: this.secureContext() }),
        agent,
        headers,
        method,
      })
      const stop = (error: unknown) => {
        settle(error)
        request.destroy()
      }
      const abort = () => stop(signal.reason)
      const timer = setTimeout(
        () =>
          stop(
            new RequestFailure(
              'timeout',
              `no answer to ${requestLine(question)} within ${timeoutMs / 1000} s`,
            ),
          ),
        timeoutMs,
      )
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort, { once: true })
      request.on('error', error => settle(connectionFailure(error, base.host)))
      request.on('response', response => {
        const serverMs = Date.parse(response.headers.date ?? '')
        if (!Number.isNaN(serverMs)) this.aheadMs = Date.now() - serverMs
        const status = response.statusCode ?? 0
        readBody(response, {
          question: requestLine(question),
          maxBytes: limitOf(question, status).maxBytes,
          isCut: !isSuccess(status),
          signal: ended.signal,
          onWait: isWaiting => {
            if (isWaiting) clearTimeout(timer)
            else if (!ended.signal.aborted) timer.refresh()
          },
        }).then(read => {
          if (ended.signal.aborted) read.release()
          else settle(null, { status, headers: response.headers, body: read })
        }, stop)
      })
      request.end(body)
    })
  }
}

/** Parses an answer. Must be called once only. @throws RequestFailure */
export type Unparsed = () => unknown

const isSmall = ({ isLarge }: AnswerBody) => !isLarge

const questionOf = (path: string, { kind, isMetadataOnly }: GetOptions): Question => ({
  method: 'GET',
  path,
  kind,
  ...(isMetadataOnly && { accept: metadataOnly }),
})

const pageQuestion = (path: string, query: Record<string, string>, options: GetOptions) =>
  questionOf(`${path}?${new URLSearchParams(query)}`, { kind: 'page', ...options })

interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  body: AnswerBody
}

/** Accepts a certificate for any of the names. The error is the one for the host. */
const anyName =
  (names: readonly string[]): typeof checkServerIdentity =>
  (host, certificate) =>
    names.some(name => checkServerIdentity(name, certificate) === undefined)
      ? undefined
      : checkServerIdentity(host, certificate)

/** Maximum number of tries for this kind of failure. A node that timed out will probably time out again. */
function triesWorth(failure: RequestFailure) {
  if (failure.kind === 'timeout') return 2
  if (failure.kind === 'http')
    return failure.status === 429 || (failure.status ?? 0) >= 500 ? Number.POSITIVE_INFINITY : 1
  return failure.kind === 'network' || failure.kind === 'body' || failure.kind === 'refused'
    ? Number.POSITIVE_INFINITY
    : 1
}

/* Direct calls to kubelets, on their own port. Certificates are always verified against the cluster's CA, because a token is sent. */

/** The identity for calls to kubelets. Every kubelet sees its token: give it few other rights. */
export interface KubeletIdentity {
  /** PEM of the cluster's CA. */
  ca: string | Buffer
  authorization: KubernetesEndpoint['authorization']
}

export class KubeletApi {
  readonly #identity: KubeletIdentity
  readonly #pace: PaceLimits

  constructor(identity: KubeletIdentity, pace: PaceLimits) {
    this.#identity = identity
    this.#pace = pace
  }

  /** GETs one JSON answer of one kubelet. @throws as KubernetesClient.getUnparsed */
  async getUnparsed(
    { ip, port, names }: KubeletAddress,
    path: string,
    options: GetOptions,
  ): Promise<Unparsed> {
    if (ip === null)
      throw new RequestFailure(
        'name',
        'the Node object has no InternalIP, so its kubelet cannot be reached',
      )
    const { ca, authorization } = this.#identity
    const host = isIPv6(ip) ? `[${ip}]` : ip
    const client = new KubernetesClient(
      { server: `https://${host}:${port}`, ca, names, authorization },
      { pace: this.#pace, hints },
    )
    try {
      return await client.getUnparsed(path, options)
    } catch (error) {
      throw error instanceof RequestFailure ? withAdvice(error, `${host}:${port}`) : error
    } finally {
      client.close()
    }
  }
}

const hints = {
  401: 'The API server does not know the token that the kubelet received: map the role of policy.kubelet by an EKS access entry, and check this machine’s clock',
  403: '',
}

function adviceOn(kind: RequestFailure['kind'], address: string) {
  if (kind === 'timeout' || kind === 'network')
    return `. Kubelet ${address}: is the node's security group open for this machine on that port?`
  if (kind !== 'tls') return ''
  return '. A kubelet whose certificate was not issued by the cluster (serverTLSBootstrap off, or its request not approved) cannot be read directly; use mode proxy or ssm'
}

/** Adds advice about direct access to kubelets to the failure of a connection. */
function withAdvice(failure: RequestFailure, address: string) {
  const { kind, status, retryAfterMs, body, cause } = failure
  return new RequestFailure(kind, `${failure.message}${adviceOn(kind, address)}`, {
    status,
    retryAfterMs,
    body,
    cause,
  })
}

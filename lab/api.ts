/**
 * What an emulated API is, and how a request finds its route. An API answers what it knows and 501 to everything else, in its
 * protocol's own error form: it never guesses.
 */

export interface LabRequest {
  method: string
  /** As sent, still percent-encoded. */
  path: string
  query: URLSearchParams
  headers: Record<string, string>
  body: Buffer
}

export interface Reply {
  status: number
  headers?: Record<string, string>
  body: string | Buffer
  /** Answer only after so many ms. */
  delayMs?: number
  /** Announce the whole body, send so many bytes of it, then break the connection. */
  breakAfterBytes?: number
}

/** `hang`: the connection stays open and nothing is ever sent. `break`: it ends, and nothing was sent. */
export type Answer = Reply | 'hang' | 'break'

export interface Route<Caller> {
  id: string
  /** The parameters in the request's address when it is this route's; null: not this one. */
  match(request: LabRequest): Record<string, string> | null
  /** Query or form parameters that it understands; another one is answered 501. */
  parameters: readonly string[]
  answer(
    request: LabRequest,
    params: Record<string, string>,
    caller: Caller,
  ): Answer | Promise<Answer>
}

export interface Api<Caller> {
  /** `eks`, `ec2`, `sts`, `cloudwatch`, `s3`, `sesv2`, `sns`, `events`, `sfn`, `ssm`, `kubernetes/<cluster>`, `kubelet/<cluster>` */
  name: string
  /** The largest request body it takes. Default 1 MiB. */
  maxBodyBytes?: number
  routes: readonly Route<Caller>[]
  /** The caller of a request. @throws Refusal if the credentials are not valid. */
  authenticate(request: LabRequest): Caller
  /** Whether the API is not reachable now. Default: it always is. */
  isAway?(): boolean
  /** The parameters of a request: the query, or the form where the protocol has one. */
  parametersOf(request: LabRequest): URLSearchParams
  /** An error in the protocol's own form. */
  error(refusal: Refusal): Reply
}

/** Thrown by a route or by authentication: the API's error form is made of it. */
export class Refusal extends Error {
  readonly status: number
  /** The protocol's code: `ResourceNotFoundException`, `AccessDenied`, a Kubernetes reason. */
  readonly code: string
  /** More for the error form: response headers, a Status's details and metadata. */
  readonly more: { headers?: Record<string, string>; details?: object; metadata?: object }

  constructor(status: number, code: string, message: string, more: Refusal['more'] = {}) {
    super(message)
    this.status = status
    this.code = code
    this.more = more
  }
}

/** Of what the lab does not know: one code in every protocol. */
export const notImplemented = (message: string) => new Refusal(501, 'NotImplemented', message)

/** Finds the route, checks the caller, answers. `count` hears the route's id, `unknown` for none. */
export async function answer<Caller>(
  api: Api<Caller>,
  request: LabRequest,
  count: (route: string) => void,
): Promise<Answer> {
  const found = findRoute(api, request)
  count(found?.route.id ?? 'unknown')
  if (api.isAway?.()) return 'break'
  try {
    if (!found)
      throw notImplemented(`the lab's ${api.name} does not know ${request.method} ${request.path}`)
    const caller = api.authenticate(request)
    checkParameters(api, found.route, request)
    return await found.route.answer(request, found.params, caller)
  } catch (error) {
    if (error instanceof Refusal) return api.error(error)
    return api.error(
      new Refusal(
        500,
        'InternalFailure',
        `the lab itself failed: ${error instanceof Error ? error.message : String(error)}`,
      ),
    )
  }
}

function findRoute<Caller>(api: Api<Caller>, request: LabRequest) {
  for (const route of api.routes) {
    const params = route.match(request)
    if (params) return { route, params }
  }
  return null
}

function checkParameters<Caller>(
  api: Api<Caller>,
  route: Route<Caller>,
  request: LabRequest,
): void {
  const unknown = [...api.parametersOf(request).keys()].filter(
    name => !route.parameters.includes(name),
  )
  if (unknown.length === 0) return
  throw notImplemented(
    `the lab's ${api.name} ${route.id} does not know the parameter ${unknown.join(', ')}`,
  )
}

/** Matches a method and a path like `/clusters/{name}`; a parameter is one segment, decoded. */
export function atPath(method: string, template: string): Route<unknown>['match'] {
  const wanted = template.split('/')
  return request => {
    const segments = request.path.split('/')
    if (request.method !== method || segments.length !== wanted.length) return null
    const params: Record<string, string> = {}
    for (const [index, part] of wanted.entries()) {
      const segment = segments[index]!
      if (!part.startsWith('{')) {
        if (part !== segment) return null
        continue
      }
      const value = decodeSegment(segment)
      if (!value) return null
      params[part.slice(1, -1)] = value
    }
    return params
  }
}

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null // a malformed escape is no known address
  }
}

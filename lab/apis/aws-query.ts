/** awsQuery, as STS and SNS speak it: a form goes in, XML comes out. Source: Smithy, AWS query protocol. */
import { type Api, type LabRequest, Refusal, type Reply, type Route } from '#lab/api.ts'
import { type Caller, type CredentialProblem, checkAuthorization } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { type Elements, elements } from '#lab/xml.ts'

const problems: Record<CredentialProblem, [code: string, message: string]> = {
  missing: ['MissingAuthenticationToken', 'Request is missing Authentication Token'],
  malformed: [
    'IncompleteSignature',
    'Authorization header is not of the form that Signature Version 4 has.',
  ],
  'unknown-key': ['InvalidClientTokenId', 'The security token included in the request is invalid.'],
  'expired-session': ['ExpiredToken', 'The security token included in the request is expired'],
  clock: ['SignatureDoesNotMatch', 'Signature expired or not yet current: check the clock.'],
  signature: [
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided.',
  ],
}

export interface QueryService {
  /** As signatures name it. */
  name: string
  /** Its API's version, a date. */
  version: string
  namespace: string
}

export const form = (request: LabRequest) => new URLSearchParams(request.body.toString())

/** What every service of the protocol does alike. */
export function queryApi(
  world: World,
  service: QueryService,
  routes: Route<Caller>[],
): Api<Caller> {
  return {
    name: service.name,
    routes,
    parametersOf: form,
    authenticate(request) {
      const caller = checkAuthorization(request, world, service.name)
      if (typeof caller === 'string') throw new Refusal(403, ...problems[caller])
      return caller
    },
    error: ({ status, code, message }) => {
      const type = status >= 500 ? 'Receiver' : 'Sender'
      const error = `<Error><Type>${type}</Type>${elements({ Code: code, Message: message })}</Error>`
      return xml(
        status,
        `<ErrorResponse xmlns="${service.namespace}">${error}${requestId()}</ErrorResponse>`,
      )
    },
  }
}

export function isAction(action: string, { version }: QueryService): Route<Caller>['match'] {
  return request => {
    const parameters = form(request)
    const isOne =
      request.method === 'POST' &&
      request.path === '/' &&
      parameters.get('Action') === action &&
      parameters.get('Version') === version
    return isOne ? {} : null
  }
}

export const queryResult = (action: string, { namespace }: QueryService, fields: Elements): Reply =>
  xml(
    200,
    `<${action}Response xmlns="${namespace}"><${action}Result>${elements(fields)}</${action}Result><ResponseMetadata>${requestId()}</ResponseMetadata></${action}Response>`,
  )

const requestId = () => elements({ RequestId: crypto.randomUUID() })

const xml = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body,
})

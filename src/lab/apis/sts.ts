/** STS: awsQuery, Version 2011-06-15. Source: the service model `sts`, and the STS API reference. */
import { type Api, type LabRequest, Refusal, type Reply, type Route } from '#lab/api.ts'
import { type Caller, type CredentialProblem, checkAuthorization } from '#lab/credentials.ts'
import { createKey, type Principal, type World } from '#lab/world.ts'
import { type Elements, elements } from '#lab/xml.ts'

const version = '2011-06-15'
const namespace = `https://sts.amazonaws.com/doc/${version}/`

const problems: Record<CredentialProblem, [code: string, message: string]> = {
  missing: ['MissingAuthenticationToken', 'Request is missing Authentication Token'],
  malformed: ['IncompleteSignature', 'Authorization header is not of the form that Signature Version 4 has.'],
  'unknown-key': ['InvalidClientTokenId', 'The security token included in the request is invalid.'],
  'expired-session': ['ExpiredToken', 'The security token included in the request is expired'],
  clock: ['SignatureDoesNotMatch', 'Signature expired or not yet current: check the clock.'],
  signature: ['SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.'],
}

export function stsApi(world: World): Api<Caller> {
  const routes: Route<Caller>[] = [
    {
      id: 'GetCallerIdentity',
      match: isAction('GetCallerIdentity'),
      parameters: ['Action', 'Version'],
      answer: (_, _params, { principal }) =>
        result('GetCallerIdentity', { UserId: principal.userId, Account: principal.account, Arn: principal.arn }),
    },
    {
      id: 'AssumeRole',
      match: isAction('AssumeRole'),
      parameters: ['Action', 'Version', 'RoleArn', 'RoleSessionName', 'ExternalId', 'DurationSeconds'],
      answer: (request, _, { principal }) => assumeRole(world, principal, form(request)),
    },
  ]
  return {
    name: 'sts',
    routes,
    parametersOf: form,
    authenticate(request) {
      const caller = checkAuthorization(request, world, 'sts')
      if (typeof caller === 'string') throw new Refusal(403, ...problems[caller])
      return caller
    },
    error: ({ status, code, message }) => {
      const type = status >= 500 ? 'Receiver' : 'Sender'
      return xml(
        status,
        `<ErrorResponse xmlns="${namespace}"><Error><Type>${type}</Type>${elements({ Code: code, Message: message })}</Error>${requestId('RequestId')}</ErrorResponse>`,
      )
    },
  }
}

function assumeRole(world: World, caller: Principal, parameters: URLSearchParams): Reply {
  const roleArn = parameters.get('RoleArn') ?? ''
  const session = parameters.get('RoleSessionName') ?? ''
  const durationSeconds = Number(parameters.get('DurationSeconds') ?? 3600)
  const [, account, name] = /^arn:aws[\w-]*:iam::(\d{12}):role\/(?:.*\/)?([\w+=,.@-]+)$/.exec(roleArn) ?? []
  if (!account || !name || !/^[\w+=,.@-]{2,64}$/.test(session)) {
    throw new Refusal(400, 'ValidationError', 'RoleArn or RoleSessionName is not valid')
  }
  // Role chaining: a session that came from a role gets one hour at most.
  const maxSeconds = caller.arn.includes(':assumed-role/') ? 3600 : 43_200
  if (!(durationSeconds >= 900 && durationSeconds <= maxSeconds)) {
    throw new Refusal(400, 'ValidationError', `DurationSeconds must be between 900 and ${maxSeconds}`)
  }
  const role = world.roles.get(roleArn)
  if (!role || (role.externalId !== undefined && role.externalId !== parameters.get('ExternalId'))) {
    throw new Refusal(403, 'AccessDenied', `User: ${caller.arn} is not authorized to perform: sts:AssumeRole on resource: ${roleArn}`)
  }
  const roleId = `AROALAB${name
    .toUpperCase()
    .replace(/[^A-Z2-7]/g, '')
    .padEnd(14, 'A')
    .slice(0, 14)}`
  const principal: Principal = {
    arn: `arn:aws:sts::${account}:assumed-role/${name}/${session}`,
    identity: roleArn,
    userId: `${roleId}:${session}`,
    account,
    mayReadEks: role.mayReadEks ?? true,
  }
  const key = createKey(world, principal, durationSeconds * 1000)
  return result('AssumeRole', {
    Credentials: {
      AccessKeyId: key.accessKeyId,
      SecretAccessKey: key.secretAccessKey,
      SessionToken: key.session!.token,
      Expiration: new Date(key.session!.expiresAtMs).toISOString(),
    },
    AssumedRoleUser: { AssumedRoleId: principal.userId, Arn: principal.arn },
  })
}

const form = (request: LabRequest) => new URLSearchParams(request.body.toString())

function isAction(action: string): Route<Caller>['match'] {
  return request => {
    const parameters = form(request)
    const isOne =
      request.method === 'POST' && request.path === '/' && parameters.get('Action') === action && parameters.get('Version') === version
    return isOne ? {} : null
  }
}

const requestId = (name: string) => elements({ [name]: crypto.randomUUID() })

const result = (action: string, fields: Elements): Reply =>
  xml(
    200,
    `<${action}Response xmlns="${namespace}"><${action}Result>${elements(fields)}</${action}Result><ResponseMetadata>${requestId('RequestId')}</ResponseMetadata></${action}Response>`,
  )

const xml = (status: number, body: string): Reply => ({ status, headers: { 'content-type': 'text/xml' }, body })

/** STS: awsQuery, Version 2011-06-15. Source: the service model `sts`, and the STS API reference. */
import { type Api, Refusal, type Reply } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import { createKey, type Principal, type World } from '#lab/world.ts'
import { form, isAction, type QueryService, queryApi, queryResult } from './aws-query.ts'

const service: QueryService = {
  name: 'sts',
  version: '2011-06-15',
  namespace: 'https://sts.amazonaws.com/doc/2011-06-15/',
}

export function stsApi(world: World): Api<Caller> {
  return queryApi(world, service, [
    {
      id: 'GetCallerIdentity',
      match: isAction('GetCallerIdentity', service),
      parameters: ['Action', 'Version'],
      answer: (_, _params, { principal }) =>
        queryResult('GetCallerIdentity', service, {
          UserId: principal.userId,
          Account: principal.account,
          Arn: principal.arn,
        }),
    },
    {
      id: 'AssumeRole',
      match: isAction('AssumeRole', service),
      parameters: [
        'Action',
        'Version',
        'RoleArn',
        'RoleSessionName',
        'ExternalId',
        'DurationSeconds',
      ],
      answer: (request, _, { principal }) => assumeRole(world, principal, form(request)),
    },
  ])
}

function assumeRole(world: World, caller: Principal, parameters: URLSearchParams): Reply {
  const roleArn = parameters.get('RoleArn') ?? ''
  const session = parameters.get('RoleSessionName') ?? ''
  const durationSeconds = Number(parameters.get('DurationSeconds') ?? 3600)
  const [, account, name] =
    /^arn:aws[\w-]*:iam::(\d{12}):role\/(?:.*\/)?([\w+=,.@-]+)$/.exec(roleArn) ?? []
  if (!account || !name || !/^[\w+=,.@-]{2,64}$/.test(session)) {
    throw new Refusal(400, 'ValidationError', 'RoleArn or RoleSessionName is not valid')
  }
  // Role chaining: a session that came from a role gets one hour at most.
  const maxSeconds = caller.arn.includes(':assumed-role/') ? 3600 : 43_200
  if (!(durationSeconds >= 900 && durationSeconds <= maxSeconds)) {
    throw new Refusal(
      400,
      'ValidationError',
      `DurationSeconds must be between 900 and ${maxSeconds}`,
    )
  }
  const role = world.roles.get(roleArn)
  if (
    !role ||
    (role.externalId !== undefined && role.externalId !== parameters.get('ExternalId'))
  ) {
    throw new Refusal(
      403,
      'AccessDenied',
      `User: ${caller.arn} is not authorized to perform: sts:AssumeRole on resource: ${roleArn}`,
    )
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
  return queryResult('AssumeRole', service, {
    Credentials: {
      AccessKeyId: key.accessKeyId,
      SecretAccessKey: key.secretAccessKey,
      SessionToken: key.session!.token,
      Expiration: new Date(key.session!.expiresAtMs).toISOString(),
    },
    AssumedRoleUser: { AssumedRoleId: principal.userId, Arn: principal.arn },
  })
}

/** SES as a sender of reports needs it: restJson1, 2019-09-27. Source: the service model `sesv2`, and the SES API v2 reference. */
import { type Api, atPath, Refusal, type Route } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { authenticated, json, jsonError } from './rest-json.ts'
import { sandboxMessagesPerDay, sendEmail } from './sesv2/send-email.ts'
import { suppressionOf } from './sesv2/state.ts'

export function sesApi(world: World): Api<Caller> {
  const routes: Route<Caller>[] = [
    {
      id: 'SendEmail',
      match: atPath('POST', '/v2/email/outbound-emails'),
      parameters: [],
      answer(request, _, caller) {
        allow(world, caller, 'ses:SendEmail')
        return json(sendEmail(world, caller, request.body))
      },
    },
    {
      id: 'GetSuppressedDestination',
      match: atPath('GET', '/v2/email/suppression/addresses/{address}'),
      parameters: [],
      answer(_, { address = '' }, caller) {
        if (world.ses.scenario.suppressionDenied)
          throw notAllowed(caller, 'ses:GetSuppressedDestination', '*')
        return json(suppressedDestination(world, address))
      },
    },
    {
      id: 'GetAccount',
      match: atPath('GET', '/v2/email/account'),
      parameters: [],
      answer: () => json(account(world)),
    },
  ]
  return {
    name: 'sesv2',
    // A message of 40 MB, once more in base64.
    maxBodyBytes: 64 * 1024 ** 2,
    routes,
    parametersOf: request => request.query,
    authenticate: request => authenticated(request, world, 'ses'),
    error: jsonError,
  }
}

function allow({ ses, region }: World, caller: Caller, action: string): void {
  if (ses.scenario.denied)
    throw notAllowed(caller, action, `arn:aws:ses:${region}:${caller.principal.account}:identity/*`)
}

function notAllowed({ principal }: Caller, action: string, resource: string): Refusal {
  return new Refusal(
    403,
    'AccessDeniedException',
    `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource}`,
  )
}

function suppressedDestination({ ses }: World, address: string): object {
  const found = suppressionOf(ses, address)
  if (!found)
    throw new Refusal(
      404,
      'NotFoundException',
      `Email address ${address} does not exist on your suppression list.`,
    )
  return {
    SuppressedDestination: {
      EmailAddress: found.address,
      Reason: found.reason,
      LastUpdateTime: Date.parse(found.since) / 1000,
      Attributes: {},
    },
  }
}

function account({ ses }: World): object {
  const { sandbox, sendingPaused } = ses.scenario
  return {
    DedicatedIpAutoWarmupEnabled: false,
    EnforcementStatus: sendingPaused ? 'SHUTDOWN' : 'HEALTHY',
    ProductionAccessEnabled: !sandbox,
    SendQuota: {
      Max24HourSend: sandbox ? sandboxMessagesPerDay : 50_000,
      MaxSendRate: sandbox ? 1 : 14,
      SentLast24Hours: ses.sent,
    },
    SendingEnabled: !sendingPaused,
  }
}

/** What the services of the protocols awsJson1_0 and awsJson1_1 have in common: the action in a header, JSON in and out. Source: Smithy, AWS JSON protocols. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { type Api, type LabRequest, Refusal, type Reply } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { authenticated } from './rest-json.ts'

interface AwsJsonService {
  name: string
  /** What requests are signed for. */
  signingName: string
  version: '1.0' | '1.1'
  /** `AmazonSSM` of `X-Amz-Target: AmazonSSM.SendCommand`. */
  target: string
  actions: Readonly<Record<string, AwsJsonAction>>
}

interface AwsJsonAction {
  parameters: readonly string[]
  answer(input: RawObject, caller: Caller): RawObject
}

export function awsJsonApi(
  world: World,
  { name, signingName, version, target, actions }: AwsJsonService,
): Api<Caller> {
  const json = (body: object, status = 200): Reply => ({
    status,
    headers: { 'content-type': `application/x-amz-json-${version}` },
    body: JSON.stringify(body),
  })
  return {
    name,
    routes: Object.entries(actions).map(([id, { parameters, answer }]) => ({
      id,
      match: request =>
        request.method === 'POST' && request.headers['x-amz-target'] === `${target}.${id}`
          ? {}
          : null,
      parameters,
      answer: (request, _, caller) => json(answer(inputOf(request), caller)),
    })),
    parametersOf: request =>
      new URLSearchParams(Object.fromEntries(Object.keys(inputOf(request)).map(key => [key, '']))),
    authenticate: request => authenticated(request, world, signingName),
    error: ({ status, code, message }) => json({ __type: code, message }, status),
  }
}

function inputOf(request: LabRequest): RawObject {
  const body: unknown = JSON.parse(request.body.toString() || '{}')
  if (!isRawObject(body)) throw new Refusal(400, 'SerializationException', 'The body is no object.')
  return body
}

/** @param action `ssm:SendCommand` */
export const notAuthorized = ({ principal }: Caller, action: string): string =>
  `User: ${principal.arn} is not authorized to perform: ${action} because no identity-based policy allows the ${action} action`

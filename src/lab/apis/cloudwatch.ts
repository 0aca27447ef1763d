/** CloudWatch as far as alarms go, protocol JSON 1.0. Source: the service model `cloudwatch`, and the CloudWatch API reference, DescribeAlarms. */
import { type Api, type LabRequest, Refusal, type Reply, type Route } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { AlarmScenario } from '#lab/scenarios/scenario.ts'
import type { World } from '#lab/world.ts'
import { isRawObject, type RawObject } from '#model/record.ts'
import { authenticated } from './rest-json.ts'

const action = 'DescribeAlarms'
const namesMax = 100

export function cloudwatchApi(world: World): Api<Caller> {
  const describe: Route<Caller> = {
    id: action,
    match: request =>
      request.method === 'POST' && request.headers['x-amz-target'] === `GraniteServiceVersion20100801.${action}` ? {} : null,
    parameters: ['AlarmNames', 'AlarmTypes', 'MaxRecords', 'NextToken'],
    answer(request, _, { principal, region }) {
      if (world.cloudwatch.denied) {
        const message = `User: ${principal.arn} is not authorized to perform: cloudwatch:${action} because no identity-based policy allows the cloudwatch:${action} action`
        throw new Refusal(403, 'AccessDenied', message)
      }
      return json(
        described(
          inputOf(request),
          world.cloudwatch.alarms.filter(alarm => (alarm.region ?? world.region) === region),
        ),
      )
    },
  }
  return {
    name: 'cloudwatch',
    routes: [describe],
    parametersOf: request => new URLSearchParams(Object.fromEntries(Object.keys(inputOf(request)).map(name => [name, '']))),
    authenticate: request => authenticated(request, world, 'monitoring'),
    error: ({ status, code, message }) => json({ __type: code, message }, status),
  }
}

function described(input: RawObject, alarms: readonly AlarmScenario[]): RawObject {
  const names = Array.isArray(input.AlarmNames) ? input.AlarmNames.map(String) : []
  const types = Array.isArray(input.AlarmTypes) ? input.AlarmTypes.map(String) : ['MetricAlarm']
  if (names.length > namesMax) throw new Refusal(400, 'ValidationError', `Member must have length less than or equal to ${namesMax}`)
  const wanted = alarms.filter(({ name }) => names.length === 0 || names.includes(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const start = input.NextToken === undefined ? 0 : Number(input.NextToken)
  const end = start + (typeof input.MaxRecords === 'number' ? input.MaxRecords : 50)
  const page = wanted.slice(start, end)
  const of = (type: string, isComposite: boolean) =>
    types.includes(type)
      ? page
          .filter(alarm => (alarm.isComposite ?? false) === isComposite)
          .map(({ name, state }) => ({ AlarmName: name, StateValue: state }))
      : []
  return {
    MetricAlarms: of('MetricAlarm', false),
    CompositeAlarms: of('CompositeAlarm', true),
    ...(end < wanted.length && { NextToken: String(end) }),
  }
}

const json = (body: object, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify(body),
})

function inputOf(request: LabRequest): RawObject {
  const body: unknown = JSON.parse(request.body.toString() || '{}')
  if (!isRawObject(body)) throw new Refusal(400, 'SerializationException', 'The body is no object.')
  return body
}

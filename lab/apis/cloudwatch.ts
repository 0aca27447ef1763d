/** CloudWatch as far as alarms go, protocol JSON 1.0. Source: the service model `cloudwatch`, and the CloudWatch API reference, DescribeAlarms. */

import type { RawObject } from '#base/raw-object.ts'
import { type Api, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { AlarmScenario } from '#lab/scenarios/scenario.ts'
import type { World } from '#lab/world.ts'
import { awsJsonApi, notAuthorized } from './aws-json.ts'

const namesMax = 100

export const cloudwatchApi = (world: World): Api<Caller> =>
  awsJsonApi(world, {
    ...{
      name: 'cloudwatch',
      signingName: 'monitoring',
      version: '1.0',
      target: 'GraniteServiceVersion20100801',
    },
    actions: {
      DescribeAlarms: {
        parameters: ['AlarmNames', 'AlarmTypes', 'MaxRecords', 'NextToken'],
        answer(input, caller) {
          const { alarms, denied } = world.cloudwatch
          if (denied)
            throw new Refusal(
              403,
              'AccessDenied',
              notAuthorized(caller, 'cloudwatch:DescribeAlarms'),
            )
          return described(
            input,
            alarms.filter(alarm => (alarm.region ?? world.region) === caller.region),
          )
        },
      },
    },
  })

function described(input: RawObject, alarms: readonly AlarmScenario[]): RawObject {
  const names = Array.isArray(input.AlarmNames) ? input.AlarmNames.map(String) : []
  const types = Array.isArray(input.AlarmTypes) ? input.AlarmTypes.map(String) : ['MetricAlarm']
  if (names.length > namesMax)
    throw new Refusal(
      400,
      'ValidationError',
      `Member must have length less than or equal to ${namesMax}`,
    )
  const wanted = alarms
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
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

/** The CloudWatch API: states of alarms. */
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import { awsFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'

/** Actions that this file calls. Only the role that changes nodes needs them. */
export const cloudwatchPermissions = ['cloudwatch:DescribeAlarms']

const maxAttempts = 5

/**
 * State by name: `OK`, `ALARM` or `INSUFFICIENT_DATA`. Missing alarms have no entry.
 * @param names at most 100
 * @throws RequestFailure with a message for people, or the signal's reason
 */
export async function alarmStates(
  region: string,
  credentials: CredentialSource,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const client = new CloudWatchClient({
    region,
    credentials,
    maxAttempts: process.env.AWS_MAX_ATTEMPTS ? undefined : maxAttempts,
  })
  const states = new Map<string, string>()
  try {
    // By default composite alarms are not returned.
    const asked = {
      AlarmNames: [...names],
      AlarmTypes: ['MetricAlarm' as const, 'CompositeAlarm' as const],
    }
    for await (const { MetricAlarms = [], CompositeAlarms = [] } of paginateDescribeAlarms(
      { client },
      asked,
      { abortSignal: signal },
    ))
      for (const { AlarmName, StateValue } of [...MetricAlarms, ...CompositeAlarms])
        if (AlarmName !== undefined) states.set(AlarmName, StateValue ?? '')
    return states
  } catch (error) {
    signal.throwIfAborted()
    const what = `DescribeAlarms ${names.slice(0, 5).join(', ')}`
    throw awsFailure(error, {
      ...{ service: 'CloudWatch', endpointVariable: 'AWS_ENDPOINT_URL_CLOUDWATCH', what, region },
      grant: 'cloudwatch:DescribeAlarms',
    })
  } finally {
    client.destroy()
  }
}

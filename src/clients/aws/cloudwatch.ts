/** The CloudWatch API: states of alarms. */
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import { awsPages, retryOptions } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'

/** IAM actions that this file calls. Only the role that changes nodes needs them. */
export const cloudwatchPermissions = ['cloudwatch:DescribeAlarms']

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
) {
  const client = new CloudWatchClient(retryOptions(region, credentials))
  const what = `DescribeAlarms ${names.slice(0, 5).join(', ')}`
  try {
    // Without AlarmTypes, CloudWatch omits composite alarms.
    const AlarmTypes = ['MetricAlarm' as const, 'CompositeAlarm' as const]
    const query = { AlarmNames: [...names], AlarmTypes }
    const pages = paginateDescribeAlarms({ client }, query, { abortSignal: signal })
    const states = new Map<string, string>()
    for await (const page of awsPages({ service: 'CloudWatch', what, region, signal }, pages)) {
      const { MetricAlarms = [], CompositeAlarms = [] } = page
      for (const { AlarmName, StateValue = '' } of [...MetricAlarms, ...CompositeAlarms])
        if (AlarmName) states.set(AlarmName, StateValue)
    }
    return states
  } finally {
    client.destroy()
  }
}

/** The CloudWatch API: states of alarms. */
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import { awsCall, repeatedly } from './aws-failure.ts'
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
): Promise<Map<string, string>> {
  const client = new CloudWatchClient(repeatedly(region, credentials))
  const what = `DescribeAlarms ${names.slice(0, 5).join(', ')}`
  try {
    // Without AlarmTypes, CloudWatch omits composite alarms.
    const AlarmTypes = ['MetricAlarm' as const, 'CompositeAlarm' as const]
    const query = { AlarmNames: [...names], AlarmTypes }
    const pages = await awsCall({ service: 'CloudWatch', what, region, signal }, () =>
      Array.fromAsync(paginateDescribeAlarms({ client }, query, { abortSignal: signal })),
    )
    return new Map(
      pages
        .flatMap(({ MetricAlarms = [], CompositeAlarms = [] }) => [
          ...MetricAlarms,
          ...CompositeAlarms,
        ])
        .flatMap(({ AlarmName, StateValue = '' }) => (AlarmName ? [[AlarmName, StateValue]] : [])),
    )
  } finally {
    client.destroy()
  }
}

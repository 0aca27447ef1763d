/** Amazon EventBridge: events on one bus. Loaded only if the stack names a bus. */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import {
  type AwsError,
  awsCall,
  connectionTimeout,
  regionInArn,
  signalWithLimit,
} from '#clients/aws/aws-failure.ts'
import { oneLine, RequestFailure } from '#clients/failure.ts'
import { eventsPerRequest } from '#facts/aws/limits.ts'

/** IAM action of this file, for the function's role, on the bus. */
export const eventPermissions = ['events:PutEvents']

/** `source` of every event. */
export const eventSource = 'highwater'

const putTimeLimitMs = 30_000

export interface BusEvent {
  detailType: string
  /** RFC 3339. */
  at: string
  detail: object
}

/** @throws RequestFailure with a message for people, or the signal's reason */
export async function putEvents(busArn: string, events: readonly BusEvent[], signal?: AbortSignal) {
  const region = regionInArn(busArn)
  const abortSignal = signalWithLimit(signal, AbortSignal.timeout(putTimeLimitMs))
  const client = new EventBridgeClient({ region, requestHandler: { connectionTimeout } })
  const what = `PutEvents to ${busArn}`
  const grant = `${eventPermissions.join(', ')} on ${busArn}`
  try {
    for (let from = 0; from < events.length; from += eventsPerRequest) {
      const Entries = events
        .slice(from, from + eventsPerRequest)
        .map(event => ({
          EventBusName: busArn,
          Source: eventSource,
          DetailType: event.detailType,
          Time: new Date(event.at),
          Detail: JSON.stringify(event.detail),
        }))
      const answer = await awsCall(
        { service: 'EventBridge', what, region, grant, signal, explain },
        () => client.send(new PutEventsCommand({ Entries }), { abortSignal }),
      )
      const refused = answer.Entries?.find(({ ErrorCode }) => ErrorCode !== undefined)
      if (refused)
        throw new RequestFailure(
          'http',
          `${what}: ${answer.FailedEntryCount} of ${Entries.length} events were refused: ${oneLine(`${refused.ErrorCode}: ${refused.ErrorMessage}`, 300)}`,
        )
    }
  } finally {
    client.destroy()
  }
}

const explain = ({ name, text }: AwsError) =>
  /^ResourceNotFound/.test(name)
    ? `there is no such bus (${text}). Create it, or set the stack's parameter eventBusArn to another`
    : null

/** EventBridge as a sender of events needs it: PutEvents, awsJson1_1. Source: the service model `eventbridge`, and the EventBridge API reference. */
import { randomUUID } from 'node:crypto'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { type Api, Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'
import { awsJsonApi, notAuthorized } from './aws-json.ts'

const mostEntries = 10
const mostBytes = 262_144

export const eventsApi = (world: World): Api<Caller> =>
  awsJsonApi(world, {
    ...{ name: 'events', signingName: 'events', version: '1.1', target: 'AWSEvents' },
    actions: {
      PutEvents: {
        parameters: ['Entries'],
        answer({ Entries }, caller) {
          const { scenario, taken } = world.events
          if (scenario.denied)
            throw new Refusal(
              400,
              'AccessDeniedException',
              notAuthorized(caller, 'events:PutEvents'),
            )
          const entries = Array.isArray(Entries) ? Entries.filter(isRawObject) : []
          const isWhole = JSON.stringify(entries).length <= mostBytes
          if (entries.length === 0 || entries.length > mostEntries || !isWhole)
            throw new Refusal(400, 'ValidationException', 'Entries is too short or too long')
          const answers = entries.map(entry => answerTo(entry, scenario.buses))
          taken.push(...entries.filter((_, index) => 'EventId' in answers[index]!))
          const FailedEntryCount = answers.filter(answer => 'ErrorCode' in answer).length
          return { Entries: answers, FailedEntryCount }
        },
      },
    },
  })

function answerTo(
  { EventBusName, Source, DetailType, Detail }: RawObject,
  buses: readonly string[],
): { EventId: string } | { ErrorCode: string; ErrorMessage: string } {
  const refused = (ErrorCode: string, ErrorMessage: string) => ({ ErrorCode, ErrorMessage })
  if (!buses.some(name => String(EventBusName).endsWith(`:event-bus/${name}`)))
    return refused('ResourceNotFoundException', `Event bus ${EventBusName} does not exist.`)
  if (!Source || !DetailType) return refused('InvalidArgument', 'Source or DetailType is missing.')
  try {
    if (isRawObject(JSON.parse(String(Detail)))) return { EventId: randomUUID() }
  } catch {
    // Answered below.
  }
  return refused('MalformedDetail', 'Detail is malformed.')
}

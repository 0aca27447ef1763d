/** Events of the fan-out functions, from the state machine or from a person. */
import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import { mistakesIn, textMatching } from './event-parts.ts'

const run = textMatching(
  /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z(-[\w-]{1,59})?$/,
  "a run's id, like 2026-11-21T05-00-00Z: its folder in the bucket",
)
const number = z.int().check(z.gte(0))
const failure = z.object({ Error: z._default(z.string(), ''), Cause: z._default(z.string(), '') })

const ofRun = z.strictObject({ run })
const ofPublish = z.strictObject({ run, failure: z._default(z.nullable(failure), null) })
const ofShard = z.discriminatedUnion(
  'step',
  [
    z.strictObject({ step: z.literal('read'), run, cluster: number, shard: number }),
    z.strictObject({ step: z.literal('judge'), run, cluster: number }),
    z.strictObject({
      step: z.literal('lost'),
      run,
      cluster: number,
      shard: z._default(z.nullable(number), null),
      failure,
    }),
  ],
  { error: 'step is one of read, judge, lost' },
)

export type ShardEvent = z.infer<typeof ofShard>

/** @throws OperatorError naming every mistake and what would be right */
export const parseRunEvent = (event: unknown) =>
  parseEvent(ofRun, event, '{"run":RUN}, as in events/discover.json')

/** `failure`: why the map of clusters failed, from the state machine; null: the map completed. @throws OperatorError as parseRunEvent */
export const parsePublishEvent = (event: unknown) =>
  parseEvent(ofPublish, event, '{"run":RUN}, as in events/publish.json')

/** @throws OperatorError as parseRunEvent */
export const parseShardEvent = (event: unknown) =>
  parseEvent(
    ofShard,
    event,
    '{"step":"read","run":RUN,"cluster":0,"shard":0} or {"step":"judge","run":RUN,"cluster":0}, as in events/audit-shard.json',
  )

function parseEvent<Parsed>(form: z.ZodType<Parsed>, event: unknown, wanted: string) {
  const result = form.safeParse(event ?? {})
  if (!result.success)
    throw new OperatorError(
      `This event is not one of a fan-out. ${mistakesIn(result.error.issues)}. Send ${wanted}`,
    )
  return result.data
}

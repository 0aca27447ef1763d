/** Where a run's files lie in a store, and the mark that it is done. */
import type { Store } from '#clients/store.ts'
import type { Delivery } from '#model/report.ts'

/** `runs/<runId>/<name>` */
export const runKey = (runId: string, name: string) => `runs/${runId}/${name}`

export interface RunDone {
  schema: 'highwater.done/1'
  runId: string
  /** RFC 3339. */
  finishedAt: string
  deliveries: Delivery[]
}

const doneName = 'done.json'

/**
 * What an earlier delivery of the same run has left when it was through with everything; null: none was.
 * @throws Error with a message for people when the store cannot be read
 */
export async function readDone(store: Store, runId: string): Promise<RunDone | null> {
  const found = await store.read(runKey(runId, doneName))
  if (found === null) return null
  try {
    const done: unknown = JSON.parse(found.body.toString('utf8'))
    return isDone(done) ? done : null
  } catch {
    // Not of ours, or of a later version: the run is not known to be done.
    return null
  }
}

/**
 * Written last, and only when nothing is left to do: after it the same run id publishes and mails nothing more. False: another delivery was first.
 * @throws Error with a message for people when the store cannot be written
 */
export async function markDone(
  store: Store,
  { runId, finishedAt, deliveries }: Omit<RunDone, 'schema'>,
): Promise<boolean> {
  const done: RunDone = { schema: 'highwater.done/1', runId, finishedAt, deliveries }
  return store.create(runKey(runId, doneName), `${JSON.stringify(done)}\n`, 'application/json')
}

const isDone = (value: unknown): value is RunDone =>
  typeof value === 'object' &&
  value !== null &&
  'schema' in value &&
  value.schema === 'highwater.done/1' &&
  'deliveries' in value &&
  Array.isArray(value.deliveries)

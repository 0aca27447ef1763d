/** The place of a run's files in a store, and the mark that the run is done. */
import { parsedJson } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
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
 * The mark of an earlier, complete delivery of the same run; null: none.
 * @throws Error with a message for people if the store cannot be read
 */
export async function readDone(store: Store, runId: string): Promise<RunDone | null> {
  const found = await store.read(runKey(runId, doneName))
  const done = found && parsedJson(found.body)
  // If the mark has another format or a later version, the run counts as not done.
  return isDone(done) ? done : null
}

/**
 * Writes the mark last, after every delivery: from then on this run id publishes and mails nothing.
 * Returns false if another delivery wrote the mark first.
 * @throws Error with a message for people if the store cannot be written
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

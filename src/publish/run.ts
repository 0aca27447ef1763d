/** The place of a run's files in a store, and the mark that the run is done. */
import { isRawObject, parsedJson } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
import type { Delivery } from '#model/report.ts'

/** `runs/<runId>/<name>` */
export const runKey = (runId: string, name: string) => `runs/${runId}/${name}`

const doneSchema = 'highwater.done/1'
const doneName = 'done.json'

/**
 * The deliveries of an earlier, complete delivery of the same run; null: none.
 * @throws Error with a message for people if the store cannot be read
 */
export async function readDone(store: Store, runId: string): Promise<Delivery[] | null> {
  const found = await store.read(runKey(runId, doneName))
  const done = found && parsedJson(found.body)
  // If the mark has another format or a later version, the run counts as not done.
  return isRawObject(done) && done.schema === doneSchema && Array.isArray(done.deliveries)
    ? done.deliveries
    : null
}

/**
 * Writes the mark last, after every delivery: from then on this run id publishes and mails nothing.
 * @param done `finishedAt` as RFC 3339
 * @returns false if another delivery wrote the mark first
 * @throws Error with a message for people if the store cannot be written
 */
export const markDone = (
  store: Store,
  done: { runId: string; finishedAt: string; deliveries: Delivery[] },
): Promise<boolean> =>
  store.create(
    runKey(done.runId, doneName),
    `${JSON.stringify({ schema: doneSchema, ...done })}\n`,
    'application/json',
  )

/**
 * Nodes begun on a day under the policy's own approval. Each node takes one numbered place of the day, an object that is created once and never
 * changed. So two parallel runs together keep the daily limit, and there is no older count to put back.
 */
import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import { parsedJson } from '#remediate/parsed-json.ts'

const placeSchema = z.object({
  schema: z.literal('highwater.begun/1'),
  run: z.string(),
  /** `cluster/node` */
  node: z.string(),
})

/** The day is in UTC. */
const placeKey = (now: Date, place: number) =>
  `remediation/begun/${now.toISOString().slice(0, 10)}/${place}.json`

/**
 * Nodes are noted before anything is sent, so a node whose run died counts, and counts once.
 * @param nodes `cluster/node`, in the order in which they are wanted
 * @returns the nodes that may be begun today
 * @throws what the store throws, and OperatorError if a place was deleted or cannot be read
 */
export async function beginToday(
  store: Store,
  run: string,
  nodes: readonly string[],
  nodesPerDay: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const may = new Set<string>()
  const wanted = new Set(nodes)
  let place = 0
  for (; place < nodesPerDay; place++) {
    const taken = await placeAt(store, placeKey(now, place))
    if (taken === null) break
    if (taken.run === run && wanted.delete(taken.node)) may.add(taken.node)
  }
  for (const node of wanted) {
    const isNew = () => takePlace(store, placeKey(now, place++), { run, node })
    // Another run may take a place first; then the next one is free.
    while (place < nodesPerDay && !may.has(node)) if (await isNew()) may.add(node)
  }
  return may
}

/** Null: the place is free. */
async function placeAt(store: Store, key: string) {
  const found = await store.read(key)
  if (found === null) {
    if (await store.wasWritten(key)) throw uncountedError(`${store.location}/${key} was deleted`)
    return null
  }
  const place = placeSchema.safeParse(parsedJson(found.body.toString('utf8')))
  if (place.data === undefined) throw uncountedError(`${store.location}/${key} names no node`)
  return place.data
}

/** False: another run took it. */
async function takePlace(store: Store, key: string, place: { run: string; node: string }) {
  if ((await placeAt(store, key)) !== null) return false
  const text = `${JSON.stringify({ schema: 'highwater.begun/1', ...place })}\n`
  return store.create(key, text, 'application/json')
}

const uncountedError = (why: string) =>
  new OperatorError(
    `${why}: how many nodes were begun today is unknown, so the policy begins no more before 00:00 UTC`,
    { isBadInput: false },
  )

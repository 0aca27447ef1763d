/** Nodes begun on a day under the policy's own approval. The list is in the store, so that two parallel runs together keep the daily limit. */
import * as z from 'zod'
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import { parsedJson } from '#remediate/parsed-json.ts'

const ledgerSchema = z.object({
  schema: z.literal('highwater.begun/1'),
  /** Begun nodes as `cluster/node`, by run. */
  runs: z.record(z.string(), z.array(z.string())),
})
type DayLedger = z.infer<typeof ledgerSchema>

const rounds = 10
/** The day is in UTC. */
const ledgerKey = (now: Date): string => `remediation/begun/${now.toISOString().slice(0, 10)}.json`

/**
 * Nodes are noted before anything is sent, so a node whose run died counts, and counts once.
 * @param nodes `cluster/node`, in the order in which they are wanted
 * @returns the nodes that may be begun today
 * @throws what the store throws, and OperatorError if the list was deleted or cannot be read
 */
export async function beginToday(
  store: Store,
  run: string,
  nodes: readonly string[],
  nodesPerDay: number,
  now: Date,
): Promise<ReadonlySet<string>> {
  const key = ledgerKey(now)
  for (let round = 0; round < rounds; round++) {
    const found = await store.read(key)
    if (found === null && (await store.wasWritten(key)))
      throw uncounted(`${store.location}/${key} was deleted`)
    const runs =
      found === null ? {} : runsOf(found.body.toString('utf8'), `${store.location}/${key}`)
    const own = runs[run] ?? []
    const count = Object.values(runs).reduce((sum, some) => sum + some.length, 0)
    const more = nodes
      .filter(node => !own.includes(node))
      .slice(0, Math.max(nodesPerDay - count, 0))
    const next: DayLedger = {
      schema: 'highwater.begun/1',
      runs: { ...runs, [run]: [...own, ...more] },
    }
    const may = new Set([...nodes.filter(node => own.includes(node)), ...more])
    if (more.length === 0) return may
    const text = `${JSON.stringify(next)}\n`
    const isWritten =
      found === null
        ? await store.create(key, text, 'application/json')
        : await store.replace(key, text, 'application/json', found.version)
    if (isWritten) return may
  }
  throw new Error(`${store.location}/${key} was changed again and again`)
}

function runsOf(text: string, place: string): Record<string, string[]> {
  const ledger = ledgerSchema.safeParse(parsedJson(text))
  if (ledger.data === undefined) throw uncounted(`${place} is no list of nodes`)
  return ledger.data.runs
}

const uncounted = (why: string): OperatorError =>
  new OperatorError(
    `${why}: how many nodes were begun today is unknown, so the policy begins no more before 00:00 UTC`,
    { isBadInput: false },
  )

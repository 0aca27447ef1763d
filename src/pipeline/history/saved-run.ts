/** Reads the last run. It may be of another version or broken, so it is parsed. */
import * as z from 'zod'
import { listOf } from '#base/text/list-of.ts'
import type { Store } from '#clients/store/store.ts'
import { endings } from '#model/finding/delta.ts'
import type { RememberedRun } from '#model/history.ts'
import { documentShape, findingShape, subjectShape } from '#pipeline/audit/document-shape.ts'
import { jsonIn, readText, runKey, runsPrefix } from './keys.ts'

const day = z.iso.date()
const text = z.string()
const subject = subjectShape(text)
const finding = findingShape(text, text).extend({
  since: day,
  lastSeen: day,
  isCarried: z.boolean().optional(),
})

const remembered: z.ZodType<RememberedRun> = z.object({
  schema: z.literal('highwater.history/1'),
  runId: z.string(),
  document: documentShape(text, text, text, finding),
  nodes: listOf(
    z.object({
      cluster: z.string(),
      name: z.string(),
      group: subject,
      coverage: z.enum(['read', 'partlyRead', 'notRead']),
      isFargate: z.boolean(),
      missed: z.string(),
    }),
  ),
  ruleErrors: listOf(z.object({ rule: z.string(), cluster: z.string(), node: z.string() })),
  past: listOf(
    finding
      .pick({
        id: true,
        rule: true,
        cluster: true,
        subject: true,
        title: true,
        severity: true,
        since: true,
        lastSeen: true,
      })
      .extend({ ended: z.enum(endings), on: day }),
  ),
  readings: listOf(
    z.object({
      cluster: z.string(),
      scope: z.string().nullable(),
      on: day,
      isCarried: z.boolean(),
    }),
  ),
})

export interface FoundRun {
  run: RememberedRun | null
  /** Keys of later runs that cannot be parsed. */
  broken: string[]
}

/**
 * The last recorded run before `runId`; null: the last run of all.
 * @throws Error with a message for people when the store cannot be read
 */
export async function runBefore(store: Store, runId: string | null): Promise<FoundRun> {
  const keys: string[] = []
  const own = runId === null ? null : runKey(runId)
  for await (const key of store.list(runsPrefix)) if (own === null || key < own) keys.push(key)
  const broken: string[] = []
  for (const key of keys.reverse()) {
    const run = parseRun((await readText(store, key)).text)
    if (run !== null) return { run, broken }
    broken.push(key)
    if (broken.length === mostBroken) break
  }
  return { run: null, broken }
}

/** After this many broken runs, history starts again. */
const mostBroken = 3

/** Null: of another version, cut off, or too long. */
const parseRun = (written: string): RememberedRun | null =>
  remembered.safeParse(jsonIn(written)).data ?? null

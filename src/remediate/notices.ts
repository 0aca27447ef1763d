/**
 * What `remediate` leaves for the next report: its runs of the last week, from journals whose seal was valid, and the objects that it refused. The list
 * is sealed, so `remediate` continues only its own. An audit has no key: it shows the list as written by any principal that the bucket policy admits.
 */

import * as z from 'zod'
import { parsedJson } from '#base/raw-object.ts'
import { weekMs } from '#base/units.ts'
import { oneLine } from '#clients/failure.ts'
import { type Store, update } from '#clients/store/store.ts'
import { type RemediationRun, runStates, type StepState } from '#model/plan.ts'
import type { RemediationNotices } from '#model/report.ts'
import { Unsealed, unsealedText } from './seal.ts'

const noticesKey = 'remediation/notices.json'
const schema = 'highwater.notices/1'
const refusedMax = 20
const runsMax = 20
const clustersMax = 200

const keyMaxLength = 1024
const shownKeyMaxLength = 200
const rounds = 3

const count = z.int().min(0)
const runForm = z.strictObject({
  run: z.string().regex(/^[a-f0-9]{16}$/),
  state: z.enum(runStates),
  planned: count,
  changed: count,
  failed: count,
  rolledBack: count,
  clusters: z.array(z.string().max(300)).max(clustersMax),
  approvedBy: z.array(z.string().min(1).max(2400)).min(1).max(5),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  /** When the run was noted; for a run that ended, when it ended. */
  at: z.iso.datetime(),
})
const form = z.strictObject({
  schema: z.literal(schema),
  refused: z
    .array(z.strictObject({ key: z.string().min(1).max(keyMaxLength), at: z.iso.datetime() }))
    .max(refusedMax),
  /** Number of objects that the last call refused and the list leaves out. */
  refusedLeftOut: count,
  runs: z.array(runForm).max(runsMax),
})
type Notices = z.infer<typeof form>
type NotedRun = z.infer<typeof runForm>

const nothing: Notices = { schema, refused: [], refusedLeftOut: 0, runs: [] }

const claims: readonly [RegExp, string][] = [
  [/^highwater\.yaml$/, 'an approved policy'],
  [/^remediation\/approvals\/policy-/, 'the approval of a policy'],
  [/^remediation\/approvals\//, 'the approval of a plan'],
  [/^remediation\/begun\//, 'the count of nodes begun on one day'],
  [/^remediation\/notices\.json$/, 'the list of runs and refused objects'],
  [/^remediation\/runs\/[^/]+\/run\.json$/, 'the state of a run'],
  [/^remediation\/runs\/[^/]+\/plan\.json$/, 'the plan of a run'],
  [/^remediation\/runs\/[^/]+\/approval\.json$/, 'the approval of a run'],
  [/^remediation\/runs\/[^/]+\/steps\//, 'the journal of a node'],
]

/**
 * Adds to the list in the store, which keeps the newest. A list without a valid seal is refused and begun anew.
 * @param store of sealed objects
 * @param refused places of the refused objects, as in `Unsealed`
 * @throws what the store throws
 */
export async function keepNotices(
  store: Store,
  { refused = [], runs = [] }: { refused?: Iterable<string>; runs?: readonly RemediationRun[] },
  now: Date,
) {
  const start = `${store.location}/`
  const keys = [...refused].map(at => (at.startsWith(start) ? at.slice(start.length) : at))
  await update(store, noticesKey, rounds, async () => {
    const { version, list, isForeign } = await readList(store)
    const next = extendedList(list, isForeign ? [...keys, noticesKey] : keys, runs, now)
    if (!isForeign && comparableText(next) === comparableText(list)) return null
    return { version, body: `${JSON.stringify(next)}\n` }
  })
}

/** The list without `at` of its runs: noting an unchanged run again is no change. */
const comparableText = (list: Notices) =>
  JSON.stringify({ ...list, runs: list.runs.map(({ at: _at, ...run }) => run) })

async function readList(store: Pick<Store, 'read'>) {
  try {
    const found = await store.read(noticesKey)
    const read = found && form.safeParse(parsedJson(found.body))
    const [version, list] = [found?.version ?? null, read?.data ?? nothing]
    return { version, list, isForeign: read?.success === false }
  } catch (error) {
    if (!(error instanceof Unsealed)) throw error
    return { version: error.version, list: nothing, isForeign: true }
  }
}

function extendedList(
  list: Notices,
  refused: readonly string[],
  runs: readonly RemediationRun[],
  now: Date,
): Notices {
  const at = now.toISOString()
  const keys = [...new Set(refused)].sort()
  const all = [
    ...keys.map(key => ({ key: key.slice(0, keyMaxLength), at })),
    ...recentItems(list.refused, now).filter(({ key }) => !keys.includes(key)),
  ]
  const noted = runs.map(run => notedRun(run, at))
  const others = list.runs.filter(({ run }) => !noted.some(one => one.run === run))
  return {
    schema,
    refused: all.slice(0, refusedMax),
    refusedLeftOut: keys.length === 0 ? list.refusedLeftOut : Math.max(keys.length - refusedMax, 0),
    runs: recentItems([...noted, ...others], now)
      .toSorted((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))
      .slice(0, runsMax),
  }
}

function notedRun(run: RemediationRun, at: string): NotedRun {
  const { state, approvedBy, resumedBy = [], startedAt, endedAt, steps } = run
  const inStates = (...states: StepState[]) =>
    steps.filter(step => states.includes(step.state)).length
  return {
    run: run.run,
    state,
    planned: steps.length,
    changed: inStates('applied', 'verified', 'returning', 'pruned'),
    failed: inStates('restored', 'failed', 'broken'),
    rolledBack: inStates('rolled-back'),
    clusters: [...new Set(steps.map(({ cluster }) => cluster.slice(0, 300)))].slice(0, clustersMax),
    approvedBy: [approvedBy, ...resumedBy].slice(0, 5).map(by => by.slice(0, 2400)),
    startedAt,
    endedAt,
    at: endedAt ?? at,
  }
}

/** Places of refused objects that the list already contains, so a report names them. */
export async function namedPlaces(store: Store): Promise<ReadonlySet<string>> {
  const { list } = await readList(store)
  return new Set(list.refused.map(({ key }) => `${store.location}/${key}`))
}

/** For a report. Empty if there is no list, or the store does not answer. */
export async function noticesIn(store: Store, now: Date): Promise<RemediationNotices> {
  const read = await readList({ read: key => readUnsealed(store, key) }).catch(() => null)
  if (!read) return { runs: [], refused: [] }
  const { list, isForeign } = read
  if (isForeign)
    return {
      runs: [],
      refused: [
        `${store.location}/${noticesKey} is not as remediate writes it. Find out who can write there`,
      ],
    }
  const refused = recentItems(list.refused, now).map(
    ({ key, at }) =>
      `remediate refused ${store.location}/${oneLine(key, shownKeyMaxLength)}, which claims to be ${claims.find(([pattern]) => pattern.test(key))?.[1] ?? 'something else'}: it has no valid seal (last met ${at}). Nothing was done by it. Find out who can write there`,
  )
  const more = `remediate refused ${list.refusedLeftOut} more objects: its log names them`
  return {
    runs: recentItems(list.runs, now).map(run => ({
      ...run,
      place: `${store.location}/remediation/runs/${run.run}/report.json`,
    })),
    refused: list.refusedLeftOut > 0 ? [...refused, more] : refused,
  }
}

const recentItems = <T extends { at: string }>(noted: readonly T[], now: Date) =>
  noted.filter(({ at }) => Math.abs(now.getTime() - Date.parse(at)) <= weekMs)

/** Without a key, so the seal is not checked. */
async function readUnsealed(store: Store, key: string) {
  const found = await store.read(key)
  if (!found) return null
  return { ...found, body: Buffer.from(unsealedText(found.body.toString('utf8'), key).text) }
}

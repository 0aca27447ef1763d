/**
 * Names of objects that `remediate` refused because they have no valid seal. The next audits show them in mail and page. The list is a notice and
 * allows nothing, so it has no seal: an audit treats it as foreign text.
 */
import * as z from 'zod'
import { oneLine } from '#clients/failure.ts'
import type { Store } from '#clients/store.ts'

const listKey = 'remediation/refused.json'
const schema = 'highwater.refused/1'
const objectsMax = 20
const keptMs = 7 * 24 * 3_600_000
const keyMaxLength = 1024
const shownKeyMaxLength = 200

const form = z.strictObject({
  schema: z.literal(schema),
  objects: z
    .array(z.strictObject({ key: z.string().min(1).max(keyMaxLength), at: z.iso.datetime() }))
    .max(objectsMax),
  /** Refused by the last call, and not listed. */
  leftOut: z.int().min(0),
})
type RefusedList = z.infer<typeof form>

const claims: readonly [RegExp, string][] = [
  [/^highwater\.yaml$/, 'an approved policy'],
  [/^remediation\/approvals\/policy-/, 'the approval of a policy'],
  [/^remediation\/approvals\//, 'the approval of a plan'],
  [/^remediation\/begun\//, 'the count of nodes begun on one day'],
  [/^remediation\/runs\/[^/]+\/run\.json$/, 'the state of a run'],
  [/^remediation\/runs\/[^/]+\/plan\.json$/, 'the plan of a run'],
  [/^remediation\/runs\/[^/]+\/approval\.json$/, 'the approval of a run'],
  [/^remediation\/runs\/[^/]+\/steps\//, 'the journal of a node'],
  [/^remediation\/runs\/[^/]+\/deletions\//, 'the journal of a deletion'],
]

/** Adds to the list in the store. The newest stay. @param places as `Unsealed` has them @throws what the store throws */
export async function keepRefused(
  store: Store,
  places: Iterable<string>,
  now: Date,
): Promise<void> {
  const start = `${store.location}/`
  const keys = [...new Set(places)]
    .map(place => (place.startsWith(start) ? place.slice(start.length) : place))
    .sort()
  if (keys.length === 0) return
  const at = now.toISOString()
  const before = recent(await listIn(store), now).filter(({ key }) => !keys.includes(key))
  const all = [...keys.map(key => ({ key: key.slice(0, keyMaxLength), at })), ...before]
  const list: RefusedList = {
    ...{ schema, objects: all.slice(0, objectsMax) },
    leftOut: Math.max(keys.length - objectsMax, 0),
  }
  await store.write(listKey, `${JSON.stringify(list)}\n`, 'application/json')
}

/** One line for each object that was refused in the last week, for people. Empty if there is no list, or the store does not answer. */
export async function refusedNotices(store: Store, now: Date): Promise<string[]> {
  const list = await listIn(store).catch(() => null)
  if (list === null) return []
  if (list === 'foreign')
    return [
      `${store.location}/${listKey} is not as remediate writes it. Find out who can write there`,
    ]
  const lines = recent(list, now).map(
    ({ key, at }) =>
      `remediate refused ${store.location}/${oneLine(key, shownKeyMaxLength)}, which claims to be ${claimOf(key)}: it has no valid seal (last met ${at}). Nothing was done by it. Find out who can write there`,
  )
  return list.leftOut > 0
    ? [...lines, `remediate refused ${list.leftOut} more objects: its log names them`]
    : lines
}

const claimOf = (key: string): string =>
  claims.find(([pattern]) => pattern.test(key))?.[1] ?? 'something else'

const recent = (list: RefusedList | 'foreign' | null, now: Date): RefusedList['objects'] =>
  list === null || list === 'foreign'
    ? []
    : list.objects.filter(({ at }) => Math.abs(now.getTime() - Date.parse(at)) <= keptMs)

async function listIn(store: Store): Promise<RefusedList | 'foreign' | null> {
  const found = await store.read(listKey)
  if (found === null) return null
  const read = form.safeParse(json(found.body.toString('utf8')))
  return read.success ? read.data : 'foreign'
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

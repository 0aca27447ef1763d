/** Summarizes many objects in few words: by namespace, by owner, by age. */

import { firstNames } from '#base/text/first-of.ts'
import { byText } from '#base/text/text-order.ts'
import type { ClusterEvidence, ClusterFailing } from '#judge/rule.ts'
import { bounded, counted, nameLength, span } from '#judge/text.ts'
import type {
  ClusterNeed,
  ClusterPrediction,
  Controller,
  FinalizerGarbage,
  HeldObject,
  InstanceGarbage,
  NodeGarbage,
  OwnedGroup,
} from '#model/finding/cluster-garbage.ts'
import type { Subject } from '#model/finding/subject.ts'
import { kubectl, said } from './kubectl.ts'

/** An object without a namespace is cluster-scoped. */
interface NamedObject {
  namespace?: string
  name: string
}

interface Place {
  subject: Subject
  /** `3 pods of shop` */
  all(noun: string): string
  /** The first text if one object was found there, else the second. */
  one(singular: string, plural: string): string
}

type Described = Omit<ClusterFailing, 'subject' | 'count' | 'noun'> &
  Partial<Pick<ClusterFailing, 'count' | 'noun'>>

/** One failing per namespace with such objects, and one for cluster-scoped objects. Sorted by name: equal input gives equal bytes. */
export function* garbageIn<Item extends NamedObject>(
  cluster: string,
  noun: string,
  items: readonly Item[],
  describe: (found: [Item, ...Item[]], place: Place) => Described,
): Generator<ClusterFailing> {
  for (const [name, group] of inGroups(items, ({ namespace = '' }) => namespace)) {
    const subject: Subject =
      name === ''
        ? { kind: 'Cluster', namespace: null, name: cluster }
        : { kind: 'Namespace', namespace: null, name }
    const found = group.toSorted((a, b) => byText(a.name, b.name)) as [Item, ...Item[]]
    const one = (singular: string, plural: string) => (found.length === 1 ? singular : plural)
    const all = (noun: string) => `${counted(found.length, noun)} of ${subject.name}`
    yield { subject, count: found.length, noun, ...describe(found, { subject, all, one }) }
  }
}

/** Maximum number of names in an evidence line, and in a command that deletes objects by name. */
const namesShown = 5
export const namesInCommand = 20
const sharesShown = 5

/** `kubectl` arguments for a namespace; empty for cluster-scoped objects. */
export const inNamespace = (namespace = ''): string[] => (namespace === '' ? [] : ['-n', namespace])

/** `kubectl get Job import -n shop -o yaml` */
export const getYaml = (kind: string, { namespace, name }: NamedObject): string =>
  kubectl('get', said(kind), said(name), ...inNamespace(namespace), '-o', 'yaml')

export const inGroups = <Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): [key: string, items: Item[]][] =>
  [...Map.groupBy(items, keyOf)].toSorted(([a], [b]) => byText(a, b))

export const byFrequency = <Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): [key: string, items: Item[]][] =>
  inGroups(items, keyOf).toSorted(([, a], [, b]) => b.length - a.length)

/** `cart-0, cart-1 and 3 more` */
export function named(items: readonly { name: string }[], shown = namesShown): string {
  const names = items
    .slice(0, shown)
    .map(({ name }) => (name.length > nameLength ? `${name.slice(0, nameLength)}...` : name))
  return firstNames(names, shown, items.length)
}

export const controllersOf = (
  items: readonly { controller: Controller | null }[],
): ClusterEvidence =>
  sharesOf(
    'controlled by',
    items.map(({ controller }) =>
      controller ? bounded(`${controller.kind} ${controller.name}`, nameLength) : 'none',
    ),
  )

export function sharesOf(what: string, words: readonly string[]): ClusterEvidence {
  const shares = new Map<string, number>()
  for (const word of words) shares.set(word, (shares.get(word) ?? 0) + 1)
  return { kind: 'object', what, value: sharesText(shares), shares }
}

export function sharesText(shares: ReadonlyMap<string, number>): string {
  const sorted = [...shares].toSorted(([a, one], [b, other]) => other - one || byText(a, b))
  const shown = sorted.slice(0, sharesShown).map(([who, count]) => `${who}: ${count}`)
  const rest = sorted.length > shown.length ? [`${sorted.length - shown.length} more`] : []
  return [...shown, ...rest].join(', ')
}

/** Evidence with amounts that can be summed over many namespaces. */
export const summed = (
  what: string,
  amounts: readonly number[],
  textOf: (amounts: readonly number[]) => string,
): ClusterEvidence => ({ kind: 'object', what, value: textOf(amounts), total: { amounts, textOf } })

export const namedEvidence = (
  what: string,
  names: readonly { name: string }[],
): ClusterEvidence => ({ kind: 'object', what, value: named(names), names })

export const reasonOf = (what: string, items: readonly { name: string }[]): ClusterEvidence => ({
  kind: 'object',
  what,
  value: named(items),
  reasonCount: items.length,
})

/** Evidence of the earliest time; none if no time is known. @param at RFC 3339: now */
export function oldest<Item>(
  items: readonly Item[],
  timeOf: (item: Item) => number | null,
  at: string,
  what = 'oldest',
): ClusterEvidence[] {
  const known = items.map(timeOf).filter(time => time !== null)
  if (known.length === 0) return []
  const firstMs = known.reduce((least, time) => Math.min(least, time))
  return [{ kind: 'object', what, value: ago(firstMs, at), since: { firstMs, at } }]
}

export const ago = (timeMs: number, at: string): string =>
  `${age(Date.parse(at) - timeMs)} ago (${new Date(timeMs).toISOString().replace('.000Z', 'Z')})`

const dayMs = 86_400_000

/** `3 days`. Below two days, in the format of `span`. */
const age = (ms: number) =>
  ms < 2 * dayMs ? span(Math.max(0, ms)) : counted(Math.floor(ms / dayMs), 'day')

/** Whether an object is old enough to be garbage. True if its time is unknown. */
export const isOld = (timeMs: number | null, at: string, minAgeHours: number): boolean =>
  timeMs === null || Date.parse(at) - timeMs >= minAgeHours * 3_600_000

/** Minimum ages in hours that replace the policy's, because a controller acts within minutes. */
export const leftHours = {
  /** The cloud's node lifecycle controller checks every few seconds. An hour is no normal delay. */
  nodeWithoutInstance: 1,
  /** Approvers and signers answer within seconds. The cleaner deletes requests after a day. */
  pendingRequest: 1,
} as const

/** Adds `name` of the first object for sorting, and `text`: `Pod cart-0, cart-1 and 3 more`. */
export function owned<Group extends OwnedGroup>(
  group: Group,
): Group & { name: string; text: string } {
  const { kind, names, count } = group
  const text = `${kind} ${firstNames(names, names.length, count)}`
  return { ...group, name: names[0] ?? '', text }
}

export const totalOf = (groups: readonly OwnedGroup[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0)

export const isWithoutInstance = (
  { sinceMs }: InstanceGarbage['withoutInstance'][number],
  at: string,
): boolean => isOld(sinceMs, at, leftHours.nodeWithoutInstance)

/** NotReady nodes, except those whose instance is gone. @param instances null: unknown */
export function silentNodes(
  { notReady }: NodeGarbage,
  instances: ClusterPrediction['instances'],
  at: string,
): NodeGarbage['notReady'][number][] {
  const gone = new Set(
    instances?.withoutInstance.filter(each => isWithoutInstance(each, at)).map(({ node }) => node),
  )
  return notReady.filter(({ node }) => !gone.has(node))
}

/** The TTL controller has its own clock and a queue. Neither delays a deletion by an hour. */
const overdueHours = 1

export const isOverdue = ({ expiresMs }: { expiresMs: number | null }, at: string): boolean =>
  expiresMs !== null && Date.parse(at) - expiresMs > overdueHours * 3_600_000

/**
 * Leaves out objects of other rules: owners in a foreground deletion, and Jobs with expired TTL.
 * @param kinds the policy's kinds; a rule for any other kind does not run
 */
export function heldObjects(
  { held }: FinalizerGarbage,
  at: string,
  kinds: readonly ClusterNeed[],
): HeldObject[] {
  const isOfJobs = (each: HeldObject) => kinds.includes('jobs') && isOverdue(each, at)
  const isWaiting = ({ finalizer }: { finalizer: string }) =>
    kinds.includes('owners') && finalizer === 'foregroundDeletion'
  return held.flatMap(each => {
    const finalizers = each.finalizers.filter(held => !isWaiting(held))
    return finalizers.length > 0 && !isOfJobs(each) ? [{ ...each, finalizers }] : []
  })
}

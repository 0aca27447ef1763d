/** One row of the overview: objects that lie there and share a fate, counted. */

import { isOld } from '#judge/garbage/garbage.ts'
import { bounded, nameLength } from '#judge/text.ts'
import type { Controller, GarbageKind } from '#model/cluster-garbage.ts'
import type {
  GarbageFate,
  GarbageRow,
  GarbageRowKind,
  GarbageShare,
} from '#model/garbage-overview.ts'
import { byText } from '#model/text-order.ts'

export interface Lying {
  /** Who answers for it: a namespace, a controller in it, a signer. */
  whose: string
  /** Since when it lies there; null: not known. */
  sinceMs: number | null
  /** For how many objects it stands; 1 unless said. */
  count?: number
  /** From what age on its rule calls it garbage; the policy's unless said. */
  ripeHours?: number
  /** What does not say since when it lies there does not lie there for longer. */
  notBeforeMs?: number | null
}

export interface Moment {
  nowMs: number
  minAgeHours: number
  /** What the policy has looked at. */
  kinds: readonly GarbageKind[]
}

interface Size {
  bytes: number | null
  monthlyUsd: number | null
}
const noSize: Size = { bytes: null, monthlyUsd: null }

const shownShares = 3

/** The rules that speak of each; none where no rule does. */
const rulesOf: Readonly<Record<GarbageRowKind, readonly string[]>> = {
  'evicted-pods': ['evicted-pods'],
  'failed-pods': ['failed-pods'],
  'finished-pods': ['terminated-pods-near-threshold'],
  'terminating-pods': ['pod-stuck-terminating'],
  'jobs-without-ttl': ['job-without-ttl'],
  'owned-jobs': [],
  'jobs-with-ttl': [],
  'overdue-jobs': ['overdue-job-ttl'],
  'cronjob-history': ['job-history-beyond-limit'],
  'released-volumes': ['released-volume'],
  'undeleted-volumes': ['volume-not-deleted'],
  'held-volumes': ['volume-held-in-deletion'],
  'retained-ephemeral-volumes': ['retained-ephemeral-volume'],
  'unattached-disks': ['unattached-disk'],
  'instances-without-node': ['instance-without-node'],
  'nodes-without-instance': ['node-without-instance'],
  'not-ready-nodes': ['node-not-ready-long'],
  'left-taints': ['leftover-taint'],
  'leftover-leases': ['leftover-lease'],
  'collectable-leases': [],
  'overdue-leases': ['leftover-lease'],
  'unrenewed-leases': ['unrenewed-lease'],
  'unknown-leases': [],
  'waiting-requests': ['pending-certificate-request'],
  'superseded-requests': [],
  'answered-requests': [],
  'overdue-requests': ['uncollected-certificate-request'],
  'unissued-requests': ['uncollected-certificate-request', 'pending-certificate-request'],
  'terminating-namespaces': ['namespace-stuck-terminating'],
  'unanswered-groups': ['unanswered-api-group'],
  'dangling-objects': ['dangling-owner'],
  'unserved-owners': ['unserved-owner'],
  'foreign-owners': ['misplaced-owner'],
  'foreign-references': ['misplaced-owner'],
  'namespaced-owners': ['misplaced-owner'],
  'blocked-owners': ['blocked-foreground-deletion'],
  'orphaned-objects': ['orphaned-dependent'],
  'held-objects': ['stuck-finalizer'],
}

/** What is garbage by no age, or by one that its rule knows alone: none of it is called too young. */
const agedOtherwise: ReadonlySet<GarbageRowKind> = new Set([
  'finished-pods',
  'owned-jobs',
  'jobs-with-ttl',
  'cronjob-history',
  'retained-ephemeral-volumes',
  'superseded-requests',
  'answered-requests',
  'overdue-requests',
  'unanswered-groups',
  'foreign-owners',
  'namespaced-owners',
])

/** Nothing where nothing lies there. @param sizeOf of those that are old enough to be called garbage */
export function rowOf<Item extends Lying>(
  kind: GarbageRowKind,
  lying: readonly Item[],
  fate: GarbageFate,
  { nowMs, minAgeHours }: Moment,
  sizeOf: (ripe: readonly Item[]) => Size = () => noSize,
): GarbageRow[] {
  if (lying.length === 0) return []
  const times = lying.flatMap(({ sinceMs }) => sinceMs ?? [])
  const shares = sharesOf(lying.map(({ whose: name, count = 1 }) => ({ name, count })))
  const isYoung = ({ sinceMs, notBeforeMs = null, ripeHours = minAgeHours }: Item) =>
    !agedOtherwise.has(kind) && !isOld(sinceMs ?? notBeforeMs, nowMs, ripeHours)
  const young = lying.filter(isYoung)
  return [
    {
      kind,
      count: total(lying),
      young: total(young),
      youngHours:
        young.length === 0
          ? minAgeHours
          : young.reduce((most, { ripeHours = minAgeHours }) => Math.max(most, ripeHours), 0),
      oldestMs: earliest(times),
      whose: shares.slice(0, shownShares),
      whoseLeftOut: Math.max(shares.length - shownShares, 0),
      ...sizeOf(lying.filter(each => !isYoung(each))),
      fate,
      rules: rulesOf[kind],
    },
  ]
}

const total = (lying: readonly Lying[]): number =>
  lying.reduce((sum, { count = 1 }) => sum + count, 0)

/** Null: there is none. */
export const earliest = (times: readonly number[]): number | null =>
  times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))

const latest = (times: readonly number[]): number | null =>
  times.length === 0 ? null : times.reduce((most, time) => Math.max(most, time))

/** By name, the largest first; what has no name is nobody's. */
function sharesOf(parts: readonly GarbageShare[]): GarbageShare[] {
  const counts = new Map<string, number>()
  for (const { name, count } of parts)
    if (name !== '') counts.set(name, (counts.get(name) ?? 0) + count)
  return [...counts]
    .toSorted(([a, one], [b, other]) => other - one || byText(a, b))
    .map(([name, count]) => ({ name: bounded(name, nameLength), count }))
}

/** @param reasons one of each object */
export const heldBy = (reasons: readonly string[]): GarbageFate => ({
  is: 'held',
  by: sharesOf(reasons.map(name => ({ name, count: 1 }))).slice(0, shownShares),
})

/** @param times when each is taken; null: not known */
export function byItself(times: readonly (number | null)[]): GarbageFate {
  const known = times.filter(time => time !== null)
  return { is: 'itself', firstMs: earliest(known), lastMs: latest(known) }
}

/** `shop: ReplicaSet cart-7d9c6bf5c8`, `shop` where nobody controls it. */
export const controlled = (namespace: string, controller: Controller | null): string =>
  controller === null ? namespace : `${namespace}: ${controller.kind} ${controller.name}`

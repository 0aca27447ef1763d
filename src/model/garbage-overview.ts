/** A cluster's garbage in a table: how much of what lies there, how old, whose, what it costs, and what the control plane will do about it by itself. */
import type { ClusterNeed } from './cluster-garbage.ts'

/** What lies there: objects of one sort, parted where the control plane treats them differently. */
export const garbageRowKinds = [
  'evicted-pods',
  'failed-pods',
  'finished-pods',
  'terminating-pods',
  'jobs-without-ttl',
  'owned-jobs',
  'jobs-with-ttl',
  'overdue-jobs',
  'cronjob-history',
  'released-volumes',
  'undeleted-volumes',
  'held-volumes',
  'retained-ephemeral-volumes',
  'unattached-disks',
  'instances-without-node',
  'nodes-without-instance',
  'not-ready-nodes',
  'left-taints',
  'leftover-leases',
  'collectable-leases',
  'overdue-leases',
  'unrenewed-leases',
  'unknown-leases',
  'waiting-requests',
  'superseded-requests',
  'answered-requests',
  'overdue-requests',
  'unissued-requests',
  'terminating-namespaces',
  'unanswered-groups',
  'dangling-objects',
  'unserved-owners',
  'foreign-owners',
  'foreign-references',
  'namespaced-owners',
  'blocked-owners',
  'orphaned-objects',
  'held-objects',
] as const
export type GarbageRowKind = (typeof garbageRowKinds)[number]

/**
 * What happens to the objects without an operator's action. `never`: no collector deletes them;
 * `late`: a collector should have deleted them already; `held`: deletion is pending; `threshold`:
 * pod GC deletes the oldest finished pods above a cluster-wide limit; `itself`: a collector deletes
 * them, at the given times if known; `with`: they are deleted with their owner; `unknown`.
 */
export type GarbageFate =
  | { is: 'never' | 'late' | 'with' | 'unknown' }
  | { is: 'held'; by: GarbageShare[] }
  | { is: 'threshold'; pods: number; isAssumed: boolean; finished: number; excess: number }
  | { is: 'itself'; firstMs: number | null; lastMs: number | null }

/** How many of a row's objects share something: an owner, a reason. */
export interface GarbageShare {
  name: string
  count: number
}

export interface GarbageRow {
  kind: GarbageRowKind
  count: number
  /** Of these, how many are too young to be called garbage, and up to what age that is. */
  young: number
  youngHours: number
  /** Since when the oldest lies there; null: not known. */
  oldestMs: number | null
  /** The largest shares; namespaces and controllers, or who else answers for it. */
  whose: GarbageShare[]
  /** How many more share in it. */
  whoseLeftOut: number
  /** Of those that are not too young. Null: they hold no disk, or it is not known how much. */
  bytes: number | null
  /** Likewise; of EBS, at the list price of us-east-1; null: not known. */
  monthlyUsd: number | null
  fate: GarbageFate
  /** The rules whose findings tell of it, and how to end it. */
  rules: readonly string[]
}

/** What of a cluster's garbage is not known. */
export interface GarbageGap {
  /** `plural.group`; null: it is no list. */
  resource: string | null
  reason: string
  /** What the overview therefore does not know, or not wholly. */
  needs: ClusterNeed[]
}

export interface GarbageOverview {
  cluster: string
  /** RFC 3339: the moment of the observation. */
  at: string
  /** Younger objects are not counted as garbage. */
  minAgeHours: number
  /** Objects that no collector deletes come first. Kinds without objects have no row. */
  rows: GarbageRow[]
  /** Kinds that were searched without a result. */
  clean: ClusterNeed[]
  gaps: GarbageGap[]
}

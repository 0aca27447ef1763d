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
 * What becomes of it where nobody does anything. `never`: no collector takes it; `late`: one should have, and has not; `held`: its deletion waits;
 * `threshold`: pod GC deletes the oldest finished pods of the cluster beyond so many; `itself`: a collector takes it, at the times where they are
 * known; `with`: it goes with what it belongs to; `unknown`: that is not known.
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
  /** RFC 3339: the moment that all of it is told of. */
  at: string
  /** What is younger than that is not called garbage. */
  minAgeHours: number
  /** What nobody ends comes first. Kinds of which nothing lies there have no row. */
  rows: GarbageRow[]
  /** Looked through, and nothing lies there. */
  clean: ClusterNeed[]
  gaps: GarbageGap[]
}

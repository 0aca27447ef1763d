/** The table of a cluster's garbage: one row for each rule that found something. */
import type { ClusterNeed } from './cluster-garbage.ts'

/**
 * What happens to the objects without an operator's action. `never`: no collector deletes them;
 * `late`: a collector should have deleted them already; `held`: deletion is pending; `threshold`:
 * pod GC deletes the oldest finished pods above a cluster-wide limit; `with`: they are deleted with
 * their owner. Sorted by urgency.
 */
export const garbageFates = ['never', 'late', 'held', 'threshold', 'with'] as const
export type GarbageFate = (typeof garbageFates)[number]

/** Number of objects in one namespace. */
export interface GarbageShare {
  name: string
  count: number
}

export interface GarbageRow {
  rule: string
  count: number
  /** Since when the oldest object is garbage; null: unknown. */
  oldestMs: number | null
  /** Namespaces with most objects; empty for objects of the whole cluster. */
  namespaces: GarbageShare[]
  /** Number of further namespaces. */
  namespacesLeftOut: number
  /** Null: the objects hold no disk, or its size is unknown. */
  bytes: number | null
  /** EBS list price of us-east-1; null: unknown. */
  monthlyUsd: number | null
  fate: GarbageFate
}

/** Kinds of garbage that could not be searched, and why. */
export interface GarbageGap {
  reason: string
  needs: ClusterNeed[]
}

export interface GarbageOverview {
  cluster: string
  /** RFC 3339: when the cluster was observed. */
  at: string
  /** Sorted by fate, cost and count. */
  rows: GarbageRow[]
  /** Kinds that were searched and have no garbage. */
  clean: ClusterNeed[]
  gaps: GarbageGap[]
}

/** What finalizers hold in deletion, but for what other rules tell. */
import type { FinalizerGarbage, HeldObject } from '#model/cluster-garbage.ts'

/** The TTL controller has its own clock, and a queue: an hour is no delay of either. */
export const overdueHours = 1

/** Whether the time to live of a Job is long over. */
export const isOverdue = ({ expiresMs }: { expiresMs: number | null }, nowMs: number): boolean =>
  expiresMs !== null && nowMs - expiresMs > overdueHours * 3_600_000

/** Who waits in the foreground for what he owns has a rule of his own, and so has a Job whose time to live is over. */
export function heldObjects({ held }: FinalizerGarbage, nowMs: number): HeldObject[] {
  return held.flatMap(each => {
    const finalizers = each.finalizers.filter(({ finalizer }) => finalizer !== 'foregroundDeletion')
    return finalizers.length > 0 && !isOverdue(each, nowMs) ? [{ ...each, finalizers }] : []
  })
}

/** What finalizers hold in deletion, but for what other rules tell. */
import type { FinalizerGarbage, GarbageKind, HeldObject } from '#model/cluster-garbage.ts'

/** The TTL controller has its own clock, and a queue: an hour is no delay of either. */
export const overdueHours = 1

/** Whether the time to live of a Job is long over. */
export const isOverdue = ({ expiresMs }: { expiresMs: number | null }, nowMs: number): boolean =>
  expiresMs !== null && nowMs - expiresMs > overdueHours * 3_600_000

/**
 * Who waits in the foreground for what he owns has a rule of his own, and so have a Job whose time to live is over and a namespace.
 * @param kinds what the policy has looked at: a rule that nobody asks tells nothing
 */
export function heldObjects(
  { held }: FinalizerGarbage,
  nowMs: number,
  kinds: readonly GarbageKind[],
): HeldObject[] {
  const isTold = (each: HeldObject) =>
    (kinds.includes('jobs') && isOverdue(each, nowMs)) ||
    (kinds.includes('namespaces') && each.resource === 'namespaces')
  const isWaiting = ({ finalizer }: { finalizer: string }) =>
    kinds.includes('owners') && finalizer === 'foregroundDeletion'
  return held.flatMap(each => {
    const finalizers = each.finalizers.filter(held => !isWaiting(held))
    return finalizers.length > 0 && !isTold(each) ? [{ ...each, finalizers }] : []
  })
}

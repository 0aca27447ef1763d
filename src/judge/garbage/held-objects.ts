/** Objects whose deletion waits for finalizers, without those that other rules report. */
import type { ClusterNeed, FinalizerGarbage, HeldObject } from '#model/cluster-garbage.ts'

/** The TTL controller has its own clock, and a queue: an hour is no delay of either. */
const overdueHours = 1

export const isOverdue = ({ expiresMs }: { expiresMs: number | null }, at: string): boolean =>
  expiresMs !== null && Date.parse(at) - expiresMs > overdueHours * 3_600_000

/**
 * Without objects of other rules: owners that wait in a foreground deletion, and Jobs with expired TTL.
 * @param kinds kinds of the policy: a rule of another kind does not run
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

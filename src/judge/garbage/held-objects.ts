/** Objects whose deletion waits for finalizers, except objects that other rules report. */
import type { ClusterNeed, FinalizerGarbage, HeldObject } from '#model/cluster-garbage.ts'

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

/** What finalizers hold in deletion, but for what other rules tell. */
import type { ClusterPrediction, FinalizerGarbage, FinishedJob, HeldObject } from '#model/cluster-garbage.ts'

/** The TTL controller has its own clock, and a queue: an hour is no delay of either. */
const graceMs = 3_600_000

export const isOverdue = ({ expiresMs }: FinishedJob, nowMs: number): boolean => expiresMs !== null && nowMs - expiresMs > graceMs

/** Who waits in the foreground for what he owns has a rule of his own, and so has a Job whose time to live is over. @param jobs null: nobody tells of them */
export function heldObjects({ held }: FinalizerGarbage, jobs: ClusterPrediction['jobs'], nowMs: number): HeldObject[] {
  const overdue = new Set(jobs?.finished.filter(job => isOverdue(job, nowMs)).map(({ namespace, name }) => `${namespace}/${name}`))
  return held.flatMap(each => {
    if (each.resource === 'jobs.batch' && overdue.has(`${each.namespace}/${each.name}`)) return []
    const finalizers = each.finalizers.filter(({ finalizer }) => finalizer !== 'foregroundDeletion')
    return finalizers.length > 0 ? [{ ...each, finalizers }] : []
  })
}

/** Leases that the garbage collector should have taken with their nodes. */
import type { LeaseGarbage, NodeLeaseGarbage } from '#model/cluster-garbage.ts'
import { isOld } from './garbage.ts'

/** The collector follows the owner within seconds: a lease that nobody has renewed for so long it has passed over. */
export const isPassedOver = (
  { state, renewedMs }: NodeLeaseGarbage,
  nowMs: number,
  minAgeHours: number,
): boolean => state === 'collectable' && renewedMs !== null && isOld(renewedMs, nowMs, minAgeHours)

type IdentityLease = LeaseGarbage['identities'][number]

/** An API server collects within an hour what has its label: one that nobody has renewed for so long all of them have passed over. */
export const isIdentityPassedOver = (
  { isCollected, renewedMs }: IdentityLease,
  nowMs: number,
  minAgeHours: number,
): boolean => isCollected && renewedMs !== null && isOld(renewedMs, nowMs, minAgeHours)

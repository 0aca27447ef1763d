/** Leases that the garbage collector should have taken with their nodes. */
import type { NodeLeaseGarbage } from '#model/cluster-garbage.ts'
import { isOld } from './garbage.ts'

/** The collector follows the owner within seconds: a lease that nobody has renewed for so long it has passed over. */
export const isPassedOver = (
  { state, renewedMs }: NodeLeaseGarbage,
  nowMs: number,
  minAgeHours: number,
): boolean => state === 'collectable' && renewedMs !== null && isOld(renewedMs, nowMs, minAgeHours)

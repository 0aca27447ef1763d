/** Histories of workloads that are longer than their limit. */
import type { HistoryGarbage } from '#model/cluster-garbage.ts'
import { isOld } from './garbage.ts'

type Deployment = HistoryGarbage['deployments'][number]

/** While a rollout runs there is one more ReplicaSet than the limit allows, and its end takes it away: that is how it should be, but not for days. */
export const isHistoryLeft = (
  { limit, waitsFor, exceededSinceMs }: Deployment,
  nowMs: number,
  minAgeHours: number,
): boolean => limit === null || waitsFor !== 'rollout' || isOld(exceededSinceMs, nowMs, minAgeHours)

/** The table of a cluster's garbage, from the outcomes of the cluster's rules. */

import { byText } from '#base/text/text-order.ts'
import { sumOrNull } from '#judge/garbage/garbage.ts'
import type { ClusterRule } from '#judge/rule.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { ClusterPrediction } from '#model/finding/cluster-garbage.ts'
import {
  type GarbageOverview,
  type GarbageRow,
  garbageFates,
} from '#model/finding/garbage-overview.ts'
import type { Policy } from '#model/policy.ts'
import type { JudgedCluster } from './cluster-rules.ts'

export interface JudgedClusterRule extends JudgedCluster {
  rule: ClusterRule
}

const namespacesShown = 3

/** Null if the policy does not search for garbage. */
export function garbageOverview(
  { cluster, at, missing, doubts }: ClusterPrediction,
  { clusterGarbage: { enabled, kinds } }: Policy,
  judged: readonly JudgedClusterRule[],
): GarbageOverview | null {
  if (!enabled) return null
  const open = kinds.flatMap(need =>
    [...(missing[need] ?? []), ...(doubts[need] ?? [])].map(reason => ({ need, reason })),
  )
  const isClean = (need: (typeof kinds)[number]) =>
    judged.every(({ rule, outcome }) => !rule.needs.includes(need) || outcome.state === 'pass')
  return {
    cluster: shorten(cluster),
    at,
    rows: judged.flatMap(rowOf).toSorted(byUrgency),
    clean: kinds.filter(isClean),
    gaps: [...Map.groupBy(open, ({ reason }) => reason)].map(([reason, of]) => ({
      reason: shorten(reason),
      needs: of.map(({ need }) => need),
    })),
  }
}

function rowOf({ rule, failings }: JudgedClusterRule): GarbageRow[] {
  if (failings.length === 0) return []
  const namespaces = failings
    .filter(({ subject }) => subject.kind !== 'Cluster')
    .map(({ subject, count }) => ({ name: shorten(subject.name, nameLength), count }))
    .toSorted((a, b) => b.count - a.count || byText(a.name, b.name))
  const evidence = failings.flatMap(failing => failing.evidence)
  const times = evidence.flatMap(({ since }) => since?.firstMs ?? [])
  return [
    {
      rule: rule.id,
      count: failings.reduce((sum, { count }) => sum + count, 0),
      oldestMs: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)),
      namespaces: namespaces.slice(0, namespacesShown),
      namespacesLeftOut: Math.max(0, namespaces.length - namespacesShown),
      bytes: sumOrNull(failings.flatMap(({ size }) => size?.bytes ?? [])),
      monthlyUsd: sumOrNull(failings.flatMap(({ size }) => size?.monthlyUsd ?? [])),
      fate: rule.fate,
    },
  ]
}

const byUrgency = (a: GarbageRow, b: GarbageRow) =>
  garbageFates.indexOf(a.fate) - garbageFates.indexOf(b.fate) ||
  (b.monthlyUsd ?? 0) - (a.monthlyUsd ?? 0) ||
  b.count - a.count

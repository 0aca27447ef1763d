/** Everything that lies in a cluster, in one table: from the same replay that the rules on cluster garbage read, so that both say the same. */
import { bounded } from '#judge/text.ts'
import type { ClusterNeed, ClusterPrediction, ClusterSections } from '#model/cluster-garbage.ts'
import type {
  GarbageFate,
  GarbageGap,
  GarbageOverview,
  GarbageRow,
} from '#model/garbage-overview.ts'
import type { Policy } from '#model/policy.ts'
import { certificateRows, instanceRows, leaseRows, nodeRows } from './machines.ts'
import { apiRows, finalizerRows, namespaceRows, ownerRows } from './objects.ts'
import type { Moment } from './row.ts'
import { diskRows, volumeRows } from './storage.ts'
import { jobRows, podRows } from './workloads.ts'

const rowsOf: {
  [Need in ClusterNeed]: (
    section: ClusterSections[Need],
    moment: Moment,
    cluster: ClusterPrediction,
  ) => GarbageRow[]
} = {
  pods: podRows,
  jobs: jobRows,
  leases: leaseRows,
  nodes: nodeRows,
  volumes: volumeRows,
  certificates: certificateRows,
  namespaces: namespaceRows,
  apis: apiRows,
  owners: ownerRows,
  finalizers: finalizerRows,
  disks: diskRows,
  instances: instanceRows,
}
const needs = Object.keys(rowsOf) as ClusterNeed[]

/** What nobody ends comes first. */
const fates: readonly GarbageFate['is'][] = [
  'never',
  'late',
  'held',
  'threshold',
  'unknown',
  'with',
  'itself',
]

/** Of what the policy asks for. Null: nobody asked for any of it. */
export function garbageOverview(
  cluster: ClusterPrediction,
  { clusterGarbage }: Policy,
): GarbageOverview | null {
  if (!clusterGarbage.enabled) return null
  const { minAgeHours, kinds } = clusterGarbage
  const moment = { nowMs: Date.parse(cluster.at), minAgeHours, kinds }
  const asked = needs.filter(need => kinds.includes(need))
  const found = asked.map(need => ({ need, rows: rowsIn(cluster, need, moment) }))
  return {
    cluster: bounded(cluster.cluster),
    at: cluster.at,
    minAgeHours,
    rows: found.flatMap(({ rows }) => rows ?? []).toSorted(byNeedOfHands),
    clean: found
      .filter(({ need, rows }) => rows?.length === 0 && cluster.doubts[need] === undefined)
      .map(({ need }) => need),
    gaps: gapsOf(cluster, asked),
  }
}

/** Null: not known. */
function rowsIn<Need extends ClusterNeed>(
  cluster: ClusterPrediction,
  need: Need,
  moment: Moment,
): GarbageRow[] | null {
  const section = cluster[need] as ClusterSections[Need] | null
  return section === null || cluster.missing[need] !== undefined
    ? null
    : rowsOf[need](section, moment, cluster)
}

function byNeedOfHands(a: GarbageRow, b: GarbageRow): number {
  return (
    fates.indexOf(a.fate.is) - fates.indexOf(b.fate.is) ||
    (b.monthlyUsd ?? 0) - (a.monthlyUsd ?? 0) ||
    b.count - a.count
  )
}

/** By the list that failed, so that what several sections lack for one reason is said once. */
function gapsOf(
  { missing, doubts, resources }: ClusterPrediction,
  asked: readonly ClusterNeed[],
): GarbageGap[] {
  const open = asked.flatMap(need => {
    const reason = missing[need] ?? doubts[need]
    return reason === undefined ? [] : [{ need, reason }]
  })
  const failed = Object.entries(resources).flatMap(([resource, reason]) =>
    reason === null ? [] : [{ resource, reason }],
  )
  const told = new Set<ClusterNeed>()
  const ofLists = failed.flatMap(({ resource, reason }): GarbageGap[] => {
    const lacking = open.filter(each => each.reason.includes(reason)).map(({ need }) => need)
    for (const need of lacking) told.add(need)
    return lacking.length === 0 ? [] : [{ resource, reason: bounded(reason), needs: lacking }]
  })
  const others = Map.groupBy(
    open.filter(({ need }) => !told.has(need)),
    ({ reason }) => reason,
  )
  return [
    ...ofLists,
    ...[...others].map(([reason, of]) => ({
      resource: null,
      reason: bounded(reason),
      needs: of.map(({ need }) => need),
    })),
  ]
}

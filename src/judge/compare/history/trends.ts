import { usedPercentOf } from '#base/percent.ts'
import { byText } from '#base/text/text-order.ts'
import type { MetNode } from '#model/finding/delta.ts'
import {
  type ClusterResult,
  type Finding,
  type Severity,
  severities,
} from '#model/finding/finding.ts'
import type { GroupPoint, ReclaimRound, ReclaimSum, Spread, TrendPoint } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'

const keptGroups = 100
/** Image GC is near if the used percentage is at most this many points below its threshold. */
const nearPoints = 5

export interface DayOfCluster {
  cluster: ClusterResult
  findings: Pick<Finding, 'severity'>[]
  nodes: { audited: AuditedNode; met: MetNode }[]
}

export function trendPoint(
  { cluster, findings, nodes }: DayOfCluster,
  day: string,
  runId: string,
): TrendPoint {
  const groups = [
    ...Map.groupBy(nodes, ({ met: { group } }) =>
      JSON.stringify(group.kind === 'Node' ? ['Node', ''] : [group.kind, group.name]),
    ),
  ]
    .map(([key, members]) =>
      groupPoint(
        key,
        members.map(({ audited }) => audited),
      ),
    )
    .toSorted((a, b) => b.nodes - a.nodes || byText(a.kind, b.kind) || byText(a.name, b.name))
  const counts = Object.fromEntries(
    severities.map(severity => [
      severity,
      findings.filter(finding => finding.severity === severity).length,
    ]),
  ) as Record<Severity, number>
  const { grade, coverage } = cluster
  return {
    day,
    runId,
    grade,
    coverage,
    findings: counts,
    groups: groups.slice(0, keptGroups),
    imageGc: reclaimSum(nodes.flatMap(({ audited }) => audited.rounds ?? [])),
    groupsLeftOut: Math.max(0, groups.length - keptGroups),
  }
}

function reclaimSum(rounds: readonly ReclaimRound[]): ReclaimSum | null {
  if (rounds.length === 0) return null
  const sum = (some: readonly ReclaimRound[], of: keyof Omit<ReclaimRound, 'at'>) =>
    some.reduce((total, round) => total + (round[of] ?? 0), 0)
  const measured = rounds.filter(({ freedBytes }) => freedBytes !== null)
  const predicted = rounds.filter(
    ({ predictedBytes, countedBytes }) => predictedBytes !== null && (countedBytes ?? 0) > 0,
  )
  const counted = sum(predicted, 'countedBytes')
  const error = Math.abs(sum(predicted, 'predictedBytes') - counted)
  return {
    rounds: rounds.length,
    countedBytes: sum(measured, 'countedBytes'),
    freedBytes: sum(measured, 'freedBytes'),
    errorPercent: predicted.length === 0 ? null : Math.round((100 * error) / counted),
  }
}

function groupPoint(key: string, members: AuditedNode[]): GroupPoint {
  const [kind, name]: [GroupPoint['kind'], string] = JSON.parse(key)
  const used = members.flatMap(
    ({ prediction: { filesystems } }) =>
      usedPercentOf(filesystems.imagefs?.capacityBytes, filesystems.imagefs?.availableBytes) ?? [],
  )
  const near = members.flatMap(({ prediction: { imageGC } }) =>
    imageGC?.enabled && imageGC.usagePercent !== null
      ? [imageGC.usagePercent >= imageGC.highThresholdPercent - nearPoints]
      : [],
  )
  const headroom = members.flatMap(({ prediction: { imageGC } }) =>
    imageGC?.enabled ? (imageGC.bytesUntilTrigger ?? []) : [],
  )
  return {
    kind,
    name,
    nodes: members.length,
    known: used.length,
    usedPercent: spreadOf(used),
    nearImageGc: near.length === 0 ? null : near.filter(isNear => isNear).length,
    imageGcHeadroomBytes: headroom.length === 0 ? null : Math.min(...headroom),
  }
}

function spreadOf(values: number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b)
  const [min, median, max] = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)]
  return min === undefined || median === undefined || max === undefined
    ? null
    : { min, median, max }
}

/** One point per day, in order, without points from before `forgetBefore`. */
export const withPoint = (
  points: TrendPoint[],
  point: TrendPoint,
  forgetBefore: string,
): TrendPoint[] =>
  [...points.filter(({ day }) => day !== point.day && day >= forgetBefore), point].toSorted(
    (a, b) => byText(a.day, b.day),
  )

/** What a store remembers of a fleet by a morning, made by what makes it: a week of readings before it. */

import { comparedNode } from '#judge/compare/delta/delta.ts'
import { growthOf, withReading } from '#judge/compare/history/fill.ts'
import { trendPoint, withPoint } from '#judge/compare/history/ledger.ts'
import type { FillSeries, Happening, ReclaimRound, TrendPoint } from '#model/history.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'

const dayMs = 86_400_000

export interface WeekOptions {
  days?: number
  /** So much less of each disk's use, in points, a day before; by the node's index. */
  slope?: (index: number) => number
}

/** The report with growth of its nodes and lines of its clusters. Nodes whose index is 7, 14 and so on are new. */
export function withWeek(
  report: AuditReport,
  { days = 8, slope = index => (index === 0 ? 1.5 : (index % 5) / 2) }: WeekOptions = {},
): AuditReport {
  const { document } = report
  const points = new Map<string, TrendPoint[]>(document.clusters.map(({ name }) => [name, []]))
  const fills: (FillSeries | null)[] = report.nodes.map(() => null)
  for (let back = days - 1; back >= 0; back--) {
    const time = new Date(Date.parse(document.run.takenAt) - back * dayMs).toISOString()
    const past = report.nodes.map((node, index) => asBefore(node, time, back * slope(index)))
    for (const [index, node] of past.entries())
      if (back === 0 || index === 0 || index % 7 !== 0)
        fills[index] = withReading(fills[index] ?? null, {
          ...node,
          happened: index === 0 && back === 1 ? [evictionAt(time)] : [],
        })
    for (const cluster of document.clusters) {
      const nodes = past
        .filter(node => node.cluster === cluster.name)
        .map(audited => ({ audited, met: comparedNode(audited) }))
      const findings = document.findings.filter(
        (finding, index) => finding.cluster === cluster.name && index >= (back * 3) % 5,
      )
      const grade = back > 3 ? 'C' : cluster.grade
      const point = trendPoint(
        { cluster: { ...cluster, grade }, findings, nodes },
        time.slice(0, 10),
        time,
      )
      points.set(cluster.name, withPoint(points.get(cluster.name) ?? [], point, ''))
    }
  }
  return {
    ...report,
    nodes: report.nodes.map((node, index) => ({
      ...node,
      growth: growthOf(fills[index] ?? null, node),
      fill: fills[index] ?? undefined,
      rounds: index === 0 ? [roundAt(document.run.takenAt)] : [],
    })),
    trends: [...points].map(([cluster, all]) => ({ cluster, points: all })),
  }
}

function asBefore(node: AuditedNode, at: string, lessPoints: number): AuditedNode {
  const { filesystems, imageGC } = node.prediction
  const emptier = (disk: typeof filesystems.nodefs) =>
    disk && {
      ...disk,
      availableBytes: Math.min(
        disk.capacityBytes!,
        disk.availableBytes! + (lessPoints / 100) * disk.capacityBytes!,
      ),
    }
  const [nodefs, imagefs] = [emptier(filesystems.nodefs), emptier(filesystems.imagefs)]
  const usagePercent =
    imageGC?.usagePercent == null
      ? null
      : Math.max(0, Math.round(imageGC.usagePercent - lessPoints))
  return {
    ...node,
    at,
    prediction: {
      ...node.prediction,
      filesystems: { ...filesystems, nodefs, imagefs },
      imageGC: imageGC && { ...imageGC, usagePercent },
    },
  }
}

const evictionAt = (at: string): Happening => ({
  at: new Date(Date.parse(at) - dayMs / 4).toISOString(),
  what: 'evicted',
  subject: 'ci/build-5d2e',
  message: 'The node was low on resource: ephemeral-storage.',
})

/** Three and a half days before. */
const roundAt = (at: string): ReclaimRound => ({
  at: new Date(Date.parse(at) - 3.5 * dayMs).toISOString(),
  wantedBytes: 6 * 2 ** 30,
  countedBytes: 3 * 2 ** 30,
  freedBytes: 3 * 2 ** 30,
  predictedBytes: null,
})

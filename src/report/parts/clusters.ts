/** One dense table of the clusters, the worst grade first. */

import { byText } from '#base/text/text-order.ts'
import type { ClusterResult } from '#model/finding/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { tallyTexts } from './findings.ts'
import type { NodeGroup } from './fleet.ts'
import { nameLimit } from './node.ts'

const shownClusters = 300

export function clustersView(
  { document: { clusters, findings } }: AuditReport,
  groups: NodeGroup[],
  language: Language,
) {
  const { words } = language
  const sorted = clusters.toSorted(worstClusterFirst)
  const findingsOf = Map.groupBy(findings, ({ cluster }) => cluster)
  const headroomOf = leastHeadroom(groups)
  return {
    count: language.count(clusters.length),
    rows: sorted.slice(0, shownClusters).map(cluster => {
      const { name, coverage, outcomes } = cluster
      const read = `${language.count(coverage.read)}/${language.count(coverage.nodes)}`
      const isRead = isClusterRead(cluster)
      return {
        name: language.line(name, nameLimit),
        link: `#findings?${new URLSearchParams({ cluster: language.line(name, nameLimit) })}`,
        grade: cluster.grade ?? words.verdict.noGrade,
        isRead,
        read: coverage.partlyRead > 0 ? words.clusterTable.partly(read, coverage.partlyRead) : read,
        findings: isRead
          ? words.list(tallyTexts(findingsOf.get(name) ?? [], language)) || words.none
          : words.clusterTable.notRead,
        headroom: language.percent(headroomOf.get(name) ?? null),
        outcomes: words.clusterTable.outcomes(
          language.count(outcomes.pass),
          language.count(outcomes.fail),
          language.count(outcomes.unknown),
        ),
      }
    }),
    leftOut:
      clusters.length > shownClusters
        ? words.verdict.moreClusters(clusters.length - shownClusters)
        : null,
  }
}

/** Whether any node was read, wholly or partly. */
export const isClusterRead = ({ coverage: { read, partlyRead } }: ClusterResult): boolean =>
  read + partlyRead > 0

/** Clusters that were not read come first, because nothing is known about their nodes. */
export const worstClusterFirst = (a: ClusterResult, b: ClusterResult): number =>
  Number(isClusterRead(a)) - Number(isClusterRead(b)) ||
  byText(b.grade ?? '', a.grade ?? '') ||
  byText(a.name, b.name)

function leastHeadroom(groups: NodeGroup[]) {
  const least = new Map<string, number>()
  for (const { node, headroomPercent } of groups.flatMap(({ members }) => members))
    if (headroomPercent !== null)
      least.set(
        node.cluster,
        Math.max(Math.min(headroomPercent, least.get(node.cluster) ?? 100), 0),
      )
  return least
}

/** The read modes of each cluster with their rights. Only nodes of less common modes are named. */

import { byText } from '#base/text/text-order.ts'
import { listNodesPermission } from '#collect/collect.ts'
import { collectorsOf } from '#collect/modes.ts'
import { shorten } from '#judge/text.ts'
import type { ClusterResult, NodeReading } from '#model/finding/finding.ts'
import { promisedSources, type ReadMode, readModes } from '#model/input/record.ts'
import type { AuditedNode } from '#model/report.ts'

/** The rights to read nodes, without those for other objects of the cluster. */
export const nodeRights = (mode: ReadMode): string[] => [
  ...new Set([
    listNodesPermission,
    ...collectorsOf[mode].flatMap(({ permissions }) => [
      ...permissions.kubernetes,
      ...(permissions.aws ?? []),
    ]),
  ]),
]

/** The clusters with their readings; empty for clusters without nodes. */
export function withReadings(
  clusters: readonly ClusterResult[],
  nodes: readonly AuditedNode[],
): ClusterResult[] {
  const ofCluster = Map.groupBy(nodes, ({ cluster }) => shorten(cluster))
  return clusters.map(cluster => ({
    ...cluster,
    readings: readingsOf(ofCluster.get(cluster.name) ?? []),
  }))
}

function readingsOf(nodes: readonly AuditedNode[]): NodeReading[] {
  const byMode = Map.groupBy(nodes, ({ mode }) => mode)
  const most = Math.max(0, ...[...byMode.values()].map(({ length }) => length))
  const usual = readModes.find(mode => byMode.get(mode)?.length === most)
  return readModes.flatMap(mode => {
    const read = byMode.get(mode)
    if (read === undefined) return []
    const names =
      mode === usual ? null : read.map(({ identity }) => shorten(identity.name)).toSorted(byText)
    return [
      {
        mode,
        sources: [...promisedSources[mode]],
        rights: nodeRights(mode),
        nodes: { count: read.length, names },
      },
    ]
  })
}

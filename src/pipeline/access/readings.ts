/** How the nodes of each cluster were read, and which rights that needs: a report says it of every node, and names only those that are not read as most are. */

import { listNodesPermission } from '#collect/collect.ts'
import { collectorsOf } from '#collect/modes.ts'
import { bounded } from '#judge/text.ts'
import type { ClusterResult, NodeReading } from '#model/finding.ts'
import { promisedSources, type ReadMode, readModes } from '#model/read-mode.ts'
import type { AuditedNode } from '#model/report.ts'
import { byText } from '#model/text-order.ts'

/** Those of the node's own readings; what lists of a cluster's objects need comes on top. */
export const nodeRights = (mode: ReadMode): string[] => [
  ...new Set([
    listNodesPermission,
    ...collectorsOf[mode].flatMap(({ permissions }) => [
      ...permissions.kubernetes,
      ...(permissions.aws ?? []),
    ]),
  ]),
]

/** The clusters, each with its readings; one of which no node came has none. */
export function withReadings(
  clusters: readonly ClusterResult[],
  nodes: readonly AuditedNode[],
): ClusterResult[] {
  const ofCluster = Map.groupBy(nodes, ({ cluster }) => bounded(cluster))
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
      mode === usual ? null : read.map(({ identity }) => bounded(identity.name)).toSorted(byText)
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

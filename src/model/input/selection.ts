/** The selected part of a fleet. An empty list selects everything. */

import { matchesGlob } from '#base/text/glob.ts'
import { matchesCluster } from './cluster-name.ts'
import type { NodeIdentity } from './node-identity.ts'

export interface Selection {
  /** Cluster names, short or full; `*` matches any characters. */
  clusters: string[]
  /** Nodegroup or nodepool names; `*` matches any characters. */
  nodegroups: string[]
  /** Exact node names. */
  nodes: string[]
}

export const everything: Selection = { clusters: [], nodegroups: [], nodes: [] }

export const selectsCluster = (selection: Selection, cluster: string) =>
  selection.clusters.length === 0 ||
  selection.clusters.some(pattern => matchesCluster(pattern, cluster))

export const selectsNode = (
  selection: Selection,
  { name, group }: Pick<NodeIdentity, 'name' | 'group'>,
) =>
  (selection.nodes.length === 0 || selection.nodes.includes(name)) &&
  (selection.nodegroups.length === 0 ||
    (group.kind !== 'Node' &&
      selection.nodegroups.some(pattern => matchesGlob(pattern, group.name))))

/** The selection leaves out no cluster, nodegroup or node. */
export const selectsEverything = (selection: Selection) =>
  Object.values(selection).every(names => names.length === 0)

/** The selection may leave out clusters, but no node of a selected cluster. */
export const selectsAllNodes = ({ nodes, nodegroups }: Selection) =>
  nodes.length === 0 && nodegroups.length === 0

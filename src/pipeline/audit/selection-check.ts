import { OperatorError } from '#base/operator-error.ts'
import { firstNames } from '#base/text.ts'
import type { ClusterRecord, NodeIdentity, Selection } from '#model/input/record.ts'

const named = 10

/** Parts of a cluster whose errors leave nodes unknown. `isListBroken` is the same check for a report. */
const listErrors = ['nodes', 'cluster', 'clusters']

/** Whether all of the cluster's nodes are known. */
export const isListWhole = ({ errors }: ClusterRecord): boolean =>
  errors?.some(({ what }) => listErrors.includes(what)) !== true

/**
 * A selected name that no node has is probably a typing error, so it is rejected.
 * @param areListsWhole false: a list broke off, so a missing name might exist. The report shows the broken list
 * @throws OperatorError
 */
export function rejectUnknownNames(
  { nodes: wanted, nodegroups }: Selection,
  nodes: readonly { identity: Pick<NodeIdentity, 'name'> }[],
  areListsWhole = true,
): void {
  if (!areListsWhole) return
  const names = new Set(nodes.map(({ identity }) => identity.name))
  const unknown = wanted.filter(name => !names.has(name))
  if (unknown.length > 0)
    throw new OperatorError(
      `No node is named ${firstNames(unknown, named)} in what was read. Names are those of kubectl get nodes`,
    )
  if (nodegroups.length > 0 && nodes.length === 0)
    throw new OperatorError(
      `No node belongs to the nodegroup ${nodegroups.join(', ')} in what was read`,
    )
}

import type { ClusterCollector } from '#collect/collector.ts'
import type { Policy } from '#model/policy.ts'
import { awsCollectors } from './cluster-in-aws.ts'
import { garbageCollectors } from './garbage.ts'
import { disruptionBudgets, events, serverVersion } from './lists.ts'
import { nodeClassCollectors } from './node-classes.ts'

/** Collectors of every mode, besides the list of nodes. */
const clusterCollectors: readonly ClusterCollector[] = [
  events,
  disruptionBudgets,
  ...nodeClassCollectors,
  serverVersion,
  ...garbageCollectors,
  ...awsCollectors,
]

/** The collectors that the policy turns on. */
export const clusterCollectorsOf = ({
  clusterGarbage: { enabled, kinds },
}: Policy): ClusterCollector[] =>
  clusterCollectors.filter(
    ({ garbage }) =>
      garbage === undefined || (enabled && garbage.some(kind => kinds.includes(kind))),
  )

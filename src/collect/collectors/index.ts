import type { ClusterCollector } from '#collect/collector.ts'
import { events } from './events.ts'
import { nodeClassCollectors } from './node-classes.ts'

/** What every mode reads of a cluster, besides the list of its nodes. */
export const clusterCollectors: ClusterCollector[] = [events, ...nodeClassCollectors]

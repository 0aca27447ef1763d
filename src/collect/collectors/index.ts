import type { ClusterCollector, Collector } from '#collect/collector.ts'
import { configz } from './configz.ts'
import { events } from './events.ts'
import { nodeClassCollectors } from './node-classes.ts'
import { pods } from './pods.ts'
import { statsSummary } from './stats-summary.ts'

/** What mode `proxy` reads of a node, besides the Node object itself. */
export const collectors: Collector[] = [pods, configz, statsSummary]

/** What it reads of a cluster, besides the list of its nodes. */
export const clusterCollectors: ClusterCollector[] = [events, ...nodeClassCollectors]

import type { Collector } from '#collect/collector.ts'
import { configz } from './configz.ts'
import { pods } from './pods.ts'
import { statsSummary } from './stats-summary.ts'

/** What mode `proxy` reads of a node, besides the Node object itself. */
export const collectors: Collector[] = [pods, configz, statsSummary]

/** The data requested of each node, by mode. */

import {
  configz,
  inspect,
  kubeletConfigz,
  kubeletStatsSummary,
  pods,
  statsSummary,
} from '#collect/collectors/node.ts'
import type { ReadMode } from '#model/input/record.ts'
import type { Collector } from './collect.ts'

/** Collectors that call the kubelet directly, with a token that the kubelet receives. */
export const kubeletCollectors: readonly Collector[] = [kubeletConfigz, kubeletStatsSummary]

/** Collectors besides the Node object. If two fill the same key, the later one wins. */
export const collectorsOf: Readonly<Record<ReadMode, readonly Collector[]>> = {
  proxy: [pods, configz, statsSummary],
  ssm: [pods, inspect],
  both: [pods, inspect, configz, statsSummary],
  kubelet: [pods, ...kubeletCollectors],
}

/** How much is read of a node if less than its mode reads is needed: the Node object; with pods; or with pods and filesystem use. */
export type ReadDepth = 'nodes' | 'pods' | 'summary'
const summaryOf: Readonly<Record<ReadMode, readonly Collector[]>> = {
  proxy: [statsSummary],
  ssm: [],
  both: [statsSummary],
  kubelet: [kubeletStatsSummary],
}

export function shallowCollectors(depth: ReadDepth, mode: ReadMode): readonly Collector[] {
  if (depth === 'nodes') return []
  return depth === 'pods' ? [pods] : [pods, ...summaryOf[mode]]
}

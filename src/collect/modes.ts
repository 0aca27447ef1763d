/** Which questions each mode asks of a node, besides the Node object itself. */
import type { ReadMode } from '#model/read-mode.ts'
import type { Collector } from './collector.ts'
import { collectors as ofProxy } from './collectors/index.ts'
import { kubeletConfigz } from './collectors/kubelet-configz.ts'
import { kubeletStatsSummary } from './collectors/kubelet-stats-summary.ts'
import { pods } from './collectors/pods.ts'

/** They ask the kubelet itself, with a token that it sees. */
export const kubeletCollectors: readonly Collector[] = [kubeletConfigz, kubeletStatsSummary]

export const collectorsOf: Readonly<Record<ReadMode, readonly Collector[]>> = {
  proxy: ofProxy,
  ssm: [pods],
  both: ofProxy,
  kubelet: [pods, ...kubeletCollectors],
}

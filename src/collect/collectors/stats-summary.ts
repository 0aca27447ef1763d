import type { Collector } from '#collect/collector.ts'
import { kubeletPath } from '#facts/kubelet/endpoints.ts'
import { isRawObject } from '#model/record.ts'

/** What the kubelet measured of its filesystems, memory and pods, read through the API server's node proxy. */
export const statsSummary: Collector = {
  answers: ['summary'],
  permissions: { kubernetes: ['get nodes/proxy'] },
  isAnsweredByKubelet: true,

  async collect(node, { kubernetes, signal, attempts, timeoutsMs }) {
    const body = await kubernetes.getJson(kubeletPath.statsSummary(node.name), {
      signal,
      attempts,
      timeoutMs: timeoutsMs.summary,
      isProxied: true,
    })
    if (!isRawObject(body) || !isRawObject(body.node)) throw new Error('the answer has no "node": it is no stats/summary')
    return { summary: body }
  },
}

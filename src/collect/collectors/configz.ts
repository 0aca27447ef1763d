import type { Collector } from '#collect/collector.ts'
import { kubeletPath } from '#facts/kubelet/endpoints.ts'
import { parseConfigz } from '#model/kubelet-configuration.ts'
import type { RawObject } from '#model/record.ts'

/** The configuration the kubelet runs with, read through the API server's node proxy. */
export const configz: Collector = {
  answers: ['configz'],
  permissions: { kubernetes: ['get nodes/proxy'] },
  isAnsweredByKubelet: true,

  async collect(node, { kubernetes, signal, attempts, timeoutsMs }) {
    // What runs, not what is written on disk: a file changed without a restart does not show here.
    const body = await kubernetes.getJson(kubeletPath.configz(node.name), {
      signal,
      attempts,
      timeoutMs: timeoutsMs.configz,
      isProxied: true,
    })
    parseConfigz(body)
    return { configz: body as RawObject }
  },
}

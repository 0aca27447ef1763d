import type { ClusterCollector } from '#collect/collector.ts'
import { versionPath, versionResource } from '#facts/kubernetes/discovery.ts'
import { isRawObject } from '#model/record.ts'

/** Of which version the control plane is, for where EKS does not say it. Whoever is known to the API server may ask (the ClusterRole system:public-info-viewer). */
export const serverVersion: ClusterCollector = {
  resource: versionResource,
  garbage: ['pods', 'jobs', 'leases', 'nodes', 'volumes', 'certificates', 'namespaces', 'owners'],
  permissions: { kubernetes: [] },
  tells: 'of which version the control plane is, and so what its own collectors do',

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const answer = await kubernetes.getJson(versionPath, { signal, timeoutMs: timeoutsMs.list })
    yield isRawObject(answer) ? [answer] : []
  },
}

import { isRawObject } from '#base/raw-object.ts'
import type { ClusterCollector } from '#collect/collector.ts'
import { versionPath, versionResource } from '#facts/kubernetes/discovery.ts'

/** Version of the control plane, if EKS does not report it. Every authenticated user may read it (the ClusterRole system:public-info-viewer). */
export const serverVersion: ClusterCollector = {
  resource: versionResource,
  garbage: ['pods', 'jobs', 'leases', 'nodes', 'volumes', 'certificates', 'owners', 'finalizers'],
  permissions: { kubernetes: [] },
  purpose: 'version of the control plane, which decides what its own collectors do',

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const answer = await kubernetes.getJson(versionPath, { signal, timeoutMs: timeoutsMs.list })
    yield isRawObject(answer) ? [answer] : []
  },
}

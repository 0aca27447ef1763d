import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { ClusterCollector } from '#collect/collector.ts'
import { eventsKeptPerReason, isReadByRules, routineReasons } from '#facts/kubelet/event-reasons.ts'
import { versionPath, versionResource } from '#facts/kubernetes/discovery.ts'

/**
 * Events of nodes and pods about GC, eviction, pulls and memory, while the API server keeps them (an hour by default).
 *
 * One paged list, not one for each reason: the API server keeps no watch cache of events and reads all of them from etcd for every list, whatever
 * its selector (upstream: pkg/kubeapiserver/default_storage_factory_builder.go DefaultWatchCacheSizes). A selector saves only bytes, so this selector
 * excludes the most frequent reasons, and the other events are sorted here.
 */
export const events: ClusterCollector = {
  resource: 'events',
  permissions: { kubernetes: ['list events'] },
  purpose: 'evictions, failed image GC and failed pulls of the last hour',

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const counts = new Map<string, number>()
    const isKept = (event: RawObject) => {
      const reason = String(event.reason)
      const count = (counts.get(reason) ?? 0) + 1
      counts.set(reason, count)
      return count <= eventsKeptPerReason
    }
    const query = { fieldSelector: routineReasons.map(reason => `reason!=${reason}`).join(',') }
    for await (const { items } of kubernetes.list('/api/v1/events', query, {
      signal,
      timeoutMs: timeoutsMs.list,
    }))
      yield items.filter(isEventRead).filter(isKept)
    const over = [...counts]
      .filter(([, count]) => count > eventsKeptPerReason)
      .map(([reason, count]) => [reason, count - eventsKeptPerReason])
    if (over.length > 0)
      throw new Error(
        `of each reason the first ${eventsKeptPerReason} are kept; of others only the number is known: ${over.map(([reason, count]) => `${count} more ${reason}`).join(', ')}`,
      )
  },
}

function isEventRead({ reason, message, involvedObject }: RawObject): boolean {
  return isReadByRules(reason, isRawObject(involvedObject) ? involvedObject.kind : null, message)
}

/** They limit how many pods may be down at once. A plan names budgets that allow none. */
export const disruptionBudgets: ClusterCollector = {
  resource: 'poddisruptionbudgets.policy',
  permissions: { kubernetes: ['list poddisruptionbudgets.policy'] },
  purpose:
    'PodDisruptionBudgets that allow no disruption: without this right a plan cannot name them, and no node is changed',

  async *collect({ kubernetes, signal, timeoutsMs }) {
    for await (const { items } of kubernetes.list(
      '/apis/policy/v1/poddisruptionbudgets',
      {},
      { signal, timeoutMs: timeoutsMs.list },
    ))
      yield items
  },
}

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

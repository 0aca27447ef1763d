import type { ClusterCollector } from '#collect/collector.ts'

/** Which pods say how many of them may be away at once: a plan names those that allow none. */
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

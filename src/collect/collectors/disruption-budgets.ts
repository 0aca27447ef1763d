import type { ClusterCollector } from '#collect/collector.ts'

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

/** PodDisruptionBudgets of every namespace. Their status is as the disruption controller would write it of the pods that there are now. */
import { atPath, type Route } from '#lab/api.ts'
import type { DisruptionBudget, NodeSource } from '#lab/scenarios/scenario.ts'
import type { WorldCluster } from '#lab/world.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { authorize, type User } from './authorization.ts'
import { listParameters, listReply } from './lists.ts'

export const disruptionBudgetsRoute = (cluster: WorldCluster, at: string): Route<User> => ({
  id: 'list poddisruptionbudgets',
  match: atPath('GET', '/apis/policy/v1/poddisruptionbudgets'),
  parameters: listParameters,
  answer(request, _, user) {
    authorize(user, 'list', 'poddisruptionbudgets', { group: 'policy' })
    const { disruptionBudgets: budgets = [], nodes } = cluster.scenario
    const pods = budgets.length > 0 ? podsOf(nodes, at) : []
    return listReply(request, cluster, {
      kind: 'PodDisruptionBudgetList',
      apiVersion: 'policy/v1',
      count: budgets.length,
      item: index => budgetObject(budgets[index]!, pods),
      selected: false,
    })
  },
})

const podsOf = (nodes: NodeSource, at: string): KubernetesPod[] =>
  nodes.names().flatMap(name => {
    const node = nodes.node(name)
    return node?.podKeys().map((_, index) => node.pod(index, at)) ?? []
  })

/** Upstream: pkg/controller/disruption getExpectedPodCount, countHealthyPods, updatePdbStatus */
function budgetObject({ namespace, name, matchLabels, minAvailable }: DisruptionBudget, pods: readonly KubernetesPod[]): object {
  const expected = pods.filter(
    ({ metadata, status }) =>
      metadata?.namespace === namespace &&
      !['Succeeded', 'Failed'].includes(status?.phase ?? '') &&
      Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
  )
  const currentHealthy = expected.filter(({ status }) =>
    status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True'),
  ).length
  return {
    metadata: { namespace, name, generation: 1 },
    spec: { minAvailable, selector: { matchLabels } },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: Math.max(0, currentHealthy - minAvailable),
      currentHealthy,
      desiredHealthy: minAvailable,
      expectedPods: expected.length,
    },
  }
}

/** PodDisruptionBudgets, with the discovery of their group, which every API server has. */

import type { RawObject } from '#base/raw-object.ts'
import { atPath, type Route } from '#lab/api.ts'
import type { DisruptionBudget, NodeSource } from '#lab/scenarios/scenario.ts'
import type { WorldCluster } from '#lab/world.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { authorize, type User } from './authorization.ts'
import { listParameters, listReply } from './lists.ts'
import { objectReply } from './objects.ts'

const group = 'policy'
const version = { groupVersion: `${group}/v1`, version: 'v1' }

export const policyGroup = {
  kind: 'APIGroup',
  apiVersion: 'v1',
  name: group,
  versions: [version],
  preferredVersion: version,
}

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: version.groupVersion,
  resources: [
    {
      name: 'poddisruptionbudgets',
      singularName: 'poddisruptionbudget',
      namespaced: true,
      kind: 'PodDisruptionBudget',
      verbs: ['list'],
      shortNames: ['pdb'],
    },
  ],
}

export const disruptionBudgetRoutes = (cluster: WorldCluster, at: string): Route<User>[] => [
  {
    id: `group ${group}`,
    match: atPath('GET', `/apis/${group}`),
    parameters: ['timeout'],
    answer: request => objectReply(request, policyGroup),
  },
  {
    id: `resources ${group}`,
    match: atPath('GET', `/apis/${version.groupVersion}`),
    parameters: ['timeout'],
    answer: request => objectReply(request, resources),
  },
  {
    id: 'list poddisruptionbudgets',
    match: atPath('GET', `/apis/${version.groupVersion}/poddisruptionbudgets`),
    parameters: listParameters,
    answer(request, _, user) {
      authorize(user, 'list', 'poddisruptionbudgets', { group })
      const { disruptionBudgets: found = [], nodes } = cluster.scenario
      const kind = 'PodDisruptionBudget'
      const pods = found.some(isShort) ? podsOf(nodes, at) : []
      const objects = found.map(budget => (isShort(budget) ? budgetObject(budget, pods) : budget))
      const item = (index: number) => ({
        apiVersion: version.groupVersion,
        kind,
        ...objects[index],
      })
      return listReply(request, cluster, {
        kind: `${kind}List`,
        apiVersion: version.groupVersion,
        count: found.length,
        item,
        selected: false,
      })
    },
  },
]

const isShort = (budget: RawObject | DisruptionBudget): budget is DisruptionBudget =>
  'matchLabels' in budget

const podsOf = (nodes: NodeSource, at: string): KubernetesPod[] =>
  nodes.names().flatMap(name => {
    const node = nodes.node(name)
    return node?.podKeys().map((_, index) => node.pod(index, at)) ?? []
  })

/** Upstream: pkg/controller/disruption getExpectedPodCount, countHealthyPods, updatePdbStatus */
function budgetObject(
  { namespace, name, matchLabels, minAvailable }: DisruptionBudget,
  pods: readonly KubernetesPod[],
): object {
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

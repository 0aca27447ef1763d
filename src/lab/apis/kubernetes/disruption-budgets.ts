/** PodDisruptionBudgets, with the discovery of their group, which every API server has. */
import { atPath, type Route } from '#lab/api.ts'
import type { WorldCluster } from '#lab/world.ts'
import { authorize, type User } from './authorization.ts'
import { listParameters, listReply } from './lists.ts'
import { objectReply } from './objects.ts'

const group = 'policy'
const version = { groupVersion: `${group}/v1`, version: 'v1' }

export const policyGroup = { kind: 'APIGroup', apiVersion: 'v1', name: group, versions: [version], preferredVersion: version }

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

export const disruptionBudgetRoutes = (cluster: WorldCluster): Route<User>[] => [
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
      const found = cluster.scenario.disruptionBudgets ?? []
      const kind = 'PodDisruptionBudget'
      const item = (index: number) => ({ apiVersion: version.groupVersion, kind, ...found[index] })
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

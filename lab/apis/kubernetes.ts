/** A Kubernetes API server as an auditor reads it: nodes, pods, events, who makes nodes, and the kubelets behind the node proxy. */
import { type Answer, type Api, atPath, Refusal, type Route } from '#lab/api.ts'
import { managedIdOf } from '#lab/nodes/as-they-are.ts'
import type { LabNode, NodeSource } from '#lab/scenarios/scenario.ts'
import type { World, WorldCluster } from '#lab/world.ts'
import { accessReview } from './kubernetes/access-review.ts'
import { anonymous, authorize, type User } from './kubernetes/authorization.ts'
import { authenticate } from './kubernetes/bearer-token.ts'
import { builtInGroups, builtInRoutes, coreLists } from './kubernetes/built-in.ts'
import { customResourceRoutes, installedGroups } from './kubernetes/custom-resources.ts'
import { apiGroups, apiVersions, coreResources, serverVersion } from './kubernetes/discovery.ts'
import { disruptionBudgetRoutes, policyGroup } from './kubernetes/disruption-budgets.ts'
import { eventsListing } from './kubernetes/events.ts'
import { type KubeletPath, kubeletAnswer } from './kubernetes/kubelet-proxy.ts'
import { listParameters, listReply } from './kubernetes/lists.ts'
import { objectReply } from './kubernetes/objects.ts'
import { podsListing } from './kubernetes/pods.ts'
import { notFound, statusReply } from './kubernetes/status.ts'

export function kubernetesApi(cluster: WorldCluster, world: World): Api<User> {
  const { nodes } = cluster.scenario
  const routes: Route<User>[] = [
    document('version', '/version', serverVersion(cluster.scenario.version)),
    ...[
      document('apiVersions', '/api', apiVersions),
      document(
        'apiGroups',
        '/apis',
        apiGroups([policyGroup, ...builtInGroups, ...installedGroups(cluster)]),
      ),
      document('resources', '/api/v1', coreResources(coreLists)),
    ].map(onlyAuthenticated),
    ...[
      ...disruptionBudgetRoutes(cluster, world.at),
      ...customResourceRoutes(cluster),
      ...builtInRoutes(cluster, world.at),
    ].map(onlyAuthenticated),
    onlyAuthenticated(accessReview),
    {
      id: 'listNodes',
      match: atPath('GET', '/api/v1/nodes'),
      parameters: listParameters,
      answer(request, _, user) {
        authorize(user, 'list', 'nodes')
        const names = nodes.names()
        return listReply(request, cluster, {
          kind: 'NodeList',
          count: names.length,
          item: index => findNode(nodes, names[index]!).node(world.at),
          selected: false,
        })
      },
    },
    {
      id: 'getNode',
      match: atPath('GET', '/api/v1/nodes/{name}'),
      parameters: [],
      answer(request, { name = '' }, user) {
        authorize(user, 'get', 'nodes', { name })
        return objectReply(request, {
          kind: 'Node',
          apiVersion: 'v1',
          ...findNode(nodes, name).node(world.at),
        })
      },
    },
    {
      id: 'listPods',
      match: atPath('GET', '/api/v1/pods'),
      parameters: [...listParameters, 'fieldSelector'],
      answer(request, _, user) {
        authorize(user, 'list', 'pods')
        const listing = podsListing(cluster, world.at, {
          fieldSelector: request.query.get('fieldSelector'),
        })
        return listReply(request, cluster, listing)
      },
    },
    {
      id: 'listNamespacedPods',
      match: atPath('GET', '/api/v1/namespaces/{namespace}/pods'),
      parameters: [...listParameters, 'fieldSelector'],
      answer(request, { namespace = '' }, user) {
        authorize(user, 'list', 'pods', { namespace })
        const listing = podsListing(cluster, world.at, {
          namespace,
          fieldSelector: request.query.get('fieldSelector'),
        })
        return listReply(request, cluster, listing)
      },
    },
    {
      id: 'listEvents',
      match: atPath('GET', '/api/v1/events'),
      parameters: [...listParameters, 'fieldSelector'],
      answer(request, _, user) {
        authorize(user, 'list', 'events')
        return listReply(
          request,
          cluster,
          eventsListing(cluster, world.at, { fieldSelector: request.query.get('fieldSelector') }),
        )
      },
    },
    {
      id: 'listNamespacedEvents',
      match: atPath('GET', '/api/v1/namespaces/{namespace}/events'),
      parameters: [...listParameters, 'fieldSelector'],
      answer(request, { namespace = '' }, user) {
        authorize(user, 'list', 'events', { namespace })
        const fieldSelector = request.query.get('fieldSelector')
        return listReply(
          request,
          cluster,
          eventsListing(cluster, world.at, { namespace, fieldSelector }),
        )
      },
    },
  ]
  return {
    name: `kubernetes/${cluster.scenario.name}`,
    routes: [
      ...routes.map(route => paced(route, cluster)),
      proxied('configz', nodes, world),
      proxied('stats/summary', nodes, world),
    ],
    parametersOf: request => request.query,
    authenticate: request => authenticate(request, cluster, world),
    isAway: () => isAway(cluster, world),
    error: statusReply,
  }
}

function isAway(cluster: WorldCluster, { machines, at }: World): boolean {
  const { nodes, faults } = cluster.scenario
  if (cluster.breaksLeft === 0) return false
  const hasRestarted = (name: string) => {
    const node = nodes.node(name)
    return node !== undefined && machines.startOf(managedIdOf(name, node, at)) !== null
  }
  if (faults?.away?.from === 'first-restart' && !nodes.names().some(hasRestarted)) return false
  cluster.breaksLeft -= 1
  return true
}

const document = (id: string, path: string, body: object): Route<User> => ({
  id,
  match: atPath('GET', path),
  parameters: ['timeout'],
  answer: request => objectReply(request, body),
})

function onlyAuthenticated(route: Route<User>): Route<User> {
  return {
    ...route,
    answer(request, params, user) {
      if (user === anonymous) {
        throw new Refusal(
          403,
          'Forbidden',
          `forbidden: User "${user.username}" cannot get path "${request.path}"`,
          { details: {} },
        )
      }
      return route.answer(request, params, user)
    },
  }
}

/** API Priority and Fairness, when it has enough; proxied requests are exempt as long-running ones. Upstream: apiserver/pkg/server/filters. */
function paced(route: Route<User>, cluster: WorldCluster): Route<User> {
  const { tooManyRequests } = cluster.scenario.faults ?? {}
  if (!tooManyRequests) return route
  return {
    ...route,
    answer(request, params, user): Answer | Promise<Answer> {
      if (cluster.refusalsLeft === 0) return route.answer(request, params, user)
      cluster.refusalsLeft -= 1
      return {
        status: 429,
        headers: {
          'retry-after': String(tooManyRequests.retryAfterSeconds),
          'content-type': 'text/plain; charset=utf-8',
        },
        body: 'Too many requests, please try again later.\n',
      }
    },
  }
}

const proxied = (path: KubeletPath, nodes: NodeSource, world: World): Route<User> => ({
  id: path,
  match: atPath('GET', `/api/v1/nodes/{name}/proxy/${path}`),
  parameters: [],
  answer(_, { name = '' }, user) {
    authorize(user, 'get', 'nodes/proxy', { name })
    return kubeletAnswer(findNode(nodes, name), path, world.at)
  },
})

function findNode(nodes: NodeSource, name: string): LabNode {
  const node = nodes.node(name)
  if (!node) throw notFound('nodes', name)
  return node
}

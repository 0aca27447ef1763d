/** EKS as an auditor reads it: restJson1, API 2017-11-01. Source: the service model `eks`, and the EKS API reference. */
import { type Api, atPath, type LabRequest, Refusal, type Route } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World, WorldCluster } from '#lab/world.ts'
import {
  describeCluster,
  describeInsight,
  describeNodegroup,
  insightSummary,
  insightsRequest,
  isInsightAsked,
} from './eks-shapes.ts'
import { authenticated, json, jsonError } from './rest-json.ts'

const paging = ['maxResults', 'nextToken']

export function eksApi(world: World): Api<Caller> {
  const routes: Route<Caller>[] = [
    {
      id: 'ListClusters',
      match: atPath('GET', '/clusters'),
      parameters: [...paging, 'include'],
      answer: (request, _, caller) =>
        json(page(world, 'clusters', visible(world, caller).map(nameOf), pagingOf(request))),
    },
    {
      id: 'DescribeCluster',
      match: atPath('GET', '/clusters/{name}'),
      parameters: [],
      answer: (_, { name = '' }, caller) =>
        json({ cluster: describeCluster(findCluster(world, caller, name)) }),
    },
    {
      id: 'ListNodegroups',
      match: atPath('GET', '/clusters/{name}/node-groups'),
      parameters: paging,
      answer: (request, { name = '' }, caller) => {
        const { nodegroups } = findCluster(world, caller, name).scenario
        return json(
          page(world, 'nodegroups', nodegroups.map(group => group.name).sort(), pagingOf(request)),
        )
      },
    },
    {
      id: 'DescribeNodegroup',
      match: atPath('GET', '/clusters/{name}/node-groups/{nodegroup}'),
      parameters: [],
      answer: (_, { name = '', nodegroup = '' }, caller) => {
        const cluster = findCluster(world, caller, name)
        const group = cluster.scenario.nodegroups.find(each => each.name === nodegroup)
        if (!group)
          throw new Refusal(
            404,
            'ResourceNotFoundException',
            `No node group found for name: ${nodegroup}.`,
          )
        return json({ nodegroup: describeNodegroup(cluster, group) })
      },
    },
    {
      id: 'ListInsights',
      match: atPath('POST', '/clusters/{name}/insights'),
      parameters: [],
      answer: (request, { name = '' }, caller) => {
        const { insights = [] } = findCluster(world, caller, name).scenario
        const { filter, maxResults, nextToken } = insightsRequest(request.body)
        const asked = insights.filter(insight => isInsightAsked(insight, filter))
        return json(page(world, 'insights', asked.map(insightSummary), { maxResults, nextToken }))
      },
    },
    {
      id: 'DescribeInsight',
      match: atPath('GET', '/clusters/{name}/insights/{id}'),
      parameters: [],
      answer: (_, { name = '', id = '' }, caller) => {
        const { insights = [] } = findCluster(world, caller, name).scenario
        const insight = insights.find(each => each.id === id)
        if (!insight)
          throw new Refusal(404, 'ResourceNotFoundException', `No insight found for id: ${id}.`)
        return json({ insight: describeInsight(insight) })
      },
    },
  ]
  return {
    name: 'eks',
    routes: routes.map(route => ({
      ...route,
      answer(request, params, caller) {
        if (!world.eksDenied.includes(`eks:${route.id}`))
          return route.answer(request, params, caller)
        const message = `User: ${caller.principal.arn} is not authorized to perform: eks:${route.id} because no identity-based policy allows the eks:${route.id} action`
        throw new Refusal(403, 'AccessDeniedException', message)
      },
    })),
    parametersOf: request => request.query,
    authenticate(request) {
      const caller = authenticated(request, world, 'eks')
      if (!caller.principal.mayReadEks) {
        throw new Refusal(
          403,
          'AccessDeniedException',
          `User: ${caller.principal.arn} is not authorized to perform this action`,
        )
      }
      if (world.eksThrottlesLeft > 0) {
        world.eksThrottlesLeft -= 1
        throw new Refusal(429, 'ThrottlingException', 'Rate exceeded')
      }
      return caller
    },
    error: jsonError,
  }
}

const nameOf = (cluster: WorldCluster) => cluster.scenario.name

/** A caller sees the clusters of its own account, in the region it asks. */
const visible = (world: World, { principal, region }: Caller) =>
  [...world.clusters.values()]
    .filter(cluster => cluster.account === principal.account && cluster.region === region)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))

function findCluster(world: World, caller: Caller, name: string): WorldCluster {
  const cluster = visible(world, caller).find(each => nameOf(each) === name)
  if (!cluster)
    throw new Refusal(404, 'ResourceNotFoundException', `No cluster found for name: ${name}.`)
  return cluster
}

interface Paging {
  maxResults: number | null
  nextToken: string | null
}

const pagingOf = ({ query }: LabRequest): Paging => {
  const asked = query.get('maxResults')
  return { maxResults: asked === null ? null : Number(asked), nextToken: query.get('nextToken') }
}

function page(
  world: World,
  key: string,
  items: readonly unknown[],
  { maxResults: asked, nextToken }: Paging,
): object {
  const maxResults = asked ?? 100
  if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > 100) {
    throw new Refusal(400, 'InvalidParameterException', 'maxResults must be between 1 and 100')
  }
  const start = startOf(nextToken, key)
  const end = start + Math.min(maxResults, world.eksPageSize)
  return {
    [key]: items.slice(start, end),
    ...(end < items.length && { nextToken: tokenOf(key, end) }),
  }
}

const tokenOf = (key: string, start: number) => Buffer.from(`${key}/${start}`).toString('base64')

function startOf(token: string | null, key: string): number {
  if (token === null) return 0
  const [list, start = ''] = Buffer.from(token, 'base64').toString().split('/')
  if (list !== key || !/^\d+$/.test(start))
    throw new Refusal(400, 'InvalidParameterException', 'nextToken is not valid')
  return Number(start)
}

/** Whether an audit requests more pages of a list than the list has. */
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { Requests } from '#lab/tally.ts'

/** Objects in a page that an audit requests. */
const listPageSize = 500

/** A text for each list with too many requests: its pages and the requests. For one cluster, whose pods without a node all failed. */
export function tooManyPages({ clusters: [cluster] }: Scenario, { routes }: Requests): string[] {
  if (!cluster) return []
  const objects = new Map(
    Object.entries(cluster.objects ?? {}).map(([resource, { count }]) => [
      resource.split('.')[0] ?? '',
      count,
    ]),
  )
  const pagesOf = (count: number) => Math.max(1, Math.ceil(count / listPageSize))
  const nodes = cluster.nodes.names().length
  const pages = new Map([
    ['listNodes', pagesOf(nodes)],
    // One list for each node, one of pods without a node, and one of finished pods: each node has one finished pod.
    ['listPods', nodes + 1 + pagesOf((objects.get('pods') ?? 0) + nodes)],
  ])
  return Object.entries(routes[`kubernetes/${cluster.name}`] ?? {}).flatMap(([route, requests]) => {
    const [, plural] = /^list (\w+)$/.exec(route) ?? []
    const most =
      pages.get(route) ?? (plural === undefined ? null : pagesOf(objects.get(plural) ?? 0))
    return most === null || requests <= most
      ? []
      : [`${route} has ${most} pages, and ${requests} requests were made`]
  })
}

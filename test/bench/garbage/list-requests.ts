/** Whether an audit asked for more pages of a list than the list has. */
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { Requests } from '#lab/tally.ts'

/** Objects in a page that an audit asks for. */
const listPageSize = 500

/** In words, of each list that was asked for too often: what it has, and what it was asked. Of one cluster, whose pods on no node have all failed. */
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
    // One list of each node, one of those on none, and one of all that are over: of each node one has finished.
    ['listPods', nodes + 1 + pagesOf((objects.get('pods') ?? 0) + nodes)],
  ])
  return Object.entries(routes[`kubernetes/${cluster.name}`] ?? {}).flatMap(([route, requests]) => {
    const [, plural] = /^list (\w+)$/.exec(route) ?? []
    const most =
      pages.get(route) ?? (plural === undefined ? null : pagesOf(objects.get(plural) ?? 0))
    return most === null || requests <= most
      ? []
      : [`${route} has ${most} pages and was asked ${requests} times`]
  })
}

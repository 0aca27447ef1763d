/** The recorded days of a node, also of a removed one, and the trends of clusters. */

import { dayMs } from '#base/units.ts'
import type { Store } from '#clients/store/store.ts'
import { growthIn } from '#judge/compare/history/fill.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { ClusterTrend, NodeHistory } from '#model/history.ts'
import { clusterKey, dayOf, nodesPrefix, readText, trendsPrefix } from './keys.ts'
import { factsIn, parsedTrend, runBefore } from './saved.ts'

export interface LookupOptions {
  /** Cluster names as in reports; empty: every cluster. */
  clusters: string[]
  /** Number of days, counted back from the last day with data. */
  days: number
}

/** @throws Error with a message for people when the store cannot be read */
export async function historyOfNode(
  store: Store,
  node: string,
  { clusters, days }: LookupOptions,
): Promise<NodeHistory> {
  const wanted = shorten(node, nameLength)
  const last = (await runBefore(store, null)).run
  const shards = Map.groupBy(
    await Array.fromAsync(store.list(nodesPrefix)),
    key => key.slice(nodesPrefix.length).split('/')[0] ?? '',
  )
  const chosen = new Set(clusters.map(clusterKey))
  const found: NodeHistory['clusters'] = []
  for (const [segment, keys] of shards) {
    if (chosen.size > 0 && !chosen.has(segment)) continue
    const readDays: NodeHistory['clusters'][number]['days'] = []
    // The last days first: once a deleted node is found, older days are not searched.
    for (const key of keys.toReversed()) {
      const day = dayOf(key) ?? ''
      const newest = readDays[0]?.day
      if (newest !== undefined && daysBetween(day, newest) >= days) break
      const { text } = await readText(store, key)
      const facts = factsIn(text).find(line => line.node === wanted)
      if (facts) readDays.push({ day, ...facts })
    }
    if (readDays.length === 0) continue
    const known = last?.document.clusters.find(({ name }) => clusterKey(name) === segment)
    // A cluster that is gone has its key segment as name.
    const cluster = known?.name ?? segment
    const isCarried = last?.readings.some(
      reading => reading.isCarried && clusterKey(reading.cluster) === segment,
    )
    const isPresent =
      !last || isCarried
        ? null
        : last.nodes.some(met => met.name === wanted && clusterKey(met.cluster) === segment)
    const fill = readDays.find(day => day.fill !== null)?.fill ?? null
    found.push({ cluster, isPresent, growth: fill ? growthIn(fill) : {}, days: readDays })
  }
  return { schema: 'highwater.node-history/1', node: wanted, clusters: found }
}

/** @throws Error with a message for people when the store cannot be read */
export async function clusterTrends(store: Store, { clusters, days }: LookupOptions) {
  const chosen = new Set(clusters.map(clusterKey))
  const trends: ClusterTrend[] = []
  for await (const key of store.list(trendsPrefix)) {
    const segment = key.slice(trendsPrefix.length).replace(/\.json\.gz$/, '')
    if (chosen.size > 0 && !chosen.has(segment)) continue
    const trend = parsedTrend((await readText(store, key)).text)
    const newest = trend?.points.at(-1)?.day
    if (trend && newest !== undefined)
      trends.push({
        ...trend,
        points: trend.points.filter(({ day }) => daysBetween(day, newest) < days),
      })
  }
  return trends
}

const daysBetween = (earlier: string, later: string) =>
  (Date.parse(later) - Date.parse(earlier)) / dayMs

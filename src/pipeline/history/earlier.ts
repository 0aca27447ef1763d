/** Reads earlier disk readings of nodes and trends of clusters from the store, for the clusters of the previous run. */
import pMap from 'p-map'
import type { Store } from '#clients/store.ts'
import { nodeKey } from '#judge/history/node-facts.ts'
import { utcDay } from '#judge/waivers.ts'
import type { NodeFacts, RememberedRun, TrendPoint } from '#model/history.ts'
import { historyRoom, nodesKey, readText, trendsKey } from './keys.ts'
import { factsIn, parsedTrend } from './saved-facts.ts'

/** The last reading of a node. */
export type NodeBefore = Pick<NodeFacts, 'at' | 'images' | 'imageGC' | 'fill'>

export interface Earlier {
  /** By `nodeKey`. If a run is delivered twice, the readings of its first delivery are left out. */
  nodes: Map<string, NodeBefore>
  /** Trend points by cluster name. */
  points: Map<string, TrendPoint[]>
  /** Files that were not read because they are too long, for people. */
  unread: string[]
}

export const nothingEarlier = (): Earlier => ({ nodes: new Map(), points: new Map(), unread: [] })

export const clustersAtOnce = 4
/** Days to look back: after a longer gap, a growth would be of little worth. */
const daysBack = 7
const dayMs = 86_400_000
/** No run writes more clusters than this. */
const mostClusters = 2000

/**
 * Reads one trend and one day per cluster; reads earlier days only if the last days are missing.
 * @param room unpacked bytes of all clusters together
 * @throws Error with a message for people when the store cannot be read
 */
export async function earlierOf(
  store: Store,
  previous: RememberedRun,
  ownRunId: string,
  room: number = historyRoom(),
): Promise<Earlier> {
  const earlier = nothingEarlier()
  const last = Date.parse(utcDay(previous.document.run.takenAt))
  let left = room
  const textAt = async (key: string): Promise<string | null> => {
    const { text, version, flaw } = await readText(store, key, left)
    left -= text.length
    if (flaw !== null)
      earlier.unread.push(
        `${store.location}/${key} was not read, so how fast its nodes' disks fill is unknown: ${flaw}`,
      )
    return version === null && flaw === null ? null : text
  }
  await pMap(
    previous.document.clusters.slice(0, mostClusters),
    async ({ name }) => {
      earlier.points.set(name, parsedTrend((await textAt(trendsKey(name))) ?? '')?.points ?? [])
      for (let back = 0; back <= daysBack && !Number.isNaN(last); back++) {
        const text = await textAt(
          nodesKey(name, utcDay(new Date(last - back * dayMs).toISOString())),
        )
        if (text === null) continue
        for (const { node, runId, ...facts } of factsIn(text))
          earlier.nodes.set(
            nodeKey(name, node),
            runId === ownRunId ? withoutReading(facts) : readingOf(facts),
          )
        break
      }
    },
    { concurrency: clustersAtOnce },
  )
  return earlier
}

const readingOf = ({ at, images, imageGC, fill }: NodeBefore): NodeBefore => ({
  ...{ at, images, imageGC, fill },
})

const withoutReading = ({ at, imageGC, fill }: NodeBefore): NodeBefore => ({
  ...{ at, imageGC, images: [] },
  fill: fill && { ...fill, readings: fill.readings.filter(reading => reading.at !== at) },
})

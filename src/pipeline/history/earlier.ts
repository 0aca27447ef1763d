/** Reads earlier disk readings of nodes and trends of clusters from the store, for the clusters of the previous run. */

import pMap from 'p-map'
import { nodeKey } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import type { Store } from '#clients/store/store.ts'
import { utcDay } from '#judge/run/waivers.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type {
  EarlierNodes,
  FillSeries,
  NodeBefore,
  RememberedRun,
  TrendPoint,
} from '#model/history.ts'
import { historyRoom, nodesKey, readText, trendsKey } from './keys.ts'
import { factsIn, parsedTrend } from './saved.ts'

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
/** No run writes more clusters than this. */
const mostClusters = 2000

/**
 * Reads one trend and one day per cluster; reads earlier days only if the last days are missing.
 * @throws Error with a message for people when the store cannot be read
 */
export async function earlierOf(
  store: Store,
  previous: RememberedRun,
  ownRunId: string,
): Promise<Earlier> {
  const earlier = nothingEarlier()
  const textAt = openTexts(store, earlier)
  await pMap(
    previous.document.clusters.slice(0, mostClusters),
    async ({ name }) => {
      earlier.points.set(name, parsedTrend((await textAt(trendsKey(name))) ?? '')?.points ?? [])
      await takeNodes(name, previous.document.run.takenAt, { textAt, ownRunId, earlier })
    },
    { concurrency: clustersAtOnce },
  )
  return earlier
}

/** The last readings of one cluster's nodes. @throws as `earlierOf` */
export async function earlierInCluster(
  store: Store,
  cluster: string,
  { takenAt, ownRunId }: { takenAt: string; ownRunId: string },
): Promise<EarlierNodes> {
  const earlier = nothingEarlier()
  const textAt = openTexts(store, earlier)
  await takeNodes(shorten(cluster), takenAt, { textAt, ownRunId, earlier })
  return nodesIn(earlier)
}

export const nodesIn =
  ({ nodes }: Earlier): EarlierNodes =>
  ({ cluster, identity: { name } }) =>
    nodes.get(nodeKey(shorten(cluster), shorten(name, nameLength))) ?? null

/** Null: there is no such file. */
type TextAt = (key: string) => Promise<string | null>

/** At most a limit of unpacked bytes of all clusters together. */
function openTexts(store: Store, { unread }: Earlier): TextAt {
  let left = historyRoom()
  return async key => {
    const { text, version, flaw } = await readText(store, key, left)
    left -= text.length
    if (flaw !== null)
      unread.push(
        `${store.location}/${key} was not read, so how fast its nodes' disks fill is unknown: ${flaw}`,
      )
    return version === null && flaw === null ? null : text
  }
}

/** Reads the last day of a cluster that has a file. @param last RFC 3339 */
async function takeNodes(
  cluster: string,
  last: string,
  { textAt, ownRunId, earlier }: { textAt: TextAt; ownRunId: string; earlier: Earlier },
) {
  const lastMs = Date.parse(utcDay(last))
  for (let back = 0; back <= daysBack && !Number.isNaN(lastMs); back++) {
    const text = await textAt(
      nodesKey(cluster, utcDay(new Date(lastMs - back * dayMs).toISOString())),
    )
    if (text === null) continue
    for (const { node, runId, ...facts } of factsIn(text))
      earlier.nodes.set(nodeKey(cluster, node), readingOf(facts, runId === ownRunId))
    return
  }
}

const readingOf = (
  { at, images, pastReleases, imagesSince, rounds, imageGC, fill, happened }: NodeBefore,
  isOwn: boolean,
): NodeBefore => ({
  at,
  images,
  ...(pastReleases && { pastReleases }),
  imagesSince,
  rounds,
  imageGC,
  happened,
  fill: !isOwn || !fill ? fill : withoutReading(fill, at),
})

const withoutReading = (fill: FillSeries, at: string): FillSeries => ({
  ...fill,
  readings: fill.readings.filter(reading => reading.at !== at),
})

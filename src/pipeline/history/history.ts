/** What a whole run does with history: it asks what was before, and after it is published leaves what the next one is to know. */

import pMap from 'p-map'
import type { Store } from '#clients/store.ts'
import { growthOf, withReading } from '#judge/history/fill.ts'
import { merged } from '#judge/history/happenings.ts'
import { type Ledger, nextLedger, type RunToCompare } from '#judge/history/ledger.ts'
import {
  mergedDay,
  nodeFacts,
  nodeKey,
  rulesByNode,
  withObservation,
} from '#judge/history/node-facts.ts'
import { noteImages } from '#judge/history/reclaim.ts'
import { trendPoint, withPoint } from '#judge/history/trends.ts'
import { openSharedParts } from '#judge/shared-parts.ts'
import { bounded } from '#judge/text.ts'
import { utcDay } from '#judge/waivers.ts'
import type { MetNode } from '#model/delta.ts'
import { messageOf } from '#model/error-message.ts'
import type {
  ClusterTrend,
  FillSeries,
  NodeFacts,
  NodeGrowth,
  RememberedRun,
  TrendPoint,
} from '#model/history.ts'
import type { Policy } from '#model/policy.ts'
import type { AuditedNode, Delivery } from '#model/report.ts'
import { runIdOf } from '#model/run.ts'
import { metNode } from '#pipeline/met-node.ts'
import { clustersAtOnce, type Earlier, earlierOf, nothingEarlier } from './earlier.ts'
import {
  dayOf,
  nodesKey,
  nodesPrefix,
  packed,
  runKey,
  runsPrefix,
  trendsKey,
  update,
} from './keys.ts'
import { comparablePart, rememberedPart } from './part.ts'
import { parsedFacts, parsedTrend } from './saved-facts.ts'
import { type FoundRun, runBefore } from './saved-run.ts'

export interface HistoryOptions {
  store: Store
  /** Names the run: the same for every delivery of one tick. Runs are in the order of their ids. Absent: the time at which its nodes were read. */
  runId?: string
  retentionDays: number
  /** False: only a part of the fleet was chosen. Then only that part is compared, and nothing is kept. */
  isWhole: boolean
  /** False: findings were left out by severity, and would look fixed. Then nothing is compared. */
  isComparable?: boolean
  /** Which place the run enumerates to find its clusters (`scopeOf`); null: none, somebody named or saved them. */
  scope: string | null
}

export interface AuditedRun extends Omit<RunToCompare, 'nodes' | 'scope'> {
  nodes: AuditedNode[]
}

export interface Compared extends Pick<Ledger, 'since' | 'delta' | 'before'> {
  /** Of each node, in the order of the run's. */
  growth: NodeGrowth[]
  /** Of each cluster up to this run; empty where only a part of the fleet was chosen. */
  trends: ClusterTrend[]
}

export interface History {
  /** Adds a lighter reading to the last run's day, instead of `compare` and `record`. */
  observe(run: AuditedRun): Promise<Delivery[]>
  /** Those whose growth earlier runs have seen. @param takenAt of this run */
  knownGrowth(nodes: AuditedNode[], takenAt: string): Promise<ReadonlySet<AuditedNode>>
  /** Null: what was before could not be read, so nothing is said of it. */
  compare(run: AuditedRun): Promise<Compared | null>
  /** After `compare`, once everything else is done. What failed says so; empty: nothing did. */
  record(): Promise<Delivery[]>
}

const dayMs = 86_400_000

export function openHistory({
  store,
  retentionDays,
  isWhole,
  isComparable = true,
  scope,
  ...named
}: HistoryOptions): History {
  const errors: string[] = []
  let compared: ComparedRun | null = null
  const attempt = async <T>(step: () => Promise<T>): Promise<T | null> => {
    try {
      return await step()
    } catch (error) {
      errors.push(messageOf(error))
      return null
    }
  }

  const look = async (runId: string): Promise<{ found: FoundRun; earlier: Earlier } | null> => {
    const found = await attempt(() => runBefore(store, runId))
    if (found === null) return null
    const { run } = found
    if (run !== null) openSharedParts().withTexts(run)
    return {
      found,
      earlier: (run && (await attempt(() => earlierOf(store, run, runId)))) ?? nothingEarlier(),
    }
  }
  // While the fleet is read there is time for it; a run near its deadline has none left.
  let early = named.runId === undefined ? null : look(named.runId)

  const failures = (): Delivery[] =>
    errors.map(error => ({ channel: 'history', location: null, link: null, error }))

  return {
    async observe(run) {
      const runId = named.runId ?? runIdOf(run.document.run.takenAt)
      const looked = await (early ?? look(runId))
      if (looked === null || looked.found.run === null) return failures()
      const day = utcDay(looked.found.run.document.run.takenAt)
      const fills = fillsOf(run.nodes, run.nodes.map(metNode), looked.earlier)
      const write = ({ cluster, facts }: ComparedRun['clusters'][number]) =>
        update(store, nodesKey(cluster, day), text => dayText(text, facts(), withObservation))
      await attempt(() =>
        pMap(clustersOf(run, fills, day, runId), write, { concurrency: clustersAtOnce }),
      )
      return failures()
    },

    async knownGrowth(nodes, takenAt) {
      early ??= look(named.runId ?? runIdOf(takenAt))
      const { nodes: before } = (await early)?.earlier ?? nothingEarlier()
      const isKnown = (node: AuditedNode) => {
        const series = withReading(before.get(keyOf(metNode(node)))?.fill ?? null, node)
        return Object.values(growthOf(series, node)).some(({ isSeen }) => isSeen)
      }
      return new Set(nodes.filter(isKnown))
    },

    async compare(run) {
      const runId = named.runId ?? runIdOf(run.document.run.takenAt)
      const looked = await (early ?? look(runId))
      // What comes after needs room.
      early = null
      if (looked === null) return null
      const { found, earlier } = looked
      if (found.broken.length > 0)
        errors.push(
          `${store.location}: ${found.broken.join(', ')} cannot be understood and was passed over: remove it, or correct it`,
        )
      const day = utcDay(run.document.run.takenAt)
      const nodes = run.nodes.map(metNode)
      const fills = fillsOf(run.nodes, nodes, earlier)
      const growth = run.nodes.map((node, index) => growthOf(fills[index] ?? null, node))
      const forgetBefore = dayBefore(day, retentionDays)
      const ruleErrors = run.ruleErrors.map(({ rule, cluster, node }) => ({ rule, cluster, node }))
      const now = { document: run.document, nodes, ruleErrors, scope: scopeIn(run, scope) }
      if (!isWhole) {
        const part = isComparable ? partCompared(found.run, now, day, forgetBefore) : notCompared
        return { ...part, since: sinceOnly(found.run, run), growth, trends: [] }
      }
      const ledger = nextLedger(found.run, now, day, forgetBefore)
      const clusters = clustersOf(run, fills, day, runId)
      compared = { ledger, runId, day, forgetBefore, clusters }
      const trends = clusters.map(({ cluster, point }) => {
        const points = (earlier.points.get(cluster) ?? []).filter(one => one.day < day)
        return trendOf(cluster, points, point, forgetBefore)
      })
      return { ...ledger, growth, trends }
    },

    async record() {
      if (compared !== null) {
        const { ledger, runId, forgetBefore } = compared
        const remembered: RememberedRun = { runId, ...ledger.run }
        await Promise.all([
          attempt(() => recordClusters(store, compared!)),
          attempt(() =>
            store.write(runKey(runId), packed(JSON.stringify(remembered)), 'application/gzip'),
          ),
        ])
        await attempt(() => forget(store, forgetBefore))
      }
      return failures()
    },
  }
}

/** The same path is another place in another account. Without the account, the place is unknown. */
const scopeIn = ({ document: { run } }: AuditedRun, scope: string | null) =>
  scope === null || run.account === null ? null : JSON.stringify([run.account, run.region, scope])

/** Which EKS clusters the policy asks for: runs that ask for the same can tell that one of them is gone. */
export const scopeOf = ({ accounts, clusters }: Pick<Policy, 'accounts' | 'clusters'>): string =>
  JSON.stringify([
    accounts.map(({ roleArn, regions }) => [roleArn, regions]),
    clusters.names,
    Object.entries(clusters.tags),
  ])

/** The readings of each node with this one; what changed since the last one is noted on the node. */
function fillsOf(nodes: AuditedNode[], met: MetNode[], earlier: Earlier): (FillSeries | null)[] {
  return nodes.map((node, index) => {
    const before = earlier.nodes.get(keyOf(met[index]!)) ?? null
    noteRestart(node, before?.fill ?? null)
    noteImages(node, before)
    return withReading(before?.fill ?? null, node)
  })
}

/** Another boot id than in the run before: the machine was started anew in between. */
function noteRestart(node: AuditedNode, before: FillSeries | null): void {
  const { bootId, name } = node.identity
  if (before === null || bootId === null || bounded(bootId, 40) === before.bootId) return
  const message = `boot id ${before.bootId} until ${before.readings.at(-1)?.at ?? 'an earlier run'}`
  node.happened = merged(node.happened ?? [], [
    { at: node.at, what: 'reboot', subject: name, message },
  ])
}

const keyOf = ({ cluster, name }: MetNode) => nodeKey(cluster, name)

const dayBefore = (day: string, days: number) =>
  utcDay(new Date(Date.parse(day) - days * dayMs).toISOString())

type PartCompared = Pick<Compared, 'delta' | 'before'>

const notCompared: PartCompared = {
  delta: { new: [], resolved: [], worse: [], regressed: [] },
  before: null,
}

function partCompared(
  last: RememberedRun | null,
  now: RunToCompare,
  day: string,
  forgetBefore: string,
): PartCompared {
  if (last === null) return notCompared
  // No place was enumerated: a cluster that is not in the part is not gone.
  const { delta, before } = nextLedger(
    rememberedPart(last, now),
    { ...comparablePart(now), scope: null },
    day,
    forgetBefore,
  )
  return { delta, before }
}

function sinceOnly(previous: RememberedRun | null, { document }: AuditedRun): Map<string, string> {
  const known = [...(previous?.document.findings ?? []), ...(previous?.document.waived ?? [])]
  const ids = new Set([...document.findings, ...document.waived].map(({ id }) => id))
  return new Map(known.filter(({ id }) => ids.has(id)).map(({ id, since }) => [id, since]))
}

interface ComparedRun {
  ledger: Ledger
  runId: string
  day: string
  forgetBefore: string
  /** Facts are made when they are written: of a large fleet all of them together would be much. */
  clusters: { cluster: string; point: TrendPoint; facts: () => NodeFacts[] }[]
}

function clustersOf(
  { document, nodes }: AuditedRun,
  fills: (FillSeries | null)[],
  day: string,
  runId: string,
): ComparedRun['clusters'] {
  const rules = rulesByNode([...document.findings, ...document.waived])
  const met = Map.groupBy(
    nodes.map((audited, index) => ({ audited, met: metNode(audited), fill: fills[index] ?? null })),
    ({ met: { cluster } }) => cluster,
  )
  return document.clusters.map(cluster => {
    const members = met.get(cluster.name) ?? []
    const findings = document.findings.filter(finding => finding.cluster === cluster.name)
    return {
      cluster: cluster.name,
      point: trendPoint({ cluster, findings, nodes: members }, day, runId),
      facts: () =>
        members.map(({ audited, met: named, fill }) =>
          nodeFacts(
            audited,
            named,
            rules.get(nodeKey(named.cluster, named.name)) ?? [],
            runId,
            fill,
          ),
        ),
    }
  })
}

/** Two files of a cluster, whatever its size; a few clusters at once. */
async function recordClusters(
  store: Store,
  { clusters, day, forgetBefore }: ComparedRun,
): Promise<void> {
  await pMap(
    clusters,
    async ({ cluster, point, facts: make }) => {
      const facts = make()
      await Promise.all([
        facts.length > 0 && update(store, nodesKey(cluster, day), text => dayText(text, facts)),
        update(store, trendsKey(cluster), text => trendText(text, cluster, point, forgetBefore)),
      ])
    },
    { concurrency: clustersAtOnce },
  )
}

const dayText = (before: string | null, facts: NodeFacts[], merge = mergedDay) =>
  merge(before === null ? [] : parsedFacts(before), facts)
    .map(line => `${JSON.stringify(line)}\n`)
    .join('')

const trendText = (
  before: string | null,
  cluster: string,
  point: TrendPoint,
  forgetBefore: string,
) =>
  `${JSON.stringify(trendOf(cluster, before === null ? [] : (parsedTrend(before)?.points ?? []), point, forgetBefore))}\n`

const trendOf = (
  cluster: string,
  points: TrendPoint[],
  point: TrendPoint,
  forgetBefore: string,
): ClusterTrend => ({
  schema: 'highwater.trend/1',
  cluster,
  points: withPoint(points, point, forgetBefore),
})

async function forget(store: Store, before: string): Promise<void> {
  if (store.remove === undefined) return
  for (const prefix of [nodesPrefix, runsPrefix])
    for await (const key of store.list(prefix)) {
      const day = dayOf(key)
      if (day !== null && day < before) await store.remove(key)
    }
}

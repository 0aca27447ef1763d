/** History of a run: compares it with the last one and, after publishing, records it for the next. */

import pMap from 'p-map'
import { messageOf } from '#base/operator-error.ts'
import { nodeKey } from '#base/text.ts'
import { dayMs } from '#base/units.ts'
import type { Store } from '#clients/store/store.ts'
import { comparedNode } from '#judge/compare/delta/delta.ts'
import { growthOf, withReading } from '#judge/compare/history/fill.ts'
import { mergedRounds } from '#judge/compare/history/happenings.ts'
import {
  type Ledger,
  nextLedger,
  type RunToCompare,
  trendPoint,
  withPoint,
} from '#judge/compare/history/ledger.ts'
import {
  mergedDay,
  nodeFacts,
  rulesByNode,
  withObservation,
} from '#judge/compare/history/node-facts.ts'
import { rules } from '#judge/rules/index.ts'
import { openSharedParts } from '#judge/run/kept-prediction.ts'
import { utcDay } from '#judge/run/waivers.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { NodeSample } from '#model/finding.ts'
import type {
  ClusterTrend,
  EarlierNodes,
  FillSeries,
  NodeBefore,
  NodeFacts,
  RememberedRun,
  TrendPoint,
} from '#model/history.ts'
import type { Policy } from '#model/policy.ts'
import type { AuditedNode, Delivery } from '#model/report.ts'
import { runIdOf } from '#model/run.ts'
import {
  dayOf,
  historyRoom,
  nodesKey,
  nodesPrefix,
  packText,
  readText,
  runKey,
  runsPrefix,
  trendsKey,
  updateText,
} from './keys.ts'
import { factsIn, parsedTrend, runBefore } from './saved.ts'

/* Reads earlier disk readings of nodes and trends of clusters from the store, for the clusters of the previous run. */

type Earlier = ReturnType<typeof nothingEarlier>

const nothingEarlier = () => ({
  /** By `nodeKey`. If a run is delivered twice, the readings of its first delivery are left out. */
  nodes: new Map<string, NodeBefore>(),
  /** Trend points by cluster name. */
  points: new Map<string, TrendPoint[]>(),
  /** Files that were not read because they are too long, for people. */
  unread: [] as string[],
})

const clustersAtOnce = 4
/** Days to look back: after a longer gap, a growth would be of little worth. */
const daysBack = 7
/** No run writes more clusters than this. */
const mostClusters = 2000

/**
 * Reads one trend and one day per cluster; reads earlier days only if the last days are missing.
 * @throws Error with a message for people when the store cannot be read
 */
export async function earlierOf(store: Store, previous: RememberedRun, ownRunId: string) {
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

const nodesIn =
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
  const lastDay = utcDay(last)
  for (let back = 0; back <= daysBack && !Number.isNaN(Date.parse(lastDay)); back++) {
    const text = await textAt(nodesKey(cluster, dayBefore(lastDay, back)))
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

export interface HistoryOptions {
  store: Store
  /** Id of the run, equal for every delivery of one tick. Runs are ordered by id. Absent: derived from the time of the snapshot. */
  runId?: string
  retentionDays: number
  /** This machine's clock. A saved snapshot can have a future time: only days old by both times are forgotten. Absent: the run is live. */
  now?: Date
  /** False: a part of the fleet was selected. Then only that part is compared, and nothing is recorded. */
  isWhole: boolean
  /** False: findings were filtered by severity and would look fixed. Then nothing is compared. */
  isComparable?: boolean
  /** The place that the run enumerates to find its clusters (`scopeOf`); null: clusters were named or saved. */
  scope: string | null
}

export interface AuditedRun extends Omit<RunToCompare, 'nodes' | 'scope'> {
  nodes: AuditedNode[]
}

export interface Compared extends Pick<Ledger, 'since' | 'delta' | 'before'> {
  /** One per node, in the order of the run's nodes. */
  disks: (Required<Pick<AuditedNode, 'growth' | 'rounds'>> & Pick<AuditedNode, 'fill'>)[]
  /** One per cluster, this run included; empty if a part of the fleet was selected. */
  trends: ClusterTrend[]
  /** Files of earlier runs that were not read because they are too long, for people. */
  unread: string[]
}

export type History = ReturnType<typeof openHistory>

const namedUnread = 5

/** Returns null if the step failed; the error is noted. */
type Attempt = <T>(step: () => Promise<T>) => Promise<T | null>

/**
 * `observe` adds a lighter reading to the last run's day, instead of `compare` and `record`. `compare` returns null if the last run could not be
 * read. `record` is called last, and returns the failures. `earlier` takes the time of this run.
 */
export function openHistory(options: HistoryOptions) {
  const { store } = options
  const errors: string[] = []
  let compared: RunComparison | null = null
  const attempt: Attempt = async step => {
    try {
      return await step()
    } catch (error) {
      errors.push(messageOf(error))
      return null
    }
  }

  const readLastRun = (runId: string) => readEarlier(store, runId, attempt)
  // The history is read while the fleet is read: a run near its deadline has no time left for it.
  let early = options.runId === undefined ? null : readLastRun(options.runId)
  const lookBack = async ({ document }: AuditedRun) => {
    const runId = options.runId ?? runIdOf(document.run.takenAt)
    return { runId, last: await (early ?? readLastRun(runId)) }
  }

  const failures = (): Delivery[] =>
    errors.map(error => ({ channel: 'history', location: null, link: null, error }))

  return {
    async observe(run: AuditedRun) {
      const { runId, last } = await lookBack(run)
      if (!last?.found.run) return failures()
      const day = utcDay(last.found.run.document.run.takenAt)
      const { earlier } = last
      errors.push(...earlier.unread)
      await attempt(() => recordObservation(store, run, { earlier, day, runId }))
      return failures()
    },

    async earlier(takenAt: string) {
      early ??= readLastRun(options.runId ?? runIdOf(takenAt))
      return nodesIn((await early)?.earlier ?? nothingEarlier())
    },

    async compare(run: AuditedRun) {
      const { runId, last } = await lookBack(run)
      // Frees the memory for later stages.
      early = null
      if (!last) return null
      const { broken } = last.found
      if (broken.length > 0)
        errors.push(
          `${store.location}: ${broken.join(', ')} cannot be parsed and was skipped: remove or correct it`,
        )
      const { result, kept } = comparedWith(last, run, runId, options)
      compared = kept
      return result
    },

    async record() {
      if (compared) {
        const { ledger, runId, forgetBefore } = compared
        const remembered: RememberedRun = { runId, ...ledger.run }
        await Promise.all([
          recordClusters(store, compared, attempt),
          attempt(() =>
            store.write(runKey(runId), packText(JSON.stringify(remembered)), 'application/gzip'),
          ),
        ])
        await attempt(() => forget(store, forgetBefore))
      }
      return failures()
    },
  }
}

/** Adds the facts of a lighter reading to a recorded day. */
async function recordObservation(
  store: Store,
  run: AuditedRun,
  { earlier, day, runId }: { earlier: Earlier; day: string; runId: string },
) {
  await pMap(
    clustersOf(run, fillsOf(run.nodes, earlier), day, runId),
    ({ cluster, facts }) =>
      updateText(store, nodesKey(cluster, day), text => dayText(text, facts(), withObservation)),
    { concurrency: clustersAtOnce },
  )
}

type LastRun = NonNullable<Awaited<ReturnType<typeof readEarlier>>>

/** Null: the last run could not be read. @param attempt notes errors */
async function readEarlier(store: Store, runId: string, attempt: Attempt) {
  const found = await attempt(() => runBefore(store, runId))
  if (!found) return null
  const { run } = found
  if (run) openSharedParts().withTexts(run)
  const earlier = run && (await attempt(() => earlierOf(store, run, runId)))
  return { found, earlier: earlier ?? nothingEarlier() }
}

/** Compares the run with the last one. `kept`: the data for the next run; null: only a part of the fleet was selected. */
function comparedWith(
  { found, earlier }: LastRun,
  run: AuditedRun,
  runId: string,
  { retentionDays, now: clock, isWhole, isComparable = true, scope }: HistoryOptions,
): { result: Compared; kept: RunComparison | null } {
  const day = utcDay(run.document.run.takenAt)
  const more = earlier.unread.length - namedUnread
  const unread = earlier.unread
    .slice(0, namedUnread)
    .concat(more > 0 ? `${more} more files of the history are too long, and were not read` : [])
  const nodes = run.nodes.map(comparedNode)
  const fills = fillsOf(run.nodes, earlier)
  const before = nodesIn(earlier)
  const disks = run.nodes.map((node, index) => ({
    growth: growthOf(fills[index] ?? null, node),
    fill: fills[index] ?? undefined,
    rounds: mergedRounds(before(node)?.rounds ?? [], node.rounds ?? []),
  }))
  const today = clock ? utcDay(clock.toISOString()) : day
  const forgetBefore = dayBefore(day < today ? day : today, retentionDays)
  const ruleErrors = run.ruleErrors.map(({ rule, cluster, node }) => ({ rule, cluster, node }))
  const now = { document: run.document, nodes, ruleErrors, scope: scopeIn(run, scope) }
  if (!isWhole) {
    const part = isComparable ? partCompared(found.run, now, day, forgetBefore) : notCompared
    const since = knownSince(found.run, run)
    return { result: { ...part, since, disks, trends: [], unread }, kept: null }
  }
  const ledger = nextLedger(found.run, now, day, forgetBefore)
  const clusters = clustersOf(run, fills, day, runId)
  const kept = { ledger, runId, day, forgetBefore, clusters }
  const trends = clusters.map(({ cluster, point }) => {
    const points = (earlier.points.get(cluster) ?? []).filter(one => one.day < day)
    return trendOf(cluster, points, point, forgetBefore)
  })
  return { result: { ...ledger, disks, trends, unread }, kept }
}

/** Names of clusters are unique only within an account. Without the account, the scope is unknown. */
const scopeIn = ({ document: { run } }: AuditedRun, scope: string | null) =>
  scope === null || run.account === null ? null : JSON.stringify([run.account, run.region, scope])

/** The EKS clusters that the policy selects. Only runs with equal scopes can report that a cluster is gone. */
export const scopeOf = ({ accounts, clusters }: Policy) =>
  JSON.stringify([
    accounts.map(({ roleArn, regions }) => [roleArn, regions]),
    clusters.names,
    Object.entries(clusters.tags),
  ])

/** The disk readings of each node, this one included. */
function fillsOf(nodes: AuditedNode[], earlier: Earlier) {
  const before = nodesIn(earlier)
  return nodes.map(node => withReading(before(node)?.fill ?? null, node))
}

const dayBefore = (day: string, days: number) =>
  utcDay(new Date(Date.parse(day) - days * dayMs).toISOString())

const notCompared: Pick<Compared, 'delta' | 'before'> = {
  delta: { new: [], resolved: [], worse: [], regressed: [] },
  before: null,
}

function partCompared(
  last: RememberedRun | null,
  now: RunToCompare,
  day: string,
  forgetBefore: string,
) {
  if (!last) return notCompared
  // Scope null: clusters outside of the part are not reported as gone.
  const { delta, before } = nextLedger(
    rememberedPart(last, now),
    { ...comparablePart(now), scope: null },
    day,
    forgetBefore,
  )
  return { delta, before }
}

function knownSince(previous: RememberedRun | null, { document }: AuditedRun) {
  const known = [...(previous?.document.findings ?? []), ...(previous?.document.waived ?? [])]
  const ids = new Set([...document.findings, ...document.waived].map(({ id }) => id))
  return new Map(known.filter(({ id }) => ids.has(id)).map(({ id, since }) => [id, since]))
}

interface RunComparison {
  ledger: Ledger
  runId: string
  day: string
  forgetBefore: string
  clusters: ReturnType<typeof clustersOf>
}

function clustersOf(
  { document, nodes }: AuditedRun,
  fills: (FillSeries | null)[],
  day: string,
  runId: string,
) {
  const rules = rulesByNode([...document.findings, ...document.waived])
  const met = Map.groupBy(
    nodes.map((audited, index) => ({
      audited,
      met: comparedNode(audited),
      fill: fills[index] ?? null,
    })),
    ({ met: { cluster } }) => cluster,
  )
  return document.clusters.map(cluster => {
    const members = met.get(cluster.name) ?? []
    const findings = document.findings.filter(finding => finding.cluster === cluster.name)
    return {
      cluster: cluster.name,
      point: trendPoint({ cluster, findings, nodes: members }, day, runId),
      /** Facts are built when they are written: the facts of all clusters at once would need much memory. */
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

/** Writes two files per cluster; a few clusters at a time. */
async function recordClusters(
  store: Store,
  { clusters, day, forgetBefore }: RunComparison,
  attempt: Attempt,
) {
  await pMap(
    clusters,
    async ({ cluster, point, facts: make }) => {
      const facts = make()
      if (facts.length > 0)
        await attempt(() => updateText(store, nodesKey(cluster, day), text => dayText(text, facts)))
      await attempt(() =>
        updateText(store, trendsKey(cluster), text =>
          trendText(text, cluster, point, forgetBefore),
        ),
      )
    },
    { concurrency: clustersAtOnce },
  )
}

const dayText = (before: string, facts: NodeFacts[], merge = mergedDay) =>
  merge([...factsIn(before)], facts)
    .map(line => `${JSON.stringify(line)}\n`)
    .join('')

const trendText = (before: string, cluster: string, point: TrendPoint, forgetBefore: string) =>
  `${JSON.stringify(trendOf(cluster, parsedTrend(before)?.points ?? [], point, forgetBefore))}\n`

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

async function forget(store: Store, before: string) {
  if (!store.remove) return
  for (const prefix of [nodesPrefix, runsPrefix])
    for await (const key of store.list(prefix)) {
      const day = dayOf(key)
      if (day !== null && day < before) await store.remove(key)
    }
}

/* The part of two runs that can be compared if only some nodes were selected: the findings of rules that judge each node by itself, on the nodes of this run. Rules that compare nodes with each other, or that judge whole clusters, have other results on a part. */

const nodeRules = new Set(rules.filter(({ kind }) => kind === 'node').map(({ id }) => id))

interface OnNodes {
  rule: string
  cluster: string
  nodes: NodeSample
}

/** The last run as if it had read only the nodes of this run. */
function rememberedPart(last: RememberedRun, now: RunToCompare): RememberedRun {
  const chosen = new Set(now.nodes.map(({ cluster, name }) => nodeKey(cluster, name)))
  const clusters = new Set(now.document.clusters.map(({ name }) => name))
  const isChosen = (cluster: string, node: string) => chosen.has(nodeKey(cluster, node))
  const onChosenNodes = <T extends OnNodes>(list: readonly T[]): T[] =>
    list.filter(isOfNodeRule).flatMap(each => {
      const sample = each.nodes.sample.filter(node => isChosen(each.cluster, node))
      return sample.length === 0 ? [] : [{ ...each, nodes: { count: sample.length, sample } }]
    })
  const { document } = last
  return {
    ...last,
    document: {
      ...document,
      clusters: document.clusters.filter(({ name }) => clusters.has(name)),
      findings: onChosenNodes(document.findings),
      waived: onChosenNodes(document.waived),
      unknowns: onChosenNodes(document.unknowns),
      notAudited: document.notAudited.filter(
        ({ cluster, node }) => node !== null && isChosen(cluster, node),
      ),
    },
    nodes: last.nodes.filter(({ cluster, name }) => isChosen(cluster, name)),
    ruleErrors: last.ruleErrors.filter(({ cluster, node }) => isChosen(cluster, node)),
    past: last.past.filter(({ rule, cluster }) => nodeRules.has(rule) && clusters.has(cluster)),
    readings: last.readings.filter(({ cluster }) => clusters.has(cluster)),
  }
}

/** This run without the rules that need all nodes. */
const comparablePart = ({ document, ...now }: RunToCompare): RunToCompare => ({
  ...now,
  document: {
    ...document,
    findings: document.findings.filter(isOfNodeRule),
    waived: document.waived.filter(isOfNodeRule),
    unknowns: document.unknowns.filter(isOfNodeRule),
  },
})

const isOfNodeRule = ({ rule }: OnNodes) => nodeRules.has(rule)

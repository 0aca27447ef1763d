/** What a whole run does with history: it asks what was before, and after it is published leaves what the next one is to know. */
import pMap from 'p-map'
import type { Store } from '#clients/store.ts'
import { type Ledger, nextLedger, type RunToCompare } from '#judge/history/ledger.ts'
import { mergedDay, nodeFacts, nodeKey, rulesByNode } from '#judge/history/node-facts.ts'
import { trendPoint, withPoint } from '#judge/history/trends.ts'
import { utcDay } from '#judge/waivers.ts'
import type { ClusterTrend, NodeFacts, RememberedRun, TrendPoint } from '#model/history.ts'
import type { AuditedNode, Delivery } from '#model/report.ts'
import { runIdOf } from '#model/run.ts'
import { metNode } from '#pipeline/met-node.ts'
import { dayOf, nodesKey, nodesPrefix, packed, runKey, runsPrefix, trendsKey, update } from './keys.ts'
import { parsedFacts, parsedTrend } from './saved-facts.ts'
import { runBefore } from './saved-run.ts'

export interface HistoryOptions {
  store: Store
  /** Names the run: the same for every delivery of one tick. Runs are in the order of their ids. Absent: the time at which its nodes were read. */
  runId?: string
  retentionDays: number
  /** False: only a part of the fleet was chosen. Then nothing is compared or kept, and findings only get their first days. */
  isWhole: boolean
}

export interface AuditedRun extends Omit<RunToCompare, 'nodes'> {
  nodes: AuditedNode[]
}

export interface History {
  /** Null: what was before could not be read, so nothing is said of it. */
  compare(run: AuditedRun): Promise<Pick<Ledger, 'since' | 'delta' | 'before'> | null>
  /** After `compare`, once everything else is done. What failed says so; empty: nothing did. */
  record(): Promise<Delivery[]>
}

const dayMs = 86_400_000

export function openHistory({ store, retentionDays, isWhole, ...named }: HistoryOptions): History {
  const errors: string[] = []
  let compared: { run: AuditedRun; ledger: Ledger; day: string; runId: string } | null = null
  const attempt = async <T>(step: () => Promise<T>): Promise<T | null> => {
    try {
      return await step()
    } catch (error) {
      errors.push(error instanceof Error ? error.message : String(error))
      return null
    }
  }

  // While the fleet is read there is time for it; a run near its deadline has none left.
  const early = named.runId === undefined ? null : attempt(() => runBefore(store, named.runId ?? null))

  return {
    async compare(run) {
      const runId = named.runId ?? runIdOf(run.document.run.takenAt)
      const found = await (early ?? attempt(() => runBefore(store, runId)))
      if (found === null) return null
      if (found.broken.length > 0)
        errors.push(`${store.location}: ${found.broken.join(', ')} cannot be understood and was passed over: remove it, or correct it`)
      const day = utcDay(run.document.run.takenAt)
      if (!isWhole) return { since: sinceOnly(found.run, run), delta: { new: [], resolved: [], worse: [], regressed: [] }, before: null }
      const forgetBefore = dayBefore(day, retentionDays)
      const nodes = run.nodes.map(metNode)
      const ruleErrors = run.ruleErrors.map(({ rule, cluster, node }) => ({ rule, cluster, node }))
      const ledger = nextLedger(found.run, { document: run.document, nodes, ruleErrors }, day, forgetBefore)
      compared = { run, ledger, day, runId }
      return ledger
    },

    async record() {
      if (compared !== null) {
        const { run, ledger, day, runId } = compared
        const forgetBefore = dayBefore(day, retentionDays)
        const remembered: RememberedRun = { runId, ...ledger.run }
        await Promise.all([
          attempt(() => recordClusters(store, run, { day, runId, forgetBefore })),
          attempt(() => store.write(runKey(runId), packed(JSON.stringify(remembered)), 'application/gzip')),
        ])
        await attempt(() => forget(store, forgetBefore))
      }
      return errors.map(error => ({ channel: 'history', location: null, link: null, error }))
    },
  }
}

const dayBefore = (day: string, days: number) => utcDay(new Date(Date.parse(day) - days * dayMs).toISOString())

function sinceOnly(previous: RememberedRun | null, { document }: AuditedRun): Map<string, string> {
  const known = [...(previous?.document.findings ?? []), ...(previous?.document.waived ?? [])]
  const ids = new Set([...document.findings, ...document.waived].map(({ id }) => id))
  return new Map(known.filter(({ id }) => ids.has(id)).map(({ id, since }) => [id, since]))
}

/** Two files of a cluster, whatever its size; a few clusters at once. */
async function recordClusters(
  store: Store,
  { document, nodes }: AuditedRun,
  { day, runId, forgetBefore }: { day: string; runId: string; forgetBefore: string },
): Promise<void> {
  const rules = rulesByNode([...document.findings, ...document.waived])
  const met = Map.groupBy(
    nodes.map(audited => ({ audited, met: metNode(audited) })),
    ({ met: { cluster } }) => cluster,
  )
  await pMap(
    document.clusters,
    async cluster => {
      const members = met.get(cluster.name) ?? []
      const facts = members.map(({ audited, met: named }) =>
        nodeFacts(audited, named, rules.get(nodeKey(named.cluster, named.name)) ?? [], runId),
      )
      const findings = document.findings.filter(finding => finding.cluster === cluster.name)
      const point = trendPoint({ cluster, findings, nodes: members }, day, runId)
      await Promise.all([
        facts.length > 0 && update(store, nodesKey(cluster.name, day), text => dayText(text, facts)),
        update(store, trendsKey(cluster.name), text => trendText(text, cluster.name, point, forgetBefore)),
      ])
    },
    { concurrency: clustersAtOnce },
  )
}

const clustersAtOnce = 4

const dayText = (before: string | null, facts: NodeFacts[]) =>
  mergedDay(before === null ? [] : parsedFacts(before), facts)
    .map(line => `${JSON.stringify(line)}\n`)
    .join('')

function trendText(before: string | null, cluster: string, point: TrendPoint, forgetBefore: string): string {
  const points = withPoint(before === null ? [] : (parsedTrend(before)?.points ?? []), point, forgetBefore)
  const trend: ClusterTrend = { schema: 'highwater.trend/1', cluster, points }
  return `${JSON.stringify(trend)}\n`
}

async function forget(store: Store, before: string): Promise<void> {
  if (store.remove === undefined) return
  for (const prefix of [nodesPrefix, runsPrefix])
    for await (const key of store.list(prefix)) {
      const day = dayOf(key)
      if (day !== null && day < before) await store.remove(key)
    }
}

/** One run of the service: an audit, published to the places and recipients of stack and policy, once per scheduled time. */

import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import { openSharedParts } from '#judge/run/kept-prediction.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import {
  type AuditRequest,
  type RunAnswer,
  runIdOf,
  type Settings,
  unauditedAnswer,
} from '#model/run.ts'
import { audit, conclude } from '#pipeline/audit/audit.ts'
import {
  type LiveOptions,
  liveFleet,
  openSecondReading,
  rejectUnknownNames,
} from '#pipeline/audit/fleet.ts'
import {
  type Judged,
  judgeRecords,
  mergedJudged,
  unknownTime,
} from '#pipeline/audit/judge-records.ts'
import type { KeptRecords } from '#pipeline/audit/saved/kept-records.ts'
import {
  BrokenFile,
  earlierSpent,
  type FanOutContext,
  type FanOutRun,
  keys,
  readJudged,
  runOf,
  runPolicy,
} from '#pipeline/fan-out/files.ts'
import { judgeLostCluster, type LostCluster } from '#pipeline/fan-out/judge-cluster.ts'
import { fanOut } from '#pipeline/fan-out/start.ts'
import { openHistory, scopeOf } from '#pipeline/history/history.ts'
import {
  functionRegion,
  policyOf,
  type RunLimits,
  type ServiceRuntime,
  storeOf,
  withinLimits,
} from '#pipeline/runtime/runtime.ts'
import { noticesIn } from '#remediate/notices.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { earlierAnswer, openServiceReport } from './report.ts'

export interface AuditRuntime extends ServiceRuntime {
  /** Default: every EKS cluster that the policy names. */
  fleet?: (options: LiveOptions) => AsyncIterable<SnapshotRecord>
}

/**
 * @throws OperatorError if nothing could be audited
 * @throws IncompleteRun if the report exists but a delivery failed, or nothing was read
 */
export const runService = (
  request: AuditRequest,
  settings: Settings,
  runtime: AuditRuntime,
): Promise<RunAnswer> =>
  withinLimits(runtime, limits => runUntil(request, settings, runtime, limits))

async function runUntil(
  request: AuditRequest,
  settings: Settings,
  runtime: AuditRuntime,
  limits: RunLimits,
): Promise<RunAnswer> {
  const region = await functionRegion()
  const { scheduledTime, selection } = request
  const runId =
    scheduledTime === null
      ? `${runIdOf(runtime.now().toISOString())}-${runtime.requestId}`
      : runIdOf(scheduledTime)
  runtime.watch.began(runId)
  runtime.watch.enterStage('prepare')
  const store = storeOf(settings, region, limits.remainingMs, limits.end)
  const before = store && scheduledTime !== null ? await earlierAnswer(store, runId) : null
  if (before) return before

  const { policy, mistakes } = await policyOf(store, runtime, settings)
  const live = { policy, selection, signal: limits.reading, now: runtime.now }
  if (request.isObservation) return observeFleet(store, runId, live, runtime)
  const { answer, targets, mistake } = await fanOut(
    { runId, request, store, settings, isOwnFleet: runtime.fleet !== undefined, runtime },
    live,
  )
  if (answer) return answer
  const run = {
    runId,
    request,
    settings,
    region,
    store,
    policy,
    mistakes: mistake === null ? mistakes : [...mistakes, mistake],
    notices: store ? await noticesIn(store, runtime.now()) : undefined,
  }
  const report = openServiceReport(run, runtime, limits)
  const secondReading = openSecondReading({
    ...live,
    remainingMs: limits.readingLeftMs,
    sleep: runtime.sleep,
  })
  const result = await audit(
    (runtime.fleet ?? liveFleet)({ ...live, targets, onTarget: secondReading.expect }),
    {
      ...report.conclusion,
      inputErrors: report.inputErrors,
      secondReading,
      snapshot: openSnapshot(join(runtime.folder, 'snapshot.ndjson.gz')),
      verify: (nodes, areListsWhole) => rejectUnknownNames(selection, nodes, areListsWhole),
    },
  )
  return report.end(result)
}

/**
 * A light run between two audits: pods, events, conditions, image lists and disk usage, for the history only.
 * @throws OperatorError if there is no bucket, or its history cannot be read or written
 */
async function observeFleet(
  store: Store | null,
  runId: string,
  live: LiveOptions,
  { fleet = liveFleet, watch }: AuditRuntime,
): Promise<RunAnswer> {
  if (!store) throw new OperatorError('An observation is kept in the bucket: set HIGHWATER_BUCKET')
  const { policy } = live
  const history = openHistory({
    store,
    runId,
    isWhole: true,
    scope: scopeOf(policy),
    ...policy.history,
  })
  const judged = await judgeRecords(fleet({ ...live, depth: 'summary', objects: 'events' }), {
    policy,
    rules: [],
    isEveryNodeNamed: true,
    onStage: watch.enterStage,
    snapshot: { write: async () => undefined },
    earlier: history.earlier,
  })
  const { header, result, nodes, inputErrors } = judged
  const run = {
    version: '',
    source: 'live' as const,
    rules: [],
    inputErrors,
    takenAt: header?.takenAt ?? unknownTime,
    account: header?.account ?? null,
    region: header?.region ?? null,
  }
  watch.enterStage('publish')
  const document = { schema: 'highwater.findings/1' as const, run, ...result }
  const failures = await history.observe({ document, nodes, ruleErrors: [] })
  if (failures.length > 0)
    throw new OperatorError(
      `Observation ${runId} is incomplete. ${failures.map(({ error }) => error).join('. ')}`,
    )
  const clusters = result.clusters.map(({ name, coverage }) => ({ name, grade: null, coverage }))
  const notAudited = result.notAudited.length
  return { runId, state: 'observed', ...unauditedAnswer, clusters, notAudited }
}

/* Last function of a fan-out: merges the judged clusters and reports them as one audit. */

export type PublishContext = FanOutContext & Pick<LostCluster, 'mapFailure'>

/**
 * @throws OperatorError if nothing was discovered
 * @throws IncompleteRun if the report exists but a delivery failed, or nothing was read
 */
export async function publishRun(context: PublishContext): Promise<RunAnswer> {
  const { runId, store, runtime, limits, settings, region } = context
  const before = await earlierAnswer(store, runId)
  if (before) return before
  const others = await earlierSpent(store, runId)
  if (others) runtime.watch.continueFrom(others)
  const run = await runOf(context)
  const { request, mistakes } = run
  const report = openServiceReport(
    {
      runId,
      request,
      settings,
      region,
      store,
      policy: runPolicy(run, context),
      mistakes,
      notices: await noticesIn(store, runtime.now()),
    },
    runtime,
    limits,
  )
  runtime.watch.enterStage('reduce')
  const snapshot = await openJoined(run, context)
  const judged = await mergeClusters(run, snapshot, context)
  judged.inputErrors.unshift(...report.inputErrors)
  return report.end(await conclude(judged, snapshot, report.conclusion))
}

/** Merges cluster by cluster, so that memory holds the files of one cluster at a time. */
async function mergeClusters(
  run: FanOutRun,
  snapshot: Joined,
  { store, runId, limits }: PublishContext,
) {
  const memory = { share: openSharedParts(), keep: limits.keep }
  const parts: Omit<Judged, 'header'>[] = []
  for (const cluster of run.clusters.keys()) {
    const { known, broken } = await readPart(readJudged(store, keys.judged(runId, cluster), memory))
    if (known) await snapshot.addKnown(cluster)
    parts.push(known ?? (await snapshot.addLost(cluster, broken)))
  }
  return mergedJudged(run.header, parts)
}

/** A broken file loses its cluster, not the whole report. */
async function readPart<Part>(
  read: Promise<Part | null>,
): Promise<{ known: Part | null; broken: string | null }> {
  try {
    return { known: await read, broken: null }
  } catch (error) {
    if (error instanceof BrokenFile)
      return { known: null, broken: `what was judged of it cannot be read: ${error.message}` }
    throw error
  }
}

type Joined = Pick<KeptRecords, 'keptAt' | 'failure'> & {
  /** Adds a judged cluster from its files. */
  addKnown(cluster: number): Promise<void>
  /** Adds an unjudged cluster from its listed nodes. @param broken why its result cannot be used; null: there is no result */
  addLost(cluster: number, broken: string | null): Promise<Judged>
}

/** The snapshot of the whole run. Concatenated gzip files are a gzip file. An error loses the snapshot, not the report. */
async function openJoined(run: FanOutRun, context: PublishContext): Promise<Joined> {
  const { runId, store, runtime, mapFailure } = context
  const path = join(runtime.folder, 'snapshot.ndjson.gz')
  let failed: string | null = null
  const attempt = async (step: () => Promise<void>) => {
    if (failed !== null) return
    try {
      await step()
    } catch (error) {
      failed = messageOf(error)
    }
  }
  const add = async (key: string) => {
    const found = await store.read(key)
    if (found) await appendFile(path, found.body)
  }
  await attempt(() => writeFile(path, gzipSync(`${JSON.stringify(run.header)}\n`)))
  return {
    keptAt: () => (failed === null ? path : null),
    failure: () =>
      failed === null
        ? []
        : [
            {
              channel: 'snapshot',
              location: null,
              link: null,
              error: `the parts of the snapshot could not be joined (${failed}): they lie in the run's folder fan-out, and the function publish needs disk for all of them`,
            },
          ],
    addKnown: cluster =>
      attempt(async () => {
        await add(keys.cluster(runId, cluster))
        for (let shard = 0; shard < (run.clusters[cluster]?.shards ?? 0); shard++)
          await add(keys.records(runId, cluster, shard))
        await add(keys.rest(runId, cluster))
      }),
    async addLost(cluster, broken) {
      const part = openSnapshot(join(runtime.folder, 'lost.ndjson.gz'))
      const judged = await judgeLostCluster(
        run,
        { cluster, broken, mapFailure },
        record => part.write(record),
        context,
      )
      await attempt(async () => {
        await part.close()
        await appendFile(path, await readFile(part.path))
      })
      return judged
    },
  }
}

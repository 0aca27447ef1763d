/** Last function of a fan-out: merges the judged clusters and reports them as one audit. */

import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { messageOf } from '#base/operator-error.ts'
import { openSharedParts } from '#judge/run/shared-parts.ts'
import type { Delivery } from '#model/report.ts'
import type { RunAnswer } from '#model/run.ts'
import { conclude } from '#pipeline/audit/audit.ts'
import { type Judged, mergedJudged } from '#pipeline/audit/judge-records.ts'
import type { KeptRecords } from '#pipeline/audit/saved/kept-records.ts'
import { type FanOutContext, runOf, runPolicy } from '#pipeline/fan-out/context.ts'
import { BrokenFile, earlierSpent, type FanOutRun, keys } from '#pipeline/fan-out/files.ts'
import { judgeLostCluster, type LostCluster } from '#pipeline/fan-out/judge-cluster.ts'
import { readJudged } from '#pipeline/fan-out/judged-files.ts'
import { noticesIn } from '#remediate/notices.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { earlierAnswer, openServiceReport } from './report.ts'

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
    failure: () => (failed === null ? [] : [snapshotFailure(failed)]),
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

const snapshotFailure = (why: string): Delivery => ({
  channel: 'snapshot',
  location: null,
  link: null,
  error: `the parts of the snapshot could not be joined (${why}): they lie in the run's folder fan-out, and the function publish needs disk for all of them`,
})

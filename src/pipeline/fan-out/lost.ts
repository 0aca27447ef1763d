/** Parts of a fan-out that failed. The reason is kept for the next function and becomes a reason in the report. */

import { isRawObject, parsedJson } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
import { unreadNode } from '#collect/collect.ts'
import { collectorsOf } from '#collect/modes.ts'
import type { ReadError, SnapshotRecord } from '#model/input/record.ts'
import { readModeOf } from '#model/policy.ts'
import { prune } from '#snapshot/prune.ts'
import {
  BrokenFile,
  type FanOutContext,
  type FanOutRun,
  keys,
  readJson,
  readRecords,
  runOf,
  runPolicy,
  workOf,
  writeJson,
} from './files.ts'

/** A task that failed at every try, as the state machine reports it. Source: Step Functions developer guide, Error names and Lambda's errors. */
export interface Failure {
  Error: string
  /** If the function threw: JSON with `errorMessage`. */
  Cause: string
}

interface Lost {
  reason: string
}

const longestReason = 500

/** @returns the reason */
export async function noteLost(
  { cluster, shard, failure }: { cluster: number; shard: number | null; failure: Failure },
  context: FanOutContext,
) {
  const { runId, store, runtime } = context
  const lost: Lost = { reason: reasonOf(failure) }
  await writeJson(store, keys.lost(runId, cluster, shard), lost)
  // The cluster's name is only for the log, whose readers search by name.
  const run = await runOf(context).catch(() => null)
  if (run) runtime.watch.isAbout(workOf(run, cluster).cluster)
  return lost.reason
}

/**
 * @param shard null: the whole cluster
 * @param mapFailure why the state machine's map ended early; null: it did not
 */
export async function whyLost(
  cluster: number,
  shard: number | null,
  { runId, store }: FanOutContext,
  mapFailure: Failure | null = null,
) {
  const reason = await readReason(store, keys.lost(runId, cluster, shard))
  if (reason === null && mapFailure)
    return `the state machine’s map Clusters failed before the cluster was judged: ${reasonOf(mapFailure)}`
  const what =
    shard === null ? 'the function that judges its cluster' : 'the function that reads it'
  return `${what} did not come to its end at any try${reason === null ? '' : `: ${reason}`}`
}

async function readReason(store: Store, key: string) {
  try {
    return (await readJson<Lost>(store, key))?.reason ?? null
  } catch (error) {
    if (error instanceof BrokenFile) return `why is not known: ${error.message}`
    throw error
  }
}

/** The nodes of an unread shard, from their Node objects. @param errors receives the reason if some are missing */
export async function* lostNodes(
  run: FanOutRun,
  { cluster, shard, reason }: { cluster: number; shard: number; reason: string },
  context: FanOutContext,
  errors: ReadError[],
): AsyncGenerator<SnapshotRecord> {
  const { runId, store, runtime } = context
  const mode = readModeOf(runPolicy(run, context), workOf(run, cluster).cluster)
  try {
    for await (const listed of readRecords(
      store,
      keys.nodes(runId, cluster, shard),
      runtime.folder,
    )) {
      if (listed.kind !== 'Node') continue
      const collectors = collectorsOf[mode]
      const unread = unreadNode(listed.cluster, listed.node, { mode, collectors }, reason)
      yield prune({ ...unread, errors: [...(listed.errors ?? []), ...(unread.errors ?? [])] })
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error
    errors.push({
      what: 'nodes',
      message: `some that were listed are not known any more: ${error.message}`,
    })
  }
}

function reasonOf({ Error: name, Cause: cause }: Failure) {
  const words = [name, messageIn(cause)].filter(text => text !== '').join(': ')
  return words.replace(/\s+/g, ' ').slice(0, longestReason)
}

function messageIn(cause: string) {
  const parsed = parsedJson(cause)
  return isRawObject(parsed) && 'errorMessage' in parsed ? String(parsed.errorMessage) : cause
}

/** The nodes of a shard, for the function that judges their cluster: the record of each, or why it is unread. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { ReadError, SnapshotRecord } from '#model/record.ts'
import type { FanOutContext } from './context.ts'
import {
  BrokenFile,
  type FanOutRun,
  keys,
  MissingFile,
  readRecords,
  writeRecords,
} from './files.ts'
import { lostNodes, whyLost } from './lost.ts'

interface Shard {
  cluster: number
  shard: number
}

/**
 * Of a file that breaks off, what stands before that counts, and the file is written anew with the rest as unread: it is a part of the run's snapshot.
 * @param keep what lies in no file yet
 * @param errors gets why not all of its nodes are known
 */
export async function* shardRecords(
  run: FanOutRun,
  { cluster, shard }: Shard,
  context: FanOutContext,
  { keep, errors }: { keep: (record: SnapshotRecord) => Promise<void>; errors: ReadError[] },
): AsyncGenerator<SnapshotRecord> {
  const { runId, store, runtime } = context
  const key = keys.records(runId, cluster, shard)
  const read = new Set<string>()
  try {
    for await (const record of readRecords(store, key, runtime.folder)) {
      read.add(nameIn(record))
      yield record
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error
    const isMissing = error instanceof MissingFile
    const reason = isMissing
      ? await whyLost(cluster, shard, context)
      : `what was read of it is not there any more: ${error.message}`
    const lost: SnapshotRecord[] = []
    for await (const record of lostNodes(run, { cluster, shard, reason }, context, errors))
      if (!read.has(nameIn(record))) lost.push(record)
    if (isMissing) for (const record of lost) await keep(record)
    else
      await writeRecords(
        store,
        key,
        mended(readRecords(store, key, runtime.folder), lost),
        runtime.folder,
      )
    yield* lost
  }
}

const nameIn = (record: SnapshotRecord): string =>
  record.kind === 'Node' ? nodeIdentity(record.node).name : ''

async function* mended(
  broken: AsyncIterable<SnapshotRecord>,
  lost: readonly SnapshotRecord[],
): AsyncGenerator<SnapshotRecord> {
  try {
    yield* broken
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error
  }
  yield* lost
}

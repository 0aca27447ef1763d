/** A shard of a fan-out: reads its nodes and keeps their records. Only one shard of a cluster runs at a time. */
import { collectNodes } from '#collect/collect.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { NodeRecord, ReadError, SnapshotRecord } from '#model/input/record.ts'
import { completeNode } from '#snapshot/prune.ts'
import {
  BrokenFile,
  type FanOutContext,
  type FanOutRun,
  hasFile,
  keys,
  MissingFile,
  openCluster,
  readRecords,
  runOf,
  workOf,
  writeRecords,
} from './files.ts'
import { lostNodes, whyLost } from './lost.ts'

/** Does nothing if the records exist already. @throws Error if the records could not be written */
export async function readShard({ cluster, shard }: Shard, context: FanOutContext) {
  const { runId, store, runtime } = context
  const kept = keys.records(runId, cluster, shard)
  if (await hasFile(store, kept)) return
  runtime.watch.enterStage('read')
  const run = await runOf(context)
  runtime.watch.isAbout(workOf(run, cluster).cluster)
  const nodes: NodeRecord[] = []
  for await (const listed of readRecords(store, keys.nodes(runId, cluster, shard), runtime.folder))
    if (listed.kind === 'Node') nodes.push(listed)
  const { record, endpoint, errors, options, close } = await openCluster(run, cluster, context)
  if (!endpoint)
    throw new Error(
      `shard ${shard} of cluster ${record.cluster} has nodes, and no way to it is known${errors.map(({ message }) => `: ${message}`).join('')}`,
    )
  try {
    await writeRecords(
      store,
      kept,
      complete(
        collectNodes(
          record.cluster,
          endpoint,
          nodes.map(({ node }) => node),
          options,
        ),
        nodes,
      ),
      runtime.folder,
    )
  } finally {
    close()
  }
}

/** With what the list of nodes has lost. */
async function* complete(
  records: AsyncIterable<NodeRecord>,
  listed: readonly NodeRecord[],
): AsyncGenerator<SnapshotRecord> {
  const lost = new Map(listed.map(record => [nameIn(record), record.errors ?? []]))
  for await (const record of records) {
    const errors = [...(lost.get(nameIn(record)) ?? []), ...(record.errors ?? [])]
    yield completeNode({ ...record, errors })
  }
}

interface Shard {
  cluster: number
  shard: number
}

/**
 * If the shard's file is truncated, its readable records count. The file is part of the snapshot, so it is rewritten with the other nodes as unread.
 * @param keep stores records that are in no file yet
 * @param errors receives the reason if nodes are missing
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
        mendRecords(readRecords(store, key, runtime.folder), lost),
        runtime.folder,
      )
    yield* lost
  }
}

const nameIn = (record: SnapshotRecord) =>
  record.kind === 'Node' ? nodeIdentity(record.node).name : ''

async function* mendRecords(
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

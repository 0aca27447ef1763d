/** Last step of a cluster in a fan-out: reads the cluster's own objects and judges the cluster with the same code as a whole fleet. */

import { join } from 'node:path'
import { asksForObjects, collectObjects, emptyNodeList } from '#collect/collect.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { rules } from '#judge/rules/index.ts'
import type { EarlierNodes } from '#model/history.ts'
import type { ClusterRecord, ReadError, SnapshotRecord } from '#model/input/record.ts'
import { judgeRecords } from '#pipeline/audit/judge-records.ts'
import { earlierInCluster } from '#pipeline/history/history.ts'
import { prune } from '#snapshot/prune.ts'
import {
  BrokenFile,
  clusterRecord,
  type FanOutContext,
  type FanOutRun,
  hasFile,
  keys,
  type OpenCluster,
  openCluster,
  openRecords,
  runOf,
  runPolicy,
  workOf,
  writeJudged,
} from './files.ts'
import { type Failure, lostNodes, whyLost } from './lost.ts'
import { shardRecords } from './read-shard.ts'

/** Does nothing if the result exists already. @throws Error if the result could not be written */
export async function judgeCluster(cluster: number, context: FanOutContext) {
  const { runId, store, runtime } = context
  if (await hasFile(store, keys.judged(runId, cluster))) return
  const run = await runOf(context)
  runtime.watch.isAbout(workOf(run, cluster).cluster)
  const open = await openCluster(run, cluster, context)
  try {
    const rest = openRecords(
      store,
      keys.rest(runId, cluster),
      join(runtime.folder, 'rest.ndjson.gz'),
    )
    const judged = await judgeRecords(recordsOf(run, cluster, open, context, rest.write), {
      policy: runPolicy(run, context),
      rules,
      snapshot: { write: async () => undefined },
      isEveryNodeNamed: true,
      keep: context.limits.keep,
      onStage: runtime.watch.enterStage,
      earlier: () => earlierOf(run, cluster, context),
    })
    await rest.keep()
    await writeJudged(store, keys.judged(runId, cluster), judged, runtime.folder)
  } finally {
    open.close()
  }
}

/** A cluster that was not judged. Only its nodes are known. */
export interface LostCluster {
  cluster: number
  /** Why its result cannot be used; null: there is no result. */
  broken: string | null
  /** Error of the state machine’s map, which might not have reached this cluster; null: none. */
  mapFailure: Failure | null
}

/** Judges a lost cluster from its listed nodes, each with the reason why it is unread. */
export async function judgeLostCluster(
  run: FanOutRun,
  { cluster, broken, mapFailure }: LostCluster,
  keep: (record: SnapshotRecord) => Promise<void>,
  context: FanOutContext,
) {
  const { shards, listErrors } = workOf(run, cluster)
  const record = await describedBefore(run, cluster, context)
  const reason = broken ?? (await whyLost(cluster, null, context, mapFailure))
  async function* knownRecords(): AsyncGenerator<SnapshotRecord> {
    const described: ClusterRecord & { errors: ReadError[] } = {
      ...record,
      errors: [...(record.errors ?? []), ...listErrors, { what: 'cluster', message: reason }],
    }
    yield run.header
    yield described
    const errors: ReadError[] = []
    for (let shard = 0; shard < shards; shard++)
      yield* lostNodes(run, { cluster, shard, reason }, context, errors)
    if (errors.length > 0) yield { ...described, errors: [...described.errors, ...errors] }
  }
  return judgeRecords(knownRecords(), {
    policy: runPolicy(run, context),
    rules,
    snapshot: {
      write: async record => (record.kind === 'Snapshot' ? undefined : await keep(record)),
    },
    isEveryNodeNamed: true,
    keep: context.limits.keep,
    earlier: () => earlierOf(run, cluster, context),
  })
}

/** Without a readable history no node has earlier readings. `publish` reports the error. */
const earlierOf = (
  run: FanOutRun,
  cluster: number,
  { store, runId }: FanOutContext,
): Promise<EarlierNodes> =>
  earlierInCluster(store, workOf(run, cluster).cluster, {
    takenAt: run.header.takenAt,
    ownRunId: runId,
  }).catch(() => () => null)

/** The cluster's record from discovery. If that record is lost: the cluster's name and the reason. */
async function describedBefore(
  run: FanOutRun,
  cluster: number,
  context: FanOutContext,
): Promise<ClusterRecord> {
  try {
    return await clusterRecord(cluster, context)
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error
    return {
      kind: 'Cluster',
      cluster: workOf(run, cluster).cluster,
      errors: [{ what: 'cluster', message: error.message }],
    }
  }
}

/** @param keep stores records that are in no file yet */
async function* recordsOf(
  run: FanOutRun,
  cluster: number,
  open: OpenCluster,
  context: FanOutContext,
  keep: (record: SnapshotRecord) => Promise<void>,
): AsyncGenerator<SnapshotRecord> {
  const { record, endpoint, options } = open
  const { shards, listErrors, nodes } = workOf(run, cluster)
  const keepRecord = async (one: SnapshotRecord) => {
    await keep(one)
    return one
  }
  const errors = [...listErrors, ...open.errors]
  const nodesWithPods = new Set<string>()
  yield run.header
  yield record
  for (let shard = 0; shard < shards; shard++) {
    for await (const node of shardRecords(run, { cluster, shard }, context, { keep, errors })) {
      if (node.kind === 'Node' && Array.isArray(node.pods))
        nodesWithPods.add(nodeIdentity(node.node).name)
      yield node
    }
  }
  if (endpoint && asksForObjects(options.selection, nodes > 0, errors)) {
    if (nodes === 0)
      for (const none of emptyNodeList(record.cluster, errors)) yield await keepRecord(none)
    const { cluster: name } = record
    for await (const objects of collectObjects(name, endpoint, nodesWithPods, options, errors))
      yield await keepRecord(prune(objects))
  }
  if (errors.length > 0)
    yield await keepRecord({ ...record, errors: [...(record.errors ?? []), ...errors] })
}

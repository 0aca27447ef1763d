/** Last step of a cluster in a fan-out: reads the cluster's own objects and judges the cluster with the same code as a whole fleet. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Keep } from '#base/keep.ts'
import { isRawObject, parsedJson } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
import {
  asksForObjects,
  collectNodes,
  collectObjects,
  noNodes,
  unreadNode,
} from '#collect/collect.ts'
import { collectorsOf } from '#collect/collectors/node.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { rules } from '#judge/rules/index.ts'
import type { SharedParts } from '#judge/run/shared-parts.ts'
import type { EarlierNodes } from '#model/history.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { ClusterRecord, NodeRecord, ReadError, SnapshotRecord } from '#model/input/record.ts'
import { readModeOf } from '#model/policy.ts'
import type { AuditedNode, NodeDetails } from '#model/report.ts'
import { type Judged, judgeRecords } from '#pipeline/audit/judge-records.ts'
import { earlierInCluster } from '#pipeline/history/saved.ts'
import { completeNode, prune } from '#snapshot/prune.ts'
import { openLines } from '#snapshot/write.ts'
import {
  BrokenFile,
  clusterRecord,
  type FanOutContext,
  type FanOutRun,
  isThere,
  keys,
  MissingFile,
  type OpenCluster,
  openCluster,
  openRecords,
  readFile,
  readJson,
  readRecords,
  runOf,
  runPolicy,
  workOf,
  writeJson,
  writeRecords,
} from './context.ts'

/** Does nothing if the result exists already. @throws Error if the result could not be written */
export async function judgeCluster(cluster: number, context: FanOutContext): Promise<void> {
  const { runId, store, runtime } = context
  if (await isThere(store, keys.judged(runId, cluster))) return
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
      onStage: runtime.watch.enters,
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
): Promise<Judged> {
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
  if (endpoint !== null && asksForObjects(options.selection, nodes > 0, errors)) {
    if (nodes === 0)
      for (const none of noNodes(record.cluster, errors)) yield await keepRecord(none)
    const { cluster: name } = record
    for await (const objects of collectObjects(name, endpoint, nodesWithPods, options, errors))
      yield await keepRecord(prune(objects))
  }
  if (errors.length > 0)
    yield await keepRecord({ ...record, errors: [...(record.errors ?? []), ...errors] })
}

/* Parts of a fan-out that failed. The reason is kept for the next function and becomes a reason in the report. */

/** A task that failed at every try, as the state machine reports it. Source: Step Functions developer guide, Error names and Lambda's errors. */
interface Failure {
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
): Promise<string> {
  const { runId, store, runtime } = context
  const lost: Lost = { reason: reasonOf(failure) }
  await writeJson(store, keys.lost(runId, cluster, shard), lost)
  // The cluster's name is only for the log, whose readers search by name.
  const run = await runOf(context).catch(() => null)
  if (run !== null) runtime.watch.isAbout(workOf(run, cluster).cluster)
  return lost.reason
}

/**
 * @param shard null: the whole cluster
 * @param mapFailure why the state machine's map ended early; null: it did not
 */
async function whyLost(
  cluster: number,
  shard: number | null,
  { runId, store }: FanOutContext,
  mapFailure: Failure | null = null,
): Promise<string> {
  const reason = await readReason(store, keys.lost(runId, cluster, shard))
  if (reason === null && mapFailure !== null)
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
async function* lostNodes(
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
    ))
      if (listed.kind === 'Node')
        yield prune(
          unreadNode(listed.cluster, listed.node, { mode, collectors: collectorsOf[mode] }, reason),
        )
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

/* A shard of a fan-out: reads its nodes and keeps their records. Only one shard of a cluster runs at a time. */

/** Does nothing if the records exist already. @throws Error if the records could not be written */
export async function readShard(
  { cluster, shard }: { cluster: number; shard: number },
  context: FanOutContext,
): Promise<void> {
  const { runId, store, runtime } = context
  const kept = keys.records(runId, cluster, shard)
  if (await isThere(store, kept)) return
  runtime.watch.enters('read')
  const run = await runOf(context)
  runtime.watch.isAbout(workOf(run, cluster).cluster)
  const nodes: KubernetesNode[] = []
  for await (const listed of readRecords(store, keys.nodes(runId, cluster, shard), runtime.folder))
    if (listed.kind === 'Node') nodes.push(listed.node)
  const { record, endpoint, errors, options, close } = await openCluster(run, cluster, context)
  if (endpoint === null)
    throw new Error(
      `shard ${shard} of cluster ${record.cluster} has nodes, and no way to it is known${errors.map(({ message }) => `: ${message}`).join('')}`,
    )
  try {
    await writeRecords(
      store,
      kept,
      complete(collectNodes(record.cluster, endpoint, nodes, options)),
      runtime.folder,
    )
  } finally {
    close()
  }
}

async function* complete(records: AsyncIterable<NodeRecord>): AsyncGenerator<SnapshotRecord> {
  for await (const record of records) yield completeNode(record)
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
async function* shardRecords(
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

/* The judged cluster as a file: the result in the first line, then one node per line. */

type JudgedPart = Omit<Judged, 'header'>
type NodeLine = Omit<AuditedNode, 'details'> & { details: NodeDetails }

async function writeJudged(
  store: Store,
  key: string,
  { nodes, ...rest }: JudgedPart,
  folder: string,
): Promise<void> {
  const path = join(folder, 'judged.ndjson.gz')
  const file = openLines(path)
  try {
    await file.write(rest)
    for (const node of nodes)
      await file.write({ ...node, details: node.details() } satisfies NodeLine)
    await file.close()
  } catch (error) {
    await file.discard()
    throw error
  }
  await store.writeFile(key, path, 'application/gzip')
  await rm(path)
}

/**
 * Null: no such file. Parts that are equal in several clusters are stored once. @param memory the parts of all clusters, and where the
 * details of nodes are kept
 * @throws BrokenFile if it cannot be parsed
 */
export const readJudged = (
  store: Store,
  key: string,
  memory: NodeMemory,
): Promise<JudgedPart | null> => readFile(store, key, body => parseJudged(body, memory))

interface NodeMemory {
  share: SharedParts
  keep: Keep
}

async function parseJudged(body: Buffer, { share, keep }: NodeMemory): Promise<JudgedPart> {
  let part: Omit<JudgedPart, 'nodes'> | null = null
  const nodes: AuditedNode[] = []
  for await (const line of linesOf(
    Readable.from([body]).pipe(createGunzip()).setEncoding('utf8'),
  )) {
    if (part === null) part = share.withTexts(JSON.parse(line) as Omit<JudgedPart, 'nodes'>)
    else {
      const { details, ...node } = JSON.parse(line) as NodeLine
      nodes.push({ ...share.nodeOf(node), details: keep(details) })
    }
  }
  if (part === null) throw new Error('it is empty')
  return { ...part, nodes }
}

/** Splits a text into lines. Node's readline would hide errors of its input. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of text) {
    const [first = '', ...more] = chunk.split('\n')
    rest += first
    for (const next of more) {
      yield rest
      rest = next
    }
  }
  if (rest !== '') yield rest
}

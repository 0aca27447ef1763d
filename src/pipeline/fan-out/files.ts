/** Files that the functions of a fan-out exchange, in the run's folder of the store. A file is written whole and replaced only by an equal one. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pMap from 'p-map'
import { gunzipChunks } from '#base/gzip.ts'
import type { Keep } from '#base/keep.ts'
import { inputLimits, judgedLimits, judgedLineLimit } from '#base/limits.ts'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { jsonFlaw } from '#base/raw-object.ts'
import { sdkRegion } from '#clients/aws/eks.ts'
import type { Store } from '#clients/store/store.ts'
import { Inspector } from '#collect/inspect/inspector.ts'
import { type AwsPlace, targetAt } from '#discover/discover.ts'
import type { SharedParts } from '#judge/run/kept-prediction.ts'
import type { ReadError, SnapshotHeader, SnapshotRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type AuditedNode, type NodeDetails, plainPrediction } from '#model/report.ts'
import type { AuditRequest, Settings } from '#model/run.ts'
import { collectOptionsOf } from '#pipeline/audit/fleet.ts'
import type { Judged } from '#pipeline/audit/judge-records.ts'
import {
  grantedPolicy,
  policyKey,
  type RunLimits,
  type ServiceRuntime,
  type Spent,
  type SpentBefore,
  storeOf,
  sumSpent,
  withinLimits,
} from '#pipeline/runtime/runtime.ts'
import { runKey } from '#publish/publish.ts'
import { linesIn, readSnapshot } from '#snapshot/read.ts'
import { openLines, openSnapshot } from '#snapshot/write.ts'

/** The run as discovery found it. Later functions use this, even if policy or fleet have changed since. */
export interface FanOutRun {
  schema: 'highwater.fan-out/1'
  runId: string
  request: AuditRequest
  header: SnapshotHeader
  /** The text of the policy; null: the defaults are in force. */
  policy: string | null
  mistakes: string[]
  /** Number of clusters read at the same time. */
  clustersAtOnce: number
  clusters: ClusterWork[]
}

/** A cluster of the run; its index in the list is its number. */
export interface ClusterWork {
  cluster: string
  /** Null: the place is unknown. */
  at: Omit<AwsPlace, 'credentials'> | null
  nodes: number
  /** Number of shards; shards are numbered from 0. */
  shards: number
  /** Errors of listing the cluster's nodes. */
  listErrors: ReadError[]
  /** The cluster's share of the SSM requests per second of its account and region. */
  ssmRequestsPerSecond: number
}

const inRun = (run: string, name: string) => runKey(run, `fan-out/${name}`)
const inCluster = (run: string, cluster: number, name: string) =>
  inRun(run, `clusters/${cluster}/${name}`)

export const keys = {
  /** The request of the run. */
  request: (run: string) => inRun(run, 'request.json'),
  /** Written last by discovery. */
  run: (run: string) => inRun(run, 'run.json'),
  work: (run: string) => inRun(run, 'work.json'),
  cluster: (run: string, cluster: number) => inCluster(run, cluster, 'cluster.ndjson.gz'),
  /** The Node objects of a shard, as they were listed. */
  nodes: (run: string, cluster: number, shard: number) =>
    inCluster(run, cluster, `nodes/${shard}.ndjson.gz`),
  /** The records of a shard's nodes. */
  records: (run: string, cluster: number, shard: number) =>
    inCluster(run, cluster, `records/${shard}.ndjson.gz`),
  /** The records of the cluster's snapshot that are not in a shard. */
  rest: (run: string, cluster: number) => inCluster(run, cluster, 'rest.ndjson.gz'),
  /** Written last by the function that judges the cluster. */
  judged: (run: string, cluster: number) => inCluster(run, cluster, 'judged.ndjson.gz'),
  /** Duration and memory of an invocation. Id null: the common prefix of all invocations. */
  invocation: (run: string, requestId: string | null) =>
    inRun(run, `invocations/${requestId === null ? '' : `${requestId}.json`}`),
  /** Why a shard was not read, or the cluster not judged. */
  lost: (run: string, cluster: number, shard: number | null) =>
    inCluster(run, cluster, `lost/${shard ?? 'cluster'}.json`),
}

/** A file that cannot be parsed. `message` names the file and the fault. */
export class BrokenFile extends Error {}
/** The previous function has not written the file, or the file was deleted since. */
export class MissingFile extends BrokenFile {}

const brokenFile = ({ location }: Store, key: string, cause: unknown) =>
  new BrokenFile(`${location}/${key} is broken: ${messageOf(cause)}`, { cause })

/** Reads and parses a file. Null: no such file. @throws BrokenFile if it cannot be parsed; Error with a message for people if the store cannot be read */
async function readFile<T>(store: Store, key: string, parse: (body: Buffer) => T | Promise<T>) {
  const found = await store.read(key)
  if (!found) return null
  try {
    return await parse(found.body)
  } catch (error) {
    throw brokenFile(store, key, error)
  }
}

/** Null: no such file. @throws as readFile */
export const readJson = <T>(store: Store, key: string) =>
  readFile(store, key, body => {
    const flaw = jsonFlaw(body, inputLimits.storedJson)
    if (flaw !== null) throw new Error(flaw)
    return JSON.parse(body.toString('utf8')) as T
  })

export const writeJson = (store: Store, key: string, value: unknown) =>
  store.write(key, `${JSON.stringify(value)}\n`)

export async function hasFile(store: Store, key: string) {
  for await (const found of store.list(key)) if (found === key) return true
  return false
}

/** Writes records as a part of a snapshot. They go through a local file, so memory holds one record at a time. */
export async function writeRecords(
  store: Store,
  key: string,
  records: AsyncIterable<SnapshotRecord> | Iterable<SnapshotRecord>,
  folder: string,
) {
  await mkdir(folder, { recursive: true })
  const part = openRecords(store, key, join(folder, 'part.ndjson.gz'))
  try {
    for await (const record of records) await part.write(record)
  } catch (error) {
    await part.discard()
    throw error
  }
  await part.keep()
}

/** A part of a snapshot that is filled record by record. @param path of the local file */
export function openRecords(store: Store, key: string, path: string) {
  const file = openSnapshot(path)
  return {
    ...file,
    async keep() {
      await file.close()
      await store.writeFile(key, path, 'application/gzip')
      await rm(path)
    },
  }
}

/** Yields at least one record. @throws MissingFile; BrokenFile after the readable records; Error with a message for people if the store cannot be read */
export async function* readRecords(
  store: Store,
  key: string,
  folder: string,
): AsyncGenerator<SnapshotRecord> {
  const found = await store.read(key)
  if (!found) throw new MissingFile(`${store.location}/${key} is not there`)
  const path = join(folder, 'read.ndjson.gz')
  await writeFile(path, found.body)
  let isEmpty = true
  for await (const record of readSnapshot(path, { isPart: true })) {
    if (record.kind === 'Malformed')
      throw brokenFile(store, key, `line ${record.line}: ${record.message}`)
    isEmpty = false
    yield record
  }
  await rm(path)
  if (isEmpty) throw brokenFile(store, key, 'it is empty')
}

/*
 * Duration and memory of each invocation of a fan-out, one file each. The last function reports them for the whole run. A retry is another
 * invocation, so each throttled request is counted once. No result depends on these files: files that cannot be written or read are skipped.
 */

interface FunctionInvocation extends Spent {
  schema: 'highwater.invocation/1'
  isFailed: boolean
}

const readAtOnce = 10

export async function noteInvocation(
  store: Store,
  runId: string,
  { requestId, watch }: Pick<ServiceRuntime, 'requestId' | 'watch'>,
  isFailed: boolean,
) {
  const invocation: FunctionInvocation = {
    schema: 'highwater.invocation/1',
    ...watch.spent(),
    isFailed,
  }
  await writeJson(store, keys.invocation(runId, requestId), invocation).catch(() => undefined)
}

/** Null: no invocation left a file. */
export async function earlierSpent(store: Store, runId: string): Promise<SpentBefore | null> {
  const names = await Array.fromAsync(store.list(keys.invocation(runId, null))).catch(() => [])
  const found = await pMap(
    names,
    key => readJson<FunctionInvocation>(store, key).catch(() => null),
    { concurrency: readAtOnce },
  )
  const known = found.filter(invocation => invocation !== null)
  if (known.length === 0) return null
  return {
    ...sumSpent(known),
    invocations: known.length,
    failed: known.filter(({ isFailed }) => isFailed).length,
  }
}

/* The context of each function of a fan-out: run, store, policy, cluster. */

export interface FanOutContext {
  runId: string
  settings: Settings
  region: string
  store: Store
  runtime: ServiceRuntime
  limits: RunLimits
}

/** @throws OperatorError if the function has no bucket */
export const withFanOut = <T>(
  runId: string,
  settings: Settings,
  runtime: ServiceRuntime,
  step: (context: FanOutContext) => Promise<T>,
) =>
  withinLimits(runtime, async limits => {
    runtime.watch.began(runId)
    const region = await sdkRegion()
    const store = region === null ? null : storeOf(settings, region, limits.remainingMs, limits.end)
    if (region === null || !store)
      throw new OperatorError(
        'Many functions read a fleet together by way of a bucket: set AWS_REGION and HIGHWATER_BUCKET',
      )
    let isFailed = true
    try {
      const answer = await step({ runId, settings, region, store, runtime, limits })
      isFailed = false
      return answer
    } finally {
      await noteInvocation(store, runId, runtime, isFailed)
    }
  })

/** @throws OperatorError if its discovery is missing */
export async function runOf({ runId, store }: FanOutContext) {
  const run = await readJson<FanOutRun>(store, keys.run(runId))
  if (!run)
    throw new OperatorError(
      `Run ${runId} has no ${store.location}/${keys.run(runId)}: the function discover writes it, and comes first`,
    )
  return run
}

/** @throws OperatorError if the run has no such cluster */
export function workOf(run: FanOutRun, cluster: number) {
  const work = run.clusters[cluster]
  if (!work)
    throw new OperatorError(
      `Run ${run.runId} has ${run.clusters.length} clusters, counted from 0: there is no ${cluster}`,
    )
  return work
}

/** The policy at the start of the run. */
export const runPolicy = ({ policy }: FanOutRun, { runtime, store, settings }: FanOutContext) =>
  policy === null
    ? defaultPolicy
    : grantedPolicy(
        runtime.parsePolicy(policy, `${store.location}/${policyKey}`),
        settings.policyGrants,
      ).policy

export type OpenCluster = Awaited<ReturnType<typeof openCluster>>

/** A described cluster and the options to read it. `errors`: why it cannot be read now. */
export async function openCluster(run: FanOutRun, cluster: number, context: FanOutContext) {
  const { limits, runtime } = context
  const { at, ssmRequestsPerSecond } = workOf(run, cluster)
  const whole = runPolicy(run, context)
  const policy = { ...whole, pace: { ...whole.pace, ssmRequestsPerSecond } }
  const record = await clusterRecord(cluster, context)
  const target = at
    ? await targetAt(record, at, policy, limits.reading)
    : { record, endpoint: null, place: null, errors: [] }
  let inspector: Inspector | null = null
  const options = collectOptionsOf(
    target,
    { policy, selection: run.request.selection, signal: limits.reading, now: runtime.now },
    place => {
      inspector = new Inspector(place, policy, limits.reading, true)
      return inspector
    },
  )
  const { endpoint, errors } = target
  return { record, endpoint, errors, options, close: () => inspector?.close() }
}

/** The record that discovery wrote. @throws BrokenFile if it is missing or cannot be parsed */
export async function clusterRecord(cluster: number, { store, runId, runtime }: FanOutContext) {
  const key = keys.cluster(runId, cluster)
  for await (const record of readRecords(store, key, runtime.folder))
    if (record.kind === 'Cluster') return record
  throw new BrokenFile(`${store.location}/${key} is broken: no cluster stands in it`)
}

/* The judged cluster as a file: the result in the first line, then one node per line. */

type JudgedPart = Omit<Judged, 'header'>
type NodeLine = Omit<AuditedNode, 'details'> & { details: NodeDetails }

export async function writeJudged(
  store: Store,
  key: string,
  { nodes, ...rest }: JudgedPart,
  folder: string,
) {
  const path = join(folder, 'judged.ndjson.gz')
  const file = openLines(path)
  try {
    await file.write(rest)
    for (const node of nodes)
      await file.write({
        ...node,
        prediction: plainPrediction(node.prediction),
        details: node.details(),
      } satisfies NodeLine)
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
  const { maxLines, maxUnpackedBytes } = judgedLimits(body.length)
  for await (const line of linesIn(gunzipChunks(Readable.from([body]), maxUnpackedBytes))) {
    if ('lost' in line) throw new Error(line.lost)
    if (nodes.length > maxLines) throw new Error('no such file has so many lines')
    if (!part) part = share.withTexts(parsedLine(line.bytes) as Omit<JudgedPart, 'nodes'>)
    else {
      const { details, ...node } = parsedLine(line.bytes) as NodeLine
      nodes.push({ ...share.nodeOf(node), details: keep(details) })
    }
  }
  if (!part) throw new Error('it is empty')
  return { ...part, nodes }
}

/** The bucket may be in other hands. @throws Error if the line has more than a function writes */
function parsedLine(line: Buffer): unknown {
  const flaw = jsonFlaw(line, judgedLineLimit(line.length))
  if (flaw !== null) throw new Error(flaw)
  return JSON.parse(line.toString())
}

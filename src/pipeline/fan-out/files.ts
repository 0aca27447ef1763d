/** Files that the functions of a fan-out exchange, in the run's folder of the store. A file is written whole and replaced only by an equal one. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pMap from 'p-map'
import { inputLimits } from '#base/limits.ts'
import { messageOf } from '#base/operator-error.ts'
import { jsonFlaw } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
import type { AwsPlace } from '#discover/discover.ts'
import type { ReadError, SnapshotHeader, SnapshotRecord } from '#model/input/record.ts'
import type { AuditRequest } from '#model/run.ts'
import { type Spent, type SpentBefore, sumSpent } from '#pipeline/runtime/run-watch.ts'
import type { ServiceRuntime } from '#pipeline/runtime/runtime.ts'
import { runKey } from '#publish/run.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { openSnapshot } from '#snapshot/write.ts'

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

/** An item of the state machine's map. */
export interface WorkItem {
  run: string
  cluster: number
  shards: number[]
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
export async function readFile<T>(
  store: Store,
  key: string,
  parse: (body: Buffer) => T | Promise<T>,
): Promise<T | null> {
  const found = await store.read(key)
  if (!found) return null
  try {
    return await parse(found.body)
  } catch (error) {
    throw brokenFile(store, key, error)
  }
}

/** Null: no such file. @throws as readFile */
export const readJson = <T>(store: Store, key: string): Promise<T | null> =>
  readFile(store, key, body => {
    const flaw = jsonFlaw(body, inputLimits.storedJson)
    if (flaw !== null) throw new Error(flaw)
    return JSON.parse(body.toString('utf8')) as T
  })

export const writeJson = (store: Store, key: string, value: unknown): Promise<void> =>
  store.write(key, `${JSON.stringify(value)}\n`, 'application/json')

export async function hasFile(store: Store, key: string): Promise<boolean> {
  for await (const found of store.list(key)) if (found === key) return true
  return false
}

/** Writes records as a part of a snapshot. They go through a local file, so memory holds one record at a time. */
export async function writeRecords(
  store: Store,
  key: string,
  records: AsyncIterable<SnapshotRecord> | Iterable<SnapshotRecord>,
  folder: string,
): Promise<void> {
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
    async keep(): Promise<void> {
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
): Promise<void> {
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

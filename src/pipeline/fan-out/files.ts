/** What the functions of a fan-out leave for each other: files in the run's own place of the store. Each is written whole, and replaced only by the same. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '#clients/store.ts'
import type { AwsPlace } from '#discover/discover.ts'
import { messageOf } from '#model/error-message.ts'
import { inputLimits } from '#model/input-limits.ts'
import { jsonFlaw } from '#model/json-flaw.ts'
import type { ReadError, SnapshotHeader, SnapshotRecord } from '#model/record.ts'
import type { AuditRequest } from '#model/run.ts'
import { runKey } from '#publish/run.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { openSnapshot } from '#snapshot/write.ts'

/** What the run is, as its first function found it: all later ones go by it, whatever has changed since. */
export interface FanOutRun {
  schema: 'highwater.fan-out/1'
  runId: string
  request: AuditRequest
  header: SnapshotHeader
  /** The text of the policy; null: the defaults are in force. */
  policy: string | null
  mistakes: string[]
  /** Read at once. */
  clustersAtOnce: number
  clusters: ClusterWork[]
}

/** A cluster's part of it; its place in the list is its number. */
export interface ClusterWork {
  cluster: string
  /** Null: unknown place. */
  at: Omit<AwsPlace, 'credentials'> | null
  nodes: number
  /** Numbered from 0. */
  shards: number
  /** Of the list of its nodes. */
  listErrors: ReadError[]
  /** What it may ask of SSM a second, beside the others of its account and region. */
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
  /** Why the run is there. */
  request: (run: string) => inRun(run, 'request.json'),
  /** Written last by discovery. */
  run: (run: string) => inRun(run, 'run.json'),
  work: (run: string) => inRun(run, 'work.json'),
  cluster: (run: string, cluster: number) => inCluster(run, cluster, 'cluster.ndjson.gz'),
  /** The Node objects of a shard, as they were listed. */
  nodes: (run: string, cluster: number, shard: number) =>
    inCluster(run, cluster, `nodes/${shard}.ndjson.gz`),
  /** And what was read of them. */
  records: (run: string, cluster: number, shard: number) =>
    inCluster(run, cluster, `records/${shard}.ndjson.gz`),
  /** What belongs into the snapshot beside cluster and records. */
  rest: (run: string, cluster: number) => inCluster(run, cluster, 'rest.ndjson.gz'),
  /** Written last by the function that judges the cluster. */
  judged: (run: string, cluster: number) => inCluster(run, cluster, 'judged.ndjson.gz'),
  /** What an invocation took; without its id, what all of them begin with. */
  invocation: (run: string, requestId: string | null) =>
    inRun(run, `invocations/${requestId === null ? '' : `${requestId}.json`}`),
  /** Why a shard was not read, or the cluster not judged. */
  lost: (run: string, cluster: number, shard: number | null) =>
    inCluster(run, cluster, `lost/${shard ?? 'cluster'}.json`),
}

/** It is there, and not as it was written. `message` names the file, and what is wrong with it. */
export class BrokenFile extends Error {}
/** The previous function has not written the file, or it was deleted since. */
export class MissingFile extends BrokenFile {}

const brokenFile = ({ location }: Store, key: string, cause: unknown) =>
  new BrokenFile(`${location}/${key} is broken: ${messageOf(cause)}`, { cause })

/** What the store holds under the key, made into something. Null: it is not there. @throws BrokenFile when it cannot be; Error with a message for people when the store cannot be read */
export async function readFile<T>(
  store: Store,
  key: string,
  parse: (body: Buffer) => T | Promise<T>,
): Promise<T | null> {
  const found = await store.read(key)
  if (found === null) return null
  try {
    return await parse(found.body)
  } catch (error) {
    throw brokenFile(store, key, error)
  }
}

/** Null: it is not there. @throws as readFile */
export const readJson = <T>(store: Store, key: string): Promise<T | null> =>
  readFile(store, key, body => {
    const flaw = jsonFlaw(body, inputLimits.storedJson)
    if (flaw !== null) throw new Error(flaw)
    return JSON.parse(body.toString('utf8')) as T
  })

export const writeJson = (store: Store, key: string, value: unknown): Promise<void> =>
  store.write(key, `${JSON.stringify(value)}\n`, 'application/json')

export async function isThere(store: Store, key: string): Promise<boolean> {
  for await (const found of store.list(key)) if (found === key) return true
  return false
}

/** Records as a part of a snapshot, by way of a file: of memory it takes a record's. */
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

/** Such a part, filled by and by. @param path of a file that it takes on its way */
export function openRecords(store: Store, key: string, path: string) {
  const file = openSnapshot(path)
  return {
    write: (record: SnapshotRecord): Promise<void> => file.write(record),
    discard: (): Promise<void> => file.discard(),
    async keep(): Promise<void> {
      await file.close()
      await store.writeFile(key, path, 'application/gzip')
      await rm(path)
    },
  }
}

/** At least one. @throws MissingFile; BrokenFile after those that could be read; Error with a message for people when the store cannot be read */
export async function* readRecords(
  store: Store,
  key: string,
  folder: string,
): AsyncGenerator<SnapshotRecord> {
  const found = await store.read(key)
  if (found === null) throw new MissingFile(`${store.location}/${key} is not there`)
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

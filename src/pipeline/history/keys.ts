/** Keys of history files. Files are gzipped and replaced as a whole by compare-and-swap. */
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Store } from '#clients/store.ts'
import { inputLimits } from '#model/input-limits.ts'
import { jsonFlaw } from '#model/json-flaw.ts'

export const runsPrefix = 'history/runs/'
export const nodesPrefix = 'history/nodes/'
export const trendsPrefix = 'history/trends/'

export const runKey = (runId: string) => `${runsPrefix}${runId}.json.gz`
export const nodesKey = (cluster: string, day: string) =>
  `${nodesPrefix}${clusterKey(cluster)}/${day}.ndjson.gz`
export const trendsKey = (cluster: string) => `${trendsPrefix}${clusterKey(cluster)}.json.gz`

const keptLength = 150

/** A key segment for any cluster name: readable if possible, unique always. */
export function clusterKey(cluster: string): string {
  const encoded = encodeURIComponent(cluster.toWellFormed()).replace(
    /[.*'()!~]/g,
    character => `%${character.charCodeAt(0).toString(16)}`,
  )
  if (encoded === cluster && encoded !== '' && encoded.length <= keptLength) return encoded
  const hash = createHash('sha256').update(cluster).digest('hex').slice(0, 12)
  return `${encoded.slice(0, keptLength)}-${hash}`
}

/** The day in a key, YYYY-MM-DD; null: none. */
export const dayOf = (key: string) =>
  /\d{4}-\d{2}-\d{2}/.exec(key.slice(key.lastIndexOf('/') + 1))?.[0] ?? null

/** @throws Error if it is not gzip, or too long */
export const unpacked = (body: Buffer): Buffer =>
  gunzipSync(body, { maxOutputLength: inputLimits.history.maxBytes })
/** Undefined: no JSON, or more than a history file has. */
export function jsonIn(bytes: Uint8Array): unknown {
  if (jsonFlaw(bytes, inputLimits.history) !== null) return undefined
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}
export const packed = (text: string): Buffer => gzipSync(text)

const rounds = 5

/**
 * Reads, changes and writes one file. A write in between is read again, not lost.
 * @param change from the text in the store (empty: none) to the whole new text
 * @throws Error with a message for people when the store cannot be read or written, or the file changes again and again
 */
export async function update(
  store: Store,
  key: string,
  change: (text: string) => string,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const found = await store.read(key)
    const body = packed(change(textIn(found?.body)))
    const isWritten =
      found === null
        ? await store.create(key, body, 'application/gzip')
        : await store.replace(key, body, 'application/gzip', found.version)
    if (isWritten) return
  }
  throw new Error(`${store.location}/${key} was changed by other writers at every try`)
}

/** Empty: there is no file, or it cannot be unpacked and is written anew. */
export function textIn(body: Buffer | undefined): string {
  try {
    return body === undefined ? '' : unpacked(body).toString('utf8')
  } catch {
    return ''
  }
}

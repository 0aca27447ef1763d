/** Keys of history files. Files are gzipped and replaced as a whole by compare-and-swap. */
import { createHash } from 'node:crypto'
import { getHeapStatistics } from 'node:v8'
import { gzipSync } from 'node:zlib'
import { gunzip } from '#base/gzip.ts'
import { inputLimits, maxCompressionRatio } from '#base/limits.ts'
import { parsedJson } from '#base/raw-object.ts'
import { type Store, TooLong, update } from '#clients/store/store.ts'

export const runsPrefix = 'history/runs/'
export const nodesPrefix = 'history/nodes/'
export const trendsPrefix = 'history/trends/'

export const runKey = (runId: string) => `${runsPrefix}${runId}.json.gz`
export const nodesKey = (cluster: string, day: string) =>
  `${nodesPrefix}${clusterKey(cluster)}/${day}.ndjson.gz`
export const trendsKey = (cluster: string) => `${trendsPrefix}${clusterKey(cluster)}.json.gz`

const keptLength = 150

/** A key segment for any cluster name: readable if possible, unique always. */
export function clusterKey(cluster: string) {
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

/** Maximum unpacked bytes of days and trends that a process holds for all clusters. Parsed, they take up to ten times as much memory. */
export const historyRoom = () => Math.floor(getHeapStatistics().heap_size_limit / 32)

/** Undefined: the text is not JSON, or exceeds the limits of a history file. */
export const jsonIn = (text: string) => parsedJson(text, inputLimits.history)
export const packText = (text: string): Buffer => gzipSync(text)

const rounds = 5

/**
 * Reads, changes and writes one file. If another process writes in between, the file is read again.
 * @param change from the text in the store (empty: none) to the whole new text
 * @throws Error with a message for people when the store cannot be read or written, the file changes again and again, or
 * it was too long and was written anew
 */
export async function updateText(store: Store, key: string, change: (text: string) => string) {
  const contentType = 'application/gzip'
  const isWritten = await update(store, key, rounds, async () => {
    const { text, version, flaw } = await readText(store, key)
    const body = packText(change(text))
    if (flaw === null) return { version, body, contentType }
    await store.write(key, body, contentType)
    throw new Error(`${store.location}/${key} was written anew: ${flaw}`)
  })
  if (!isWritten)
    throw new Error(`${store.location}/${key} was changed by other writers at every try`)
}

/** Nodes of one group have nearly the same lines. */
const shortBytes = 4 * 1024 * 1024

/**
 * @param maxBytes limit of the unpacked text
 * @returns `text` empty: there is no file, it is no gzip, or it is too long; `version` null: there is no file, or a too long one; `flaw`: why it is too long
 * @throws Error with a message for people when the store cannot be read
 */
export async function readText(store: Store, key: string, maxBytes = historyRoom()) {
  try {
    const found = await store.read(key)
    if (!found) return { text: '', version: null, flaw: null }
    return { text: textIn(found.body, maxBytes), version: found.version, flaw: null }
  } catch (error) {
    if (!(error instanceof TooLong)) throw error
    return { text: '', version: null, flaw: error.message }
  }
}

function textIn(body: Buffer, maxBytes: number) {
  const most = Math.max(1, Math.min(maxBytes, inputLimits.history.maxBytes))
  const unpacked = gunzip(body, most, shortBytes)
  if (unpacked === 'broken') return ''
  if (unpacked === 'ratio')
    throw new TooLong(`it is more than ${maxCompressionRatio} times as long as its gzip`)
  if (unpacked === 'too-long')
    throw new TooLong(`unpacked, it has more than ${most} bytes, and those are not read`)
  return unpacked.toString('utf8')
}

/** Where the lab's S3 keeps its objects: in memory, or in a folder in which people can open them and the next lab finds them. */
import { createHash } from 'node:crypto'

export interface StoredObject {
  body: Buffer
  /** Without quotes. */
  etag: string
  lastModifiedMs: number
  /** What GetObject answers with: content type, encryption, checksums, metadata. */
  headers: Record<string, string>
}

export interface ObjectStore {
  /** Null when there is no such object. */
  get(bucket: string, key: string): StoredObject | null
  put(bucket: string, key: string, object: StoredObject): void
  delete(bucket: string, key: string): void
  /** Unsorted. */
  keys(bucket: string): string[]
}

export const md5Hex = (data: Uint8Array) => createHash('md5').update(data).digest('hex')

export function memoryStore(): ObjectStore {
  const buckets = new Map<string, Map<string, StoredObject>>()
  const objects = (bucket: string) => {
    const found = buckets.get(bucket) ?? new Map<string, StoredObject>()
    buckets.set(bucket, found)
    return found
  }
  return {
    get: (bucket, key) => objects(bucket).get(key) ?? null,
    put: (bucket, key, object) => void objects(bucket).set(key, object),
    delete: (bucket, key) => void objects(bucket).delete(key),
    keys: bucket => [...objects(bucket).keys()],
  }
}

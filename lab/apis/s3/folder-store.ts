/**
 * Objects as files, `<folder>/<bucket>/<key>`, and what S3 remembers beside the content in `<folder>/.objects/<bucket>/<key>`. Nothing
 * is kept in memory, so that two labs on one folder see the same; a file that somebody put there or changed is an object, too.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { notImplemented } from '#lab/api.ts'
import { sha256Hex } from '#lab/sigv4.ts'
import { md5Hex, type ObjectStore } from './object-store.ts'

/** No bucket's name can begin with a dot. */
const sidecars = '.objects'

interface Sidecar {
  /** Of the content that it was written for. */
  sha256: string
  etag: string
  headers: Record<string, string>
}

export function folderStore(folder: string): ObjectStore {
  const bodyPath = (bucket: string, key: string) => join(folder, bucket, pathOf(key))
  const sidecarPath = (bucket: string, key: string) => join(folder, sidecars, bucket, pathOf(key))
  return {
    get(bucket, key) {
      const path = bodyPath(bucket, key)
      const body = read(path)
      if (!body) return null
      const known = read(sidecarPath(bucket, key))
      const sidecar = known && (JSON.parse(known.toString()) as Sidecar)
      const { etag, headers } =
        sidecar?.sha256 === sha256Hex(body)
          ? sidecar
          : { etag: md5Hex(body), headers: { 'content-type': 'binary/octet-stream' } }
      return { body, etag, headers, lastModifiedMs: statSync(path).mtimeMs }
    },
    put(bucket, key, { body, etag, headers }) {
      const sidecar: Sidecar = { sha256: sha256Hex(body), etag, headers }
      write(folder, sidecarPath(bucket, key), `${JSON.stringify(sidecar)}\n`)
      write(folder, bodyPath(bucket, key), body)
    },
    delete(bucket, key) {
      if (read(bodyPath(bucket, key)) === null) return
      rmSync(bodyPath(bucket, key))
      rmSync(sidecarPath(bucket, key), { force: true })
    },
    keys(bucket) {
      const root = join(folder, bucket)
      return files(root).map(path => keyOf(relative(root, path)))
    },
  }
}

/** One path segment for each of the key's; a lone `%`, which no encoding gives, stands for an empty one. */
const pathOf = (key: string) =>
  join(...key.split('/').map(segment => (segment === '' ? '%' : escapeSegment(segment))))

const keyOf = (path: string) =>
  path
    .split(sep)
    .map(segment => (segment === '%' ? '' : decodeURIComponent(segment)))
    .join('/')

const escapeSegment = (segment: string) =>
  /^\.+$/.test(segment)
    ? segment.replaceAll('.', '%2E')
    : encodeURIComponent(segment).replaceAll('*', '%2A')

/** Null when there is no such file. */
function read(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error))) return null
    throw error
  }
}

/** The whole file or nothing: a reader never sees half of it, even when this process is killed. */
function write(folder: string, path: string, body: Buffer | string): void {
  const unfinished = join(folder, sidecars, `unfinished-${process.pid}`)
  try {
    for (const each of [unfinished, path]) mkdirSync(dirname(each), { recursive: true })
    writeFileSync(unfinished, body)
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    if (['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY'].includes(codeOf(error)))
      throw notImplemented(
        'the lab keeps objects as files, so one key cannot be the folder of another',
      )
    throw error
  }
}

function files(root: string): string[] {
  let entries: ReturnType<typeof list>
  try {
    entries = list(root)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

const list = (root: string) => readdirSync(root, { recursive: true, withFileTypes: true })

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** A store in a folder of this machine. A file appears whole or not at all. If several writers or processes write a key at once, one wins. */

import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import {
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { storedLimitOf } from '#base/limits.ts'
import { codeOf, messageOf } from '#base/operator-error.ts'
import { checkKey, type Store, TooLong, tooLong } from './store.ts'

const partialSuffix = '.partial'
const lockSuffix = '.lock'
// A writer holds the lock for a few file operations, so an older lock belongs to a dead process.
const lockStaleMs = 10_000
const lockPollMs = 20

export function folderStore(folder: string): Store {
  const place = (key: string) => join(folder, ...checkKey(key).split('/'))
  const partials = partialFiles()

  /** Writes a file beside the target. Then `settle` moves the file to the target. */
  async function writeBeside<T>(
    key: string,
    fill: (partial: string) => Promise<unknown>,
    settle: (partial: string, target: string) => Promise<T>,
  ) {
    const target = place(key)
    const partial = `${target}.${randomUUID()}${partialSuffix}`
    partials.add(partial)
    try {
      await mkdir(dirname(target), { recursive: true })
      await fill(partial)
      return await settle(partial, target)
    } catch (error) {
      throw folderFailure(error)
    } finally {
      partials.remove(partial)
    }
  }

  return {
    location: folder,
    async read(key) {
      try {
        const path = place(key)
        const { size } = await stat(path)
        if (size > storedLimitOf(key)) throw tooLong(path, size, storedLimitOf(key))
        const body = await readFile(path)
        return { body, version: versionOf(body) }
      } catch (error) {
        if (isNoFile(error)) return null
        throw folderFailure(error)
      }
    },
    write: (key, body) => writeBeside(key, partial => writeFile(partial, body), rename),
    create: (key, body) => writeBeside(key, partial => writeFile(partial, body), linkNew),
    replace: (key, body, version) =>
      writeBeside(
        key,
        partial => writeFile(partial, body),
        (partial, target) =>
          withLock(target, async () => {
            const current = await readFile(target).catch(error => {
              if (isNoFile(error)) return null
              throw error
            })
            if (!current || versionOf(current) !== version) return false
            await rename(partial, target)
            return true
          }),
      ),
    async writeFile(key, path) {
      if (resolve(path) !== resolve(place(key)))
        await writeBeside(key, partial => copyFile(path, partial), rename)
    },
    async remove(key) {
      await rm(place(key), { force: true }).catch(error => {
        throw folderFailure(error)
      })
    },
    wasWritten: key =>
      stat(place(key)).then(
        () => true,
        (error: unknown) => {
          if (isNoFile(error)) return false
          throw folderFailure(error)
        },
      ),
    async *list(prefix) {
      yield* (await filesIn(folder)).filter(key => key.startsWith(prefix)).sort()
    },
  }
}

/** Files that are being written. If the process exits early, they are removed. */
function partialFiles() {
  const paths = new Set<string>()
  const remove = (path: string) => {
    try {
      rmSync(path, { force: true })
    } catch {
      // Its folder is no folder, or is no longer writable: the write has failed for that.
    }
  }
  const removeAll = () => {
    for (const path of paths) remove(path)
  }
  return {
    add(path: string) {
      if (paths.size === 0) process.once('exit', removeAll)
      paths.add(path)
    },
    /** Also of a file that has been renamed. */
    remove(path: string) {
      remove(path)
      paths.delete(path)
      if (paths.size === 0) process.removeListener('exit', removeAll)
    },
  }
}

/** A key that is a folder, or lies below a file, counts as missing: a bucket has no folders. */
const isNoFile = (error: unknown) => ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '')

const versionOf = (body: Buffer) => createHash('sha256').update(body).digest('hex')

/** Unlike a rename, a hard link never replaces a file. */
async function linkNew(partial: string, target: string) {
  try {
    await link(partial, target)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function withLock<T>(target: string, run: () => Promise<T>) {
  const lock = `${target}${lockSuffix}`
  while (!(await takeLock(lock))) {
    const ageMs = await stat(lock).then(
      ({ mtimeMs }) => Math.abs(Date.now() - mtimeMs), // ahead of now: the clock has jumped since
      () => 0, // released in the meantime
    )
    if (ageMs > lockStaleMs) await rm(lock, { force: true })
    else await delay(lockPollMs)
  }
  try {
    return await run()
  } finally {
    await rm(lock, { force: true })
  }
}

async function takeLock(lock: string) {
  try {
    await (await open(lock, 'wx')).close()
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function filesIn(folder: string) {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter(
        entry =>
          entry.isFile() && !entry.name.endsWith(partialSuffix) && !entry.name.endsWith(lockSuffix),
      )
      .map(entry => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw folderFailure(error)
  }
}

const advice: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file stands where a folder should be',
  EEXIST: 'a file stands where a folder should be',
  EISDIR: 'a folder stands where a file should be',
}

function folderFailure(error: unknown) {
  if (error instanceof TooLong) return error
  const text = messageOf(error)
  const said = advice[codeOf(error) ?? '']
  return new Error(said === undefined ? text : `${said} (${text})`, { cause: error })
}

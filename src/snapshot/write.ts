/** Writes a snapshot, record by record, gzipped if the name ends in `.gz`. The file appears under its name when it is complete. */
import { randomUUID } from 'node:crypto'
import { createWriteStream, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import type { SnapshotRecord } from '#model/input/record.ts'

/** Buffer size for compressed bytes. With a smaller buffer, a record takes several turns of the thread pool. */
const chunkSize = 2 ** 17

export interface LineWriter<Line> {
  /** Path of the complete file. */
  readonly path: string
  /** Waits if the disk is slower than the run. */
  write(line: Line): Promise<void>
  /** Completes the file. @throws the file system's error. */
  close(): Promise<void>
  /** Removes the partial file. */
  discard(): Promise<void>
}

export type SnapshotWriter = LineWriter<SnapshotRecord>

/** @throws the file system's error, on the first write or on close. */
export const openSnapshot = (path: string): SnapshotWriter => openLines(path)

/** Writes JSON lines in the same way as a snapshot. @throws as openSnapshot */
export function openLines<Line extends object>(path: string): LineWriter<Line> {
  // A unique name, because another audit may be writing into the same folder.
  const partial = `${path}.${randomUUID()}.partial`
  const input = path.endsWith('.gz')
    ? createGzip({ level: constants.Z_BEST_SPEED, chunkSize })
    : new PassThrough()
  const done = pipeline(input, createWriteStream(partial))
  const removePartial = () => {
    try {
      rmSync(partial, { force: true })
    } catch {
      // Its folder is no folder, or is no longer writable: the run has said so.
    }
  }
  // If the process exits early, the partial file is removed.
  process.once('exit', removePartial)
  let failure: unknown = null
  done.catch(error => {
    failure = error
  })
  return {
    path,
    async write(line) {
      if (failure !== null) throw failure
      if (!input.write(`${JSON.stringify(line)}\n`))
        await Promise.race([new Promise(resolve => input.once('drain', resolve)), done])
    },
    async close() {
      input.end()
      await done
      await rename(partial, path)
      process.removeListener('exit', removePartial)
    },
    async discard() {
      input.destroy()
      await done.catch(() => undefined)
      process.removeListener('exit', removePartial)
      removePartial()
    },
  }
}

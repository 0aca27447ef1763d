/** Keeps values in a temporary file, so that memory grows less with the number of nodes. */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Keep, keepInMemory } from '#base/keep.ts'

export interface KeptFile {
  keep: Keep
  /** Afterwards no kept value can be read. */
  close(): void
}

/** The file has no name as soon as it is open: no other user opens it, and nothing is left of it if the process dies. */
export function openKeptFile(parent: string = tmpdir()): KeptFile {
  const file = openUnnamed(parent)
  if (file === null) return { keep: keepInMemory, close: () => undefined }
  let end = 0
  let isFull = false
  const keep: Keep = value => {
    const bytes = Buffer.from(JSON.stringify(value))
    isFull ||= !isWritten(file, bytes, end)
    if (isFull) return keepInMemory(value)
    end += bytes.length
    return readingAt(file, end - bytes.length, bytes.length)
  }
  return { keep, close: () => closeSync(file) }
}

/** Null: the folder cannot be written. */
function openUnnamed(parent: string) {
  let folder: string | null = null
  try {
    folder = mkdtempSync(join(parent, 'highwater-kept-'))
    return openSync(join(folder, 'values'), 'wx+', 0o600)
  } catch {
    return null
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}

function isWritten(file: number, bytes: Buffer, at: number) {
  try {
    return writeSync(file, bytes, 0, bytes.length, at) === bytes.length
  } catch {
    return false
  }
}

/** A function of its own, because a closure keeps all variables around it. */
const readingAt = (file: number, at: number, length: number) => () => {
  const bytes = Buffer.allocUnsafe(length)
  readSync(file, bytes, 0, length, at)
  return JSON.parse(bytes.toString('utf8'))
}

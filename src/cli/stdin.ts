/** A snapshot from standard input. */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** The path of the snapshot. For `-`: of a private copy of standard input, which exists until the process ends. */
export async function snapshotFile<Path extends string | undefined>(
  path: Path,
): Promise<Path | string> {
  if (path !== '-') return path
  const folder = mkdtempSync(join(tmpdir(), 'highwater-stdin-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'snapshot')
  await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
  return file
}

import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A folder in memory for this run; null: memory has no room for files, or programs may not run there, as in a container.
 * The nodes of the lab write and delete thousands of small files. On a disk that takes a third of the time of their scripts.
 */
export function memoryFolder(memory = '/dev/shm', leastFreeBytes = 4 * 1024 ** 3): string | null {
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < leastFreeBytes) return null
    const folder = mkdtempSync(join(memory, 'highwater-tests-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const program = join(folder, 'program')
    writeFileSync(program, '', { mode: 0o755 })
    accessSync(program, constants.X_OK)
    return folder
  } catch {
    return null
  }
}

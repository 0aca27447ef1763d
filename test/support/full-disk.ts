/** Small file systems in the place of a node's folders, and full ones. */
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A file system of 6 MiB in the place of a folder, with its files; false where mounts are refused. */
export function mountAt(folder: string): boolean {
  const aside = `${folder.replace(/\/$/, '')}-aside`
  cpSync(folder, aside, { recursive: true, verbatimSymlinks: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=755', 'tmpfs', folder])
  if (status !== 0) return false
  cpSync(aside, folder, { recursive: true, verbatimSymlinks: true })
  return true
}

export const unmount = (folder: string) => spawnSync('umount', [folder])

/** Fill the file system of a folder to its last byte. */
export function fill(folder: string): void {
  const filler = openSync(join(folder, 'filler'), 'w')
  try {
    for (;;) writeSync(filler, Buffer.alloc(4096))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(filler)
  }
}

/** Writes a pretend root folder. No path and no link in it leads out of it, as in a real root. */
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'
import type { RootContents, RootFile } from './machine.ts'

/** Nobody else may write into them, whatever the umask. */
const ours = { recursive: true, mode: 0o755 } as const

/** @param modifiedAt of all links, and of files without a time of their own */
export function writeRoot(
  root: string,
  { files, links = {}, folders = [] }: RootContents,
  modifiedAt: Date,
): void {
  for (const folder of folders) mkdirSync(inside(root, folder), ours)
  for (const [path, file] of Object.entries(files)) {
    const place = inside(root, path)
    mkdirSync(dirname(place), ours)
    writeRootFile(place, file, modifiedAt)
  }
  for (const [path, target] of Object.entries(links)) {
    const place = inside(root, path)
    mkdirSync(dirname(place), ours)
    symlinkSync(
      inside(root, posix.resolve('/', posix.dirname(posix.join('/', path)), target)),
      place,
    )
    lutimesSync(place, modifiedAt, modifiedAt)
  }
}

function writeRootFile(place: string, file: RootFile, modifiedAt: Date): void {
  if (typeof file === 'string' || file instanceof Uint8Array) writeFileSync(place, file)
  else if ('text' in file) {
    writeFileSync(place, file.text)
    chmodSync(place, 0o755)
  } else {
    writeFileSync(place, '')
    truncateSync(place, file.bytes)
  }
  const at =
    typeof file === 'object' && 'modifiedAtMs' in file ? new Date(file.modifiedAtMs) : modifiedAt
  utimesSync(place, at, at)
}

/** `..` at the top stays at the top. */
const inside = (root: string, path: string) => join(root, posix.join('/', path))

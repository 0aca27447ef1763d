/** A folder on this machine. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Channel } from '#publish/channel.ts'

/** Each file appears whole: written beside its place, then renamed. */
export function folder(path: string): Channel {
  return {
    id: 'folder',
    async deliver(files) {
      await mkdir(path, { recursive: true })
      for (const { name, body } of files) {
        const target = join(path, name)
        await writeFile(`${target}.partial`, body)
        await rename(`${target}.partial`, target)
      }
      return path
    },
  }
}

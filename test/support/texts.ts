/** What was written below a folder, as text. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Every file below a folder, unpacked, by its path from there. */
export function textsBelow(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      const bytes = readFileSync(path)
      return [
        path.slice(folder.length),
        (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString(),
      ]
    })
}

/** Where a clone keeps its compiled sources. Plain JavaScript, because every start of the CLI reads it. */
import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Everything that `bundle.ts` reads. */
const folders = ['src', 'lab', 'templates', 'tools', 'events', 'test/fixtures/real']
const generated = join(root, 'src/report/compiled-templates.js')

/** The folder of one state of the sources, which the size and time of each file identify. */
export function compiledFolder() {
  const hash = createHash('sha256')
  const files = folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true }).map(name => join(root, folder, name)),
  )
  for (const file of [...files, join(root, 'package-lock.json')]) {
    const stat = statSync(file)
    if (stat.isFile() && file !== generated) hash.update(`${file}\0${stat.size}\0${stat.mtimeMs}\0`)
  }
  return join(root, 'node_modules/.cache/highwater', hash.digest('hex').slice(0, 16))
}

/**
 * Part of `npm ci`: puts the CLI among the local binaries, where npx looks first. Without it npx makes a link to this folder in a cache of its own,
 * which stays broken once it broke. On Windows that cache is all there is.
 */
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const binaries = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))
if (process.platform !== 'win32' && existsSync(binaries)) {
  rmSync(`${binaries}/highwater`, { force: true })
  symlinkSync('../../src/cli/highwater.mjs', `${binaries}/highwater`)
}

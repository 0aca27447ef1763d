/** The command line as its users have it: the package, unpacked. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }

/** @returns the command: the package's `bin`. It is removed at exit. */
export function packedProgram(): string[] {
  execFileSync(process.execPath, ['tools/package.ts'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const folder = mkdtempSync(join(tmpdir(), 'highwater-packed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const path of ['package.json', ...packageJson.files])
    cpSync(path, join(folder, path), { recursive: true })
  return [join(folder, packageJson.bin.highwater)]
}

/** The command line as its users have it: compiled, with the flags of its first line. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }

const bin = packageJson.bin.highwater
/** `#!/usr/bin/env -S NAME=VALUE node --flag` */
const firstLine = /^#!\S+ -S ((?:\w+=\S+ )*)node (.+)$/m

/** @returns arguments of Node: flags, then the program. It is removed at exit. */
export function packedProgram(): string[] {
  execFileSync(process.execPath, ['tools/package.ts'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const folder = mkdtempSync(join(tmpdir(), 'highwater-packed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const path of ['package.json', ...packageJson.files])
    cpSync(path, join(folder, path), { recursive: true })
  return [...wordsOf(2), join(folder, bin)]
}

/** The variables that the program sets. */
export const packedEnvironment = (): Record<string, string> =>
  Object.fromEntries(wordsOf(1).map(word => word.split('=')))

function wordsOf(part: 1 | 2): string[] {
  const words = firstLine.exec(readFileSync(bin, 'utf8'))?.[part] ?? ''
  return words.split(' ').filter(word => word !== '')
}

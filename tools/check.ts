/**
 * `npm run check`: compiles the templates, then bundles, lints and checks types and unused code at the same time. What a command prints
 * appears when it ends, under its name if it failed.
 */
import { execFileSync, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

execFileSync(process.execPath, ['templates/precompile.ts'], { stdio: 'inherit' })

const commands = [
  // More checkers check much twice, and the other commands need the cores.
  'tsc --checkers 1',
  'biome check --error-on-warnings .',
  'node tools/bundle.ts',
  'knip',
]

const ends = commands.map(async command => {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const code = new Promise<number | null>(resolve => child.on('close', resolve))
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const isPassed = (await code) === 0
  process.stdout.write(`${isPassed ? '' : `${command} failed:\n`}${out}${errors}`)
  return isPassed
})
process.exit((await Promise.all(ends)).every(Boolean) ? 0 : 1)

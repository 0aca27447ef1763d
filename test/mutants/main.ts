/**
 * `npm run mutants -- security|engine [TEXT]`: makes one mutation at a time in a copy of the sources, and runs the tests that should fail. TEXT selects files by a
 * part of their path. Exit 1 if a mutant survives, its line is not found, or its tests fail without the mutation, too.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { engineMutants } from './engine.ts'
import { type Mutant, securityMutants } from './security.ts'

type Verdict = 'killed' | 'survived' | 'not found' | 'broken'

const uncopied = ['.git', '.serverless', 'node_modules', 'highwater-out']
/** A mutant that never ends is killed, too. */
const timeLimitMs = 5 * 60_000

const root = process.cwd()
const [name, part = ''] = process.argv.slice(2)
const lists: Readonly<Record<string, readonly Mutant[]>> = {
  security: securityMutants,
  engine: engineMutants,
}
const list = lists[name ?? '']
if (list === undefined) throw new Error('Say which mutants: npm run mutants -- security|engine')
const mutants = list.filter(({ file }) => file.includes(part))
const copy = mkdtempSync(join(tmpdir(), 'highwater-mutants-'))
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
cpSync(root, copy, { recursive: true, filter: path => !uncopied.includes(basename(path)) })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

/** Whether tests pass without a mutation, by their names. */
const sound = new Map<string, boolean>()
const verdicts = mutants.map(mutant => {
  const verdict = verdictOf(mutant)
  console.log(`${verdict.padEnd(9)} ${mutant.file}: ${JSON.stringify(mutant.line)}`)
  return verdict
})
const kinds: Verdict[] = ['killed', 'survived', 'not found', 'broken']
const count = (kind: Verdict) => verdicts.filter(verdict => verdict === kind).length
console.log(kinds.map(kind => `${count(kind)} ${kind}`).join(', '))
process.exit(count('killed') === mutants.length ? 0 : 1)

function verdictOf({ file, line, instead, tests }: Mutant): Verdict {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const [before, after, ...more] = text.split(line)
  if (before === undefined || after === undefined || more.length > 0) return 'not found'
  writeFileSync(path, `${before}${instead}${after}`)
  const isPassing = passes(tests)
  writeFileSync(path, text)
  if (isPassing) return 'survived'
  const key = tests.join()
  if (!sound.has(key)) sound.set(key, passes(tests))
  return sound.get(key) ? 'killed' : 'broken'
}

function passes(tests: readonly string[]): boolean {
  const files = tests.map(test => `test/${test}.test.ts`)
  const options = { cwd: copy, stdio: 'ignore', timeout: timeLimitMs } as const
  // Templates are compiled before tests.
  const built = spawnSync(process.execPath, ['templates/precompile.ts'], options)
  const args = [
    ...['--bail=1', '--no-isolate', '--max-workers=1'],
    ...['--test-timeout=120000', '--hook-timeout=120000'],
  ]
  return (
    built.status === 0 &&
    spawnSync('node_modules/.bin/vitest', ['run', ...files, ...args], options).status === 0
  )
}

/**
 * `npm run mutants -- security [TEXT]`: makes one mutation at a time in a copy of the sources, and runs the tests that should fail. TEXT selects files by a
 * part of their path. Exit 1 if a mutant survives or its line is not found, 2 if the tests fail without a mutation.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Mutant, securityMutants } from './security.ts'

const uncopied = ['.git', '.serverless', 'node_modules', 'highwater-out', 'coverage']
/** A mutant that never ends is killed, too. */
const timeLimitMs = 5 * 60_000

const root = process.cwd()
const [name, part = ''] = process.argv.slice(2)
if (name !== 'security') throw new Error('Say which mutants: npm run mutants -- security')
const mutants = securityMutants.filter(({ file }) => file.includes(part))
const copy = mkdtempSync(join(tmpdir(), 'highwater-mutants-'))
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
cpSync(root, copy, { recursive: true, filter: path => !uncopied.includes(basename(path)) })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const broken = failureOf(
  mutants.flatMap(({ tests }) => tests),
  10 * timeLimitMs,
)
if (broken !== null) {
  console.error(`Without a mutation the tests fail:\n${broken}`)
  process.exit(2)
}
const verdicts = mutants.map(mutant => {
  const verdict = verdictOf(mutant)
  console.log(`${verdict.padEnd(9)} ${mutant.file}: ${JSON.stringify(mutant.line)}`)
  return verdict
})
const count = (wanted: string) => verdicts.filter(verdict => verdict === wanted).length
console.log(
  `${count('killed')} killed, ${count('survived')} survived, ${count('not found')} not found`,
)
process.exit(count('killed') === mutants.length ? 0 : 1)

function verdictOf({ file, line, instead, tests }: Mutant): 'killed' | 'survived' | 'not found' {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const [before, after, ...more] = text.split(line)
  if (before === undefined || after === undefined || more.length > 0) return 'not found'
  writeFileSync(path, `${before}${instead}${after}`)
  try {
    return failureOf(tests) === null ? 'survived' : 'killed'
  } finally {
    writeFileSync(path, text)
  }
}

/** Null: all tests pass. */
function failureOf(tests: readonly string[], timeout = timeLimitMs): string | null {
  const files = [...new Set(tests)].map(test => `test/${test}.test.ts`)
  const options = { cwd: copy, encoding: 'utf8', timeout } as const
  const built = spawnSync(process.execPath, ['templates/precompile.ts'], options)
  if (built.status !== 0) return built.stderr
  const args = [
    'run',
    ...files,
    '--bail=1',

    '--max-workers=1',
    '--test-timeout=120000',
    '--reporter=tap-flat',
  ]
  const { status, stdout } = spawnSync('node_modules/.bin/vitest', args, options)
  return status === 0 ? null : stdout.replace(/^(?:ok| {4}).*\n/gm, '').slice(0, 2000)
}

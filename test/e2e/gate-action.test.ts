/** The gate's action on the sample repository: its step runs as a runner starts it. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { commandEnvironment, temporaryFolder } from '#test/cli.ts'
import { gateSnapshot } from '#test/gate-changes.ts'

interface Step {
  id?: string
  run?: string
  uses?: string
}

const { inputs, runs } = parse(readFileSync('gate/action.yml', 'utf8'))
const steps: Step[] = runs.steps
const script = steps.find(({ id }) => id === 'gate')?.run ?? ''
const sample = resolve('test/gate-repository')

/** A clone with two commits: the base, and the pull request. @param add what the pull request adds */
function checkout(isChanged: boolean, add: (cwd: string) => void): string {
  const cwd = temporaryFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd })
  git('init', '--quiet')
  for (const version of isChanged ? ['base', 'head'] : ['base']) {
    cpSync(join(sample, version), cwd, { recursive: true })
    if (version === 'head') {
      symlinkSync('/etc/passwd', join(cwd, 'link.yaml'))
      add(cwd)
    }
    git('add', '--all')
    git('commit', '--quiet', '--message', version)
  }
  return cwd
}

function gate(
  isChanged: boolean,
  { options = '', times = 1, out = '', add = (_: string) => {} } = {},
) {
  const cwd = checkout(isChanged, add)
  const temp = temporaryFolder()
  const command = join(temp, 'highwater/bin/highwater')
  mkdirSync(dirname(command), { recursive: true })
  symlinkSync(resolve('bin/highwater.mjs'), command)
  const env = {
    ...commandEnvironment(cwd, {}),
    RUNNER_TEMP: temp,
    GITHUB_OUTPUT: join(temp, 'output'),
    GITHUB_STEP_SUMMARY: join(temp, 'summary'),
    SNAPSHOT: gateSnapshot(),
    BASE: isChanged ? 'HEAD~1' : 'HEAD',
    OPTIONS: options,
    OUT: out || join(temp, 'out'),
  }
  let lines = ''
  for (let run = 0; run < times; run++) {
    // A runner empties it between jobs.
    for (const name of ['output', 'summary']) rmSync(join(temp, name), { force: true })
    const bash = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script]
    lines = spawnSync('bash', bash, { cwd, env, encoding: 'utf8' }).stdout
  }
  const read = (name: string) => {
    const file = join(temp, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
  const [output, summary, sarif] = ['output', 'summary', 'out/gate.sarif'].map(read)
  return { output, summary, sarif: sarif ?? '', cwd, lines }
}

it('pins each action by commit, and gives inputs to the shell as variables only', () => {
  for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/)
  for (const { run: text = '' } of steps) expect(text).not.toContain('{{')
  const sampled = parse(readFileSync('docs/run/github/gate.yml', 'utf8')).jobs.gate.steps
  const given = sampled.find(({ uses }: Step) => uses === './gate')?.with ?? {}
  expect(Object.keys(given).filter(name => !Object.keys(inputs).includes(name))).toEqual([])
})

it('stops the sample pull request at its line', { timeout: 120_000 }, () => {
  const { output, summary, sarif, lines } = gate(true)
  // Names of files are no commands to the runner.
  expect(lines).toMatch(/^::stop-commands::([0-9a-f-]{36})\n(?:.*\n)*::\1::\n$/)
  expect(output).toBe('exit-code=1\nhas-sarif=true\n')
  expect(summary).toContain('nodegroups/general/nodeconfig.yaml:9')
  const { results } = JSON.parse(sarif).runs[0]
  expect(results[0]).toMatchObject({ ruleId: 'disk-threshold-too-small', level: 'error' })
  expect(summary).not.toContain('passwd')
})

it('runs again in the same checkout', { timeout: 120_000 }, () => {
  expect(gate(true, { times: 2 }).output).toBe('exit-code=1\nhas-sarif=true\n')
})

it('passes a pull request that changes no file', { timeout: 120_000 }, () => {
  const { output, summary } = gate(false)
  expect({ output, summary }).toEqual({ output: 'exit-code=0\n', summary: '' })
})

it('passes what was not read, with a warning', () => {
  const last = steps.at(-1)?.run ?? ''
  const exitOf = (code: string) =>
    spawnSync('bash', ['-eo', 'pipefail', '-c', last], { env: { CODE: code }, encoding: 'utf8' })
  expect(['0', '1', '2', '3', '4'].map(code => exitOf(code).status)).toEqual([0, 1, 2, 0, 4])
  expect(exitOf('3').stdout).toContain('::warning::')
})

describe('a pull request that links from the folder for the results', { timeout: 120_000 }, () => {
  const secretOf = (cwd: string) => `${cwd}-credentials`
  const inOut = (name: string) => (cwd: string) => {
    const secret = secretOf(cwd)
    onTestFinished(() => rmSync(secret))
    writeFileSync(secret, 'secret-of-the-runner')
    mkdirSync(join(cwd, 'highwater-gate'))
    symlinkSync(secret, join(cwd, 'highwater-gate', name))
  }
  const out = 'highwater-gate'

  it.each(['gate.md', 'gate.sarif'])('changes and shows nothing behind %s', name => {
    const { output, summary, cwd } = gate(true, { out, add: inOut(name) })
    expect(output).toBe('exit-code=1\nhas-sarif=true\n')
    expect(summary).toContain('nodegroups/general/nodeconfig.yaml:9')
    expect(readFileSync(secretOf(cwd), 'utf8')).toBe('secret-of-the-runner')
  })

  it('shows nothing if it changes no file besides', () => {
    const add = (cwd: string) => {
      rmSync(join(cwd, 'nodegroups'), { recursive: true })
      cpSync(join(sample, 'base'), cwd, { recursive: true })
      inOut('gate.md')(cwd)
    }
    const { output, summary } = gate(true, { out, add })
    expect({ output, summary }).toEqual({ output: 'exit-code=0\n', summary: '' })
  })

  it('is refused if the folder itself, or one above it, is a link', () => {
    const foreign = temporaryFolder()
    const add = (cwd: string) => symlinkSync(foreign, join(cwd, 'linked'))
    for (const folder of ['linked', './linked/out', 'linked/']) {
      const { output, summary } = gate(true, { out: folder, add })
      expect({ output, summary }).toEqual({ output: '', summary: '' })
    }
    expect(readdirSync(foreign)).toEqual([])
  })
})

it('judges by the policy of the base, not by that of the pull request', {
  timeout: 120_000,
}, () => {
  const waiver = '{rule: disk-threshold-too-small, reason: a, until: 2099-01-01}'
  const add = (cwd: string) => writeFileSync(join(cwd, 'highwater.yaml'), `waivers: [${waiver}]\n`)
  const { output, summary } = gate(true, { add })
  expect(output).toBe('exit-code=1\nhas-sarif=true\n')
  expect(summary).toContain('a policy of highwater: with --base, the one before the change counts')
})

it('gives no option to a shell', { timeout: 120_000 }, () => {
  const { output, cwd } = gate(true, { options: '--cluster=$(touch made)`touch made`' })
  expect(output).toBe('exit-code=2\n')
  expect(existsSync(join(cwd, 'made'))).toBe(false)
})

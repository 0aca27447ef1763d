/** What a shell, a pipe and a full disk see of the command. */
import { execFileSync, spawn } from 'node:child_process'
import { openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { nodeClasses } from '#facts/eks/node-classes.ts'
import { garbageResources } from '#facts/kubernetes/garbage-resources.ts'
import { probe } from '#lab/scenarios/probe.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { commandEnvironment, highwater, temporaryFolder } from '#test/cli.ts'
import { editedNode } from '#test/edited-node.ts'
import { inProcess, runCommand } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

/** A snapshot with a critical finding: the kubelet would refuse its file at the next start. */
function folderWithSnapshot(): string {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 's.ndjson'), snapshotText('2026-11-21T00:00:00Z'))
  return cwd
}

function snapshotText(takenAt: string, isBroken = true): string {
  const broken = { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 }
  const records = [
    { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt, account: null, region: null },
    editedNode(isBroken ? broken : {}),
  ]
  return records.map(record => JSON.stringify(record)).join('\n')
}

const audit = ['audit', '--snapshot', 's.ndjson']
const findingsOf = ({ stdout }: { stdout: string }) =>
  JSON.parse(stdout).findings.map(({ rule, severity }: { rule: string; severity: string }) => ({
    rule,
    severity,
  }))

/** Its standard output is a file, or a pipe that is closed before it writes. */
function withOutput(args: string[], cwd: string, stdout: 'pipe' | number) {
  const child = spawn(process.execPath, [resolve('bin/highwater.mjs'), ...args], {
    cwd,
    env: commandEnvironment(cwd, {}),
    stdio: ['ignore', stdout, 'pipe'],
  })
  child.stdout?.destroy()
  let stderr = ''
  child.stderr?.on('data', chunk => (stderr += chunk))
  return new Promise<{ code: number | null; stderr: string }>(done =>
    child.on('close', code => done({ code, stderr })),
  )
}

describe('the start of a command', () => {
  it("does not load Node's WebSocket, which an import of node:http brings along", async () => {
    const cwd = folderWithSnapshot()
    writeFileSync(
      join(cwd, 'hook.mjs'),
      `import { appendFileSync } from 'node:fs'
process.on('exit', () => appendFileSync('loaded', process.moduleLoadList.join('\\n')))`,
    )
    const NODE_OPTIONS = `--import=${join(cwd, 'hook.mjs')}`
    expect(await highwater(audit, { cwd, env: { NODE_OPTIONS } })).toMatchObject({ code: 0 })
    const loaded = readFileSync(join(cwd, 'loaded'), 'utf8')
    expect(loaded).toContain('NativeModule http\n')
    expect(loaded).not.toContain('undici/undici')
  })
})

describe('standard output', () => {
  it('closed by its reader: the exit code stays that of the findings', async () => {
    const cwd = folderWithSnapshot()
    const args = [...audit, '--format', 'json', '--fail-on', 'high']
    expect(await withOutput(args, cwd, 'pipe')).toEqual({ code: 1, stderr: '' })
  })

  it('on a full disk: exit 4, one line', async () => {
    const cwd = folderWithSnapshot()
    const { code, stderr } = await withOutput(
      [...audit, '--format', 'json'],
      cwd,
      openSync('/dev/full', 'w'),
    )
    expect(code).toBe(4)
    expect(stderr).toMatch(/Standard output could not/)
  })
})

describe('folders', () => {
  it('where none can be made are refused, and quickly', { timeout: 30_000 }, async () => {
    const cwd = folderWithSnapshot()
    const { code, stderr } = await highwater([...audit, '--out', '/proc/x'], { cwd })
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(/folder \/proc\/x cannot be/)
  })

  it('keep no half-written snapshot of a run that left at once', async () => {
    const { environment } = await labOf([recorded])
    const cwd = temporaryFolder()
    const child = spawn(process.execPath, [resolve('bin/highwater.mjs'), 'audit'], {
      cwd,
      env: commandEnvironment(cwd, environment),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise(done => child.on('close', done))
    const names = () => readdirSync(cwd, { recursive: true }).map(String)
    await expect
      .poll(names, { timeout: 20_000, interval: 5 })
      .toContainEqual(expect.stringContaining('.partial'))
    child.kill('SIGINT')
    await new Promise(done => setTimeout(done, 600))
    child.kill('SIGINT')
    await ended
    expect(names().filter(name => name.endsWith('.partial'))).toEqual([])
  })
})

describe('filters', () => {
  it('--rule and --skip-rule run some rules, --severity shows the severe ones', async () => {
    const cwd = folderWithSnapshot()
    const json = [...audit, '--format', 'json']
    const run = async (...args: string[]) =>
      findingsOf(await runCommand([...json, ...args], { cwd }))
    const all = await run()
    expect(all).toContainEqual({ rule: 'invalid-kubelet-configuration', severity: 'critical' })
    expect(await run('--rule', 'invalid-*')).toEqual([
      { rule: 'invalid-kubelet-configuration', severity: 'critical' },
    ])
    const others = all.filter(({ rule }: { rule: string }) => !rule.startsWith('invalid-'))
    expect(others.length).toBeGreaterThan(0)
    expect(await run('--skip-rule', 'invalid-*')).toEqual(others)
    expect(await run('--severity', 'critical')).toEqual(
      all.filter(({ severity }: { severity: string }) => severity === 'critical'),
    )
  })

  it('--fail-on new:high fails once for what the run before did not have', async () => {
    const cwd = temporaryFolder()
    const run = async (day: string, isBroken: boolean) => {
      writeFileSync(join(cwd, 's.ndjson'), snapshotText(`2026-11-${day}T00:00:00Z`, isBroken))
      const args = [...audit, '--store', './history', '--fail-on', 'new:high']
      return (await runCommand(args, { cwd })).code
    }
    expect(await run('20', false)).toBe(0)
    expect(await run('21', true)).toBe(1)
    expect(await run('22', true)).toBe(0)
  })

  it('-v prints what each finding does, before and after the command; -q prints the verdict alone', async () => {
    const cwd = folderWithSnapshot()
    const run = async (...args: string[]) => (await runCommand(args, { cwd })).stdout
    const brief = await run(...audit)
    const verbose = await run(...audit, '-v')
    expect(brief).not.toContain('(invalid-kubelet-configuration)')
    expect(verbose).toContain('(invalid-kubelet-configuration)')
    expect(await run('-v', ...audit)).toBe(verbose)
    const quiet = (await run('-q', ...audit)).trim().split('\n')
    expect(quiet.length).toBeLessThanOrEqual(8)
    expect(quiet[0]).toMatch(/^Critical: /)
    expect(brief).toContain(quiet[0])
  })

  it('--context takes a pattern, --all-contexts reads every context that answers', async () => {
    const lab = await labOf([recorded, probe])
    const cwd = temporaryFolder()
    const config = JSON.parse(lab.kubeconfig)
    const { user } = config.contexts[0].context
    config.clusters.push({ name: 'dead', cluster: { server: 'https://127.0.0.1:1' } })
    config.contexts.push({ name: 'dead', context: { cluster: 'dead', user } })
    writeFileSync(join(cwd, 'config'), JSON.stringify(config))
    const of = (...args: string[]) =>
      runCommand(['audit', '-o', 'json', '--kubeconfig', 'config', ...args], { cwd })
    const namesOf = ({ stdout }: { stdout: string }) =>
      JSON.parse(stdout).clusters.map(({ name }: { name: string }) => name)
    const some = await of('--context', 'rec*')
    expect(some.code).toBe(0)
    expect(namesOf(some)).toEqual(['recorded'])
    const all = await of('--all-contexts')
    expect(all.code).toBe(3)
    expect(namesOf(all).toSorted()).toEqual(['dead', 'probe', 'recorded'])
    const { clusters, notAudited } = JSON.parse(all.stdout)
    expect(notAudited).toContainEqual(expect.objectContaining({ cluster: 'dead', node: null }))
    const read = clusters.filter(({ coverage }: { coverage: { read: number } }) => coverage.read)
    expect(read).toHaveLength(2)
    expect(await of('--context', 'prod-*')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It has: recorded'),
    })
  })
})

async function completionScript(shell: string) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const { code } = await inProcess(['complete', shell])
  const script = log.mock.calls.join('\n')
  log.mockRestore()
  expect(code).toBe(0)
  return script
}

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async shell => {
    const script = await completionScript(shell)
    expect(script).toContain('highwater')
    expect(script.length).toBeGreaterThan(1000)
  })

  it('works in a bash without the package bash-completion, and twice', async () => {
    const script = await completionScript('bash')
    const lines = [
      ...[script, script, "highwater() { printf 'audit\\tread every node\\n:4\\n'; }"],
      ...['COMP_WORDS=(highwater aud) COMP_CWORD=1', '__highwater_complete', 'echo "$COMPREPLY"'],
      'complete -p highwater',
    ]
    const output = execFileSync('bash', ['--norc', '-c', lines.join('\n')], { encoding: 'utf8' })
    // Names of files, if highwater knows nothing.
    expect(output).toBe('audit\ncomplete -o default -F __highwater_complete highwater\n')
  })
})

describe('the program', () => {
  it.each([
    [['nonsense', '--help'], "unknown command 'nonsense'"],
    [['complete'], 'complete needs the name of a shell'],
    [['--profile', 'nope', 'audit'], 'The AWS profile nope does not exist or has no region'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, stderr } = await highwater(args, { cwd: temporaryFolder() })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('prints a completion that a shell can source twice', async () => {
    const { stdout } = await highwater(['complete', 'bash'])
    expect(stdout).toContain('ShellCompDirectiveError=1')
    expect(stdout).not.toContain('readonly')
  })

  it('reads standard input as -', async () => {
    const cwd = temporaryFolder()
    const stdout = execFileSync(
      process.execPath,
      [join(process.cwd(), 'bin/highwater.mjs'), 'audit', '--snapshot', '-', '-o', 'json'],
      {
        cwd,
        input: readFileSync(savedSnapshot([{ name: 'a' }, { name: 'b' }])),
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    )
    expect(JSON.parse(String(stdout)).clusters[0].coverage.nodes).toBe(2)
  })

  it('twice into one folder at the same time leaves whole files', async () => {
    const { environment } = await labOf([recorded])
    const cwd = temporaryFolder()
    const runs = await Promise.all(
      [1, 2].map(() => highwater(['audit'], { cwd, env: environment })),
    )
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toMatchSnapshot()
    const lines = gunzipSync(readFileSync(join(cwd, 'highwater-out', 'snapshot.ndjson.gz')))
      .toString()
      .trim()
      .split('\n')
    // The others are events, budgets, pods, the version, and volumes and instances of EC2.
    const objectLists = nodeClasses.length + garbageResources.length + 6
    expect(lines.map(line => JSON.parse(line).kind)).toEqual([
      'Snapshot',
      'Cluster',
      'Node',
      'Node',
      ...Array(objectLists).fill('Objects'),
    ])
  })
})

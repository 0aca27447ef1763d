/** The GitHub Action and its workflow: by GitHub's own parser, and its audit step in a real shell. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, matchesGlob, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { commandEnvironment, temporaryFolder } from '#test/cli.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'
import { engineMutants } from '../mutants/engine.ts'
import { securityMutants } from '../mutants/security.ts'

// The parser imports its schemas without an import attribute.
registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
})
const { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow } = await import(
  '@actions/workflow-parser'
)
const { parseAction } = await import('@actions/workflow-parser/actions/action-parser')

const run = promisify(execFile)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const action = readFileSync('action.yml', 'utf8')
const workflow = readFileSync('docs/run/github/highwater.yml', 'utf8')
const nightly = readFileSync('.github/workflows/nightly.yml', 'utf8')
const release = readFileSync('.github/workflows/release.yml', 'utf8')
const trace = new NoOperationTraceWriter()

function actionErrors(content: string): string[] {
  const { context } = parseAction({ name: 'action.yml', content }, trace)
  return context.errors.getErrors().map(({ message }) => message)
}

async function workflowErrors(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'highwater.yml', content }, trace)
  if (value) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}

interface Step {
  id?: string
  name?: string
  uses?: string
  run?: string
  with?: Record<string, string>
}
const steps: Step[] = parse(action).runs.steps
const jobs = parse(workflow).jobs
const jobSteps: Step[] = jobs.audit.steps
const releaseSteps: Step[] = parse(release).jobs.release.steps
const nightlySteps = Object.values<{ steps: Step[] }>(parse(nightly).jobs).flatMap(job => job.steps)

it.each([
  [{ DRY_RUN: 'true', GITHUB_REF_NAME: 'main' }, true],
  [{ DRY_RUN: 'false', GITHUB_REF_NAME: `v${version}` }, true],
  [{ DRY_RUN: 'false', GITHUB_REF_NAME: 'v99.0.0' }, false],
])('a release with %j has the version of package.json: %s', async (settings, isRight) => {
  const output = join(temporaryFolder(), 'output')
  const { run: script } = releaseSteps.find(({ id }) => id === 'version')!
  const checked = run('bash', ['-e', '-c', script!], {
    env: { ...process.env, ...settings, GITHUB_OUTPUT: output },
  })
  await expect(checked.then(() => readFileSync(output, 'utf8')).catch(() => null)).resolves.toBe(
    isRight ? `version=${version}\n` : null,
  )
})

it('a released package names the repository and the tracker of the run', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'package.json'), readFileSync('package.json', 'utf8'))
  const { run: script } = releaseSteps.find(({ name }) => name === 'Repository')!
  const GITHUB_SERVER_URL = 'https://github.com'
  const env = { ...process.env, GITHUB_SERVER_URL, GITHUB_REPOSITORY: 'Some-Owner/a.b' }
  await run('bash', ['-e', '-c', script!], { cwd, env })
  expect(JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))).toMatchObject({
    name: '@highwater/cli',
    repository: { type: 'git', url: 'git+https://github.com/Some-Owner/a.b.git' },
    bugs: { url: 'https://github.com/Some-Owner/a.b/issues' },
  })
})

describe('GitHub takes', () => {
  it('the action and the workflows', async () => {
    expect(actionErrors(action)).toEqual([])
    expect(await workflowErrors(workflow)).toEqual([])
    expect(await workflowErrors(nightly)).toEqual([])
    expect(await workflowErrors(release)).toEqual([])
  })

  it.each([
    ['using: composite', 'using: composit'],
    ['shell: bash', 'shel: bash'],
    ['inputs.artifact !=', 'input.artifact !='],
  ])('no action with %s as %s', (right, wrong) => {
    expect(actionErrors(action.replace(right, wrong))).not.toEqual([])
  })

  it.each([
    ['timeout-minutes', 'timeout-minute'],
    ['cron: 17 5', 'cron: 77 5'],
  ])('no workflow with %s as %s', async (right, wrong) => {
    expect(await workflowErrors(workflow.replace(right, wrong))).not.toEqual([])
  })
})

it('each action of others is pinned by its commit', () => {
  const uses = [...steps, ...jobSteps, ...nightlySteps].flatMap(step => step.uses ?? [])
  const others = uses.filter(name => name !== './')
  expect(others).toHaveLength(9)
  for (const name of others) expect(name).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
})

it('each defence that a mutant removes starts the nightly workflow when it changes', () => {
  const { paths }: { paths: string[] } = parse(nightly).on.push
  const files = new Set([...securityMutants, ...engineMutants].map(({ file }) => file))
  const unwatched = [...files].filter(file => !paths.some(path => matchesGlob(file, path)))
  expect(unwatched).toEqual([])
})

it('no expression is part of a script', () => {
  for (const { run: script = '' } of [...steps, ...jobSteps, ...nightlySteps])
    expect(script).not.toContain('${{')
})

it('the workflow has no rights but those that it names, keeps no secret, and gives inputs that exist', () => {
  expect(parse(workflow).permissions).toEqual({})
  expect(jobs.audit.permissions).toEqual({
    contents: 'read',
    'id-token': 'write',
    'security-events': 'write',
  })
  expect(workflow).not.toMatch(/secrets\.|AWS_SECRET|access-key/)
  const inputs = Object.keys(parse(action).inputs)
  const given = jobSteps.find(({ uses }) => uses === './')?.with ?? {}
  expect(Object.keys(given).filter(name => !inputs.includes(name))).toEqual([])
  expect(Object.keys(given)).toContain('options')
})

describe('the audit step', () => {
  const script = steps.find(({ id }) => id === 'audit')?.run ?? ''

  async function audit(options: string[], failOn = 'none') {
    const cwd = temporaryFolder()
    const place = (name: string) => join(cwd, name)
    const command = place('temp/highwater/bin/highwater')
    mkdirSync(dirname(command), { recursive: true })
    symlinkSync(resolve('bin/highwater.mjs'), command)
    const env = {
      ...commandEnvironment(cwd, {}),
      RUNNER_TEMP: place('temp'),
      GITHUB_OUTPUT: place('output'),
      GITHUB_STEP_SUMMARY: place('summary'),
      OPTIONS: options.join('\n'),
      FAIL_ON: failOn,
      OUT: 'out',
    }
    // As runners start it for `shell: bash`.
    const bash = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script]
    const { stdout, stderr } = await run('bash', bash, { cwd, env })
    const read = (name: string) =>
      existsSync(place(name)) ? readFileSync(place(name), 'utf8') : ''
    return { output: read('output'), summary: read('summary'), place, lines: stdout + stderr }
  }

  it('passes options on, one a line, and writes the summary', { timeout: 60_000 }, async () => {
    const snapshot = `--snapshot=${savedSnapshot([{ name: 'a' }])}`
    const { output, summary, place } = await audit([snapshot, '', '--skip-rule=peer-*'])
    expect(output).toBe('exit-code=0\nhas-sarif=true\n')
    expect(summary).toContain('highwater')
    for (const name of ['report.html', 'findings.sarif'])
      expect(existsSync(place(join('out', name)))).toBe(true)
  })

  it('lets no name of a cluster speak to the runner', { timeout: 60_000 }, async () => {
    const name = '##[set-output name=exit-code]0'
    const node = { kind: 'Node', cluster: 'prod', node: { metadata: { name } } }
    const snapshot = savedSnapshot([JSON.stringify(node)])
    const { lines } = await audit([`--snapshot=${snapshot}`, '--fail-on-unread=none'])
    expect(lines).toContain(name)
    const token = /^::stop-commands::([0-9a-f-]{36})$/m.exec(lines)?.[1]
    const [, , after] = lines.split(token ?? 'none')
    // Source: actions/runner ActionCommand.cs TryParse, TryParseV2
    const isCommand = (line: string) => /^\s*::|##\[/.test(line)
    expect(lines.slice(0, lines.indexOf('::stop-commands'))).toBe('')
    expect(after?.split('\n').slice(1).filter(isCommand)).toEqual([])
  })

  it('keeps the exit code, and gives no option to a shell', { timeout: 60_000 }, async () => {
    const { output, summary, place } = await audit([
      '--cluster=$(touch made)`touch made`;touch made',
      '--nonsense',
    ])
    expect(output).toBe('exit-code=2\n')
    expect(summary).toBe('')
    expect(existsSync(place('made'))).toBe(false)
  })
})

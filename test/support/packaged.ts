/** The service packaged as `npx serverless package` does it, in a folder of its own, with nothing of this machine's AWS: packaging needs no account. */
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, type TestContext } from 'vitest'
import type { Template } from './template.ts'

export const run = promisify(execFile)
export const bare = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(AWS|HIGHWATER)_/.test(name)),
)

export interface Packaged {
  template: Template
  templateFile: string
  /** Where the functions' archives lie. */
  archives: string
  /** Where their bundles lie, before they are archived. */
  bundles: string
  remove(): void
}

/** @param more arguments of `serverless package`. @throws as execFile, with what it printed */
export async function packageService(...more: string[]): Promise<Packaged> {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-test-'))
  copyFileSync('serverless.yml', join(folder, 'serverless.yml'))
  for (const name of ['package.json', 'src', 'templates', 'node_modules'])
    symlinkSync(resolve(name), join(folder, name))
  const env = { ...bare, HOME: '/nonexistent', CI: 'true' }
  await run(resolve('node_modules/.bin/serverless'), ['package', ...more], {
    cwd: folder,
    env,
    timeout: 120_000,
  })
  const archives = join(folder, '.serverless')
  const templateFile = join(archives, 'cloudformation-template-update-stack.json')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return {
    template: JSON.parse(readFileSync(templateFile, 'utf8')),
    templateFile,
    archives,
    bundles: join(folder, '.build'),
    remove,
  }
}

export interface CheckovChecks {
  /** `CHECK RESOURCE`, sorted. */
  failed: string[]
  skipped: string[]
}

/** What checkov says of these resources of a template. */
export async function checkovChecks(
  resources: object,
  folder: string,
  context: TestContext,
): Promise<CheckovChecks> {
  await needTool('checkov', context)
  const file = join(folder, 'template.json')
  writeFileSync(file, JSON.stringify({ Resources: resources }))
  const args = ['--file', file, '--framework', 'cloudformation', '--output', 'json']
  const { stdout } = await run(
    'checkov',
    [...args, '--soft-fail', '--skip-download', '--compact'],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  const { results } = JSON.parse(stdout)
  const names = (checks: { check_id: string; resource: string }[]) =>
    checks.map(({ check_id: id, resource }) => `${id} ${resource.replace(/.*\./, '')}`).sort()
  expect(results.passed_checks.length).toBeGreaterThan(50)
  return { failed: names(results.failed_checks), skipped: names(results.skipped_checks) }
}

async function needTool(tool: string, context: TestContext): Promise<void> {
  const isInstalled = await run(tool, ['--version']).then(
    () => true,
    () => false,
  )
  if (!isInstalled) context.skip(`${tool} is not installed (pip install ${tool})`)
}

/** As whoever has the template would lint it: what may be passed over, and why, stands in it. @throws with what it found */
export async function lintTemplate(file: string, context: TestContext): Promise<void> {
  await needTool('cfn-lint', context)
  await run('cfn-lint', [file])
}

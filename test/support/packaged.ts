/** The service packaged as `npx serverless package` does it, in a folder of its own, with nothing of this machine's AWS: packaging needs no account. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import type { Template } from './template.ts'

export const run = promisify(execFile)
export const bare = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')),
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

/** As whoever has the template would lint it: what may be passed over, and why, stands in it. @throws with what it found */
export async function lintTemplate(file: string, context: TestContext): Promise<void> {
  const isInstalled = await run('cfn-lint', ['--version']).then(
    () => true,
    () => false,
  )
  if (!isInstalled) context.skip('cfn-lint is not installed (pip install cfn-lint)')
  await run('cfn-lint', [file])
}

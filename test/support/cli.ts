/** The command line as a user runs it: a process of its own. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Run {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs `highwater ARGS` in an empty folder, with no AWS settings but those given. */
export function highwater(args: string[], { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {}): Promise<Run> {
  const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(AWS_|KUBECONFIG$|HOME$|NODE_OPTIONS$)/.test(name)))
  const home = cwd ?? temporaryFolder()
  const child = spawn(process.execPath, [resolve('src/cli/highwater.mjs'), ...args], {
    cwd: home,
    env: { ...bare, HOME: home, AWS_EC2_METADATA_DISABLED: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', chunk => (output[name] += chunk))
  return new Promise(done => child.on('close', code => done({ code, ...output })))
}

/** An empty folder, gone after the test. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'highwater-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** One audit by the command line, as a process of its own: how long it took, and how much memory it held at most. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'

export interface MeasuredAudit {
  wallMs: number
  cpuMs: number
  peakRssBytes: number
}

const atExit = `
import { writeFileSync } from 'node:fs'
process.on('exit', () => writeFileSync(process.env.BENCH_USAGE, JSON.stringify(process.resourceUsage())))
`

/** @param policy as YAML or JSON. @throws Error when the audit did not come to its end */
export async function measuredAudit(
  env: Record<string, string>,
  policy: object,
): Promise<MeasuredAudit> {
  const home = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  const files = {
    usage: join(home, 'usage.json'),
    hook: join(home, 'at-exit.mjs'),
    policy: join(home, 'highwater.yaml'),
  }
  writeFileSync(files.hook, atExit)
  writeFileSync(files.policy, JSON.stringify(policy))
  const startMs = performance.now()
  try {
    const args = [
      // As in the first line of highwater.mjs.
      '--max-semi-space-size=8',
      '--import',
      pathToFileURL(files.hook).href,
      resolve('src/cli/highwater.mjs'),
      'audit',
      '--out',
      join(home, 'out'),
    ]
    const child = spawn(process.execPath, args, {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        AWS_EC2_METADATA_DISABLED: 'true',
        BENCH_USAGE: files.usage,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', chunk => {
      said = `${said}${chunk}`.slice(-2000)
    })
    const code = await new Promise<number | null>(done => child.on('close', done))
    if (code !== 0 && code !== 3) throw new Error(`the audit ended with ${code}: ${said}`)
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(
      readFileSync(files.usage, 'utf8'),
    ) as NodeJS.ResourceUsage
    return {
      wallMs: performance.now() - startMs,
      cpuMs: (userCPUTime + systemCPUTime) / 1000,
      peakRssBytes: maxRSS * 1024,
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

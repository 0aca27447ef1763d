/** A run of Node as a process of its own: how long it took, and how much CPU and memory. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'

export interface Measured {
  wallMs: number
  cpuMs: number
  peakRssBytes: number
}

export interface ProcessOptions {
  env?: Record<string, string>
  /** That count as a success. Default: 0 alone. */
  exitCodes?: readonly number[]
  /** Called with a folder that is removed afterwards. @returns arguments */
  inFolder?: (folder: string) => string[]
}

const atExit = `
import { writeFileSync } from 'node:fs'
process.on('exit', () => writeFileSync(process.env.BENCH_USAGE, JSON.stringify(process.resourceUsage())))
`

/** @throws Error when it ended with another exit code */
export async function measuredProcess(
  args: readonly string[],
  { env = {}, exitCodes = [0], inFolder = () => [] }: ProcessOptions = {},
): Promise<Measured> {
  const home = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  const usage = join(home, 'usage.json')
  const hook = join(home, 'at-exit.mjs')
  writeFileSync(hook, atExit)
  try {
    const all = ['--import', pathToFileURL(hook).href, ...args, ...inFolder(home)]
    const startMs = performance.now()
    const child = spawn(process.execPath, all, {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        AWS_EC2_METADATA_DISABLED: 'true',
        BENCH_USAGE: usage,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', chunk => {
      said = `${said}${chunk}`.slice(-2000)
    })
    const code = await new Promise<number | null>(done => child.on('close', done))
    const wallMs = performance.now() - startMs
    if (code === null || !exitCodes.includes(code))
      throw new Error(`${args.join(' ')} ended with ${code}: ${said}`)
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(
      readFileSync(usage, 'utf8'),
    ) as NodeJS.ResourceUsage
    return { wallMs, cpuMs: (userCPUTime + systemCPUTime) / 1000, peakRssBytes: maxRSS * 1024 }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

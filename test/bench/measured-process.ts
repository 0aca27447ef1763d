/** A command as a process of its own: how long it took, how much CPU all of its processes took, and how much memory. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'

export interface Measured {
  wallMs: number
  /** User and system time of the command and of every process that it started. */
  cpuMs: number
  /** Of the command's Node; 0: it is none. */
  peakRssBytes: number
}

export interface ProcessOptions {
  env?: Record<string, string>
  /** That count as a success. Default: 0 alone. */
  exitCodes?: readonly number[]
  /** What the errors must contain. */
  says?: RegExp
  /** Called with a folder that is removed afterwards. @returns arguments */
  inFolder?: (folder: string) => string[]
}

const atExit = `
import { writeFileSync } from 'node:fs'
process.on('exit', () => writeFileSync(process.env.BENCH_USAGE, String(process.resourceUsage().maxRSS)))
`
/** Runs a command, then writes the times of this shell and those of its children. */
const timed = '"$@"; code=$?; times >&3; exit "$code"'

/** @param command a program and its arguments; `node` is this Node @throws Error when it ended with another exit code */
export async function measuredProcess(
  command: readonly string[],
  { env = {}, exitCodes = [0], says = /^/, inFolder = () => [] }: ProcessOptions = {},
): Promise<Measured> {
  const home = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  const usage = join(home, 'usage')
  const hook = join(home, 'at-exit.mjs')
  writeFileSync(hook, atExit)
  try {
    const all = ['-c', timed, 'bash', ...command, ...inFolder(home)]
    const startMs = performance.now()
    const child = spawn('bash', all, {
      cwd: home,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: home,
        AWS_EC2_METADATA_DISABLED: 'true',
        BENCH_USAGE: usage,
        NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    const errors = textOf(child.stdio[2] as Readable)
    const times = textOf(child.stdio[3] as Readable)
    const code = await new Promise<number | null>(done => child.on('close', done))
    const wallMs = performance.now() - startMs
    if (code === null || !exitCodes.includes(code) || !says.test(await errors))
      throw new Error(`${command.join(' ')} ended with ${code}: ${(await errors).slice(-2000)}`)
    const kibibytes = existsSync(usage) ? Number(readFileSync(usage, 'utf8')) : 0
    return { wallMs, cpuMs: childrenMs(await times), peakRssBytes: kibibytes * 1024 }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const textOf = async (stream: Readable) => (await stream.setEncoding('utf8').toArray()).join('')

/** Of bash's `times`, the second line: user and system time of its children, `0m1.250s 0m0.310s`. */
function childrenMs(times: string): number {
  const last = times.trim().split('\n').at(-1) ?? ''
  const seconds = [...last.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  )
  return seconds.reduce((sum, part) => sum + part, 0) * 1000
}

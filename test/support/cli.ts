/** The command line as a user runs it: a process of its own. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

export interface Run {
  code: number | null
  stdout: string
  stderr: string
}

export interface Place {
  env?: Record<string, string>
  /** Default: an empty folder. */
  cwd?: string
}

/** Runs `highwater ARGS` with no AWS settings but those given. */
export function highwater(args: string[], place: Place = {}): Promise<Run> {
  const child = start(args, place)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => (output[name] += chunk))
  return new Promise(done => child.on('close', code => done({ code, ...output })))
}

/** The same, with the most memory that the process held (VmHWM of Linux), in bytes. */
export async function measuredHighwater(
  args: string[],
  place: Place = {},
): Promise<Run & { peakBytes: number }> {
  const child = start(args, place)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => (output[name] += chunk))
  let peakBytes = 0
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peakBytes = Math.max(peakBytes, 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0))
    } catch {
      // It has ended.
    }
  }, 20)
  const code = await new Promise<number | null>(done => child.on('close', done))
  clearInterval(look)
  return { code, ...output, peakBytes }
}

/** The same, ended by SIGKILL. @param afterMs by what it has said on standard error so far: in how long; null: not yet */
export async function killedHighwater(
  args: string[],
  place: Place,
  afterMs: (stderrText: string) => number | null,
): Promise<void> {
  const child = start(args, place)
  child.stdout.resume()
  const ended = new Promise<void>(done => child.once('close', () => done()))
  let stderrText = ''
  const due = new Promise<void>(done => {
    const look = () => {
      const waits = afterMs(stderrText)
      if (waits !== null) void delay(waits).then(done)
    }
    child.stderr.on('data', chunk => {
      stderrText += chunk
      look()
    })
    look()
  })
  await Promise.race([due, ended])
  child.kill('SIGKILL')
  await ended
}

/** The same, sent a signal while it has that file open. @returns with how long it took from there */
export async function signalledHighwater(
  args: string[],
  signal: NodeJS.Signals,
  openFile: string,
): Promise<Run & { elapsedMs: number }> {
  const child = start(args, {})
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => (output[name] += chunk))
  const ended = new Promise<number | null>(done => child.on('close', done))
  const isRead = () => {
    try {
      const folder = `/proc/${child.pid}/fd`
      return readdirSync(folder).some(fd => readlinkSync(`${folder}/${fd}`) === openFile)
    } catch {
      return false
    }
  }
  while (child.exitCode === null && !isRead()) await delay(10)
  const startMs = performance.now()
  child.kill(signal)
  const code = await ended
  return { code, ...output, elapsedMs: performance.now() - startMs }
}

function start(args: string[], { env = {}, cwd }: Place) {
  const home = cwd ?? temporaryFolder()
  return spawn(process.execPath, [resolve('bin/highwater.mjs'), ...args], {
    cwd: home,
    env: commandEnvironment(home, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** This process's environment without its AWS settings, and with those given. */
export function commandEnvironment(
  home: string,
  env: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const bare = Object.entries(process.env).filter(
    ([name]) => !/^(AWS_|KUBECONFIG$|HOME$|NODE_OPTIONS$)/.test(name),
  )
  return { ...Object.fromEntries(bare), HOME: home, AWS_EC2_METADATA_DISABLED: 'true', ...env }
}

/** An empty folder, gone after the test. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'highwater-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

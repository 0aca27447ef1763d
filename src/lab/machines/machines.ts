/**
 * The machines behind the lab's SSM agents: each gets a root folder of its own when the first script runs on it, and all of them go with the lab. A script
 * that keeps to HIGHWATER_ROOT and to PATH, as those of our documents do, sees nothing of this machine.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScriptRun } from '#lab/scenarios/scenario.ts'
import type { Machine } from './machine.ts'
import { standInsOf, systemProgram, writeBin } from './programs.ts'
import { writeRoot } from './root.ts'

export interface Machines {
  /** @param build called once for each id */
  run(id: string, build: () => Machine, script: string, environment: Readonly<Record<string, string>>): Promise<ScriptRun>
  /** Ends what still runs, and removes everything. */
  close(): Promise<void>
}

interface Standing {
  folder: string
  bin: string
}

/** All nodes share this machine. */
const runsAtOnce = 4
/** Longer than a document's script may take by its own account. */
const hardTimeoutMs = 90_000
const outputMaxBytes = 64 * 1024 * 1024
const killed = 137

export function createMachines(): Machines {
  const standing = new Map<string, Standing>()
  const bins = new Map<Machine['programs'], string>()
  const waiting: (() => void)[] = []
  const running = new Set<Promise<ScriptRun>>()
  let underWay = 0
  const closing = new AbortController()
  let base: string | null = null

  function stand(id: string, build: () => Machine): Standing {
    const known = standing.get(id)
    if (known) return known
    base ??= mkdtempSync(join(tmpdir(), 'highwater-lab-machines-'))
    const machine = build()
    const folder = join(base, `node-${standing.size}`)
    for (const name of ['root', 'answers', 'tmp']) mkdirSync(join(folder, name), { recursive: true })
    writeRoot(join(folder, 'root'), machine, new Date())
    for (const [name, text] of Object.entries(machine.answers)) writeFileSync(join(folder, 'answers', name), text)
    const made = { folder, bin: binOf(base, machine.programs) }
    standing.set(id, made)
    return made
  }

  function binOf(inside: string, programs: Machine['programs']): string {
    const known = bins.get(programs) ?? join(inside, `bin-${programs}`)
    if (!bins.has(programs)) writeBin(known, systemProgram, standInsOf(programs))
    bins.set(programs, known)
    return known
  }

  return {
    async run(id, build, script, environment) {
      while (underWay >= runsAtOnce) await new Promise<void>(resolve => waiting.push(resolve))
      underWay += 1
      try {
        if (closing.signal.aborted) return { stdout: '', stderr: 'the lab is closed', exitCode: killed }
        const run = runScript(stand(id, build), script, environment, closing.signal)
        running.add(run)
        return await run.finally(() => running.delete(run))
      } finally {
        underWay -= 1
        waiting.shift()?.()
      }
    },

    async close() {
      closing.abort()
      await Promise.all(running)
      // A program that had left the script's group may still write its last line.
      if (base !== null) await rm(base, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function runScript(
  { folder, bin }: Standing,
  script: string,
  environment: Readonly<Record<string, string>>,
  closing: AbortSignal,
): Promise<ScriptRun> {
  // One for each command, as the agent has it: two may run at once.
  const orchestration = mkdtempSync(join(folder, 'command-'))
  const file = join(orchestration, '_script.sh')
  writeFileSync(file, script)
  const shell = systemProgram('dash') ?? systemProgram('sh') ?? 'sh'
  const own = { PATH: bin, HIGHWATER_ROOT: join(folder, 'root'), TMPDIR: join(folder, 'tmp') }
  // A group of its own, so that it can be ended with all that it has started.
  const child = spawn(shell, [file], {
    cwd: own.TMPDIR,
    env: { ...environment, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const kill = () => killGroup(child.pid)
  const timer = setTimeout(kill, hardTimeoutMs)
  closing.addEventListener('abort', kill, { once: true })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => {
      said[name] += text
      if (said[name].length > outputMaxBytes) kill()
    })
  }
  return new Promise(resolve => {
    const end = (exitCode: number) => {
      clearTimeout(timer)
      closing.removeEventListener('abort', kill)
      rmSync(orchestration, { recursive: true, force: true })
      resolve({ ...said, exitCode })
    }
    child.once('error', error => {
      said.stderr += error.message
      end(127)
    })
    child.once('close', code => end(code ?? killed))
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // It has just ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

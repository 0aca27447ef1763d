/**
 * The machines behind the lab's SSM agents: each gets a root folder of its own when the first script runs on it, and all of them go with the lab. A script
 * that keeps to HIGHWATER_ROOT and to PATH, as those of our documents do, sees nothing of this machine.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScriptRun } from '#lab/scenarios/scenario.ts'
import { standInsOf, systemProgram, writeBin } from './bin.ts'
import { faultyTools } from './faulty-tools.ts'
import type { Machine } from './machine.ts'
import { lastStart } from './programs/beside.ts'
import { writeRoot } from './root.ts'
import type { Installed, KubeletStart } from './start.ts'

export interface Machines {
  /** @param build called once for each id */
  run(id: string, build: () => Machine, script: string, environment: Readonly<Record<string, string>>): Promise<ScriptRun>
  /** The last start of its kubelet, read from its disk; null: it was not started anew. */
  startOf(id: string): KubeletStart | null
  /** When its fault struck, by this machine's clock; null: it has not. */
  struckAtMs(id: string): number | null
  /** Where its root folder is; null: nothing has run there yet. */
  rootOf(id: string): string | null
  /** Ends what still runs, and removes everything. */
  close(): Promise<void>
}

interface Standing {
  folder: string
  /** Its PATH. */
  path: string
  struckAtMs: number | null
  /** What `start.json` said when it was read last, and which one it was. */
  seen: { file: string; start: KubeletStart } | null
}

/** All nodes share this machine. */
const runsAtOnce = 4
/** Longer than a document's script may take by its own account. */
const hardTimeoutMs = 90_000
const outputMaxBytes = 64 * 1024 * 1024
const killed = 137
/** Seconds for which the documents' scripts wait at a time, in place of two. */
const pace = '0.02'

/** @param aheadMs how far the lab's clock is ahead of this machine's */
export function createMachines(aheadMs: number): Machines {
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
    install(folder, machine, aheadMs)
    const bin = binOf(base, machine.programs)
    const made = { folder, path: machine.fault ? `${ownBin(folder, bin, machine)}:${bin}` : bin, struckAtMs: null, seen: null }
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

    startOf(id) {
      const node = standing.get(id)
      if (!node) return null
      const found = statSync(join(node.folder, 'start.json'), { throwIfNoEntry: false })
      if (!found) return null
      const file = `${found.ino} ${found.mtimeMs}`
      if (node.seen?.file !== file) {
        const start = lastStart(node.folder)
        node.seen = start && { file, start }
      }
      return node.seen?.start ?? null
    },

    struckAtMs: id => standing.get(id)?.struckAtMs ?? null,

    rootOf(id) {
      const node = standing.get(id)
      return node ? join(node.folder, 'root') : null
    },

    async close() {
      closing.abort()
      await Promise.all(running)
      // A program that had left the script's group may still write its last line.
      if (base !== null) await rm(base, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** What its stand-ins need to start its kubelet anew. */
function install(folder: string, { kubelet, nodeadm, running, fault, programs }: Machine, aheadMs: number): void {
  if (fault?.kind === 'disk-full' && fault.from === 'start') writeFileSync(join(folder, 'full'), '')
  if (!kubelet) return
  const clockAheadMs = aheadMs + (fault?.kind === 'clock-skew' ? fault.byMs : 0)
  const installed: Installed = {
    kubelet,
    nodeadm: nodeadm ?? null,
    fault: fault ?? null,
    clockAheadMs,
    host: programs === 'host' ? 'root' : 'host',
  }
  writeFileSync(join(folder, 'installed.json'), JSON.stringify(installed))
  writeFileSync(join(folder, 'first.json'), JSON.stringify(running))
  writeFileSync(join(folder, 'unit'), `${kubelet.unit}\n`)
  const program = join(folder, 'run')
  const sources = fileURLToPath(new URL('programs', import.meta.url))
  writeFileSync(program, `#!/bin/sh\nprogram=$1\nshift\nexec '${process.execPath}' "${sources}/$program.ts" '${folder}' "$@"\n`)
  chmodSync(program, 0o755)
}

function ownBin(folder: string, bin: string, { fault, programs }: Machine): string {
  const own = join(folder, 'bin')
  mkdirSync(own)
  for (const [name, script] of Object.entries(fault ? faultyTools(fault, folder, bin, systemProgram) : {})) {
    // What this kind of node does not have, its fault does not bring.
    if (!existsSync(join(bin, name))) continue
    // The agent's container is no place where the swap is.
    if (name === 'mv' && programs === 'control-container') continue
    writeFileSync(join(own, name), script)
    chmodSync(join(own, name), 0o755)
  }
  return own
}

function runScript(
  node: Standing,
  script: string,
  environment: Readonly<Record<string, string>>,
  closing: AbortSignal,
): Promise<ScriptRun> {
  const { folder, path } = node
  // One for each command, as the agent has it: two may run at once.
  const orchestration = mkdtempSync(join(folder, 'command-'))
  const file = join(orchestration, '_script.sh')
  writeFileSync(file, script)
  const shell = systemProgram('dash') ?? systemProgram('sh') ?? 'sh'
  const own = {
    PATH: path,
    HIGHWATER_ROOT: join(folder, 'root'),
    HIGHWATER_PACE: pace,
    HIGHWATER_LAB_RUN: orchestration,
    TMPDIR: join(folder, 'tmp'),
  }
  // A group of its own, so that it can be ended with all that it has started.
  const child = spawn(shell, ['-c', 'echo $$ >"$HIGHWATER_LAB_RUN/pid"; exec "$0" "$1"', shell, file], {
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
      const isStruck = existsSync(join(orchestration, 'struck'))
      if (isStruck) node.struckAtMs = Date.now()
      rmSync(orchestration, { recursive: true, force: true })
      resolve({ ...said, exitCode, ...(isStruck && { isStruck }) })
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

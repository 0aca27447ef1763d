/**
 * The machines behind the lab's SSM agents: each gets a root folder of its own when the first script runs on it, and all of them go with the lab. A script
 * that keeps to HIGHWATER_ROOT and to PATH, as those of our documents do, sees nothing of this machine.
 */
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScriptRun } from '#lab/scenarios/scenario.ts'
import { standInsOf, systemProgram, writeBin } from './bin.ts'
import { install, ownBin } from './install.ts'
import type { Machine } from './machine.ts'
import { lastStart } from './programs/beside.ts'
import { writeRoot } from './root.ts'
import { killed, runScript } from './run-script.ts'
import type { KubeletStart } from './start.ts'

export interface Machines {
  /** @param build called once for each id */
  run(
    id: string,
    build: () => Machine,
    script: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<ScriptRun>
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
    for (const name of ['root', 'answers', 'tmp'])
      mkdirSync(join(folder, name), { recursive: true })
    writeRoot(join(folder, 'root'), machine, new Date(Date.now() + aheadMs))
    for (const [name, text] of Object.entries(machine.answers))
      writeFileSync(join(folder, 'answers', name), text)
    install(folder, machine, aheadMs)
    const bin = binOf(base, machine.programs)
    const made = {
      folder,
      path: machine.fault ? `${ownBin(folder, bin, machine)}:${bin}` : bin,
      struckAtMs: null,
      seen: null,
    }
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
        if (closing.signal.aborted)
          return { stdout: '', stderr: 'the lab is closed', exitCode: killed }
        const run = runScript(stand(id, build), script, environment, closing.signal)
        running.add(run)
        const ended = await run.finally(() => running.delete(run))
        const node = standing.get(id)
        if (ended.isStruck && node) node.struckAtMs = Date.now()
        return ended
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

/** Runs a script on a machine of the lab, as the agent would: under root's `sh`, in a group of its own, with its variables only. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptRun } from '#lab/scenarios/scenario.ts'
import { systemProgram } from './bin.ts'

/** Longer than a document's script may take by its own account. */
const hardTimeoutMs = 90_000
const outputMaxBytes = 64 * 1024 * 1024
/** The exit code of what was killed. */
export const killed = 137
/** Seconds for which the documents' scripts wait at a time, in place of two. */
const pace = '0.02'

/** @param path of its programs; whether its fault struck is in the answer */
export function runScript(
  { folder, path }: { folder: string; path: string },
  script: string,
  environment: Readonly<Record<string, string>>,
  closing: AbortSignal,
): Promise<ScriptRun> {
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
  const child = spawn(
    shell,
    ['-c', 'echo $$ >"$HIGHWATER_LAB_RUN/pid"; exec "$0" "$1"', shell, file],
    {
      cwd: own.TMPDIR,
      env: { ...environment, ...own },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  )
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

/** Functions as Lambda runs them: each invocation in a process of its own, from the bundle that is deployed, with no more heap than its memory leaves. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Invocation {
  name: string
  event: unknown
  wallMs: number
  cpuMs: number
  peakRssBytes: number
  /** All that it wrote for CloudWatch. */
  logged: string
}

export interface FunctionProcesses {
  /** @param more of its environment. @throws Error named as Lambda names it: what the handler threw, or `Runtime.ExitError` for a process that died */
  invoke(name: string, event: unknown, more?: Readonly<Record<string, string>>): Promise<unknown>
  /** Those that ended well, in that order. */
  readonly invocations: readonly Invocation[]
  remove(): void
}

/** Of a function's memory, what its objects may take; the rest is for code, buffers and what is young. A function of so little memory has it in NODE_OPTIONS. */
const heapShare = 0.5
/** Long lines of the answer come after what the function logs. */
const mark = '\u0001answer '

/** @param environment of the functions, besides their memory. @param memoryMiB of each. @param atMs what their clocks stand at; absent: they go */
export async function functionProcesses(
  environment: Record<string, string>,
  memoryMiB: number,
  atMs?: number,
): Promise<FunctionProcesses> {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-functions-'))
  const { bundleInto } = createRequire(import.meta.url)('../../src/handlers/bundle.cjs') as {
    bundleInto(folder: string): Promise<void>
  }
  await bundleInto(folder)
  const invocations: Invocation[] = []
  return {
    invocations,
    remove: () => rmSync(folder, { recursive: true, force: true }),
    async invoke(name, event, more = {}) {
      const file = join(folder, `${name[0]?.toLowerCase()}${name.slice(1)}.cjs`)
      const context = { awsRequestId: randomUUID() }
      const script = `${atMs === undefined ? '' : stoppedAt(atMs)}
        const context = { ...${JSON.stringify(context)}, getRemainingTimeInMillis: () => 900000 }
        require(${JSON.stringify(file)}).handler(${JSON.stringify(event)}, context).then(
          answer => ({ answer }),
          error => ({ failed: { name: error.name, message: error.message } }),
        ).then(told => {
          const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
          const used = { peakRssBytes: maxRSS * 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 }
          process.stdout.write(${JSON.stringify(`\n${mark}`)} + JSON.stringify({ ...told, used }))
        })`
      const startMs = performance.now()
      const heap = `--max-old-space-size=${Math.floor(memoryMiB * heapShare)}`
      const { stdout } = await run(process.execPath, [heap, '-e', script], {
        env: { PATH: '/usr/bin:/bin', ...environment, ...more },
        maxBuffer: 256 * 2 ** 20,
      }).catch(error => {
        throw named(
          'Runtime.ExitError',
          `Runtime exited with error: ${error.signal ?? `exit status ${error.code}`}: ${String(error.stderr).slice(-400)}`,
        )
      })
      const end = stdout.lastIndexOf(mark)
      const { answer, failed, used } = JSON.parse(stdout.slice(end + mark.length))
      if (failed) throw named(failed.name, failed.message)
      invocations.push({
        name,
        event,
        wallMs: performance.now() - startMs,
        ...used,
        logged: stdout.slice(0, end),
      })
      return answer
    },
  }
}

const stoppedAt = (atMs: number) => `
  globalThis.Date = class extends Date {
    constructor(...given) {
      super(...(given.length === 0 ? [${atMs}] : given))
    }
    static now() {
      return ${atMs}
    }
  }`

const named = (name: string, message: string) =>
  Object.assign(new Error(JSON.stringify({ errorType: name, errorMessage: message })), { name })

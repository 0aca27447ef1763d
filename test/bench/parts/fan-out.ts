/**
 * A fleet of 40 clusters through the state machine: each invocation a process of its own, with the memory of a small function, against the lab in another. And
 * then the same fleet by one function, whose findings have to be the same.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FunctionProcesses, functionProcesses, type Invocation } from '#test/function-process.ts'
import { execute } from '#test/state-machine.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'

const clusters = 40
const memoryMiB = 512
/** One function alone needs more. */
const aloneMiB = 4096
const scheduledTime = '2026-11-21T05:00:00Z'
const run = '2026-11-21T05-00-00Z'
const policy = `
pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4 }
fanOut: { aboveNodes: 1, clustersAtOnce: 2 }
`

export const fanOutPart: Part = {
  name: 'fan-out',
  nodes: 20_000,

  async run(nodes, say) {
    const folder = mkdtempSync(join(tmpdir(), 'highwater-fan-out-'))
    const lab = fork(fileURLToPath(new URL('./fan-out-lab.ts', import.meta.url)), [String(nodes), String(clusters), join(folder, 's3')])
    const started: FunctionProcesses[] = []
    try {
      const [environment] = (await once(lab, 'message')) as [Record<string, string>]
      const functions = async (memory: number, more: Record<string, string>) => {
        const made = await functionProcesses({ ...environment, ...settings, ...more }, memory)
        started.push(made)
        return made
      }
      const bucket = join(folder, 's3', settings.HIGHWATER_BUCKET)
      for (const prefix of ['', 'alone/']) {
        mkdirSync(join(bucket, prefix), { recursive: true })
        writeFileSync(join(bucket, prefix, 'highwater.yaml'), policy)
      }
      const many = await functions(memoryMiB, {
        HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
      })
      const tick = { source: 'highwater.schedule', scheduledTime }
      const handed = (await many.invoke('Audit', tick)) as { state: string }
      if (handed.state !== 'fanned-out') throw new Error(`the fleet was not handed over: ${JSON.stringify(handed)}`)
      const startMs = performance.now()
      const { largestPayloadBytes } = await execute(
        { run },
        { invoke: many.invoke, readObject: async (_bucket, key) => JSON.parse(readFileSync(join(bucket, key), 'utf8')) },
      )
      const wallMs = performance.now() - startMs
      say(`${many.invocations.length} invocations, the largest payload ${largestPayloadBytes} bytes`)
      const one = await functions(aloneMiB, { HIGHWATER_PREFIX: 'alone/' })
      await one.invoke('Audit', tick)
      const same = told(join(bucket, 'runs', run)) === told(join(bucket, 'alone/runs', run))
      say(`The findings are ${same ? 'those of one function, byte for byte' : 'NOT THOSE OF ONE FUNCTION'}.`)
      if (!same) process.exitCode = 1
      return [
        ...['Audit', 'Discover', 'AuditShard', 'Publish'].map(name => rowOf(name, nodes, many.invocations)),
        { ...rowOf('state machine', nodes, many.invocations), wallMs },
        { ...rowOf('Audit', nodes, one.invocations), name: 'one function alone' },
      ]
    } finally {
      lab.kill()
      for (const { remove } of started) remove()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const settings = {
  HIGHWATER_BUCKET: 'highwater-lab',
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'team@example.com',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
}

/** All but the moment at which the run began. */
function told(folder: string): string {
  const document = JSON.parse(readFileSync(join(folder, 'findings.json'), 'utf8'))
  return JSON.stringify({ ...document, run: { ...document.run, takenAt: '' } })
}

/** Of a function the longest and largest invocation; of the state machine the sum of their times. */
function rowOf(name: string, nodes: number, all: readonly Invocation[]): Row {
  const own = all.filter(invocation => name === 'state machine' || invocation.name === name)
  return {
    name: name === 'state machine' ? name : `${name} (${own.length}, the largest)`,
    nodes,
    runs: 1,
    wallMs: Math.max(...own.map(({ wallMs }) => wallMs)),
    cpuMs: name === 'state machine' ? own.reduce((sum, { cpuMs }) => sum + cpuMs, 0) : Math.max(...own.map(({ cpuMs }) => cpuMs)),
    peakRssBytes: Math.max(...own.map(({ peakRssBytes }) => peakRssBytes)),
    requests: 0,
    bodyBytes: 0,
  }
}

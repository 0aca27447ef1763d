/**
 * A fleet of 40 clusters through the state machine, two mornings: each invocation a process of its own, with the memory of a small function, against the lab in
 * another. And then the same fleet by one function, whose findings have to be the same. It fails where an invocation takes more than that memory.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FindingsDocument } from '#model/finding.ts'
import { functionProcesses, type Invocation } from '#test/function-process.ts'
import { execute } from '#test/state-machine.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'

const clusters = 40
const memoryMiB = 512
/** One function alone takes what it needs. */
const aloneMiB = 8192
const mornings = ['2026-11-21T05:00:00Z', '2026-11-22T05:00:00Z']
const names = ['Audit', 'Discover', 'AuditShard', 'Publish']
/** A busy machine is no node that does not answer: one that were given up in one of the two ways alone would make them differ. */
const policy = `
pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4 }
fanOut: { aboveNodes: 1, clustersAtOnce: 2 }
timeoutsMs: { list: 300000, configz: 120000, summary: 120000 }
`

export const fanOutPart: Part = {
  name: 'fan-out',
  nodes: 20_000,

  async run(nodes, say) {
    const folder = mkdtempSync(join(tmpdir(), 'highwater-fan-out-'))
    const bucket = join(folder, 's3', settings.HIGHWATER_BUCKET)
    for (const prefix of ['', 'alone/']) {
      mkdirSync(join(bucket, prefix), { recursive: true })
      writeFileSync(join(bucket, prefix, 'highwater.yaml'), policy)
    }
    try {
      const rows: Row[] = []
      for (const [index, scheduledTime] of mornings.entries()) {
        const report = (line: string) => say(`Morning ${index + 1}: ${line}`)
        rows.push(
          ...(await onMorning({ nodes, scheduledTime, bucket, report })).map(row => ({
            ...row,
            name: `${index + 1}: ${row.name}`,
          })),
        )
      }
      for (const { name, peakRssBytes } of rows.filter(
        ({ peakRssBytes }) => peakRssBytes > memoryMiB * 2 ** 20,
      )) {
        if (name.endsWith(alone)) continue
        say(`${name} TOOK ${Math.round(peakRssBytes / 2 ** 20)} MiB, MORE THAN ${memoryMiB}.`)
        process.exitCode = 1
      }
      return rows
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

interface Morning {
  nodes: number
  scheduledTime: string
  bucket: string
  report: (line: string) => void
}

const alone = 'one function alone'

async function onMorning({ nodes, scheduledTime, bucket, report }: Morning): Promise<Row[]> {
  const atMs = Date.now()
  const tick = { source: 'highwater.schedule', scheduledTime }
  const run = scheduledTime.replaceAll(':', '-')
  const lab = fork(fileURLToPath(new URL('./fan-out-lab.ts', import.meta.url)), [
    ...[String(nodes), String(clusters), join(bucket, '..'), scheduledTime, String(atMs)],
  ])
  const environment = { ...(await environmentOf(lab)), ...settings }
  const many = await functionProcesses(
    { ...environment, HIGHWATER_STATE_MACHINE_ARN: stateMachineArn },
    memoryMiB,
    atMs,
  )
  const one = await functionProcesses(
    { ...environment, HIGHWATER_PREFIX: 'alone/' },
    aloneMiB,
    atMs,
  )
  try {
    const handed = (await many.invoke('Audit', tick)) as { state: string }
    if (handed.state !== 'fanned-out')
      throw new Error(`the fleet was not handed over: ${JSON.stringify(handed)}`)
    const startMs = performance.now()
    const { largestPayloadBytes } = await execute(
      { run },
      {
        invoke: many.invoke,
        readObject: async (_bucket, key) => JSON.parse(readFileSync(join(bucket, key), 'utf8')),
      },
    )
    const wallMs = performance.now() - startMs
    report(
      `${many.invocations.length} invocations, the largest payload ${largestPayloadBytes} bytes`,
    )
    for (const { name, peakRssBytes } of names.map(name => rowOf(name, nodes, many.invocations)))
      report(`${name} peak ${Math.round(peakRssBytes / 2 ** 20)} MiB`)
    await one.invoke('Audit', tick)
    const [ofMany, ofOne] = ['runs', 'alone/runs'].map(runs =>
      readFileSync(join(bucket, runs, run, 'findings.json'), 'utf8'),
    )
    const { findings, delta }: FindingsDocument = JSON.parse(ofMany!)
    report(
      `${findings.length} findings, ${delta.new.length} new, ${delta.resolved.length} resolved`,
    )
    const isSame = ofMany === ofOne
    report(
      `the findings are ${isSame ? 'those of one function, byte for byte' : `NOT THOSE OF ONE FUNCTION.\n${firstDifference(ofMany!, ofOne!)}`}`,
    )
    if (!isSame) process.exitCode = 1
    return [
      ...names.map(name => rowOf(name, nodes, many.invocations)),
      { ...rowOf('state machine', nodes, many.invocations), wallMs },
      { ...rowOf('Audit', nodes, one.invocations), name: alone },
    ]
  } finally {
    lab.kill()
    many.remove()
    one.remove()
  }
}

async function environmentOf(lab: ChildProcess): Promise<Record<string, string>> {
  const died = once(lab, 'exit').then(([code]) => {
    throw new Error(`the lab ended with ${code}`)
  })
  const [environment] = await Promise.race([once(lab, 'message'), died])
  died.catch(() => undefined)
  return environment
}

/** A line holds an entry of the findings document. */
function firstDifference(many: string, one: string): string {
  const [ofMany, ofOne] = [many.split('\n'), one.split('\n')]
  const line = ofMany.findIndex((text, index) => text !== ofOne[index])
  return `many: ${ofMany[line]?.slice(0, 400)}\none: ${ofOne[line]?.slice(0, 400)}`
}

const stateMachineArn = 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater'
const settings = {
  HIGHWATER_BUCKET: 'highwater-lab',
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'team@example.com',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
}

/** Of a function the longest and largest invocation; of the state machine the sum of their times. */
function rowOf(name: string, nodes: number, all: readonly Invocation[]): Row {
  const own = all.filter(invocation => name === 'state machine' || invocation.name === name)
  return {
    name: name === 'state machine' ? name : `${name} (${own.length}, the largest)`,
    nodes,
    runs: 1,
    wallMs: Math.max(...own.map(({ wallMs }) => wallMs)),
    cpuMs:
      name === 'state machine'
        ? own.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
        : Math.max(...own.map(({ cpuMs }) => cpuMs)),
    peakRssBytes: Math.max(...own.map(({ peakRssBytes }) => peakRssBytes)),
    requests: 0,
    bodyBytes: 0,
  }
}

/**
 * What the deployed function takes of a fleet: the bundle as it is packaged, in a process of its own, two mornings one after the other, in
 * the modes `proxy` and `both`. Its memory is what MemoryMb has to hold.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lab, startLab } from '#lab/lab.ts'
import { type FleetOptions, fleet } from '#lab/scenarios/fleet.ts'
import type { ReadMode } from '#model/input/record.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { packageService, run } from '#test/packaged.ts'
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'

const bucket = 'highwater-lab'
const mornings = ['2026-11-21T05:00:00Z', '2026-11-22T05:00:00Z']
/** The lab has no other callers to be polite to. */
const policy = {
  pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 100 },
  timeoutsMs: { inspect: 300_000 },
  secondReadings: 0,
}
/** In mode `both` the lab runs the inspect script for each node, so a larger fleet would measure the lab. */
const inspectedNodesMost = 200
const functionMs = 900_000
/** The stack's default. Lambda's runtime holds V8 to about nine tenths of what the function has, and so the garbage collector knows when to hurry. */
const memoryMb = 1024
const heapFlags = [`--max-old-space-size=${Math.floor(memoryMb * 0.9)}`]

export const servicePart: Part = {
  name: 'service',
  nodes: 1000,
  podsPerNode: 12,
  targets: rows =>
    rows.map(({ name, nodes, peakRssBytes }) => ({
      what: `${name} of ${nodes} nodes, with its history: peak memory at most 256 MiB`,
      figure: `${Math.round(peakRssBytes / 2 ** 20)} MiB`,
      isMet: peakRssBytes <= 256 * 2 ** 20,
      otherwise:
        'V8 lets its heap grow to what the function has, 1,024 MB; next: a limit of the young heap in the stack',
    })),

  async run(nodes, say, { podsPerNode = 12 }) {
    const packaged = await packageService()
    const bundle = join(packaged.bundles, 'audit.cjs')
    const inspected = Math.min(nodes, inspectedNodesMost)
    try {
      return [
        ...(await morningRows(bundle, 'proxy', { nodes, podsPerNode }, say)),
        ...(await morningRows(bundle, 'both', { nodes: inspected, podsPerNode }, say)),
      ]
    } finally {
      packaged.remove()
    }
  },
}

async function morningRows(
  bundle: string,
  mode: ReadMode,
  size: FleetOptions,
  say: (line: string) => void,
): Promise<Row[]> {
  const store = mkdtempSync(join(tmpdir(), 'highwater-bench-'))
  mkdirSync(join(store, bucket))
  writeFileSync(
    join(store, bucket, 'highwater.yaml'),
    JSON.stringify({ ...policy, modes: [{ mode }] }),
  )
  const documents = deployedDocuments()
  const lab = await startLab([fleet(size)], { storeFolder: store, documents })
  const environment = { ...lab.environment, HIGHWATER_BUCKET: bucket }
  try {
    const rows: Row[] = []
    for (const [index, morning] of mornings.entries()) {
      const before = requestsOf(lab)
      const row = await invoked(bundle, morning, environment)
      const runFolder = join(store, bucket, 'runs', morning.replaceAll(':', '-'))
      const snapshot = readFileSync(join(runFolder, 'snapshot.ndjson.gz'))
      const name = `mode ${mode}, morning ${index + 1}`
      say(`${name}: snapshot ${megabytes(snapshot.length)} MB`)
      const requests = requestsOf(lab) - before
      rows.push({ name, nodes: size.nodes, runs: 1, ...row, requests, bodyBytes: 0 })
    }
    return rows
  } finally {
    await lab.close()
    rmSync(store, { recursive: true, force: true })
  }
}

const requestsOf = (lab: Lab) =>
  Object.values(lab.requests().routes)
    .flatMap(routes => Object.values(routes))
    .reduce((sum, count) => sum + count, 0)

async function invoked(bundle: string, scheduledTime: string, environment: Record<string, string>) {
  const event = JSON.stringify({ source: 'highwater.schedule', scheduledTime })
  const call = `
    const startMs = performance.now()
    require(${JSON.stringify(bundle)}).handler(${event}, { awsRequestId: 'bench', getRemainingTimeInMillis: () => ${functionMs} }).then(answer => {
      const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
      process.stderr.write(JSON.stringify({ state: answer.state, wallMs: performance.now() - startMs, cpuMs: (userCPUTime + systemCPUTime) / 1000, peakRssBytes: maxRSS * 1024 }))
    })`
  const { stderr } = await run(process.execPath, [...heapFlags, '-e', call], {
    env: { PATH: process.env.PATH, ...environment },
    maxBuffer: 2 ** 28,
  })
  const { state, ...row } = JSON.parse(stderr)
  if (state !== 'published') throw new Error(`the function answered ${state}`)
  return row as Pick<Row, 'wallMs' | 'cpuMs' | 'peakRssBytes'>
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

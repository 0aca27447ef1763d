/**
 * `npm run bench -- PART [--nodes N] [--pods N] [--json]`: how fast and how large, on this machine, with the peer beside us.
 *
 * With --json only `{"schema":"highwater.bench/1",…}`, medians of all runs.
 */
import { arch, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import type { Row } from './measure.ts'
import { clusterGcPart } from './parts/cluster-gc.ts'
import { fanOutPart } from './parts/fan-out.ts'
import { replayPart } from './parts/replay.ts'
import { reportPart } from './parts/report.ts'
import { servicePart } from './parts/service.ts'

/** What is measured; `nodes`: how many of what it counts, and `podsPerNode`, where it knows such, unless told. `say` is for what a table cannot tell. */
export interface Part {
  name: string
  nodes: number
  podsPerNode?: number
  run(nodes: number, say: (line: string) => void, podsPerNode?: number): Promise<Row[]>
}

const parts: readonly Part[] = [clusterGcPart, fanOutPart, replayPart, reportPart, servicePart]

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  let options: ReturnType<typeof parse>
  try {
    options = parse(args)
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
  const part = parts.find(({ name }) => name === options.positionals[0])
  if (!part) return refuse(`Which part? There is ${parts.map(({ name }) => name).join(', ')}`)
  const nodes = Number(options.values.nodes ?? part.nodes)
  if (!Number.isInteger(nodes) || nodes < 1) return refuse('--nodes takes a whole number from 1 on')
  const { pods } = options.values
  if (pods !== undefined && part.podsPerNode === undefined)
    return refuse(`--pods is nothing that ${part.name} is measured by`)
  const podsPerNode = pods === undefined ? part.podsPerNode : Number(pods)
  if (podsPerNode !== undefined && !(Number.isInteger(podsPerNode) && podsPerNode > 0))
    return refuse('--pods takes a whole number from 1 on')
  const isJson = options.values.json ?? false
  const rows = await part.run(nodes, line => process.stderr.write(`${line}\n`), podsPerNode)
  process.stdout.write(isJson ? `${JSON.stringify(documentOf(part, rows))}\n` : tableOf(rows))
  return 0
}

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: { nodes: { type: 'string' }, pods: { type: 'string' }, json: { type: 'boolean' } },
  })

function refuse(message: string): number {
  process.stderr.write(`${message}\nUsage: npm run bench -- PART [--nodes N] [--pods N] [--json]\n`)
  return 2
}

const documentOf = (part: Part, rows: Row[]) => ({
  schema: 'highwater.bench/1',
  part: part.name,
  machine: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    arch: arch(),
    node: process.version,
  },
  rows,
})

function tableOf(rows: Row[]): string {
  const cells = rows.map(({ name, nodes, runs, wallMs, cpuMs, peakRssBytes }) => [
    name,
    String(nodes),
    String(runs),
    wallMs.toFixed(1),
    cpuMs.toFixed(1),
    ((wallMs * 1000) / nodes).toFixed(1),
    ((nodes * 1000) / wallMs).toFixed(0),
    (peakRssBytes / 2 ** 20).toFixed(0),
  ])
  const table = [
    ['name', 'count', 'runs', 'wall ms', 'cpu ms', 'µs each', 'per second', 'peak MiB'],
    ...cells,
  ]
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map(row => row[column]?.length ?? 0))) ?? []
  return table
    .map(
      row =>
        `${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}\n`,
    )
    .join('')
}

process.exitCode = await main(process.argv.slice(2))

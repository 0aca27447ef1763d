/**
 * `npm run bench -- PART [--nodes N] [--pods N] [--runs N] [--json]`: how fast and how large, on this machine, with the peer beside us.
 *
 * With --record the rows go into docs/benchmarks.md, too. With --json only `{"schema":"highwater.bench/1",…}`, medians of all runs.
 */
import { arch, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { messageOf } from '#base/operator-error.ts'
import type { Row } from './measure.ts'
import { auditPart } from './parts/audit.ts'
import { clusterGcPart } from './parts/cluster-gc.ts'
import { fanOutPart } from './parts/fan-out.ts'
import { limitsPart } from './parts/limits.ts'
import { pacePart } from './parts/pace.ts'
import { replayPart } from './parts/replay.ts'
import { reportPart } from './parts/report.ts'
import { scalePart } from './parts/scale.ts'
import { servicePart } from './parts/service.ts'
import { gatePart } from './parts/snapshot-command.ts'
import { startPart } from './parts/start.ts'
import { record, type Target } from './record.ts'

export interface Part {
  name: string
  /** Default of `--nodes`: how many of what it counts. */
  nodes: number
  /** Default of `--pods` and of `--runs`; absent: the part has no such option. */
  podsPerNode?: number
  runs?: number
  /** What docs/benchmarks.md compares the rows with. */
  targets?(rows: readonly Row[]): Target[]
  /** @param say takes lines that stand beside the table */
  run(nodes: number, say: (line: string) => void, options: PartOptions): Promise<Row[]>
}

interface PartOptions {
  podsPerNode?: number | undefined
  runs?: number | undefined
}

const parts: readonly Part[] = [
  auditPart,
  clusterGcPart,
  fanOutPart,
  gatePart,
  limitsPart,
  pacePart,
  replayPart,
  reportPart,
  scalePart,
  servicePart,
  startPart,
]

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  let options: ReturnType<typeof parse>
  try {
    options = parse(args)
  } catch (error) {
    return refuse(messageOf(error))
  }
  const part = parts.find(({ name }) => name === options.positionals[0])
  if (!part) return refuse(`Which part? There is ${parts.map(({ name }) => name).join(', ')}`)
  const isJson = options.values.json ?? false
  let counts: ReturnType<typeof countsOf>
  try {
    counts = countsOf(part, options.values)
  } catch (error) {
    return refuse(messageOf(error))
  }
  const rows = await part.run(counts.nodes, line => process.stderr.write(`${line}\n`), counts)
  if (options.values.record) record(part.name, rows, part.targets?.(rows) ?? [])
  process.stdout.write(isJson ? `${JSON.stringify(documentOf(part, rows))}\n` : tableOf(rows))
  return 0
}

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      nodes: { type: 'string' },
      pods: { type: 'string' },
      runs: { type: 'string' },
      json: { type: 'boolean' },
      record: { type: 'boolean' },
    },
  })

/** @throws Error when one is no whole number, or no option of the part */
function countsOf(part: Part, values: { nodes?: string; pods?: string; runs?: string }) {
  const count = (option: 'nodes' | 'pods' | 'runs', usual: number | undefined) => {
    const given = values[option]
    if (given === undefined) return usual
    if (usual === undefined) throw new Error(`${part.name} has no option --${option}`)
    if (!/^[1-9]\d*$/.test(given)) throw new Error(`--${option} takes a whole number from 1 on`)
    return Number(given)
  }
  return {
    nodes: count('nodes', part.nodes) ?? part.nodes,
    podsPerNode: count('pods', part.podsPerNode),
    runs: count('runs', part.runs),
  }
}

function refuse(message: string): number {
  process.stderr.write(
    `${message}\nUsage: npm run bench -- PART [--nodes N] [--pods N] [--runs N] [--json] [--record]\n`,
  )
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

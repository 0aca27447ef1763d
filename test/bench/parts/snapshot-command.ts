/** Commands that answer from a saved snapshot: how long they take from their start to their answer. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Summary } from '#model/input/record.ts'
import { gateWorld } from '#test/gate-world.ts'
import type { Part } from '../main.ts'
import { median, type Row } from '../measure.ts'
import { measuredProcess } from '../measured-process.ts'
import { benchRecord } from '../nodes.ts'
import { packedProgram } from '../packed-program.ts'

const mostMs = 10_000
const nodeConfig = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      imageGCHighThresholdPercent: 75
      imageGCLowThresholdPercent: 65
`

/** As many pods and images as a node has at most. */
const full = { pods: 110, images: 60 }

/** The nodes of `gateWorld`, each with its own pods, statistics and images. */
const fullWorld = (times: number): string[] =>
  gateWorld(times).map((line, index) => {
    const record = JSON.parse(line)
    if (record.kind !== 'Node') return line
    const { pods, runtime, known, summary } = benchRecord(index, full)
    return JSON.stringify({
      ...{ ...record, pods, runtime, known },
      summary: { ...record.summary, pods: (summary as Summary).pods },
    })
  })

interface SnapshotCommand {
  name: 'gate' | 'tune'
  what: string
  /** Next step if it takes longer than its goal. */
  otherwise: string
  /** Nodes of one `gateWorld`. */
  nodesOfWorld: number
  lines(times: number): string[]
  args(snapshot: string, folder: string): string[]
}

async function measured(command: SnapshotCommand, nodes: number, runs: number): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), `highwater-${command.name}-`))
  const snapshot = join(folder, 'snapshot.ndjson')
  const times = Math.ceil(nodes / command.nodesOfWorld)
  try {
    writeFileSync(snapshot, command.lines(times).join('\n'))
    const words = [...packedProgram(), command.name, ...command.args(snapshot, folder)]
    const samples: Awaited<ReturnType<typeof measuredProcess>>[] = []
    for (let run = 0; run < runs; run++)
      samples.push(await measuredProcess(words, { exitCodes: [0, 1] }))
    const middle = (key: 'wallMs' | 'cpuMs' | 'peakRssBytes') =>
      median(samples.map(sample => sample[key]))
    return {
      name: `${command.name}: ${command.what}`,
      nodes: times * command.nodesOfWorld,
      runs,
      requests: 0,
      bodyBytes: 0,
      wallMs: middle('wallMs'),
      cpuMs: middle('cpuMs'),
      peakRssBytes: middle('peakRssBytes'),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const gateCommand: SnapshotCommand = {
  name: 'gate',
  what: 'a NodeConfig, from the start to the answer',
  otherwise: 'each changed node is replayed and judged twice; next: read the snapshot once',
  nodesOfWorld: 16,
  lines: gateWorld,
  args(snapshot, folder) {
    const file = join(folder, 'nodeconfig.yaml')
    writeFileSync(file, nodeConfig)
    return ['--snapshot', snapshot, '--group', '*', file]
  },
}

const fullGateCommand: SnapshotCommand = {
  ...gateCommand,
  what: `the same on full nodes of ${full.pods} pods and ${full.images} images`,
  lines: fullWorld,
}

const tuneCommand: SnapshotCommand = {
  name: 'tune',
  what: 'five settings of a group, from the start to the answer',
  otherwise: 'each node is replayed for a day under each setting; next: share days of equal nodes',
  nodesOfWorld: 3,
  lines: times =>
    gateWorld(times).filter(line => !line.includes('"kind":"Node"') || line.includes('"general"')),
  args: snapshot => ['--group', 'general', '--snapshot', snapshot, '--fill', 'nodefs=300Ki/s'],
}

const commands = [gateCommand, fullGateCommand, tuneCommand]

export const gatePart: Part = {
  name: 'gate',
  nodes: 1_000,
  runs: 5,
  targets: rows =>
    rows.map((row, index) => ({
      what: `${row.name}: at most ${mostMs / 1000} s of CPU with start, for 1,000 nodes`,
      figure: `${(row.cpuMs / 1000).toFixed(1)} s`,
      isMet: (row.cpuMs * 1_000) / row.nodes <= mostMs,
      otherwise: commands[index]?.otherwise ?? '',
    })),

  async run(nodes, _say, { runs = 5 }) {
    const rows: Row[] = []
    for (const command of commands) rows.push(await measured(command, nodes, runs))
    return rows
  },
}

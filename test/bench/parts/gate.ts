/** How long a gate takes from its start to its answer, for a change that reaches every node of a snapshot. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gateWorld } from '#test/gate-world.ts'
import type { Part } from '../main.ts'
import { median, type Row } from '../measure.ts'
import { measuredProcess } from '../measured-process.ts'
import { packedProgram } from '../packed-program.ts'

/** `gateWorld(1)` has so many. */
const nodesOfWorld = 16
const mostMs = 10_000
const change = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      imageGCHighThresholdPercent: 75
      imageGCLowThresholdPercent: 65
`

export const gatePart: Part = {
  name: 'gate',
  nodes: 1_000,
  runs: 5,
  targets: ([row]) => {
    if (row === undefined) return []
    return [
      {
        what: `at most ${mostMs / 1000} s of CPU with start, for 1,000 nodes`,
        figure: `${(row.cpuMs / 1000).toFixed(1)} s`,
        isMet: (row.cpuMs * 1_000) / row.nodes <= mostMs,
        otherwise: 'each node is replayed and judged twice; next: read the snapshot once',
      },
    ]
  },

  async run(nodes, _say, { runs = 5 }) {
    const folder = mkdtempSync(join(tmpdir(), 'highwater-gate-'))
    const [snapshot, file] = ['snapshot.ndjson', 'nodeconfig.yaml'].map(name => join(folder, name))
    const times = Math.ceil(nodes / nodesOfWorld)
    const program = packedProgram()
    try {
      writeFileSync(String(snapshot), gateWorld(times).join('\n'))
      writeFileSync(String(file), change)
      const args = ['gate', '--snapshot', String(snapshot), '--group', '*', String(file)]
      const samples: Awaited<ReturnType<typeof measuredProcess>>[] = []
      for (let run = 0; run < runs; run++)
        samples.push(await measuredProcess([...program, ...args], { exitCodes: [0, 1] }))
      const of = (key: 'wallMs' | 'cpuMs' | 'peakRssBytes') =>
        median(samples.map(sample => sample[key]))
      const row: Row = {
        ...{ name: 'a NodeConfig, from the start to the answer', nodes: times * nodesOfWorld },
        ...{ runs, requests: 0, bodyBytes: 0 },
        ...{ wallMs: of('wallMs'), cpuMs: of('cpuMs'), peakRssBytes: of('peakRssBytes') },
      }
      return [row]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** The same audit of fleets of several sizes, once each: whether CPU and memory grow with the fleet, or faster. */
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'
import { packedProgram } from '../packed-program.ts'
import type { Target } from '../record.ts'
import { auditOnce } from './audit.ts'

const sizes = [100, 1_000, 5_000, 20_000]

export const scalePart: Part = {
  name: 'scale',
  nodes: 20_000,
  targets: scaleTargets,

  async run(nodes, say) {
    const program = packedProgram()
    const rows: Row[] = []
    for (const size of sizes.filter(size => size <= nodes)) {
      const row = await auditOnce(size, program)
      say(`${size} nodes: ${Math.round(row.cpuMs / 1000)} s of CPU`)
      rows.push(row)
    }
    return rows
  },
}

function scaleTargets(rows: readonly Row[]): Target[] {
  const of = (nodes: number) => rows.find(row => row.nodes === nodes)
  const [small, middle, large] = [of(1_000), of(5_000), of(20_000)]
  if (!small || !middle || !large) return []
  const cpu = large.cpuMs / large.nodes / (small.cpuMs / small.nodes)
  return [
    peakTarget(middle, 256),
    peakTarget(large, 320),
    {
      what: 'CPU for each node at 20,000 nodes at most 1.1 × that at 1,000',
      figure: `${cpu.toFixed(2)} ×`,
      isMet: cpu <= 1.1,
      otherwise: 'a larger live heap makes each collection longer; next: keep less of each node',
    },
  ]
}

function peakTarget({ nodes, peakRssBytes }: Row, mostMiB: number): Target {
  const mebibytes = peakRssBytes / 2 ** 20
  return {
    what: `peak memory at ${nodes.toLocaleString('en-US')} nodes at most ${mostMiB} MiB`,
    figure: `${Math.round(mebibytes)} MiB`,
    isMet: mebibytes <= mostMiB,
    otherwise:
      'of each of 3,000 judged nodes 2.5 KB stay until the report is made (the prediction 0.6 KB, its identity 0.5 KB); the rest is the code, 100 MiB, and the room that V8 lets its heap grow by',
  }
}

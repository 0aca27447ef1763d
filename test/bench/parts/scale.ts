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
  const mebibytes = middle.peakRssBytes / 2 ** 20
  const memory = large.peakRssBytes / middle.peakRssBytes
  const cpu = large.cpuMs / large.nodes / (small.cpuMs / small.nodes)
  const kept = 'a few KB of each judged node stay until the report is made'
  return [
    {
      what: 'peak memory at 5,000 nodes at most 256 MiB',
      figure: `${Math.round(mebibytes)} MiB`,
      isMet: mebibytes <= 256,
      otherwise: `${kept}, and V8 lets its heap grow beside them; next: keep less of each node`,
    },
    {
      what: 'peak memory at 20,000 nodes at most 1.15 × that at 5,000',
      figure: `${memory.toFixed(2)} ×`,
      isMet: memory <= 1.15,
      otherwise: `${kept}; next: spill judged nodes to a file, as fan-out does`,
    },
    {
      what: 'CPU for each node at 20,000 nodes at most 1.1 × that at 1,000',
      figure: `${cpu.toFixed(2)} ×`,
      isMet: cpu <= 1.1,
      otherwise: 'a larger live heap makes each collection longer; next: keep less of each node',
    },
  ]
}

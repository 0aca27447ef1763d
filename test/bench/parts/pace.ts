/** An audit at 50 requests a second, and the same with one node that takes 30 s for each answer of its kubelet. */
import type { Part } from '../main.ts'
import type { Row } from '../measure.ts'
import { packedProgram } from '../packed-program.ts'
import type { Target } from '../record.ts'
import { auditOnce } from './audit.ts'

const requestsPerSecond = 50
const slowMs = 30_000
const pace = { requestsPerSecond, concurrency: 32 }
const even = `at ${requestsPerSecond} requests a second`
const slow = `and one node of ${slowMs / 1000} s`

export const pacePart: Part = {
  name: 'pace',
  nodes: 1_000,
  targets: paceTargets,

  async run(nodes) {
    const program = packedProgram()
    return [
      { ...(await auditOnce(nodes, program, { pace })), name: even },
      { ...(await auditOnce(nodes, program, { pace, slowMs })), name: slow },
    ]
  },
}

function paceTargets(rows: readonly Row[]): Target[] {
  const of = (name: string) => rows.find(row => row.name === name)
  const [paced, delayed] = [of(even), of(slow)]
  if (!paced || !delayed) return []
  const deviation = (paced.wallMs * requestsPerSecond) / (paced.requests * 1000) - 1
  const moreMs = delayed.wallMs - paced.wallMs
  return [
    {
      what: `wall time within 5 % of requests / ${requestsPerSecond}`,
      figure: `${(100 * deviation).toFixed(1)} %`,
      isMet: Math.abs(deviation) <= 0.05,
      otherwise: 'start and report take their time beside the requests; next: a faster start',
    },
    {
      what: 'one node of 30 s costs at most 5 s',
      figure: `${(moreMs / 1000).toFixed(1)} s`,
      isMet: moreMs <= 5_000,
      otherwise: 'the last nodes wait for it; next: start no other node behind a slow one',
    },
  ]
}

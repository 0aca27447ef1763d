/** What an audit has to reach beside the least that its answers cost, and beside its peers. */
import type { Row } from '../measure.ts'
import type { Target } from '../record.ts'

const mostOfFloor = 1.5
const mostMiB = 256

const workAfterParsing =
  'of the CPU for each node HTTP and parsing are the floor; cutting takes 0.5 ms beside it, replay 0.7, rules 0.9, the snapshot 0.7, the collection of garbage 1.5; next: judge rules of equal configurations once, and write a smaller snapshot'
const youngHeap =
  'Node and the code take 103 MiB, and each judged node keeps 22 KB, a third of it its ledger and images; next: spill judged nodes to a file'
const tooSlow = 'the audit judges what its peer only reads; next: as for the CPU'

export function auditTargets(rows: readonly Row[]): Target[] {
  const [audit, floor, clientNode, kubectl] = ['audit', 'floor', 'client-node', 'kubectl'].map(
    name => rows.find(row => row.name === name),
  )
  if (!audit || !floor) return []
  const mebibytes = audit.peakRssBytes / 2 ** 20
  return [
    atMost('CPU of the audit', audit.cpuMs / floor.cpuMs, mostOfFloor, workAfterParsing),
    atMost('wall time of the audit', audit.wallMs / floor.wallMs, mostOfFloor, workAfterParsing),
    {
      what: `peak memory at most ${mostMiB} MiB`,
      figure: `${Math.round(mebibytes)} MiB`,
      isMet: mebibytes <= mostMiB,
      otherwise: youngHeap,
    },
    ...(clientNode ? [faster(audit, clientNode, 6)] : []),
    ...(kubectl ? [faster(audit, kubectl, 60)] : []),
  ]
}

const atMost = (what: string, ratio: number, most: number, otherwise: string): Target => ({
  what: `${what} at most ${most} × the floor's`,
  figure: `${ratio.toFixed(1)} ×`,
  isMet: ratio <= most,
  otherwise,
})

function faster(audit: Row, peer: Row, least: number): Target {
  const perSecond = ({ requests, wallMs }: Row) => requests / wallMs
  const ratio = perSecond(audit) / perSecond(peer)
  return {
    what: `requests a second at least ${least} × those of ${peer.name}`,
    figure: `${ratio.toFixed(1)} ×`,
    isMet: ratio >= least,
    otherwise: tooSlow,
  }
}

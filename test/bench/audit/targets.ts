/** What an audit has to reach beside the least that its answers cost, and beside its peers. */
import type { Row } from '../measure.ts'
import type { Target } from '../record.ts'

const most = { ofFloor: 2.2, fixedMs: 800, mebibytes: 256 }
const least = { ofClientNode: 3, ofKubectl: 40 }

/** Shares of the CPU that each of 1,000 nodes adds, by audits that leave out one stage after the other. */
const workAfterParsing =
  "reading and saving alone, as `collect` does, take 2 to 3 × the floor's; rules with what the page shows take 28 %, replay 28 %, HTTP with unpacking 20 % (1.1 to 1.3 × the floor's), parsing and cutting 13 %, the snapshot 12 %: no function of ours has more than 2.5 %. What is left is small: 9 of 81 rules read the configuration alone, which takes 1 % of the rules' time; facts of rules as text took 3 %, and take 1 % since equal settings are one key in them; pods, statistics, requests and orders of eviction 2.7 % together; failings and unknowns 0.9 %; redaction takes 4 %, half of it to look up names of images; V8's garbage collection 9 % and deflate 5 %, of which other settings save nothing. TurboFan after 8,000 calls would save about 6 % (2,400 nodes, 7 pairs), and takes 9 MiB more; compiled cutters would save 1 to 2 %. The disk's ledger takes 3.6 %, and the page shows it of each node. zstd would save 4 %, but it packs 15 times, and a snapshot may be 10 times as long as its file"
const start =
  'start, compilation by V8, lists and page; compiled code kept beside the package saves 0.08 s of it from the second start on'
const heap = 'Node and the code take 100 MiB, then V8 lets its heap grow'
const tooSlow = 'the audit judges what its peer only reads'

export function auditTargets(rows: readonly Row[]): Target[] {
  const [audit, fewAudited] = rows.filter(({ name }) => name === 'audit')
  const [floor, fewOfFloor] = rows.filter(({ name }) => name === 'floor')
  if (!audit || !floor || !fewAudited || !fewOfFloor) return []
  const eachMs = addedMs(audit, fewAudited)
  const floorMs = addedMs(floor, fewOfFloor)
  const fixedMs = fewAudited.cpuMs - eachMs * fewAudited.nodes
  const mebibytes = audit.peakRssBytes / 2 ** 20
  const peers = { 'client-node': least.ofClientNode, kubectl: least.ofKubectl }
  return [
    {
      what: `CPU that each node adds at most ${most.ofFloor} × the floor's`,
      figure: `${(eachMs / floorMs).toFixed(2)} × (${eachMs.toFixed(2)} ms beside ${floorMs.toFixed(2)} ms)`,
      isMet: eachMs / floorMs <= most.ofFloor,
      otherwise: workAfterParsing,
    },
    {
      what: `CPU of an audit without its nodes at most ${most.fixedMs / 1000} s`,
      figure: `${(fixedMs / 1000).toFixed(2)} s`,
      isMet: fixedMs <= most.fixedMs,
      otherwise: start,
    },
    {
      what: `peak memory at most ${most.mebibytes} MiB`,
      figure: `${Math.round(mebibytes)} MiB`,
      isMet: mebibytes <= most.mebibytes,
      otherwise: heap,
    },
    ...Object.entries(peers).flatMap(([name, ratio]) =>
      rows.filter(row => row.name === name).map(peer => faster(audit, peer, ratio)),
    ),
  ]
}

/** CPU that each node adds, from two sizes of the fleet. */
const addedMs = (many: Row, few: Row) => (many.cpuMs - few.cpuMs) / (many.nodes - few.nodes)

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

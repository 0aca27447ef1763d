/** What an audit has to reach beside the least that its answers cost, and beside its peers. */
import type { Row } from '../measure.ts'
import type { Target } from '../record.ts'

const most = { ofFloor: 2.2, fixedMs: 800, mebibytes: 256 }
const least = { ofClientNode: 3, ofKubectl: 40 }

/** By audits of a snapshot of 1,000 nodes, each beside one that leaves out a part. */
const workAfterParsing =
  "reading and saving alone, as `collect` does, take 2 × the floor's 2.0 ms. Of the rest, replay takes 2.8 ms of a node (2.1 to 3.4), rules 2.1 (1.6 to 4.5), the page 0.9 (0.2 to 1.7), by the median, least and most of 6 pairs on a busy machine. Some work is in several of these parts: the disk's ledger with the causes from it takes 1.9 ms (0.6 to 3.2), redaction 1.2 (at most 2.3), the snapshot's file 2.6 (1.7 to 3.2), by 5 pairs. In a profile of a snapshot of 1,000 nodes, rules and what is kept of them take 29 %, replay 15 %, page, mail and terminal 12 %, cutting and redaction 9 %, parsing 8 %, V8's garbage collection 7 %, the saved file 8 %; no rule has more than 1.3 %"
const start =
  'an audit of one node takes 0.65 s, and the first 50 nodes of a snapshot 19 ms each, until V8 has compiled what runs often; compiled code kept beside the package saves 0.08 s from the second start on'
const heapBeside = (collect: Row, floor: Row) =>
  `Node and the code take 100 MiB, then V8 lets its heap grow. \`collect\`, which keeps no node, takes ${mebibytesOf(collect)} MiB, and the floor, which keeps no answer, ${mebibytesOf(floor)} MiB`
const mebibytesOf = ({ peakRssBytes }: Row) => Math.round(peakRssBytes / 2 ** 20)

export function auditTargets(rows: readonly Row[]): Target[] {
  const [audit, fewAudited] = rows.filter(({ name }) => name === 'audit')
  const [floor, fewOfFloor] = rows.filter(({ name }) => name === 'floor')
  const collect = rows.find(({ name }) => name === 'collect')
  if (!audit || !floor || !fewAudited || !fewOfFloor || !collect) return []
  const eachMs = addedMs(audit, fewAudited)
  const floorMs = addedMs(floor, fewOfFloor)
  const fixedMs = fewAudited.cpuMs - eachMs * fewAudited.nodes
  const mebibytes = mebibytesOf(audit)
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
      figure: `${mebibytes} MiB`,
      isMet: mebibytes <= most.mebibytes,
      otherwise: heapBeside(collect, floor),
    },
    ...Object.entries(peers).flatMap(([name, ratio]) =>
      rows
        .filter(row => row.name === name)
        .map(peer => faster({ audit, collect, floor }, peer, ratio)),
    ),
  ]
}

/** CPU that each node adds, from two sizes of the fleet. */
const addedMs = (many: Row, few: Row) => (many.cpuMs - few.cpuMs) / (many.nodes - few.nodes)

interface OwnRows {
  audit: Row
  collect: Row
  floor: Row
}

function faster({ audit, collect, floor }: OwnRows, peer: Row, least: number): Target {
  const perSecond = ({ requests, wallMs }: Row) => requests / wallMs
  const ratioOf = (row: Row) => perSecond(row) / perSecond(peer)
  const text = (row: Row) => `${ratioOf(row).toFixed(1)} ×`
  return {
    what: `requests a second at least ${least} × those of ${peer.name}`,
    figure: text(audit),
    isMet: ratioOf(audit) >= least,
    otherwise: `the audit judges what its peer only reads. \`collect\`, which judges nothing, reaches ${text(collect)}, and the floor, which keeps nothing, ${text(floor)}`,
  }
}

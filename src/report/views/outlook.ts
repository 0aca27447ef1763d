/**
 * What breaks next: of every disk the time to image GC, to pressure and to the first eviction, as it was seen to grow, else at the rate that is assumed.
 * Nothing here foresees what is freed meanwhile: these are the times at which the kubelet begins to act.
 */
import type { Signal } from '#model/prediction.ts'
import type { Assumptions, AuditedNode, AuditReport, FirstVictims } from '#model/report.ts'
import { counted, formatBytes, formatCount, formatDuration, formatPercent } from '#report/numbers.ts'
import { compareText, shownLine } from '#report/text.ts'
import { type DiskOutlook, diskOutlooks } from './disk-outlook.ts'
import { subjectText } from './findings.ts'
import { growthText, type Noted, seenEvictionMs, seenTime } from './growth.ts'
import { nameLimit } from './node.ts'
import type { NodeChange } from './what-to-change.ts'

const shownNodes = 10
const hourMs = 3_600_000

interface OutlookRow {
  name: string
  where: string
  disk: string
  now: string
  growth: string
  imageGc: Noted
  pressure: Noted
  eviction: Noted
  isNow: boolean
  /** The times follow from the growth that is assumed. */
  isAssumed: boolean
  first: string
  firstIs: DiskOutlook['first']
  victims: string
  /** Null: no finding tells. */
  change: NodeChange | null
}

export interface OutlookView {
  rows: OutlookRow[]
  /** How many nodes reach eviction within which time; together every node. */
  horizons: { within: string; nodes: string; isNow: boolean }[]
  basis: string
  leftOut: string | null
}

interface NodeOutlook {
  node: AuditedNode
  /** The disk that comes to eviction first; null: not known, or nothing of it can be said. */
  disk: DiskOutlook | null
  /** Another signal that is met now, where no disk is. */
  met: Signal | null
  /** As the disk was seen to grow, else as is assumed. Null: never, or not known; infinite: later than anybody can foresee. */
  evictionMs: number | null
}

/** Whose growth was seen to lead to eviction so soon stands before those that are only near. */
const soonMs = 168 * hourMs

const horizons: { within: string; ms: number }[] = [
  { within: 'now', ms: 0 },
  { within: 'within 15 min', ms: hourMs / 4 },
  { within: 'within 1 h', ms: hourMs },
  { within: 'within 6 h', ms: 6 * hourMs },
  { within: 'within 1 day', ms: 24 * hourMs },
  { within: 'within 7 days', ms: 168 * hourMs },
  { within: 'later', ms: Number.POSITIVE_INFINITY },
]

/** @param changeOf what to change on a node; null: no finding tells */
export function outlookView(
  { nodes, assumptions }: Pick<AuditReport, 'nodes' | 'assumptions'>,
  changeOf: (node: AuditedNode) => NodeChange | null = () => null,
): OutlookView {
  const all = nodes.map(node => nodeOutlook(node, assumptions)).toSorted(soonestFirst)
  const due = all.filter(({ evictionMs }) => evictionMs !== null)
  const isSeen = ({ disk, met }: NodeOutlook) => met === null && disk?.seen != null
  const observed = due.filter(isSeen).length
  const ofHorizon = (index: number, nodesOf: NodeOutlook[]) => {
    const from = index === 0 ? -1 : horizons[index - 1]!.ms
    return nodesOf.filter(({ evictionMs }) => evictionMs! > from && evictionMs! <= horizons[index]!.ms).length
  }
  // Where nobody could look twice yet, once is enough to say so.
  const isFirstLook = all.every(
    ({ disk }) => disk === null || (disk.seen === null && (disk.unseen === null || disk.unseen.why === 'first')),
  )
  const bases = [
    { of: due.filter(isSeen), as: ' as seen' },
    { of: due.filter(each => !isSeen(each)), as: observed === 0 ? '' : ' as assumed' },
  ]
  const never = all.filter(({ evictionMs, disk }) => evictionMs === null && disk !== null).length
  const counts = [
    { within: horizons[0]!.within, count: ofHorizon(0, due), isNow: true },
    ...bases.flatMap(({ of, as }) =>
      horizons.slice(1).map(({ within }, index) => ({ within: `${within}${as}`, count: ofHorizon(index + 1, of), isNow: false })),
    ),
    { within: 'never at this growth, or unwatched', count: never, isNow: false },
    { within: 'not known', count: all.length - due.length - never, isNow: false },
  ]
  return {
    rows: due
      .slice(0, shownNodes)
      .map(each => ({ ...outlookRow(each), ...(isFirstLook ? { growth: '' } : {}), change: changeOf(each.node) })),
    horizons: counts.filter(({ count }) => count > 0).map(({ within, count, isNow }) => ({ within, nodes: counted(count, 'node'), isNow })),
    basis: basisText({ observed, due: due.length, isFirstLook: isFirstLook && all.some(({ disk }) => disk?.unseen != null) }, assumptions),
    leftOut:
      due.length > shownNodes
        ? `${counted(due.length - shownNodes, 'more node')} after these, counted above; each is in its group under Nodes.`
        : null,
  }
}

function basisText(
  { observed, due, isFirstLook }: { observed: number; due: number; isFirstLook: boolean },
  { growthPercent, imageGcPeriodMs }: Assumptions,
): string {
  const period = formatDuration(imageGcPeriodMs)
  const burst = `${formatPercent(growthPercent)} of its capacity in ${period}`
  const assumed = `a disk is taken to grow by ${burst} (policy assumedGrowthPercent)`
  const seen = 'growth is that of earlier readings; what comes and goes between two of them is not seen, so a disk may fill faster'
  const order = 'Who was seen to get there within 7 days stands before who is only near.'
  const rate =
    observed === 0
      ? `No growth was observed${isFirstLook ? ' (no earlier reading since any node started)' : ''}, so ${assumed}.`
      : observed < due
        ? `On ${counted(observed, 'node')} the ${seen}. On the others ${assumed}. ${order}`
        : `The ${seen}. ${order}`
  return `${rate} Times count from the moment each node was read, as if nothing were freed before: it is when the kubelet begins to act. Acts first: when a disk grows by ${burst}. Either: image GC looks only every ${period}, and eviction may come before its next look.`
}

function nodeOutlook(node: AuditedNode, assumptions: Assumptions): NodeOutlook {
  const far = Number.MAX_VALUE
  const disks = diskOutlooks(node, assumptions).map(disk => ({ disk, evictionMs: evictionMsOf(disk) }))
  const first = disks.toSorted(
    (a, b) =>
      Math.min(a.evictionMs ?? far, far) - Math.min(b.evictionMs ?? far, far) ||
      (a.disk.evictionMs ?? far) - (b.disk.evictionMs ?? far) ||
      compareText(a.disk.title, b.disk.title),
  )[0]
  const disk = first?.disk ?? null
  const thresholds = node.prediction.eviction?.thresholds ?? []
  const met = disk?.evictionMs === 0 ? null : (thresholds.find(threshold => threshold.met && threshold.hard)?.signal ?? null)
  return { node, disk, met, evictionMs: met === null ? (first?.evictionMs ?? null) : 0 }
}

const evictionMsOf = ({ seen, evictionMs, threshold }: DiskOutlook) =>
  seen === null ? evictionMs : seenEvictionMs(seen, threshold !== null)

/** Now, then by the growth that was seen, then by what is left. */
function soonestFirst(a: NodeOutlook, b: NodeOutlook): number {
  const isSoon = ({ disk, evictionMs }: NodeOutlook) => evictionMs !== null && disk?.seen != null && evictionMs <= soonMs
  const place = (each: NodeOutlook) => (each.evictionMs === null ? 3 : each.evictionMs === 0 ? 0 : isSoon(each) ? 1 : 2)
  const time = (each: NodeOutlook) => (isSoon(each) ? each.evictionMs : each.disk?.evictionMs) ?? Number.MAX_VALUE
  const margin = ({ disk }: NodeOutlook) => disk?.threshold?.margin ?? 0
  return (
    place(a) - place(b) ||
    (a.evictionMs === 0 ? 0 : time(a) - time(b)) ||
    margin(a) - margin(b) ||
    compareText(a.node.cluster, b.node.cluster) ||
    compareText(a.node.identity.name, b.node.identity.name)
  )
}

const firstTexts: Record<DiskOutlook['first'], string> = {
  'image-gc': 'image GC',
  eviction: 'eviction',
  either: 'either',
  nobody: 'nobody',
}

function outlookRow({ node, disk, met, evictionMs }: NodeOutlook): Omit<OutlookRow, 'change'> {
  const { identity, prediction } = node
  const group = identity.group.kind === 'Node' ? '' : `, ${subjectText(identity.group)}`
  const signal = met ?? disk?.threshold?.signal ?? null
  const where = { name: shownLine(identity.name, nameLimit), where: `${shownLine(node.cluster, nameLimit)}${group}` }
  const victims = victimsText(prediction.eviction?.firstVictims ?? null, signal)
  if (met !== null || disk === null) {
    const threshold = prediction.eviction?.thresholds.find(one => one.signal === met && one.met && one.hard)
    const now = threshold === undefined ? '' : `below ${shownLine(threshold.value, 40)}`
    return {
      ...where,
      disk: met ?? '',
      now,
      growth: '',
      imageGc: plain('–'),
      pressure: plain('now'),
      eviction: plain('now'),
      isNow: true,
      isAssumed: false,
      first: 'eviction',
      firstIs: 'eviction',
      victims,
    }
  }
  const { capacityBytes, availableBytes, imageGcMs, pressureMs, seen, first } = disk
  const used = 100 - (100 * Math.min(Math.max(availableBytes, 0), capacityBytes)) / capacityBytes
  return {
    ...where,
    disk: disk.title,
    now: `${formatPercent(used)} used, ${formatBytes(availableBytes)} free`,
    growth: growthText(disk),
    imageGc:
      imageGcMs === undefined
        ? plain(prediction.imageGC?.enabled === false ? 'off' : '–')
        : seen === null
          ? plain(timeText(imageGcMs))
          : seenTime(seen, 'imageGcMs'),
    pressure: seen === null || disk.threshold === null ? plain(timeText(pressureMs)) : seenTime(seen, 'pressureMs'),
    eviction: seen === null || disk.threshold === null ? plain(timeText(disk.evictionMs)) : seenTime(seen, 'evictionMs'),
    isNow: evictionMs === 0,
    isAssumed: seen === null,
    first: firstTexts[first],
    firstIs: first,
    victims,
  }
}

const plain = (text: string): Noted => ({ text, note: '' })

/** `in 1 h 20 min`: below the second nobody can tell it from now. */
const timeText = (ms: number | null) => (ms === null ? 'never' : ms < 1000 ? 'now' : `in ${formatDuration(roundMs(ms))}`)

/** To minutes, and hours to hours of days: an estimate that says seconds says too much. */
function roundMs(ms: number): number {
  const step = ms < 120_000 ? 1000 : ms < 24 * hourMs ? 60_000 : hourMs
  return Math.round(ms / step) * step
}

function victimsText(firstVictims: FirstVictims[] | null, signal: Signal | null): string {
  if (firstVictims === null) return 'not known'
  const told = firstVictims.find(one => one.signal === signal)
  if (told === undefined) return 'not known'
  const [first, ...rest] = told.pods.map(({ namespace, name }) => shownLine(`${namespace}/${name}`, nameLimit))
  if (first === undefined) return 'no pod that may be evicted'
  if (told.alike > 1)
    return `one of ${formatCount(told.alike)} alike: ${[first, ...rest].slice(0, told.alike).join(', ')}${told.alike > told.pods.length ? ', …' : ''}`
  return rest.length === 0 ? first : `${first}, then ${rest.join(', ')}`
}

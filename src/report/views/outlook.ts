/**
 * What breaks next: for every disk the time to image GC, pressure and the first eviction, at
 * observed growth or else at the assumed rate. Freed space is not predicted: the times say when the
 * kubelet begins to act.
 */

import type { Signal } from '#model/prediction.ts'
import type { Assumptions, AuditedNode, AuditReport, FirstVictims } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import type { Language } from '#report/languages/language.ts'
import {
  type ActingTimes,
  type DiskOutlook,
  diskOutlooks,
  type SeenOutlook,
} from './disk-outlook.ts'
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
  /** When the node evicts, or that it does. */
  isForeseen: boolean
  /** The times follow from assumed growth. */
  isAssumed: boolean
  first: string
  firstIs: DiskOutlook['first']
  victims: string
  /** Null: no finding has a change. */
  change: NodeChange | null
}

export interface OutlookView {
  /** Number of nodes that evict now. */
  evicting: number
  rows: OutlookRow[]
  /**
   * Number of nodes that reach eviction within each time, in the order of the rows; the sum is
   * every node.
   */
  horizons: { within: string; nodes: string; isNow: boolean }[]
  basis: string
  leftOut: string | null
}

interface NodeOutlook {
  node: AuditedNode
  /** The disk that reaches eviction first; null: unknown or unwatched. */
  disk: DiskOutlook | null
  /** Another signal that is met now, if no disk's is. */
  met: Signal | null
  /**
   * At observed growth, else at assumed growth. Null: never, or unknown; infinite: beyond the
   * horizon.
   */
  evictionMs: number | null
}

/**
 * Nodes with observed growth to eviction within this time come before nodes with assumed growth.
 */
const soonMs = 168 * hourMs

/** Time limits, beginning with now; the last has no end. */
const horizonsMs = [
  0,
  hourMs / 4,
  hourMs,
  6 * hourMs,
  24 * hourMs,
  168 * hourMs,
  Number.POSITIVE_INFINITY,
]

/** @param changeOf what to change on a node; null: no finding has a change */
export function outlookView(
  { nodes, assumptions }: Pick<AuditReport, 'nodes' | 'assumptions'>,
  language: Language,
  changeOf: (node: AuditedNode) => NodeChange | null = () => null,
): OutlookView {
  const { outlook: words, nodeCount } = language.words
  const all = nodes.map(node => nodeOutlook(node, assumptions)).toSorted(soonestFirst)
  const due = all.filter(({ evictionMs }) => evictionMs !== null)
  const isSeen = ({ disk, met }: NodeOutlook) => met === null && disk?.seen != null
  const ofHorizon = (index: number, nodesOf: NodeOutlook[]) => {
    const from = index === 0 ? -1 : horizonsMs[index - 1]!
    return nodesOf.filter(
      ({ evictionMs }) => evictionMs! > from && evictionMs! <= horizonsMs[index]!,
    ).length
  }
  // If no node has two readings yet, it is said once instead of in every row.
  const isFirstLook = all.every(
    ({ disk }) =>
      disk === null ||
      (disk.seen === null && (disk.unseen === null || disk.unseen.why === 'first')),
  )
  const seen = due.filter(isSeen)
  const observed = seen.length
  const within = (
    nodesOf: NodeOutlook[],
    as: (within: string) => string,
    isShown: (ms: number) => boolean,
  ) =>
    horizonsMs.flatMap((ms, index) =>
      ms === 0 || !isShown(ms)
        ? []
        : [
            {
              within: as(withinText(ms, language)),
              count: ofHorizon(index, nodesOf),
              isNow: false,
            },
          ],
    )
  const never = all.filter(({ evictionMs, disk }) => evictionMs === null && disk !== null).length
  const counts = [
    { within: words.now, count: ofHorizon(0, due), isNow: true },
    ...within(seen, words.asSeen, ms => ms <= soonMs),
    ...within(
      due.filter(each => !isSeen(each)),
      observed === 0 ? text => text : words.asAssumed,
      () => true,
    ),
    ...within(seen, words.asSeen, ms => ms > soonMs),
    { within: words.neverOrUnwatched, count: never, isNow: false },
    { within: words.unknownTime, count: all.length - due.length - never, isNow: false },
  ]
  return {
    evicting: ofHorizon(0, due),
    rows: due
      .slice(0, shownNodes)
      .map(each => ({
        ...outlookRow(each, language),
        ...(isFirstLook ? { growth: '' } : {}),
        change: changeOf(each.node),
      })),
    horizons: counts
      .filter(({ count }) => count > 0)
      .map(({ within, count, isNow }) => ({ within, nodes: nodeCount(count), isNow })),
    basis: words.basis(
      growthCoverage(observed, due.length),
      observed,
      isFirstLook && all.some(({ disk }) => disk?.unseen != null),
      language.percent(assumptions.growthPercent),
      language.duration(assumptions.imageGcPeriodMs),
    ),
    leftOut: due.length > shownNodes ? words.leftOut(due.length - shownNodes) : null,
  }
}

function growthCoverage(observed: number, due: number): 'none' | 'some' | 'all' {
  if (observed === 0) return 'none'
  return observed < due ? 'some' : 'all'
}

function nodeOutlook(node: AuditedNode, assumptions: Assumptions): NodeOutlook {
  const far = Number.MAX_VALUE
  const disks = diskOutlooks(node, assumptions).map(disk => ({
    disk,
    evictionMs: evictionMsOf(disk),
  }))
  const first = disks.toSorted(
    (a, b) =>
      Math.min(a.evictionMs ?? far, far) - Math.min(b.evictionMs ?? far, far) ||
      (a.disk.evictionMs ?? far) - (b.disk.evictionMs ?? far) ||
      byText(a.disk.title, b.disk.title),
  )[0]
  const disk = first?.disk ?? null
  const thresholds = node.prediction.eviction?.thresholds ?? []
  const met =
    disk?.evictionMs === 0
      ? null
      : (thresholds.find(threshold => threshold.met && threshold.hard)?.signal ?? null)
  return { node, disk, met, evictionMs: met === null ? (first?.evictionMs ?? null) : 0 }
}

const evictionMsOf = ({ seen, evictionMs, threshold }: DiskOutlook) =>
  seen === null ? evictionMs : seenEvictionMs(seen, threshold !== null)

/**
 * In the order of `horizons`: now, observed to evict soon, assumed, observed not to evict soon;
 * within each by time, then by headroom.
 */
function soonestFirst(a: NodeOutlook, b: NodeOutlook): number {
  const place = ({ disk, evictionMs }: NodeOutlook) => {
    if (evictionMs === null || evictionMs === 0) return evictionMs === 0 ? 0 : 4
    if (disk?.seen == null) return 2
    return evictionMs <= soonMs ? 1 : 3
  }
  const far = Number.MAX_VALUE
  const time = ({ evictionMs }: NodeOutlook) => Math.min(evictionMs ?? far, far)
  const assumed = ({ disk }: NodeOutlook) => disk?.evictionMs ?? far
  const margin = ({ disk }: NodeOutlook) => disk?.threshold?.margin ?? 0
  return (
    place(a) - place(b) ||
    time(a) - time(b) ||
    (a.evictionMs === 0 ? 0 : assumed(a) - assumed(b)) ||
    margin(a) - margin(b) ||
    byText(a.node.cluster, b.node.cluster) ||
    byText(a.node.identity.name, b.node.identity.name)
  )
}

function withinText(ms: number, { words: { outlook: words }, duration }: Language): string {
  if (ms === Number.POSITIVE_INFINITY) return words.later
  const days = ms / (24 * hourMs)
  return Number.isInteger(days) ? words.withinDays(days) : words.within(duration(ms))
}

function outlookRow(
  { node, disk, met, evictionMs }: NodeOutlook,
  language: Language,
): Omit<OutlookRow, 'change'> {
  const { words: all, line } = language
  const words = all.outlook
  const { identity, prediction } = node
  const group = identity.group.kind === 'Node' ? [] : [subjectText(identity.group, language)]
  const signal = met ?? disk?.threshold?.signal ?? null
  const where = {
    name: line(identity.name, nameLimit),
    where: all.list([line(node.cluster, nameLimit), ...group]),
  }
  const victims = victimsText(prediction.eviction?.firstVictims ?? null, signal, language)
  if (met !== null || disk === null) {
    const threshold = prediction.eviction?.thresholds.find(
      one => one.signal === met && one.met && one.hard,
    )
    const now = threshold === undefined ? '' : words.below(line(threshold.value, 40))
    return {
      ...where,
      disk: met ?? '',
      now,
      growth: '',
      imageGc: plain('–'),
      pressure: plain(words.now),
      eviction: plain(words.now),
      isNow: true,
      isAssumed: false,
      isForeseen: true,
      first: words.acts.eviction,
      firstIs: 'eviction',
      victims,
    }
  }
  const { capacityBytes, availableBytes, imageGcMs, pressureMs, seen, first } = disk
  const used = 100 - (100 * Math.min(Math.max(availableBytes, 0), capacityBytes)) / capacityBytes
  const time = (of: SeenOutlook | null, key: keyof ActingTimes, assumedMs: number | null) =>
    of === null ? plain(timeText(assumedMs, language)) : seenTime(of, key, language)
  const watched = disk.threshold === null ? null : seen
  return {
    ...where,
    disk: disk.title,
    now: words.disk(language.percent(used), language.bytes(availableBytes)),
    growth: growthText(disk, language),
    imageGc:
      imageGcMs === undefined
        ? plain(prediction.imageGC?.enabled === false ? words.off : '–')
        : time(seen, 'imageGcMs', imageGcMs),
    pressure: time(watched, 'pressureMs', pressureMs),
    eviction: time(watched, 'evictionMs', disk.evictionMs),
    isNow: evictionMs === 0,
    isAssumed: seen === null,
    isForeseen: evictionMs !== null && Number.isFinite(evictionMs),
    first: words.acts[first],
    firstIs: first,
    victims,
  }
}

const plain = (text: string): Noted => ({ text, note: '' })

/** `in 1 h 20 min`; less than a second is now. */
function timeText(ms: number | null, { words: { outlook: words }, duration }: Language): string {
  if (ms === null) return words.never
  return ms < 1000 ? words.now : words.in(duration(roundMs(ms)))
}

/** Rounded to minutes, or to hours from days on: an estimate has no seconds. */
function roundMs(ms: number): number {
  const minuteStep = ms < 24 * hourMs ? 60_000 : hourMs
  const step = ms < 120_000 ? 1000 : minuteStep
  return Math.round(ms / step) * step
}

function victimsText(
  firstVictims: FirstVictims[] | null,
  signal: Signal | null,
  { words: all, line }: Language,
): string {
  const words = all.outlook
  const group = firstVictims?.find(one => one.signal === signal)
  if (group === undefined) return all.unknown
  const [first, ...rest] = group.pods.map(({ namespace, name }) =>
    line(`${namespace}/${name}`, nameLimit),
  )
  if (first === undefined) return words.noVictim
  if (group.alike > 1)
    return words.oneOf(
      group.alike,
      all.list([
        ...[first, ...rest].slice(0, group.alike),
        ...(group.alike > group.pods.length ? ['…'] : []),
      ]),
    )
  return rest.length === 0 ? first : words.andThen(first, rest)
}

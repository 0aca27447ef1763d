/**
 * When the kubelet acts on a growing disk, at observed and at assumed growth: image GC, pressure,
 * eviction, and which comes first. And what is left of inodes, memory and process ids.
 */

import { dayMs, hourMs } from '#base/units.ts'
import type { ObservedGrowth } from '#model/history.ts'
import {
  type EvaluatedThreshold,
  type Filesystems,
  type Signal,
  sisterSignal,
} from '#model/prediction.ts'
import type { Assumptions, AuditedNode, AuditedPrediction } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { formatRange } from '#report/text.ts'

/*
 * Texts for the growth of a disk and for the times that follow from this growth. The times are
 * ranges, rounded to the precision of readings every few hours.
 */

/** The growth behind a disk's times: `grows 1.2 GiB a day (0.4–3.0 GiB), 6 readings in 5 d`. */
export function growthText({ seen, unseen }: DiskOutlook, language: Language) {
  const { growth: words } = language.words
  if (seen !== null)
    return words.seen(rateText(seen.growth, language), readingsText(seen.growth, language))
  return words.assumed(unseen === null ? null : words.unseen[unseen.why](unseen.readings))
}

/** The observed growth of a node's disks, one sentence each. */
export const growthNotes = ({ growth = {} }: Pick<AuditedNode, 'growth'>, language: Language) =>
  Object.entries(growth).flatMap(([disk, grown]) => {
    if (!grown.isSeen) return []
    return [
      language.words.growth.note(disk, rateText(grown, language), readingsText(grown, language)),
    ]
  })

const readingsText = ({ readings, overMs, falls }: ObservedGrowth, { words, duration }: Language) =>
  words.growth.readings(readings, duration(roundDuration(overMs)), falls)

/** Hours in the unit of a rate: growth observed for less than a day is given per hour. */
const hoursOf = ({ overMs }: ObservedGrowth) => (overMs < dayMs ? 1 : 24)
/** `1.2 GiB a day (0.4–3.0 GiB)`. */
function rateText(growth: ObservedGrowth, { words, bytes: shown }: Language) {
  const hours = hoursOf(growth)
  const { min, median, max } = growth.bytesPerHour
  const [low, middle, high] = [min, median, max].map(bytes => Math.round(bytes * hours)) as [
    number,
    number,
    number,
  ]
  const range = formatRange(low, high, shown)
  return words.growth.rate(shown(middle), hours === 1, range === shown(middle) ? null : range)
}

/** Rounds to one unit: to days from two days on, to hours from two hours on, else to minutes. */
function roundDuration(ms: number) {
  const unitMs = [dayMs, hourMs].find(unit => ms >= 2 * unit) ?? 60_000
  return Math.max(Math.round(ms / unitMs), 1) * unitMs
}

/** `in about 6 d`, with the note `2 d to 12 d`. A time beyond the horizon is not foreseen. */
export function seenTime(
  usualMs: number,
  { soonestMs, latestMs, horizonMs }: ReturnType<typeof seenOutlook>,
  language: Language,
) {
  const { growth: words, next } = language.words
  if (usualMs === 0) return { text: next.nowShort, note: '' }
  const durationText = (ms: number) => language.duration(roundDuration(ms))
  const text = words.about(durationText(usualMs))
  const from = durationText(soonestMs ?? usualMs)
  if (latestMs === null || latestMs > horizonMs) return { text, note: words.orLater(from) }
  const to = durationText(latestMs)
  return { text, note: to === from ? '' : words.fromTo(from, to) }
}

type Disk = 'nodefs' | 'imagefs'

const titleOf = (disk: Disk, isShared: boolean) => (isShared ? 'nodefs = imagefs' : disk)

/** If the layout is unknown, images are taken to be on another disk than nodefs. */
function disksOf({ layout }: Filesystems): { isShared: boolean; disks: Disk[] } {
  const isShared = layout === 'shared'
  return { isShared, disks: isShared ? ['nodefs'] : ['nodefs', 'imagefs'] }
}

/** One disk, with its times at assumed growth. */
export type DiskOutlook = ReturnType<typeof diskOutlooks>[number]

/** Observed growth is extrapolated to this multiple of the observed time. */
const lookAhead = 4

type DiskPrediction = Pick<AuditedPrediction, 'filesystems' | 'eviction' | 'imageGC'>

/** One outlook for each disk with known capacity and thresholds. */
export function diskOutlooks(
  { filesystems, eviction, imageGC }: DiskPrediction,
  growth: AuditedNode['growth'],
  assumptions: Assumptions,
) {
  if (eviction === null || eviction.error !== null) return []
  const { isShared, disks } = disksOf(filesystems)
  return disks.flatMap(disk => {
    const { capacityBytes, availableBytes } = filesystems[disk] ?? {
      capacityBytes: null,
      availableBytes: null,
    }
    if (capacityBytes === null || availableBytes === null || capacityBytes <= 0) return []
    const signals: Signal[] = isShared
      ? ['nodefs.available', 'imagefs.available']
      : [`${disk}.available`]
    // A threshold of 0 bytes is never met.
    const watching = eviction.thresholds.filter(
      ({ signal, resolved }) => signals.includes(signal) && resolved !== null && resolved > 0,
    )
    const holdsImages = isShared || disk === 'imagefs'
    const untilTrigger = holdsImages && imageGC?.enabled ? imageGC.bytesUntilTrigger : null
    const actingAtRate = (bytesPerHour: number) =>
      actingTimes(bytesPerHour, { untilTrigger, watching })
    const endMs = (bytesPerHour: number) =>
      watching.length === 0
        ? timeUntil(availableBytes, bytesPerHour)
        : actingAtRate(bytesPerHour).times.evictionMs
    const bytesPerHour =
      ((assumptions.growthPercent / 100) * capacityBytes * hourMs) / assumptions.imageGcPeriodMs
    const { times, threshold } = actingAtRate(bytesPerHour)
    const grown = growth?.[disk] ?? null
    return [
      {
        filesystem: disk,
        signal: `${disk}.available` as Signal,
        title: titleOf(disk, isShared),
        capacityBytes,
        availableBytes,
        /** The assumed growth. */
        bytesPerHour,
        ...times,
        /** Times at observed growth. Null: observed growth is unknown. */
        seen: grown?.isSeen ? seenOutlook(grown, endMs) : null,
        /** Why observed growth is unknown. Null: it is known, or was not computed. */
        unseen: grown?.isSeen === false ? grown : null,
        /** The threshold that evicts first at assumed growth; null: none watches this disk. */
        threshold: threshold ?? nearestThreshold(watching),
        /** What acts first if the disk fills within minutes. Readings hours apart cannot show this. */
        first: firstToAct(times.imageGcMs ?? null, times.evictionMs, assumptions.imageGcPeriodMs),
      },
    ]
  })
}

/** What is left of inodes, memory or process ids. Bytes of memory; the others are counts. */
export interface ScarceOutlook {
  signal: Signal
  /** The disk of the inodes. Null: memory or process ids. */
  title: string | null
  capacityBytes: number
  availableBytes: number
  /** The threshold that is met first; null: none watches it. */
  threshold: EvaluatedThreshold | null
}

/** One for each that was observed. */
export function scarceOutlooks({ filesystems, eviction }: DiskPrediction) {
  if (eviction === null || eviction.error !== null) return []
  const { isShared, disks } = disksOf(filesystems)
  const outlookOf = (
    signal: Signal,
    capacityBytes: number | null | undefined,
    availableBytes: number | null | undefined,
    title: string | null = null,
  ): ScarceOutlook[] => {
    const sister = isShared ? sisterSignal(signal) : null
    const watching = eviction.thresholds.filter(
      one =>
        (one.signal === signal || one.signal === sister) && one.margin !== null && one.resolved,
    )
    // A soft threshold that is met has its grace period left; the next hard one can come first.
    const open = watching.filter(({ hard, met }) => hard || met === false)
    const threshold = nearestThreshold(open.length > 0 ? open : watching)
    return capacityBytes == null || availableBytes == null || capacityBytes <= 0
      ? []
      : [{ signal, title, capacityBytes, availableBytes, threshold }]
  }
  const signalOutlook = (signal: Signal) => {
    const { capacityBytes, availableBytes } = eviction.signals[signal] ?? {}
    return outlookOf(signal, capacityBytes, availableBytes)
  }
  return [
    ...disks.flatMap(name => {
      const { inodes, inodesFree } = filesystems[name] ?? {}
      return outlookOf(`${name}.inodesFree`, inodes, inodesFree, titleOf(name, isShared))
    }),
    ...signalOutlook('memory.available'),
    // The kubelet derives this threshold from that of memory.
    ...signalOutlook('allocatableMemory.available').filter(({ threshold }) => threshold !== null),
    ...signalOutlook('pid.available'),
  ]
}

/** Milliseconds to eviction, or to full if no threshold watches the disk, at median, fastest and slowest observed growth. Null: never; 0: now. */
const seenOutlook = (growth: ObservedGrowth, endMs: (bytesPerHour: number) => number | null) => ({
  growth,
  usualMs: endMs(growth.bytesPerHour.median),
  soonestMs: endMs(growth.bytesPerHour.max),
  latestMs: endMs(growth.bytesPerHour.min),
  /** Later times are not predicted, because the observation is too short. */
  horizonMs: lookAhead * growth.overMs,
})

function timeUntil(bytes: number, bytesPerHour: number) {
  if (bytes <= 0) return 0
  return bytesPerHour > 0 ? (bytes / bytesPerHour) * hourMs : null
}

/** Milliseconds until each event at one rate of growth. Null: never; 0: now. */
function actingTimes(
  bytesPerHour: number,
  {
    untilTrigger,
    watching,
  }: { untilTrigger: number | null; watching: readonly EvaluatedThreshold[] },
) {
  const times = watching.flatMap(threshold => {
    const metMs = timeUntil(threshold.margin ?? Number.POSITIVE_INFINITY, bytesPerHour)
    const graceMs = threshold.hard ? 0 : threshold.gracePeriodMs
    return metMs === null ? [] : [{ threshold, evictionMs: metMs + graceMs }]
  })
  const soonest = times.toSorted(
    (a, b) => a.evictionMs - b.evictionMs || (a.threshold.margin ?? 0) - (b.threshold.margin ?? 0),
  )[0]
  return {
    times: {
      /** Undefined: no images on this disk, or image GC is off or unknown. */
      imageGcMs: untilTrigger === null ? undefined : timeUntil(untilTrigger, bytesPerHour),
      evictionMs: soonest?.evictionMs ?? null,
    },
    threshold: soonest?.threshold ?? null,
  }
}

const nearestThreshold = (thresholds: EvaluatedThreshold[]) =>
  thresholds.toSorted(
    (a, b) => (a.margin ?? Number.MAX_VALUE) - (b.margin ?? Number.MAX_VALUE),
  )[0] ?? null

/** Image GC runs once per period, so image GC can act up to one period after its trigger. */
function firstToAct(
  imageGcMs: number | null,
  evictionMs: number | null,
  periodMs: number,
): 'image-gc' | 'eviction' | 'either' | 'nothing' {
  if (imageGcMs === null) return evictionMs === null ? 'nothing' : 'eviction'
  if (evictionMs === null || imageGcMs + periodMs <= evictionMs) return 'image-gc'
  return imageGcMs >= evictionMs ? 'eviction' : 'either'
}

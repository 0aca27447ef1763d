/** The words for how fast a disk grows, and for times that follow from it: ranges, rounded to what a look every few hours can tell. */
import type { AuditedNode, ObservedGrowth, UnseenGrowth } from '#model/report.ts'
import { counted, formatBytes, formatDuration, formatRange } from '#report/numbers.ts'
import type { ActingTimes, DiskOutlook, SeenOutlook } from './disk-outlook.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A text, and what stands below it; `note` empty: nothing does. */
export interface Noted {
  text: string
  note: string
}

const unseenTexts: Record<UnseenGrowth['why'], (growth: UnseenGrowth) => string> = {
  first: () => 'no earlier reading since it started',
  few: ({ readings }) => `only ${counted(readings, 'reading')} so far`,
  near: () => 'its readings are too near to each other',
  emptier: ({ readings }) => `in ${counted(readings, 'reading')} it mostly became emptier`,
}

/** On what the times of a disk rest: `grows 1.2 GiB a day (0.4–3.0 GiB), 6 readings in 5 d`. */
export function growthText({ seen, unseen }: Pick<DiskOutlook, 'seen' | 'unseen'>): string {
  if (seen !== null) return `grows ${rateText(seen.growth)}, ${readingsText(seen.growth)}`
  return `growth assumed${unseen === null ? '' : `: ${unseenTexts[unseen.why](unseen)}`}`
}

/** What was seen of a node's disks, a sentence each. */
export const growthNotes = ({ growth = {} }: Pick<AuditedNode, 'growth'>): string[] =>
  Object.entries(growth).flatMap(([disk, grown]) => {
    if (!grown.isSeen) return []
    return [`${disk} grew by about ${rateText(grown)}: ${readingsText(grown)}.`]
  })

const readingsText = ({ readings, overMs, falls }: ObservedGrowth) =>
  `${counted(readings, 'reading')} in ${formatDuration(coarse(overMs))}${falls === 0 ? '' : `, emptier ${falls === 1 ? 'once' : `${falls} times`} in between`}`

/** What was looked at for less than a day is told by the hour. */
const hoursOf = ({ overMs }: ObservedGrowth) => (overMs < dayMs ? 1 : 24)
/** `1.2 GiB a day (0.4–3.0 GiB)`. */
function rateText(growth: ObservedGrowth): string {
  const hours = hoursOf(growth)
  const { min, median, max } = growth.bytesPerHour
  const [low, middle, high] = [min, median, max].map(bytes => Math.round(bytes * hours)) as [number, number, number]
  const range = formatRange(low, high, formatBytes)
  return `${formatBytes(middle)} ${hours === 1 ? 'an hour' : 'a day'}${range === formatBytes(middle) ? '' : ` (${range})`}`
}

/** To one unit: days from two on, hours from two on, else minutes. */
function coarse(ms: number): number {
  const unitMs = ms >= 2 * dayMs ? dayMs : ms >= 2 * hourMs ? hourMs : 60_000
  return Math.max(Math.round(ms / unitMs), 1) * unitMs
}

/** `in about 6 d`, below it `2 d to 12 d`; what nobody can foresee is said to be that. */
export function seenTime({ usual, soonest, latest, horizonMs }: SeenOutlook, of: keyof ActingTimes): Noted {
  const [middle, first, last] = [usual[of] ?? null, soonest[of] ?? null, latest[of] ?? null]
  if (middle === 0) return { text: 'now', note: '' }
  const isForeseen = (ms: number | null): ms is number => ms !== null && ms <= horizonMs
  const shown = (ms: number) => formatDuration(coarse(ms))
  if (!isForeseen(middle))
    return { text: `not within ${shown(horizonMs)}`, note: isForeseen(first) ? `at the fastest seen ${shown(first)}` : '' }
  const from = shown(first ?? middle)
  return {
    text: `in about ${shown(middle)}`,
    note: isForeseen(last) ? (shown(last) === from ? '' : `${from} to ${shown(last)}`) : `${from} or later`,
  }
}

/** When a disk evicts as it was seen to grow; infinite where that cannot be foreseen, null where nothing watches it. */
export function seenEvictionMs({ usual, horizonMs }: SeenOutlook, isWatched: boolean): number | null {
  if (!isWatched) return null
  return usual.evictionMs !== null && usual.evictionMs <= horizonMs ? usual.evictionMs : Number.POSITIVE_INFINITY
}

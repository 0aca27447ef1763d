/** The words for how fast a disk grows, and for times that follow from it: ranges, rounded to what a look every few hours can tell. */
import type { AuditedNode, ObservedGrowth } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { formatRange } from '#report/numbers.ts'
import type { ActingTimes, DiskOutlook, SeenOutlook } from './disk-outlook.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A text, and what stands below it; `note` empty: nothing does. */
export interface Noted {
  text: string
  note: string
}

/** On what the times of a disk rest: `grows 1.2 GiB a day (0.4–3.0 GiB), 6 readings in 5 d`. */
export function growthText(
  { seen, unseen }: Pick<DiskOutlook, 'seen' | 'unseen'>,
  language: Language,
): string {
  const { growth: words } = language.words
  if (seen !== null)
    return words.seen(rateText(seen.growth, language), readingsText(seen.growth, language))
  return words.assumed(unseen === null ? null : words.unseen[unseen.why](unseen.readings))
}

/** What was seen of a node's disks, a sentence each. */
export const growthNotes = (
  { growth = {} }: Pick<AuditedNode, 'growth'>,
  language: Language,
): string[] =>
  Object.entries(growth).flatMap(([disk, grown]) => {
    if (!grown.isSeen) return []
    return [
      language.words.growth.note(disk, rateText(grown, language), readingsText(grown, language)),
    ]
  })

const readingsText = ({ readings, overMs, falls }: ObservedGrowth, { words, duration }: Language) =>
  words.growth.readings(readings, duration(coarse(overMs)), falls)

/** What was looked at for less than a day is told by the hour. */
const hoursOf = ({ overMs }: ObservedGrowth) => (overMs < dayMs ? 1 : 24)
/** `1.2 GiB a day (0.4–3.0 GiB)`. */
function rateText(growth: ObservedGrowth, { words, bytes: shown }: Language): string {
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

/** To one unit: days from two on, hours from two on, else minutes. */
function coarse(ms: number): number {
  const unitMs = ms >= 2 * dayMs ? dayMs : ms >= 2 * hourMs ? hourMs : 60_000
  return Math.max(Math.round(ms / unitMs), 1) * unitMs
}

/** `in about 6 d`, below it `2 d to 12 d`; what nobody can foresee is said to be that. */
export function seenTime(
  { usual, soonest, latest, horizonMs }: SeenOutlook,
  of: keyof ActingTimes,
  language: Language,
): Noted {
  const { growth: words, outlook } = language.words
  const [middle, first, last] = [usual[of] ?? null, soonest[of] ?? null, latest[of] ?? null]
  if (middle === 0) return { text: outlook.now, note: '' }
  const isForeseen = (ms: number | null): ms is number => ms !== null && ms <= horizonMs
  const shown = (ms: number) => language.duration(coarse(ms))
  if (!isForeseen(middle))
    return {
      text: words.notWithin(shown(horizonMs)),
      note: isForeseen(first) ? words.fastest(shown(first)) : '',
    }
  const from = shown(first ?? middle)
  return {
    text: words.about(shown(middle)),
    note: isForeseen(last)
      ? shown(last) === from
        ? ''
        : words.fromTo(from, shown(last))
      : words.orLater(from),
  }
}

/** When a disk evicts as it was seen to grow; infinite where that cannot be foreseen, null where nothing watches it. */
export function seenEvictionMs(
  { usual, horizonMs }: SeenOutlook,
  isWatched: boolean,
): number | null {
  if (!isWatched) return null
  return usual.evictionMs !== null && usual.evictionMs <= horizonMs
    ? usual.evictionMs
    : Number.POSITIVE_INFINITY
}

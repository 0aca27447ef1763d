/**
 * Texts for the growth of a disk and for the times that follow from this growth. The times are
 * ranges, rounded to the precision of readings every few hours.
 */
import type { ObservedGrowth } from '#model/history.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { formatRange } from '#report/numbers.ts'
import type { DiskOutlook, SeenOutlook } from './disk-outlook.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The growth behind a disk's times: `grows 1.2 GiB a day (0.4–3.0 GiB), 6 readings in 5 d`. */
export function growthText({ seen, unseen }: DiskOutlook, language: Language): string {
  const { growth: words } = language.words
  if (seen !== null)
    return words.seen(rateText(seen.growth, language), readingsText(seen.growth, language))
  return words.assumed(unseen === null ? null : words.unseen[unseen.why](unseen.readings))
}

/** The observed growth of a node's disks, one sentence each. */
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
  { soonestMs, latestMs, horizonMs }: SeenOutlook,
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

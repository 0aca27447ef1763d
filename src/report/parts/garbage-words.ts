/** Texts in the garbage tables of the page and the mail. */
import type { GarbageGap, GarbageRow } from '#model/finding/garbage-overview.ts'
import type { Language } from '#report/languages/language.ts'

/** `about 16 USD a month`. */
export const costText = (monthlyUsd: number, { words, count }: Language): string =>
  words.garbage.cost(monthlyUsd < 10 ? monthlyUsd.toFixed(2) : count(Math.round(monthlyUsd)))

export function sizeText({ bytes, monthlyUsd }: GarbageRow, language: Language): string {
  return language.words.list([
    ...(bytes === null ? [] : [language.bytes(bytes)]),
    ...(monthlyUsd === null ? [] : [costText(monthlyUsd, language)]),
  ])
}

export const gapText = (
  { reason, needs }: GarbageGap,
  { words: { garbage }, line }: Language,
): string =>
  garbage.gap(
    line(reason, 400),
    needs.map(need => garbage.needs[need]),
  )

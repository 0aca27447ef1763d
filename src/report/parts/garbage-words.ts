/** Texts in the garbage tables of the page and the mail. */
import type { GarbageGap, GarbageRow } from '#model/cluster-garbage.ts'
import type { Language } from '#report/languages/language.ts'

/** `about 16 USD a month`. @param mostUsd if it is different for each */
export function costText(leastUsd: number, { words, count }: Language, mostUsd = leastUsd) {
  const [least, most] = [leastUsd, mostUsd].map(usd =>
    usd < 10 ? usd.toFixed(2) : count(Math.round(usd)),
  ) as [string, string]
  return words.garbage.cost(least === most ? least : words.ledger.between(least, most))
}

export const sizeText = ({ bytes, monthlyUsd }: GarbageRow, language: Language) =>
  language.words.list([
    ...(bytes === null ? [] : [language.bytes(bytes)]),
    ...(monthlyUsd === null ? [] : [costText(monthlyUsd, language)]),
  ])

export const gapText = ({ reason, needs }: GarbageGap, { words: { garbage }, line }: Language) =>
  garbage.gap(
    line(reason, 400),
    needs.map(need => garbage.needs[need]),
  )

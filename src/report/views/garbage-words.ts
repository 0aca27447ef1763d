/** Leftover objects of a cluster, and what the control plane does about them, in words. */
import type { GarbageFate, GarbageGap, GarbageRow } from '#model/garbage-overview.ts'
import type { Language } from '#report/languages/language.ts'

const reasonLimit = 160

export function fateWords(
  { kind, fate }: GarbageRow,
  nowMs: number,
  language: Language,
): { head: string; text: string } {
  const { words: all, line } = language
  const { kinds, heads } = all.garbage
  const { fate: own = '' } = kinds[kind]
  const text = typeof own === 'string' ? own : (own[fate.is] ?? '')
  switch (fate.is) {
    case 'held':
      return {
        head: heads.held,
        text: all.clauses(
          fate.by.map(
            ({ name, count }) => `${line(name, reasonLimit)}${timesOver(count, language)}`,
          ),
        ),
      }
    case 'threshold':
      return thresholdWords(fate, language)
    case 'itself': {
      const times = timesText(fate, nowMs, language)
      if (times === null) return { head: heads.itself, text }
      return { head: heads.itself, text: text === '' ? times : all.said(text, times) }
    }
    default:
      return { head: heads[fate.is], text }
  }
}

/** How often, if more than once. */
export const timesOver = (count: number, { words }: Language): string =>
  count > 1 ? words.garbage.times(count) : ''

function thresholdWords(
  { pods, isAssumed, finished, excess }: Extract<GarbageFate, { is: 'threshold' }>,
  { words: { garbage: words }, count }: Language,
): { head: string; text: string } {
  if (pods <= 0) return { head: words.heads.never, text: words.podGcOff }
  const limit = isAssumed ? words.assumed(count(pods)) : count(pods)
  return {
    head: words.heads.threshold,
    text: excess > 0 ? words.excess(finished, limit, excess) : words.below(limit, finished),
  }
}

/** Null: unknown. */
function timesText(
  { firstMs, lastMs }: Extract<GarbageFate, { is: 'itself' }>,
  nowMs: number,
  language: Language,
): string | null {
  if (firstMs === null || lastMs === null) return null
  const [first, last] = [whenText(firstMs - nowMs, language), whenText(lastMs - nowMs, language)]
  return first === last ? first : language.words.garbage.firstAndLast(first, last)
}

const whenText = (ms: number, { words: { garbage: words }, duration }: Language): string =>
  ms <= 0 ? words.anyMoment : words.in(duration(ms))

/** `about 16 USD a month`. */
export const costText = (monthlyUsd: number, { words, count }: Language): string =>
  words.garbage.cost(monthlyUsd < 10 ? monthlyUsd.toFixed(2) : count(Math.round(monthlyUsd)))

export function sizeText(
  { bytes, monthlyUsd }: Pick<GarbageRow, 'bytes' | 'monthlyUsd'>,
  language: Language,
): string {
  return language.words.list([
    ...(bytes === null ? [] : [language.bytes(bytes)]),
    ...(monthlyUsd === null ? [] : [costText(monthlyUsd, language)]),
  ])
}

export function gapText(
  { resource, reason, needs }: GarbageGap,
  { words: all, line }: Language,
): string {
  const why = line(reason, 400)
  const what =
    resource !== null && !why.startsWith(resource) ? all.said(line(resource, 120), why) : why
  return all.garbage.gap(
    what,
    needs.map(need => all.garbage.needs[need]),
  )
}

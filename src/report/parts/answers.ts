/** The questions about the node that is nearest to eviction: what holds its disk, what goes first, what to do now and then. */
import type { Language } from '#report/languages/language.ts'
import { causeLines, causeOnNode, type FoundCause } from './causes.ts'
import type { OutlookView } from './outlook.ts'
import { stepLines } from './steps.ts'

export interface Answer {
  key: string
  text: string
  isStep: boolean
}

export function answersOf(
  row: OutlookView['rows'][number],
  causes: readonly FoundCause[],
  language: Language,
): Answer[] {
  const { picture: words, unknown } = language.words
  const found = causes[row.cause ?? -1]
  const steps = found
    ? causeLines(causeOnNode(found, row), language)
    : stepLines(row.steps, null, null, null, language)
  const holder = row.isOfMemory ? words.holderOfMemory : words.holder
  return [
    { key: holder, text: row.fill ?? unknown, isStep: false },
    { ...row.first, isStep: false },
    ...steps.map(step => ({ ...step, isStep: true })),
  ]
}

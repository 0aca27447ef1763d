/** The questions about the node that is nearest to eviction: why, what holds its disk, what goes first, what to do now and then. */
import type { Language } from '#report/languages/language.ts'
import { causeOnNode, type FoundCause, reasonOf, stepLinesOf } from './causes.ts'
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
  const ofFleet = causes[row.cause ?? -1]
  const found = ofFleet && causeOnNode(ofFleet, row)
  const reason = found === undefined ? null : reasonOf(found, language)
  const steps = found ? stepLinesOf(found, language) : stepLines(row.steps, null, null, language)
  const holder = row.isOfMemory ? words.holderOfMemory : words.holder
  return [
    ...(reason === null ? [] : [{ key: words.why, text: reason, isStep: false }]),
    { key: holder, text: row.fill ?? unknown, isStep: false },
    { ...row.first, isStep: false },
    ...steps.map(step => ({ ...step, isStep: true })),
  ]
}

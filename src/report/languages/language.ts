/** A language as the views are handed it: its messages, and numbers and foreign texts as it shows them. */
import type { RuleDocs } from '#model/finding.ts'
import type { LanguageId } from '#model/language.ts'
import { type Numbers, numbersIn } from '#report/numbers.ts'
import { type Fold, foldedLine, shownBlock, shownLine } from '#report/text.ts'
import { type Catalogue, en } from './en.ts'

/** What a rule is called, why it matters, and what to do, as in its `docs`. */
export interface RuleText extends Omit<RuleDocs, 'sources'> {
  /** Other titles that it may give a finding, as they are in the language, by what they are in English. */
  titles?: Record<string, string>
}

/** By the rule's id. */
export type RuleTexts = Partial<Record<string, RuleText>>

export interface Language extends Numbers {
  id: LanguageId
  /** For the attribute lang (BCP 47). */
  tag: string
  words: Catalogue
  /** Empty in English: there findings and rules say it themselves. */
  rules: RuleTexts
  /** Foreign texts, bounded: one line, lines, a folded line. */
  line: Fold
  block: Fold
  fold: Fold
}

export const languageOf = (
  id: LanguageId,
  tag: string,
  words: Catalogue,
  rules: RuleTexts,
): Language => ({
  id,
  tag,
  words,
  rules,
  ...numbersIn(words.numbers),
  line: (text, limit) => shownLine(text, limit, words.cut),
  block: (text, limit) => shownBlock(text, limit, words.cut),
  fold: (text, limit) => foldedLine(text, limit, words.cut),
})

export const english = languageOf('en', 'en', en, {})

/** The language of what comes from the audit itself, for the attribute lang; null: the report is in no other. */
export const sourceTag = ({ id }: Language): string | null =>
  id === english.id ? null : english.tag

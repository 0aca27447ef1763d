/** A language as the views are handed it: its messages, and numbers and foreign texts as it shows them. */
import type { RuleDocs } from '#model/finding.ts'
import type { LanguageId } from '#model/language.ts'
import { type Numbers, numbersIn } from '#report/numbers.ts'
import { type Fold, foldedLine, shownBlock, shownLine } from '#report/text.ts'
import { type Catalogue, en } from './en.ts'

/** A rule's `docs` in the language, and its other titles by their key in the rule. */
export interface RuleText extends Omit<RuleDocs, 'sources'> {
  /** Hash of the English text that was translated: test/report/languages warns if that text has changed since. */
  english: string
  titles?: Record<string, string>
}

/** By the rule's id. */
export type RuleTexts = Partial<Record<string, RuleText>>

/** Joins names, clauses, and names that belong together ("a, b, and c"). */
interface Joiners {
  list(items: string[]): string
  clauses(items: string[]): string
  all(items: string[]): string
}

export interface Language extends Numbers {
  id: LanguageId
  /** For the attribute lang (BCP 47). */
  tag: string
  words: Catalogue & Joiners
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
  words: { ...words, ...joinersOf(words.separators, tag) },
  rules,
  ...numbersIn(words.numbers),
  line: (text, limit) => shownLine(text, limit, words.cut),
  block: (text, limit) => shownBlock(text, limit, words.cut),
  fold: (text, limit) => foldedLine(text, limit, words.cut),
})

function joinersOf(separators: Catalogue['separators'], tag: string): Joiners {
  const conjunction = new Intl.ListFormat(tag, { type: 'conjunction' })
  return {
    list: items => items.join(separators.list),
    clauses: items => items.join(separators.clauses),
    all: items => conjunction.format(items),
  }
}

export const english = languageOf('en', 'en', en, {})

/** The language of what comes from the audit itself, for the attribute lang; null: the report is in no other. */
export const sourceTag = ({ id }: Language): string | null =>
  id === english.id ? null : english.tag

/** A language for the views: its messages, and how it shows numbers and foreign texts. */

import { once } from '#base/once.ts'
import type { RuleDocs } from '#model/finding.ts'
import type { LanguageId } from '#model/language.ts'
import {
  type Fold,
  foldedLine,
  type Numbers,
  numbersIn,
  shownBlock,
  shownLine,
} from '#report/text.ts'
import ja from './ja.messages.json' with { type: 'json' }
import jaRules from './ja.rules.json' with { type: 'json' }
import ko from './ko.messages.json' with { type: 'json' }
import koRules from './ko.rules.json' with { type: 'json' }
import { type Catalogue, englishCatalogue, translate } from './messages.ts'
import zh from './zh.messages.json' with { type: 'json' }
import zhRules from './zh.rules.json' with { type: 'json' }

/** A rule's `docs` in the language. `titles`: the rule's other titles, by their key in the rule. */
export interface RuleText extends Omit<RuleDocs, 'sources'> {
  /** Hash of the English text that was translated: test/report/languages warns if that text has changed since. */
  english: string
  titles?: Record<string, string>
}

/** The texts of each rule, by rule id. */
export type RuleTexts = Partial<Record<string, RuleText>>

/** `list` joins names, `clauses` joins clauses, and `all` joins names as in "a, b, and c". */
interface Joiners {
  list(items: string[]): string
  clauses(items: string[]): string
  all(items: string[]): string
}

export interface Language extends Numbers {
  id: LanguageId
  /** BCP 47 tag for the attribute lang. */
  tag: string
  words: Catalogue & Joiners
  /** Empty in English: findings and rules have their own English texts. */
  rules: RuleTexts
  /** These bound foreign texts, as `shownLine`, `shownBlock` and `foldedLine` do. */
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
  const conjunction = once(() => new Intl.ListFormat(tag, { type: 'conjunction' }))
  return {
    list: items => items.join(separators.list),
    clauses: items => items.join(separators.clauses),
    all: items => conjunction().format(items),
  }
}

export const english = languageOf('en', 'en', englishCatalogue, {})

/** Attribute lang of English texts from the audit. Null: the whole report is in English. */
export const englishTag = ({ id }: Language): string | null =>
  id === english.id ? null : english.tag

/* All languages of a report. English is the source; the others are data. */

export const languages: Record<LanguageId, Language> = {
  en: english,
  get ko() {
    return korean()
  },
  get ja() {
    return japanese()
  },
  get zh() {
    return chinese()
  },
}

const korean = once(() => languageOf('ko', 'ko', translate(ko, 'ko'), koRules))
const japanese = once(() => languageOf('ja', 'ja', translate(ja, 'ja'), jaRules))
const chinese = once(() => languageOf('zh', 'zh-Hans', translate(zh, 'zh-Hans'), zhRules))

/** What a rule says, in the language of the report. Sentences that it computes come from the audit, and stay as they are. */
import type { AuditReport } from '#model/report.ts'
import type { Language } from './languages/language.ts'

interface Title {
  title: string
  /** What the audit said instead of the rule's usual title, where the language has no words for it. */
  ownTitle: string | null
}

export type TitleOf = (of: { rule: string; title: string }) => Title

/** For every finding that a report tells of, those that ended among them. */
export function titlesOf({ document, ruleTitles }: Pick<AuditReport, 'document' | 'ruleTitles'>, { rules }: Language): TitleOf {
  const usual = new Map(Object.entries(ruleTitles ?? {}))
  for (const { rule, docs } of [...document.findings, ...document.waived]) usual.set(rule, docs.title)
  return ({ rule, title }) => {
    const text = rules[rule]
    if (text === undefined) return { title, ownTitle: null }
    if (title === usual.get(rule)) return { title: text.title, ownTitle: null }
    const told = text.titles?.[title]
    return told === undefined ? { title: text.title, ownTitle: title } : { title: told, ownTitle: null }
  }
}

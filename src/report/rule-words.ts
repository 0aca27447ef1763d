/** What a rule says, in the language of the report. Sentences that it computes come from the audit, and stay as they are. */
import type { Finding, RuleDocs } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { type Language, sourceTag } from './languages/language.ts'

interface Title {
  title: string
  /** What the audit said instead of the rule's usual title, where the language has no words for it. */
  ownTitle: string | null
}

export type TitleOf = (of: { rule: string; title: string }) => Title

/** For every finding that a report tells of, those that ended among them. */
export function titlesOf(
  { document, ruleTitles }: Pick<AuditReport, 'document' | 'ruleTitles'>,
  { rules }: Language,
): TitleOf {
  const usual = new Map(Object.entries(ruleTitles ?? {}))
  for (const { rule, docs } of [...document.findings, ...document.waived])
    usual.set(rule, docs.title)
  return ({ rule, title }) => {
    const text = rules[rule]
    if (text === undefined) return { title, ownTitle: null }
    if (title === usual.get(rule)) return { title: text.title, ownTitle: null }
    const told = text.titles?.[title]
    return told === undefined
      ? { title: text.title, ownTitle: title }
      : { title: told, ownTitle: null }
  }
}

/** Where the language has no words for a rule, its own are shown, and `docsTag` says in which language these are (as `sourceTag`). */
export function docsIn(
  language: Language,
  { rule, docs }: Pick<Finding, 'rule' | 'docs'>,
): RuleDocs & { docsTag: string | null } {
  const told = language.rules[rule]
  const { title, why, fix } = told ?? docs
  return {
    title,
    why,
    fix,
    sources: docs.sources,
    docsTag: told === undefined ? sourceTag(language) : null,
  }
}

/** What to do, in short: the first sentence; in English no more than what stands before a colon or semicolon. */
export function firstAdvice(finding: Pick<Finding, 'rule' | 'docs'>, language: Language): string {
  const { fix } = docsIn(language, finding)
  const sentence =
    language.rules[finding.rule] === undefined
      ? /^.{1,100}?[.:;](?=\s)/
      : /^.+?(?:\.(?=\s|$)|\u3002)/
  return sentence.exec(fix)?.[0].slice(0, -1) ?? fix
}

/** A rule's texts in the language of the report. Consequences, evidence and reasons stay English. */

import type { Finding, RuleDocs } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import { englishTag, type Language } from '#report/languages/language.ts'

interface Title {
  title: string
  /** The finding's English title, if the language has only the rule's usual title. */
  ownTitle: string | null
}

export type TitleOf = (of: { rule: string; title: string }) => Title

/** Titles of all findings of a report, ended ones included. */
export function titlesOf({ document, ruleTitles = {} }: AuditReport, { rules }: Language): TitleOf {
  const usual = new Map(
    [...document.findings, ...document.waived].map(({ rule, docs }) => [rule, docs.title]),
  )
  const keyOf = ({ rule, title }: { rule: string; title: string }) => {
    const titles = Object.entries({ ...ruleTitles[rule], usual: usual.get(rule) })
    return titles.find(([, english]) => english === title)?.[0]
  }
  return finding => {
    const text = rules[finding.rule]
    if (!text) return { title: finding.title, ownTitle: null }
    const key = keyOf(finding) ?? ''
    const title = key === 'usual' ? text.title : text.titles?.[key]
    return title === undefined
      ? { title: text.title, ownTitle: finding.title }
      : { title, ownTitle: null }
  }
}

/** `docsTag`: the `sourceTag` if English texts are shown, as the language lacks the rule; else null. */
export function docsIn(
  language: Language,
  { rule, docs }: Finding,
): RuleDocs & { docsTag: string | null } {
  const text = language.rules[rule]
  const { title, why, fix } = text ?? docs
  const docsTag = text ? null : englishTag(language)
  return { title, why, fix, sources: docs.sources, docsTag }
}

/** The first sentence of the fix, as a clause. In English, a colon or semicolon also ends the sentence. */
export function firstAdvice(finding: Finding, language: Language) {
  const { fix } = docsIn(language, finding)
  const isEnglish = language.rules[finding.rule] === undefined
  const sentence = isEnglish
    ? /^(?:\([^)]*\)|[^(]){1,240}?[.:;](?=\s|$)/
    : /^.+?(?:\.(?=\s|$)|\u3002)/
  const text = sentence.exec(fix)?.[0].slice(0, -1) ?? fix
  return isEnglish ? text.replace(/^[A-Z](?=[a-z])/, letter => letter.toLowerCase()) : text
}

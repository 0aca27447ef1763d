/** Which nodes evict first, a line each, and how many do so within which time. */
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { Fold } from '#report/text.ts'
import { outlookView } from './outlook.ts'

const shownNodes = 3

export interface MailNextView {
  title: string
  nodes: { name: string; where: string; when: string }[]
  /** Of all nodes, by when; null: each is named. */
  all: string | null
}

/** Null: of no node is it known. */
export function mailNextView(report: AuditReport, fold: Fold, language: Language): MailNextView | null {
  const { outlook: words, said, list } = language.words
  const { rows, horizons } = outlookView(report, language)
  const soon = rows.filter(({ isForeseen }) => isForeseen).slice(0, shownNodes)
  if (soon.length === 0) return null
  const isAssumed = soon.some(each => !each.isNow && each.isAssumed)
  return {
    title: words.evictFirst(isAssumed),
    nodes: soon.map(({ name, where, eviction, isNow }) => ({
      name: fold(name, 80),
      where: fold(where, 100),
      when: isNow ? words.now : eviction.text,
    })),
    all: report.nodes.length === soon.length ? null : said(words.byTime, list(horizons.map(({ nodes, within }) => `${nodes} ${within}`))),
  }
}

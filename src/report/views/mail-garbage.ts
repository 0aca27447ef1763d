/**
 * Cluster garbage in a mail: a line for each cluster with something to clean up, or with unread
 * lists.
 */
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { Fold } from '#report/text.ts'
import { costText, gapText, rowName, sizeText } from './garbage-words.ts'
import { type JudgedGarbage, type JudgedRow, judgedGarbage } from './judged-garbage.ts'

const shown = { clusters: 3, kinds: 4, gaps: 1 }

export interface MailGarbageView {
  title: string
  /** Cost of all of it; null: unknown. */
  cost: string | null
  clusters: { name: string; text: string; gaps: string[] }[]
  leftOut: string | null
}

/** Null: nothing to list. */
export function mailGarbageView(
  report: AuditReport,
  fold: Fold,
  language: Language,
): MailGarbageView | null {
  const judged = judgedGarbage(report).filter(
    ({ found, overview: { gaps } }) => found.length > 0 || gaps.length > 0,
  )
  if (judged.length === 0) return null
  const monthlyUsd = judged.reduce((sum, each) => sum + each.monthlyUsd, 0)
  const rest = judged.length - shown.clusters
  const cost = monthlyUsd > 0 ? costText(monthlyUsd, language) : null
  return {
    title: language.words.garbage.mail.title(cost),
    cost,
    clusters: judged.slice(0, shown.clusters).map(judged => clusterLine(judged, fold, language)),
    leftOut: rest > 0 ? language.words.garbage.mail.more(rest) : null,
  }
}

function clusterLine(
  { overview: { cluster, gaps }, found }: JudgedGarbage,
  fold: Fold,
  language: Language,
): MailGarbageView['clusters'][number] {
  const { mail: words } = language.words.garbage
  const kinds = found.slice(0, shown.kinds).map(each => kindText(each, language))
  const more = found.length - kinds.length
  const left = gaps.length - shown.gaps
  return {
    name: fold(cluster, 80),
    text: kinds.length === 0 ? '' : words.kinds(kinds, more),
    gaps: [
      ...gaps.slice(0, shown.gaps).map(gap => words.gap(fold(gapText(gap, language), 300))),
      ...(left > 0 ? [words.moreGaps(left)] : []),
    ],
  }
}

function kindText({ row, title }: JudgedRow, language: Language): string {
  const size = sizeText(row, language)
  return language.words.garbage.mail.kind(rowName(row, title, language), row.count, size || null)
}

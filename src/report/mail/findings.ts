/** Findings of the last run in a mail: those that ended, and those that could not be checked. */
import type { Severity } from '#model/finding/finding.ts'
import type { PastFinding } from '#model/history.ts'
import type { Language } from '#report/languages/language.ts'
import { nodeCountText, subjectText, tallyTexts } from '#report/parts/findings.ts'
import type { TitleOf } from '#report/parts/rule-words.ts'
import type { Fold } from '#report/text.ts'
import type { MailChanges } from './changes.ts'
import { severityMark } from './palette.ts'

const shown = { ended: 3, hidden: 3, reasons: 2 }

const foldedTitle = ({ title, ownTitle }: ReturnType<TitleOf>, fold: Fold) => ({
  title: fold(title, 200),
  ownTitle: ownTitle === null ? null : fold(ownTitle, 200),
})

const markOf = (severity: Severity, { words }: Language) => ({
  ...severityMark(severity),
  severityWord: words.severities[severity],
})

/** Null: no finding ended. */
export function mailEndedView(
  { ended }: MailChanges,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
) {
  const { changes: words, since, list: join } = language.words
  if (ended.length === 0) return null
  const list = ended
    .slice(0, shown.ended)
    .map((past: PastFinding) => ({
      ...markOf(past.severity, language),
      ...foldedTitle(titleOf(past), fold),
      where: join([
        fold(past.cluster, 80),
        subjectText(past.subject, language),
        since(fold(past.since, 20)),
      ]),
      how: language.words.returned.endings[past.ended],
    }))
  const rest = ended.length - list.length
  return { title: words.ended, list, leftOut: rest > 0 ? words.moreEnded(rest) : null }
}

/** Null: every known finding could be checked. */
export function mailHiddenView(
  { hidden }: MailChanges,
  fold: Fold,
  titleOf: TitleOf,
  language: Language,
) {
  const { changes: words, clauses, list: join, since } = language.words
  if (hidden.length === 0) return null
  const list = hidden
    .slice(0, shown.hidden)
    .map(({ severity, why, nodes, ...finding }) => ({
      ...markOf(severity, language),
      ...foldedTitle(titleOf(finding), fold),
      where: join(
        [
          fold(finding.cluster, 80),
          subjectText(finding.subject, language),
          nodeCountText(nodes, language),
          since(fold(finding.since, 20)),
          words.lastSeen(fold(finding.lastSeen, 20)),
        ].filter(Boolean),
      ),
      why:
        why.length === 0
          ? null
          : clauses(why.slice(0, shown.reasons).map(reason => fold(reason, 200))),
    }))
  const rest = hidden.slice(list.length)
  return {
    title: words.hidden(hidden.length),
    list,
    leftOut: rest.length > 0 ? words.moreHidden(rest.length, tallyTexts(rest, language)) : null,
  }
}

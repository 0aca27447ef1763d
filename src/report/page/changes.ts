/** What changed since the last run: new or worse, unclear, ended. */
import type { AuditReport } from '#model/report.ts'
import { absentText, type ListedFinding, mailChanges } from '#report/mail/changes.ts'
import { momentOf } from '#report/parts/anchors.ts'
import { type Shown, shownTitle, subjectText } from '#report/parts/findings.ts'
import { nameLimit } from '#report/parts/node.ts'

const shown = { rows: 60, reasons: 4, notes: 10 }

/** Null: no earlier run is known. */
export function changesView(report: AuditReport, { page, titleOf, language }: Shown) {
  const { before } = report
  if (!before) return null
  const { words, line } = language
  const { listed, hidden, ended, counts } = mailChanges(report, language)
  const changed = listed.filter(({ kind }) => kind !== 'unchanged')
  const row = (
    finding: Pick<ListedFinding['finding'], 'rule' | 'title' | 'severity' | 'cluster' | 'subject'>,
    label: string,
    why: string[],
    anchor: string | null,
  ) => ({
    label,
    severity: finding.severity,
    severityWord: words.severities[finding.severity],
    ...shownTitle(titleOf(finding), language),
    where: words.of(subjectText(finding.subject, language), line(finding.cluster, nameLimit)),
    why: words.clauses(why.slice(0, shown.reasons).map(reason => line(reason, 240))),
    anchor,
  })
  const rows = [
    ...changed.map(({ finding, kind, why }) =>
      row(finding, words.changes.labels[kind ?? 'new'], why, page.ofFinding(finding.id)),
    ),
    ...hidden.map(finding => row(finding, words.changes.labels.cannotTell, finding.why, null)),
    ...ended.map(past => row(past, words.returned.endings[past.ended], [], null)),
  ]
  const left = rows.length - shown.rows
  return {
    since: momentOf(before.takenAt, language),
    counts: words.list(counts) || words.changes.none,
    absent: absentText(before, language),
    rows: rows.slice(0, shown.rows),
    leftOut: left > 0 ? words.changes.moreInDiff(left) : null,
    notes: before.delta.notes.slice(0, shown.notes).map(({ text }) => line(text, 300)),
  }
}

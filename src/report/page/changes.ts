/** What changed since the last run: new or worse, unclear, ended. */
import type { AuditReport } from '#model/report.ts'
import { changeRows, mailChanges } from '#report/mail/changes.ts'
import { momentOf } from '#report/parts/anchors.ts'
import { type Shown, shownTitle, subjectText } from '#report/parts/findings.ts'
import { nameLimit } from '#report/parts/node.ts'

const shown = { rows: 60, reasons: 4, notes: 10 }

/** Null: no earlier run is known. */
export function changesView(report: AuditReport, { page, titleOf, language }: Shown) {
  const { before } = report
  if (!before) return null
  const { words, line } = language
  const changes = mailChanges(report, language)
  const rows = changeRows(changes, language).map(({ finding, label, why, id }) => ({
    label,
    severity: finding.severity,
    severityWord: words.severities[finding.severity],
    ...shownTitle(titleOf(finding), language),
    where: words.of(subjectText(finding.subject, language), line(finding.cluster, nameLimit)),
    why: words.clauses(why.slice(0, shown.reasons).map(reason => line(reason, 240))),
    anchor: id && page.ofFinding(id),
  }))
  const left = rows.length - shown.rows
  return {
    since: momentOf(before.takenAt, language),
    counts: words.list(changes.counts) || words.changes.none,
    absent: changes.absent,
    rows: rows.slice(0, shown.rows),
    leftOut: left > 0 ? words.changes.moreInDiff(left) : null,
    notes: before.delta.notes.slice(0, shown.notes).map(({ text }) => line(text, 300)),
  }
}

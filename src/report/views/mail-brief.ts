/** A mail in a few lines, for messengers: verdict, changes, the worst of what is told, where the report is. */
import type { MailView } from './mail.ts'

const shownFindings = 5
const limit = 3000

/** At most 3,000 characters, lines parted by \n; nothing in it is markup. */
export function mailBrief({ subject, audience, cutShort, verdict, findings, ended, report }: MailView): string {
  const told = [...(findings?.list ?? []), ...(findings?.lines ?? [])]
  const more = told.length > shownFindings || (findings?.leftOut ?? null) !== null
  const lines = [
    subject,
    audience,
    cutShort && `${cutShort.title}: ${cutShort.text}`,
    verdict.change,
    ...told
      .slice(0, shownFindings)
      .map(
        ({ severityWord, label, title, where, nodeCount }) =>
          `- ${severityWord}${label === null ? '' : ` (${label.toLowerCase()})`}: ${title}: ${[where, nodeCount].filter(Boolean).join(', ')}`,
      ),
    more ? '- more in the report' : null,
    findings?.standing ?? null,
    ended && `${ended.title}: ${ended.list.map(({ title, where, how }) => `${title} (${where}): ${how}`).join('; ')}`,
    verdict.gaps && `Not in this verdict: ${verdict.gaps}`,
    ...verdict.inputErrors,
    verdict.undelivered,
  ].filter(line => line !== null)
  const end = report.link === null ? (report.places[0] ?? '') : `Report: ${report.link}`
  const room = limit - end.length - 2
  const text = lines.join('\n')
  return `${text.length > room ? `${text.slice(0, room).replace(/[\ud800-\udbff]$/, '')}…` : text}${end === '' ? '' : `\n${end}`}`
}

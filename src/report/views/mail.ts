/** Everything that a mail says, computed: both of its templates only put it in its place. */
import type { FindingsDocument } from '#model/finding.ts'
import { notReachedIn } from '#model/not-reached.ts'
import type { AuditReport, Delivery } from '#model/report.ts'
import { counted, formatCount, formatUtc } from '#report/numbers.ts'
import { type Fold, foldedLine } from '#report/text.ts'
import { severityWords, tally, worstFirst } from './findings.ts'
import { type MailFindingsView, mailFindingsView } from './mail-findings.ts'
import { type SeverityMark, severityMark } from './mail-palette.ts'
import { type MailDeliveriesView, type MailNotAudited, mailDeliveriesView, mailNotAuditedView } from './mail-remainder.ts'
import { type PlanView, planView } from './plan.ts'
import { verdictView } from './verdict.ts'

const subjectLimit = 120
const shownInputErrors = 3

export interface MailView {
  subject: string
  /** What mail programs show beside the subject. */
  preview: string
  takenAt: string
  /** Null where the run reached all that it set out for. */
  cutShort: { title: string; text: string } | null
  verdict: SeverityMark & {
    headline: string
    worst: string | null
    scope: string
    tally: (SeverityMark & { count: string; word: string })[]
    waived: string | null
    gaps: string | null
    complete: string | null
    /** What was wrong with the input, the policy among it: the first few; the report has them all. */
    inputErrors: string[]
    /** Channels that failed; the end of the mail says why. */
    undelivered: string | null
  }
  /** Null without findings. */
  findings: MailFindingsView | null
  /** Null: none was asked for. */
  plan: PlanView | null
  /** Null where nothing was left out. */
  notAudited: (MailNotAudited & { title: string }) | null
  report: MailDeliveriesView
  footer: string
}

/** @param share of its usual room that each foreign text gets, 0 to 1 */
export function mailView(report: AuditReport, deliveries: Delivery[], share: number): MailView {
  const { document } = report
  const { run, findings, waived, notAudited } = document
  const fold: Fold = (text, limit) => foldedLine(text, Math.ceil(limit * share))
  const { severity, headline, worst, scope, gaps, complete } = verdictView(document)
  const cutShort = cutShortView(report, fold)
  const mailed = mailDeliveriesView(deliveries, fold)
  const lost = gaps.find(({ section }) => section === 'not-audited')
  return {
    subject: mailSubject(document, headline, scope, cutShort !== null),
    preview: cutShort?.text ?? worst ?? scope,
    takenAt: formatUtc(run.takenAt),
    cutShort,
    verdict: {
      ...severityMark(severity),
      headline,
      worst,
      scope,
      tally: tally(findings).map(({ severity, word, count }) => ({ ...severityMark(severity), word, count })),
      waived: waived.length > 0 ? `${counted(waived.length, 'finding')} waived by policy, not counted here` : null,
      gaps: gaps.length > 0 ? gaps.map(({ text }) => text).join('; ') : null,
      complete,
      inputErrors: run.inputErrors.slice(0, shownInputErrors).map(error => fold(error, 420)),
      undelivered:
        mailed.failures.length > 0
          ? `Not delivered: ${mailed.failures.map(({ channel }) => channel).join(', ')}. The end of this mail says why.`
          : null,
    },
    findings: findings.length > 0 ? mailFindingsView(findings, fold) : null,
    plan: planView(report.plan ?? null, fold),
    notAudited: lost ? { title: sentence(lost.text), ...mailNotAuditedView(notAudited, fold) } : null,
    report: mailed,
    footer: `highwater ${fold(run.version, 40)}, account ${fold(run.account ?? 'unknown', 40)}, region ${fold(run.region ?? 'unknown', 40)}`,
  }
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function cutShortView({ document: { notAudited }, nodes }: AuditReport, fold: Fold): MailView['cutShort'] {
  const late = notAudited.flatMap(({ cluster, node, reason }) => {
    const why = notReachedIn(reason)
    return why === null ? [] : [{ cluster, node, why }]
  })
  const partly = nodes
    .filter(({ coverage }) => coverage === 'partlyRead')
    .flatMap(({ errors }) => errors.map(({ message }) => notReachedIn(message)).find(why => why !== null) ?? [])
  const why = late[0]?.why ?? partly[0]
  if (why === undefined) return null
  const unread = late.filter(({ node }) => node !== null).length
  const clusters = new Set(late.filter(({ node }) => node === null).map(({ cluster }) => cluster)).size
  const parts = [
    unread > 0 ? `${counted(unread, 'node')} not read` : '',
    partly.length > 0 ? `${counted(partly.length, 'node')} read only in part` : '',
    clusters > 0 ? `${counted(clusters, 'cluster')} not read to the end` : '',
  ].filter(Boolean)
  return {
    title: 'This run was cut short',
    text: `${parts.join(', ')}: ${fold(why, 120)}. What follows does not cover them.`,
  }
}

function mailSubject({ run, clusters, findings }: FindingsDocument, headline: string, scope: string, isCutShort: boolean): string {
  const worst = findings.toSorted(worstFirst)[0]
  const counts = tally(findings).map(({ count, word }) => `${count} ${word.toLowerCase()}`)
  const verdict = worst
    ? `${severityWords[worst.severity]}: ${counts.join(', ')} in ${whereOf(findings, clusters.length)}`
    : `${headline}: ${scope}`
  const day = formatUtc(run.takenAt).slice(0, 10)
  const subject = `${isCutShort ? 'Cut short. ' : ''}${verdict} - highwater${/^\d/.test(day) ? ` ${day}` : ''}`.replace(/\s+/g, ' ')
  return subject.length > subjectLimit ? `${subject.slice(0, subjectLimit - 3)}...` : subject
}

/** The one cluster by name while that is short, else how many. */
function whereOf(findings: FindingsDocument['findings'], clusterCount: number): string {
  const affected = [...new Set(findings.map(({ cluster }) => cluster))]
  const name = affected.length === 1 && affected[0]!.length <= 40 ? foldedLine(affected[0]!, 40) : ''
  if (name !== '') return name
  return clusterCount > affected.length
    ? `${formatCount(affected.length)} of ${counted(clusterCount, 'cluster')}`
    : counted(affected.length, 'cluster')
}

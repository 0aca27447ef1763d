/** Everything that a mail says, computed: both of its templates only put it in its place. */
import { notReachedIn } from '#model/not-reached.ts'
import type { AuditReport, Delivery } from '#model/report.ts'
import { counted, formatUtc } from '#report/numbers.ts'
import { type Fold, foldedLine } from '#report/text.ts'
import { tally } from './findings.ts'
import { mailChanges } from './mail-changes.ts'
import { type MailEndedView, type MailFindingsView, mailEndedView, mailFindingsView } from './mail-findings.ts'
import { type MailGarbageView, mailGarbageView } from './mail-garbage.ts'
import { type MailNextView, mailNextView } from './mail-next.ts'
import { type SeverityMark, severityMark } from './mail-palette.ts'
import { type MailDeliveriesView, type MailNotAudited, mailDeliveriesView, mailNotAuditedView } from './mail-remainder.ts'
import { mailSubject } from './mail-subject.ts'
import { mailTrend } from './mail-trend.ts'
import { type PlanView, planView } from './plan.ts'
import { verdictView } from './verdict.ts'

const shownInputErrors = 3

export interface MailView {
  subject: string
  /** What mail programs show beside the subject. */
  preview: string
  takenAt: string
  /** Whose part of the fleet it is about; null: all of it. */
  audience: string | null
  /** Null where the run reached all that it set out for. */
  cutShort: { title: string; text: string } | null
  verdict: SeverityMark & {
    headline: string
    worst: string | null
    /** Which nodes evict first, and when; null: of none is that known. */
    next: MailNextView | null
    scope: string
    /** Since the run before; null: none is known. */
    change: string | null
    /** How a week went; null: less is remembered. */
    trend: string | null
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
  /** Null where nothing ended. */
  ended: MailEndedView | null
  /** Null where there is none to tell of. */
  garbage: MailGarbageView | null
  /** Null: none was asked for. */
  plan: PlanView | null
  /** Null where nothing was left out. */
  notAudited: (MailNotAudited & { title: string }) | null
  report: MailDeliveriesView
  /** How not to get it any more; null: the team has not said. */
  unsubscribe: string | null
  footer: string
}

/** To whom a mail goes. */
export interface MailOptions {
  /** Whose part of the fleet the report is; null: it is all of it. */
  owner: string | null
  /** Addresses (`mailto:…`, `https://…`) at which a reader asks not to get it any more. */
  unsubscribe: string[]
}

/** @param share of its usual room that each foreign text gets, 0 to 1 */
export function mailView(report: AuditReport, deliveries: Delivery[], share: number, { owner, unsubscribe }: MailOptions): MailView {
  const { document } = report
  const { run, findings, waived, notAudited } = document
  const fold: Fold = (text, limit) => foldedLine(text, Math.ceil(limit * share))
  const { severity, headline, worst, scope, gaps, complete } = verdictView(document)
  const cutShort = cutShortView(report, fold)
  const changes = mailChanges(report)
  const mailed = mailDeliveriesView(deliveries, fold)
  const lost = gaps.find(({ section }) => section === 'not-audited')
  return {
    subject: mailSubject(document, changes, { headline, scope, isCutShort: cutShort !== null, owner }),
    preview: cutShort?.text ?? worst ?? scope,
    takenAt: formatUtc(run.takenAt),
    audience: owner === null ? null : `For ${fold(owner, 80)}: only what is theirs`,
    cutShort,
    verdict: {
      ...severityMark(severity),
      headline,
      worst,
      next: mailNextView(report, fold),
      scope,
      change: changeText(changes),
      trend: mailTrend(report, fold),
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
    findings: findings.length > 0 ? mailFindingsView(changes, fold) : null,
    ended: mailEndedView(changes, fold),
    garbage: mailGarbageView(report, fold),
    plan: planView(report.plan ?? null, fold),
    notAudited: lost ? { title: sentence(lost.text), ...mailNotAuditedView(notAudited, fold) } : null,
    report: mailed,
    unsubscribe: unsubscribe.length > 0 ? `Not for you? ${unsubscribe.map(address => fold(address, 1000)).join(' or ')}` : null,
    footer: `highwater ${fold(run.version, 40)}, account ${fold(run.account ?? 'unknown', 40)}, region ${fold(run.region ?? 'unknown', 40)}`,
  }
}

function changeText({ since, counts }: ReturnType<typeof mailChanges>): string | null {
  if (since === null) return null
  return counts.length === 0 ? `Nothing has changed since the run of ${since}.` : `Since the run of ${since}: ${counts.join(', ')}.`
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

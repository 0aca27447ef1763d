/** Everything that a mail says, computed: both of its templates only put it in its place. */
import { notReachedIn } from '#model/not-reached.ts'
import type { AuditReport, Delivery } from '#model/report.ts'
import { type Language, sourceTag } from '#report/languages/language.ts'
import { titlesOf } from '#report/rule-words.ts'
import type { Fold } from '#report/text.ts'
import { tally } from './findings.ts'
import { type MailChanges, mailChanges } from './mail-changes.ts'
import {
  type MailEndedView,
  type MailFindingsView,
  type MailHiddenView,
  mailEndedView,
  mailFindingsView,
  mailHiddenView,
} from './mail-findings.ts'
import { type MailGarbageView, mailGarbageView } from './mail-garbage.ts'
import { type SeverityMark, severityMark } from './mail-palette.ts'
import {
  type MailDeliveriesView,
  type MailNotAudited,
  mailDeliveriesView,
  mailNotAuditedView,
} from './mail-remainder.ts'
import { mailSubject } from './mail-subject.ts'
import { mailTrend } from './mail-trend.ts'
import type { NextView } from './next.ts'
import { outlookView } from './outlook.ts'
import { type PlanView, planView } from './plan.ts'
import { verdictView } from './verdict.ts'

const shownInputErrors = 3

export interface MailView {
  /** Of the mail; and of what the audit itself says, where that is another. */
  tag: string
  sourceTag: string | null
  words: Language['words']
  subject: string
  /** What mail programs show beside the subject. */
  preview: string
  /** When it was read. */
  snapshot: string
  /** Whose part of the fleet it is about; null: all of it. */
  audience: string | null
  /** Null where the run reached all that it set out for. */
  cutShort: { title: string; text: string } | null
  verdict: SeverityMark & {
    headline: string
    /** Which nodes evict first, and when; null: of none is that known. */
    next: NextView | null
    worst: string | null
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
  /** Null where everything that was known can be told. */
  hidden: MailHiddenView | null
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
  language: Language
}

/** @param share of its usual room that each foreign text gets, 0 to 1 */
export function mailView(
  report: AuditReport,
  deliveries: Delivery[],
  share: number,
  { owner, unsubscribe, language }: MailOptions,
): MailView {
  const { words } = language
  const { document } = report
  const { run, findings, waived, notAudited } = document
  const fold: Fold = (text, limit) => language.fold(text, Math.ceil(limit * share))
  const titleOf = titlesOf(report, language)
  const outlook = outlookView(report, language)
  const { severity, headline, next, worst, scope, gaps, complete } = verdictView(report, {
    outlook,
    titleOf,
    language,
    fold,
  })
  const cutShort = cutShortView(report, fold, language)
  const changes = mailChanges(report, language)
  const mailed = mailDeliveriesView(deliveries, fold, language)
  const lost = gaps.find(({ section }) => section === 'not-audited')
  return {
    tag: language.tag,
    sourceTag: sourceTag(language),
    words,
    subject: mailSubject(
      document,
      changes,
      { headline, scope, evicting: outlook.evicting, isCutShort: cutShort !== null, owner },
      language,
    ),
    preview: cutShort?.text ?? next?.brief ?? worst ?? scope,
    snapshot: words.mail.snapshot(language.utc(run.takenAt)),
    audience: owner === null ? null : words.mail.audience(fold(owner, 80)),
    cutShort,
    verdict: {
      ...severityMark(severity),
      headline,
      next,
      worst,
      scope,
      change: changeText(changes, language),
      trend: mailTrend(report, fold, language),
      tally: tally(findings, language).map(({ severity, word, count }) => ({
        ...severityMark(severity),
        word,
        count,
      })),
      waived: waived.length > 0 ? words.mail.waived(waived.length) : null,
      gaps: gaps.length > 0 ? words.clauses(gaps.map(({ text }) => text)) : null,
      complete,
      inputErrors: run.inputErrors.slice(0, shownInputErrors).map(error => fold(error, 420)),
      undelivered:
        mailed.failures.length > 0
          ? words.report.undelivered(mailed.failures.map(({ channel }) => channel))
          : null,
    },
    findings:
      findings.length + changes.told.length > 0
        ? mailFindingsView(changes, fold, titleOf, language)
        : null,
    hidden: mailHiddenView(changes, fold, titleOf, language),
    ended: mailEndedView(changes, fold, titleOf, language),
    garbage: mailGarbageView(report, fold, language),
    plan: planView(report.plan ?? null, language, fold),
    notAudited: lost
      ? { title: sentence(lost.text), ...mailNotAuditedView(notAudited, fold, language) }
      : null,
    report: mailed,
    unsubscribe:
      unsubscribe.length > 0
        ? words.mail.unsubscribe(unsubscribe.map(address => fold(address, 1000)))
        : null,
    footer: words.mail.footer(
      fold(run.version, 40),
      fold(run.account ?? words.unknown, 40),
      fold(run.region ?? words.unknown, 40),
    ),
  }
}

function changeText(
  { since, counts, absent }: MailChanges,
  { words: { changes: words }, utc }: Language,
): string | null {
  if (since === null) return null
  return [counts.length === 0 ? words.nothing(utc(since)) : words.some(utc(since), counts), absent]
    .filter(Boolean)
    .join(' ')
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function cutShortView(
  { document: { notAudited }, nodes }: AuditReport,
  fold: Fold,
  { words: { cutShort: words } }: Language,
): MailView['cutShort'] {
  const late = notAudited.flatMap(({ cluster, node, reason }) => {
    const why = notReachedIn(reason)
    return why === null ? [] : [{ cluster, node, why }]
  })
  const partly = nodes
    .filter(({ coverage }) => coverage === 'partlyRead')
    .flatMap(
      ({ errors }) =>
        errors.map(({ message }) => notReachedIn(message)).find(why => why !== null) ?? [],
    )
  const why = late[0]?.why ?? partly[0]
  if (why === undefined) return null
  const unread = late.filter(({ node }) => node !== null).length
  const clusters = new Set(late.filter(({ node }) => node === null).map(({ cluster }) => cluster))
    .size
  const parts = [
    unread > 0 ? words.unread(unread) : '',
    partly.length > 0 ? words.partly(partly.length) : '',
    clusters > 0 ? words.clusters(clusters) : '',
  ].filter(Boolean)
  return { title: words.title, text: words.text(parts, fold(why, 120)) }
}

/** The e-mail of one run, as HTML and as text. Equal reports and deliveries give equal bytes. */

import type { AuditReport, Delivery, MessageCard, RenderedMail } from '#model/report.ts'
import { renderMailHtml, renderMailText } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { findingEvents } from '#report/parts/finding-events.ts'
import { withNote } from '#report/parts/steps.ts'
import { wrapText } from '#report/text.ts'
import { type MailOptions, type MailView, mailView } from './view.ts'

export { hasNews, openCommandOf, reportLink } from './changes.ts'

/** A mail should be far smaller than about 102 KB, above which Gmail clips it. */
const htmlLimitBytes = 60_000
/**
 * Foreign texts are cut to these shares of their usual length. The shares are tried in order until
 * the mail fits; it always fits with the last share.
 */
const shares = [1, 0.5, 0.2]
const textColumns = 78
const toEverybody: MailOptions = { owner: null, unsubscribe: [], language: english }

/** Writes commands with no-break spaces, so that `wrapText` keeps each on one line for copying. */
const withUnbrokenCommands = (view: MailView): MailView => ({
  ...view,
  causes: view.causes && {
    ...view.causes,
    cards: view.causes.cards.map(withoutBreaks),
    lines: view.causes.lines.map(withoutBreaks),
  },
})

const withoutBreaks = <T extends { commands: string[] }>(cause: T): T => ({
  ...cause,
  commands: cause.commands.map(command => command.replaceAll(' ', '\u00a0')),
})

/**
 * @param deliveries results of the channels so far; the mail links to the first address that
 * `reportLink` accepts
 */
export function renderMail(
  report: AuditReport,
  deliveries: Delivery[],
  options: MailOptions = toEverybody,
): RenderedMail {
  const render = (share: number) => {
    const view = mailView(report, deliveries, share, options)
    return { view, html: renderMailHtml(view) }
  }
  const fits = ({ html }: { html: string }) => Buffer.byteLength(html) <= htmlLimitBytes
  let mail = render(shares[0]!)
  for (const share of shares.slice(1)) if (!fits(mail)) mail = render(share)
  const { view, html } = mail
  return {
    subject: view.subject,
    html,
    text: wrapText(renderMailText(withUnbrokenCommands(view)), textColumns),
    brief: mailBrief(view),
    card: messageCard(view),
    events: findingEvents(report, view.report.link),
  }
}

/*
 * A mail in a few lines, for messengers: verdict, next evictions, changes, worst causes, link to
 * the report.
 */

const briefLimits = { characters: 3000, causes: 5, inputErrors: 3, runs: 3 }
const cardCauses = 3

/** A line for each cause of the mail, worst first. */
const causeLines = ({ words, causes }: MailView) =>
  [...(causes?.cards ?? []), ...(causes?.lines ?? [])].map(
    ({ severityWord, label, title, where, step }) =>
      words.mail.brief.cause(severityWord, label?.toLowerCase() ?? null, title, where, step),
  )

function messageCard(view: MailView): MessageCard {
  const { words: all, subject, verdict, report } = view
  const { gaps } = all.mail.brief
  return {
    title: subject,
    lines: [
      ...nextLines(verdict, all),
      ...[verdict.change, verdict.gaps && gaps(verdict.gaps)].filter(Boolean).map(String),
    ],
    causes: causeLines(view).slice(0, cardCauses),
    link: report.link === null ? null : { text: all.report.open, url: report.link },
    open: report.open,
  }
}

const nextLines = ({ next }: MailView['verdict'], words: MailView['words']) =>
  next.flatMap(({ state, name, where, basis, answers }) => [
    words.mail.brief.next(state, name, where),
    ...(basis === '' ? [] : [basis]),
    ...answers.map(({ key, ...answer }) => words.said(key, withNote(answer, { words }))),
  ])

/** Returns at most 3,000 characters: lines separated by \n, without markup. */
function mailBrief(view: MailView) {
  const { words: all, subject, audience, cutShort, verdict, causes } = view
  const { hidden, ended, notices, report } = view
  const { brief: words } = all.mail
  const listed = causeLines(view)
  const more = listed.length > briefLimits.causes || (causes?.leftOut ?? null) !== null
  const lines = [
    subject,
    audience,
    cutShort && words.cutShort(cutShort.title, cutShort.text),
    ...nextLines(verdict, all),
    verdict.change,
    ...listed.slice(0, briefLimits.causes),
    more ? words.more : null,
    hidden &&
      all.said(
        hidden.title,
        all.clauses(
          hidden.list.map(({ severityWord, title, where }) =>
            words.hidden(severityWord, title, where),
          ),
        ),
      ),
    ended &&
      all.said(
        ended.title,
        all.clauses(ended.list.map(({ title, where, how }) => words.ended(title, where, how))),
      ),
    verdict.gaps && words.gaps(verdict.gaps),
    ...(notices?.runs ?? [])
      .slice(0, briefLimits.runs)
      .map(({ title, counts, approval }) => all.said(title, `${counts} ${approval}`)),
    ...(notices?.refused ?? []).slice(0, briefLimits.inputErrors),
    ...verdict.inputErrors.slice(0, briefLimits.inputErrors),
    verdict.undelivered,
  ].filter(line => line !== null)
  const end = report.link === null ? (report.places[0] ?? '') : words.report(report.link)
  const room = briefLimits.characters - end.length - 2
  const text = lines.join('\n')
  return `${text.length > room ? `${text.slice(0, room).replace(/[\ud800-\udbff]$/, '')}…` : text}${end === '' ? '' : `\n${end}`}`
}

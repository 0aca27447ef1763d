/** The e-mail of one run, as HTML and as text. Equal reports and deliveries give equal bytes. */

import type { AuditReport, Delivery, MessageCard, RenderedMail } from '#model/report.ts'
import { renderMailHtml, renderMailText } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { findingEvents } from '#report/parts/finding-events.ts'
import { withNote } from '#report/parts/steps.ts'
import { wrapText } from '#report/text.ts'
import { type MailOptions, type MailSize, type MailView, mailView, usualSize } from './view.ts'

export { hasNews, openCommandOf, reportLink } from './changes.ts'

/** A mail should be far smaller than about 102 KB, above which Gmail clips it. */
const htmlLimitBytes = 60_000
/** Three screens of a phone, 844 pixels each: a line takes 21.1 pixels, picture and headings 105 more. */
const mostLines = 115
/** Characters in a line on a phone. */
const phoneColumns = 46
/** Tried in order until the mail fits. */
const sizes: readonly MailSize[] = [
  usualSize,
  { texts: 1, rows: 0.3, causes: 4 },
  { texts: 1, rows: 0.3, causes: 3 },
  { texts: 0.5, rows: 0.3, causes: 3 },
  { texts: 0.5, rows: 0.3, causes: 2 },
  { texts: 0.5, rows: 0.3, causes: 1 },
]
/** Only for the bytes: it always fits them. */
const leastSize: MailSize = { texts: 0.2, rows: 0.3, causes: 1 }
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
 * @param tried sizes, in order, until the mail fits
 */
export function renderMail(
  report: AuditReport,
  deliveries: Delivery[],
  options: MailOptions = toEverybody,
  tried: readonly MailSize[] = sizes,
): RenderedMail {
  const render = (size: MailSize) => {
    const view = mailView(report, deliveries, size, options)
    return { view, html: renderMailHtml(view), text: renderMailText(withUnbrokenCommands(view)) }
  }
  const isLight = ({ html }: { html: string }) => Buffer.byteLength(html) <= htmlLimitBytes
  const usual = render(tried[0]!)
  let mail = usual
  for (const size of tried.slice(1))
    if (!isLight(mail) || phoneLines(mail.text) > mostLines) mail = render(size)
  if (!isLight(mail)) mail = render(leastSize)
  const { view, html, text } = mail
  return {
    subject: view.subject,
    html,
    text: wrapText(text, textColumns),
    brief: mailBrief(usual.view),
    card: messageCard(usual.view),
    events: findingEvents(report, view.report.link),
  }
}

/** Lines that the mail takes on a phone, about. Characters of Chinese, Japanese and Korean are twice as wide, and an empty line has a third of the height. */
const phoneLines = (text: string) =>
  text
    .replace(/\n{3,}/g, '\n\n')
    .split('\n')
    .reduce((sum, line) => {
      const width = line.trim().length + (line.match(/[\u1100-\uffff]/g)?.length ?? 0)
      return sum + (Math.ceil(width / phoneColumns) || 1 / 3)
    }, 0)

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

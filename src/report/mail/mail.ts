/** The e-mail of one run, as HTML and as text. Equal reports and deliveries give equal bytes. */
import type { AuditReport, Delivery, RenderedMail } from '#model/report.ts'
import { renderMailHtml, renderMailText } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { findingEvents } from '#report/parts/finding-events.ts'
import { wrapText } from '#report/text.ts'
import { mailBrief, messageCard } from './brief.ts'
import { type MailOptions, type MailView, mailView } from './view.ts'

export { hasNews } from './changes.ts'
export { openCommandOf, reportLink } from './remainder.ts'

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
  const encoder = new TextEncoder()
  const render = (share: number) => {
    const view = mailView(report, deliveries, share, options)
    return { view, html: renderMailHtml(view) }
  }
  const fits = ({ html }: { html: string }) => encoder.encode(html).length <= htmlLimitBytes
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

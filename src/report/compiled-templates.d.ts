/** The type of compiled-templates.js, which templates/precompile.ts writes. Its functions throw when a view lacks a variable that the templates name. */
import type { PageView } from './view.ts'
import type { MailView } from './views/mail.ts'

/** templates/report.hbs with its partials. */
export function renderPage(view: PageView): string
/** templates/email.hbs with its partials. */
export function renderMailHtml(view: MailView): string
/** templates/email.txt.hbs: nothing is escaped, lines are not wrapped yet. */
export function renderMailText(view: MailView): string

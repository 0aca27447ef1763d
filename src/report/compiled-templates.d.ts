/** The type of compiled-templates.js, which templates/precompile.ts writes. Its functions throw when a view lacks a variable that the templates name. */

import type { MailView } from '#report/mail/view.ts'
import type { PageView } from '#report/page/view.ts'
import type { RunsIndexView } from '#report/parts/trends.ts'

/** Renders templates/report.hbs with its partials. */
export function renderPage(view: PageView): string
/** Renders templates/index.hbs. */
export function renderIndex(view: RunsIndexView): string
/** Renders templates/email.hbs with its partials. */
export function renderMailHtml(view: MailView): string
/** Renders templates/email.txt.hbs. The text is not escaped, and its lines are not wrapped yet. */
export function renderMailText(view: MailView): string

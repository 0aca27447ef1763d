/** The type of compiled-templates.js, which templates/precompile.ts writes. */
import type { PageView } from './view.ts'

/** templates/report.hbs with its partials. Throws when the view lacks a variable that the templates name. */
export function renderPage(view: PageView): string

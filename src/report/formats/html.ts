import type { AuditReport } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import type { Format } from '#report/format.ts'
import { english, type Language } from '#report/languages/language.ts'
import { pageView } from '#report/view.ts'

export const pageName = 'report.html'

/** A larger page is slow to open and to send: further rows of nodes are only counted. */
const heaviestBytes = 1_500_000
/** Reserve, so that a second attempt is enough: the size of a row is an estimate. */
const spareBytes = 5000
const encoder = new TextEncoder()

/** One self-contained page: no third party, readable from disk, on paper and without its script. */
export const htmlIn = (language: Language): Format => ({
  id: 'html',
  name: pageName,
  contentType: 'text/html; charset=utf-8',
  render: report => pageOf(report, language),
})

/** Lists fewer nodes until it is light enough, or lists none. */
function pageOf(report: AuditReport, language: Language, listedBytes?: number): string {
  const view = pageView(report, language, listedBytes)
  const page = renderPage(view)
  const over = encoder.encode(page).length - heaviestBytes
  const listed = view.fleet.listedBytes
  return over <= 0 || listed === 0
    ? page
    : pageOf(report, language, Math.max(listed - over - spareBytes, 0))
}

export const html = htmlIn(english)

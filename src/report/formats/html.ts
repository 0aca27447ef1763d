import type { AuditReport } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import type { Format } from '#report/format.ts'
import { english, type Language } from '#report/languages/language.ts'
import { pageView } from '#report/page/view.ts'

export const pageName = 'report.html'

/** Maximum bytes of a page: a larger page is slow. Node rows beyond the limit are only counted. */
const heaviestBytes = 1_500_000
/** Bytes to remove in addition: row sizes are estimates, and a second attempt must be enough. */
const spareBytes = 5000

/** One page without third parties. It is readable from disk, on paper and without its script. */
export const htmlIn = (language: Language): Format => ({
  id: 'html',
  name: pageName,
  contentType: 'text/html; charset=utf-8',
  render: report => pageOf(report, language),
})

/** Renders the page with fewer node rows until the page is light enough or has no rows. */
function pageOf(report: AuditReport, language: Language, listedBytes?: number): string {
  const view = pageView(report, language, listedBytes)
  const page = renderPage(view)
  const over = Buffer.byteLength(page) - heaviestBytes
  const listed = view.fleet.listedBytes
  return over <= 0 || listed === 0
    ? page
    : pageOf(report, language, Math.max(listed - over - spareBytes, 0))
}

export const html = htmlIn(english)

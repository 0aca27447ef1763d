import { renderPage } from '#report/compiled-templates.js'
import type { Format } from '#report/format.ts'
import { pageView } from '#report/view.ts'

/** One self-contained page: no third party, readable from disk, on paper and without its script. */
export const html: Format = {
  id: 'html',
  name: 'report.html',
  contentType: 'text/html; charset=utf-8',
  render: report => renderPage(pageView(report)),
}

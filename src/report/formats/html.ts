import { renderPage } from '#report/compiled-templates.js'
import type { Format } from '#report/format.ts'
import { english, type Language } from '#report/languages/language.ts'
import { pageView } from '#report/view.ts'

export const pageName = 'report.html'

/** One self-contained page: no third party, readable from disk, on paper and without its script. */
export const htmlIn = (language: Language): Format => ({
  id: 'html',
  name: pageName,
  contentType: 'text/html; charset=utf-8',
  render: report => renderPage(pageView(report, language)),
})

export const html = htmlIn(english)

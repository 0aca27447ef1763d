import { alwaysFormats, type FormatId } from '#model/format-id.ts'
import type { Format } from '#report/format.ts'
import type { Language } from '#report/languages/language.ts'
import { csv } from './csv.ts'
import { html, htmlIn } from './html.ts'
import { json } from './json.ts'
import { junit } from './junit.ts'
import { markdown } from './markdown.ts'
import { ocsf } from './ocsf.ts'
import { prometheus } from './prometheus.ts'
import { prometheusRules } from './prometheus-rules.ts'
import { sarif } from './sarif.ts'

const shelf: Record<FormatId, Format> = {
  html,
  json,
  sarif,
  junit,
  csv,
  markdown,
  prometheus,
  'prometheus-rules': prometheusRules,
  ocsf,
}

/**
 * The formats that are always written and the requested ones: each once, in the order of `shelf`.
 * Only the page has a language.
 */
export const formatsWith = (ids: readonly FormatId[], language?: Language): Format[] => {
  const asked: ReadonlySet<FormatId> = new Set([...alwaysFormats, ...ids])
  return Object.values({ ...shelf, ...(language && { html: htmlIn(language) }) }).filter(({ id }) =>
    asked.has(id),
  )
}

export const formats: Format[] = formatsWith([])

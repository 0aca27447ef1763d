import { alwaysFormats, type FormatId } from '#model/format-id.ts'
import type { Format } from '#report/format.ts'
import type { Language } from '#report/languages/language.ts'
import { csv } from './csv.ts'
import { html, htmlIn } from './html.ts'
import { junit } from './junit.ts'
import { markdown } from './markdown.ts'
import { ocsf } from './ocsf.ts'
import { prometheus } from './prometheus.ts'
import { prometheusRules } from './prometheus-rules.ts'
import { sarif } from './sarif.ts'

/** The findings document itself (the contract `highwater.findings/1`). */
export const json: Format = {
  id: 'json',
  name: 'findings.json',
  contentType: 'application/json',
  render: ({ document }) => `${lines(document)}\n`,
}

/** Writes each list entry on one line: half the size of indented JSON, and fit for grep and diff. */
function lines(document: object) {
  const fields = Object.entries(document).map(([name, value]) => {
    const isList = Array.isArray(value) && value.length > 0
    const text = isList
      ? `[\n${value.map(entry => JSON.stringify(entry)).join(',\n')}\n]`
      : JSON.stringify(value)
    return `${JSON.stringify(name)}: ${text}`
  })
  return `{\n${fields.join(',\n')}\n}`
}

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

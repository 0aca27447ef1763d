/** Renders a report in each requested format: one file per format, in the order of the list. */
import type { AuditReport, Delivery, RenderedFile } from '#model/report.ts'
import type { Format } from './format.ts'

export interface Rendered {
  files: RenderedFile[]
  /** Formats that cannot show this report, as failed deliveries. */
  unfit: Delivery[]
}

/** Equal reports give equal bytes. */
export function renderReport(report: AuditReport, formats: Format[]): Rendered {
  const rendered: Rendered = { files: [], unfit: [] }
  for (const { id, name, contentType, unfit, render } of formats) {
    const reason = unfit?.(report) ?? null
    if (reason === null) rendered.files.push({ name, contentType, body: render(report) })
    else rendered.unfit.push({ channel: id, location: null, link: null, error: reason })
  }
  return rendered
}

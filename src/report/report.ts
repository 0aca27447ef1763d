/** Renders a report in each requested format: one file per format, in the order of the list. */
import type { AuditReport, RenderedFile } from '#model/report.ts'
import type { Format } from './format.ts'

/** Equal reports give equal bytes. */
export const renderReport = (report: AuditReport, formats: Format[]): RenderedFile[] =>
  formats.map(({ name, contentType, render }) => ({ name, contentType, body: render(report) }))

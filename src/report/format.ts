/** An output format: a pure function from the report to the text of one file. */
import type { FormatId } from '#model/format-id.ts'
import type { AuditReport, RenderedFile } from '#model/report.ts'

export interface Format {
  /** The value of `--format` that selects this format. */
  id: FormatId
  /** The name of the written file. */
  name: string
  contentType: string
  render(report: AuditReport): string
}

/* Renders a report in each requested format: one file per format, in the order of the list. */

/** Equal reports give equal bytes. */
export const renderReport = (report: AuditReport, formats: Format[]): RenderedFile[] =>
  formats.map(({ name, contentType, render }) => ({ name, contentType, body: render(report) }))

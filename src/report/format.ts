/** An output format: a pure function from the report to the text of one file. */
import type { FormatId } from '#model/format-id.ts'
import type { AuditReport } from '#model/report.ts'

export interface Format {
  /** The value of `--format` that selects this format. */
  id: FormatId
  /** The name of the written file. */
  name: string
  contentType: string
  render(report: AuditReport): string
}

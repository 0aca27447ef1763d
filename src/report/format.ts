/** What an output format is: a pure way from the report to the text of one file. */
import type { AuditReport } from '#model/report.ts'

export interface Format {
  /** As `--format` names it. */
  id: string
  /** The name of the file it becomes. */
  name: string
  contentType: string
  render(report: AuditReport): string
}

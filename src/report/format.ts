/** What an output format is: a pure way from the report to the text of one file. */
import type { FormatId } from '#model/format-id.ts'
import type { AuditReport } from '#model/report.ts'

export interface Format {
  /** As `--format` names it. */
  id: FormatId
  /** The name of the file it becomes. */
  name: string
  contentType: string
  /**
   * Why this report cannot be written in this format, for people; null: it can. Absent: it always
   * can.
   */
  unfit?(report: AuditReport): string | null
  render(report: AuditReport): string
}

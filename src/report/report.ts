/** Runs the formats: one file each, in the order of the list. */
import type { AuditReport, RenderedFile } from '#model/report.ts'
import type { Format } from './format.ts'

/** Equal reports give equal bytes. */
export function renderReport(report: AuditReport, formats: Format[]): RenderedFile[] {
  return formats.map(({ name, contentType, render }) => ({ name, contentType, body: render(report) }))
}

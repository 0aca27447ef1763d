/** What changed since the last run, as events. None without an earlier run. */
import type { FindingEvent } from '#model/finding/finding-event.ts'
import type { AuditReport } from '#model/report.ts'
import { lineText } from './findings.ts'

/** Fifty requests of PutEvents: a report of a first day, or a changed history, does not hold up the run. */
const mostEvents = 500

/** In the order of the findings: the new and worse ones, then those that ended. The first 500. */
export function findingEvents(
  { document: { run, findings, delta }, before }: Pick<AuditReport, 'document' | 'before'>,
  reportUrl: string | null,
): FindingEvent[] {
  const isNew = new Set(delta.new)
  const isWorse = new Set(delta.worse)
  const base = { schema: 'highwater.event/1' as const, at: run.takenAt, reportUrl }
  const open = findings.flatMap(({ id, ...finding }): FindingEvent[] => {
    const change = isNew.has(id) ? 'new' : 'worse'
    if (change === 'worse' && !isWorse.has(id)) return []
    const { rule, severity, cluster, subject, since, nodes, steps } = finding
    const command = steps.flatMap(({ commands }) => commands)[0]?.command ?? null
    const title = lineText(finding.title)
    const about = { rule, severity, cluster, subject, title, since, nodes, command }
    return [{ ...base, ...about, change, finding: id, ended: null }]
  })
  const ended = (before?.ended ?? []).map(
    ({ id, rule, severity, cluster, subject, title, since, ended: how }): FindingEvent => ({
      ...base,
      rule,
      severity,
      cluster,
      subject,
      since,
      title: lineText(title),
      change: 'ended',
      finding: id,
      ended: how,
      nodes: null,
      command: null,
    }),
  )
  return [...open, ...ended].slice(0, mostEvents)
}

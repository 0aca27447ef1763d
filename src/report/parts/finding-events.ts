/** What changed since the last run, as events. None without an earlier run. */
import type { FindingEvent } from '#model/delta.ts'
import type { Subject } from '#model/input/record.ts'
import type { AuditReport } from '#model/report.ts'
import { shownBlock } from '#report/text.ts'
import { lineText, nameText } from './findings.ts'

/** Fifty requests of PutEvents: a report of a first day, or a changed history, does not hold up the run. */
const mostEvents = 500

/** Rules of EventBridge pass these on to people. Real names have no invisible characters, so programs find them as they are. */
const shownNames = (cluster: string, subject: Subject, title: string) => ({
  cluster: nameText(cluster),
  subject: {
    ...subject,
    namespace: subject.namespace && nameText(subject.namespace),
    name: nameText(subject.name),
  },
  title: lineText(title),
})

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
    return [
      {
        ...base,
        change,
        finding: id,
        rule,
        severity,
        since,
        ended: null,
        ...shownNames(cluster, subject, finding.title),
        nodes: { ...nodes, sample: nodes.sample.map(nameText) },
        command: command && shownBlock(command, Number.POSITIVE_INFINITY),
      },
    ]
  })
  const ended = (before?.ended ?? []).map(
    ({ id, rule, severity, cluster, subject, title, since, ended: how }): FindingEvent => ({
      ...base,
      ...shownNames(cluster, subject, title),
      rule,
      severity,
      since,
      change: 'ended',
      finding: id,
      ended: how,
      nodes: null,
      command: null,
    }),
  )
  return [...open, ...ended].slice(0, mostEvents)
}

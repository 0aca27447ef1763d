/**
 * CloudWatch embedded metric format: log lines that CloudWatch turns into metrics. One set per
 * cluster and one per cluster and severity, never per node: AWS charges for every combination of
 * dimensions.
 */
import { severities } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import { countBySeverity, utcTime } from '#report/statements.ts'

const namespace = 'highwater'
/** Source: CloudWatch API reference, Dimension: up to 1,024 ASCII characters, at least one not blank, the first not a colon. */
const dimensionMax = 1024

export const embeddedMetrics: Format = {
  id: 'emf',
  name: 'metrics.emf.ndjson',
  contentType: 'application/x-ndjson',
  render: report =>
    linesOf(report)
      .map(line => `${JSON.stringify(line)}\n`)
      .join(''),
}

function linesOf({
  document: { run, clusters, findings, waived, unknowns, notAudited },
}: AuditReport): object[] {
  const timestamp = Date.parse(utcTime(run.takenAt))
  // Cluster names that differ only in characters that a dimension cannot hold share their metrics.
  const alike = Map.groupBy(clusters, ({ name }) => dimensionText(name))
  return [...alike].flatMap(([Cluster, members]) => {
    const names = new Set(members.map(({ name }) => name))
    const own = <Entry extends { cluster: string }>(entries: Entry[]) =>
      entries.filter(({ cluster }) => names.has(cluster))
    const sum = (count: (member: (typeof members)[number]) => number) =>
      members.reduce((total, member) => total + count(member), 0)
    const bySeverity = countBySeverity(own(findings))
    const metrics = {
      NodesRead: sum(({ coverage }) => coverage.read),
      NodesPartlyRead: sum(({ coverage }) => coverage.partlyRead),
      NodesNotRead: sum(({ coverage }) => coverage.notRead),
      OutcomesUnknown: sum(({ outcomes }) => outcomes.unknown),
      OutcomesError: sum(({ outcomes }) => outcomes.error),
      FindingsWaived: own(waived).length,
      RulesUndecided: own(unknowns).length,
      NotAudited: own(notAudited).length,
    }
    return [
      lineOf(timestamp, { Cluster }, metrics),
      ...severities.map(Severity =>
        lineOf(timestamp, { Cluster, Severity }, { Findings: bySeverity[Severity] }),
      ),
    ]
  })
}

const lineOf = (
  timestamp: number,
  dimensions: Record<string, string>,
  metrics: Record<string, number>,
) => ({
  _aws: {
    Timestamp: timestamp,
    CloudWatchMetrics: [
      {
        Namespace: namespace,
        Dimensions: [Object.keys(dimensions)],
        Metrics: Object.keys(metrics).map(Name => ({ Name, Unit: 'Count' })),
      },
    ],
  },
  ...dimensions,
  ...metrics,
})

function dimensionText(name: string): string {
  const ascii = name
    .slice(0, dimensionMax)
    .replace(/[^\x20-\x7e]/g, '?')
    .replace(/^:/, '?')
  return ascii.trim() === '' ? '?' : ascii
}

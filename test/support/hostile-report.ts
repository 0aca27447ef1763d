/** The morning's report with every foreign text replaced by one that means harm. What are keys, times and enumerations stays. */
import type { AuditReport } from '#model/report.ts'
import { withWeek } from './remembered-week.ts'
import { copyOf, morningReport, withCauses } from './report-builder.ts'

const harm =
  '=cmd()|<script>alert("x")</script>{{ .Values.x }}\u202e🎉\ud800\ufffe`$1\\@somebody #12 ]]> www.example.com\u0007\nhttp://example.com\t'

/** @param filler a character: each text has 10,000 of it */
export function hostileReport(filler = 'x'): AuditReport {
  /** Texts stay apart from each other: what they were stands first. */
  const harmful = (text: string) => `${harm}${text}${filler.repeat(10_000)}`
  const report = copyOf(withWeek(morningReport()))
  const { document, nodes } = report
  Object.assign(document.run, {
    account: '111122223333',
    region: 'eu-central-1',
    inputErrors: [harmful('line 3')],
  })
  for (const found of [...document.findings, ...document.waived]) {
    for (const key of ['title', 'consequence', 'cluster'] as const) found[key] = harmful(found[key])
    found.subject = { ...found.subject, name: harmful(found.subject.name) }
    found.nodes = { ...found.nodes, sample: found.nodes.sample.map(harmful) }
    found.evidence = found.evidence.map(({ what, value }) => ({
      kind: 'computed',
      what: harmful(what),
      value: harmful(value),
    }))
    found.steps = found.steps.map(step => ({
      ...step,
      commands: step.commands.map(one => ({ ...one, command: harmful(one.command) })),
    }))
    if (found.waived) found.waived = { ...found.waived, reason: harmful(found.waived.reason) }
  }
  for (const unknown of document.unknowns) {
    unknown.cluster = harmful(unknown.cluster)
    unknown.reason = harmful(unknown.reason)
  }
  for (const entry of document.notAudited) {
    entry.cluster = harmful(entry.cluster)
    entry.node = entry.node === null ? null : harmful(entry.node)
    entry.reason = harmful(entry.reason)
  }
  for (const cluster of document.clusters) {
    cluster.name = harmful(cluster.name)
    cluster.insights = [
      {
        name: harmful('Kubelet version skew'),
        kubernetesVersion: harmful('1.36'),
        insightStatus: { status: harmful('ERROR'), reason: harmful('behind') },
        recommendation: harmful('Update'),
      },
    ]
    cluster.coverage.insightsUnread = harmful('not allowed')
  }
  for (const trend of report.trends ?? []) {
    trend.cluster = harmful(trend.cluster)
    for (const { groups } of trend.points)
      for (const group of groups) group.name = harmful(group.name)
  }
  for (const node of nodes) {
    node.cluster = harmful(node.cluster)
    node.upgrade = {
      ...{ from: harmful('v1.32'), to: 'v1.36.0', basis: 'files', changedOrders: null },
      errors: [harmful('unknown flag')],
      changedSettings: [{ field: harmful('a'), before: harmful('b'), after: null }],
    }
    node.identity = {
      ...node.identity,
      name: harmful(node.identity.name),
      group: { ...node.identity.group, name: harmful(node.identity.group.name) },
    }
  }
  return withCauses(report)
}

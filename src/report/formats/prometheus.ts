/**
 * Metrics in the Prometheus text format (0.0.4), for the textfile collector or a gateway: findings,
 * coverage, grades, and how far each group of nodes is from image GC and from eviction. An unknown
 * value has no sample; the number of nodes with unknown values is a metric.
 */

import { by } from '#base/text.ts'
import { type FindingsDocument, severities } from '#model/finding.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Format } from '#report/format.ts'
import { nameText, utcTime } from '#report/parts/findings.ts'
import { evictionOf } from '#report/parts/fleet.ts'

type Labels = Record<string, string>
type Merge = (before: number, value: number) => number

const sum: Merge = (before, value) => before + value
const grades = ['A', 'B', 'C', 'D', 'F'] as const

export const prometheus: Format = {
  id: 'prometheus',
  name: 'metrics.prom',
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  render: report =>
    metricsOf(report)
      .map(metric => metric.text())
      .join(''),
}

const metricsOf = ({ document, nodes }: AuditReport) => [
  ...runMetrics(document),
  ...findingMetrics(document),
  ...clusterMetrics(document),
  ...gapMetrics(document),
  ...groupMetrics(nodes),
]

function runMetrics({ run }: FindingsDocument) {
  const info = openMetric('highwater_info', 'Version of highwater that judged, and what it judged.')
  info.add({ version: nameText(run.version), source: run.source }, 1)
  const takenAt = openMetric(
    'highwater_snapshot_timestamp_seconds',
    'When what was judged was read.',
  )
  takenAt.add({}, Date.parse(utcTime(run.takenAt)) / 1000)
  return [info, takenAt]
}

function findingMetrics({ clusters, findings, waived }: FindingsDocument) {
  const count = openMetric('highwater_findings', 'Findings by severity; waived ones apart.')
  const byRule = openMetric(
    'highwater_rule_findings',
    'Findings by rule; waived ones apart. A rule without any has no sample.',
  )
  const onNodes = openMetric(
    'highwater_rule_nodes',
    'Nodes on which a rule fails, the findings of its groups together; waived ones apart.',
  )
  for (const { name } of clusters)
    for (const severity of severities)
      for (const state of ['open', 'waived'])
        count.add({ cluster: nameText(name), severity, state }, 0)
  for (const [state, all] of Object.entries({ open: findings, waived }))
    for (const { cluster: name, rule, severity, nodes: failing } of all) {
      const cluster = nameText(name)
      count.add({ cluster, severity, state }, 1)
      byRule.add({ cluster, rule, severity, state }, 1)
      onNodes.add({ cluster, rule, severity, state }, failing.count)
    }
  return [count, byRule, onNodes]
}

function clusterMetrics({ clusters }: FindingsDocument) {
  const nodes = openMetric('highwater_cluster_nodes', 'Nodes by how much of them was read.')
  const grade = openMetric(
    'highwater_cluster_grade',
    '1 for the grade that the cluster has; none where nothing was read.',
  )
  const outcomes = openMetric(
    'highwater_rule_outcomes',
    'Outcomes of the rules on the nodes of a cluster.',
  )
  for (const { name, grade: given, coverage, outcomes: counted } of clusters) {
    const cluster = nameText(name)
    for (const letter of grades)
      grade.add({ cluster, grade: letter }, given === letter ? 1 : 0, Math.max)
    const { read, partlyRead, notRead } = coverage
    for (const [state, value] of Object.entries({ read, partlyRead, notRead }))
      nodes.add({ cluster, coverage: state }, value)
    for (const [outcome, value] of Object.entries(counted))
      outcomes.add({ cluster, outcome }, value)
  }
  return [nodes, grade, outcomes]
}

function gapMetrics({ run, clusters, unknowns, notAudited }: FindingsDocument) {
  const unknown = openMetric(
    'highwater_undecided_rules',
    'Rules that could not be decided on a subject.',
  )
  const unread = openMetric(
    'highwater_not_audited',
    'Nodes and whole clusters that were not audited.',
  )
  const inputErrors = openMetric('highwater_input_errors', 'Errors in the input.')
  inputErrors.add({}, run.inputErrors.length)
  for (const { name } of clusters) {
    unknown.add({ cluster: nameText(name) }, 0)
    unread.add({ cluster: nameText(name) }, 0)
  }
  for (const { cluster } of unknowns) unknown.add({ cluster: nameText(cluster) }, 1)
  for (const { cluster } of notAudited) unread.add({ cluster: nameText(cluster) }, 1)
  return [unknown, unread, inputErrors]
}

function groupMetrics(nodes: AuditedNode[]) {
  const known = openMetric(
    'highwater_group_nodes',
    'Nodes of a group by whether their distance from image GC is known.',
  )
  const untilGc = openMetric(
    'highwater_group_image_gc_headroom_bytes',
    'Bytes until image GC starts, on the node of the group that is nearest; 0: due.',
  )
  const margin = openMetric(
    'highwater_group_eviction_headroom',
    'What is left above the hard eviction threshold of a signal, in bytes, inodes or pids, on the node of the group that is nearest; below 0: met.',
  )
  const capacity = openMetric(
    'highwater_group_image_filesystem_used_percent',
    'Use of the image filesystem as image GC counts it, the fullest node of the group.',
  )
  for (const node of nodes) {
    const { cluster, identity, prediction } = node
    const { kind, name } = identity.group
    // Nodes without a group share the empty name, so that each is not its own time series.
    const labels = {
      cluster: nameText(cluster),
      kind,
      group: kind === 'Node' ? '' : nameText(name),
    }
    const imageGC = prediction.imageGC
    const bytes = imageGC?.enabled ? imageGC.bytesUntilTrigger : null
    known.add({ ...labels, state: bytes === null ? 'unknown' : 'known' }, 1)
    if (bytes !== null) untilGc.add(labels, bytes, Math.min)
    if (imageGC?.usagePercent != null) capacity.add(labels, imageGC.usagePercent, Math.max)
    for (const { signal, hard, margin: left } of evictionOf(node)?.thresholds ?? [])
      if (hard && left !== null) margin.add({ ...labels, signal }, left, Math.min)
  }
  return [known, untilGc, margin, capacity]
}

/** Opens a gauge. Labels that are equal after cutting share one series; their values are merged. */
function openMetric(name: string, help: string) {
  const samples = new Map<string, number>()
  return {
    add(labels: Labels, value: number, merge = sum) {
      const key = labelText(labels)
      const before = samples.get(key)
      samples.set(key, before === undefined ? value : merge(before, value))
    },
    text() {
      if (samples.size === 0) return ''
      const lines = [...samples]
        .toSorted(by(([labels]) => labels))
        .map(([labels, value]) => `${name}${labels} ${value}\n`)
      return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
    },
  }
}

function labelText(labels: Labels) {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

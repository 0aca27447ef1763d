/**
 * Alerting rules for Prometheus (YAML), one group of rules per cluster. They alert above the disk
 * use at which an alert is useful for a cohort (`alert-levels.ts`).
 */

import { stringify } from 'yaml'
import { by } from '#base/text.ts'
import { groupLabels, type Subject } from '#model/input/record.ts'
import { type AlertLevels, alertLevels } from '#report/alert-levels.ts'
import type { Format } from '#report/format.ts'
import { nameText, utcTime } from '#report/parts/findings.ts'
import { formatCount } from '#report/text.ts'

/** An alert waits for two rounds of image GC (ImageGCPeriod, 5 min) and one scrape. */
const gcHold = '11m'
/**
 * The eviction manager checks every 10 s. After this time, the eviction manager has reclaimed what
 * it can, and this was not enough.
 */
const evictionHold = '2m'
/** Maximum length of the name of a Kubernetes object. */
const nameMax = 253

const header = (
  takenAt: string,
  labels: readonly string[],
) => `# Alerts on full disks that wait until the kubelet could have cleaned, from the thresholds that ran at ${utcTime(takenAt)}.
# They want node_exporter, whose node_uname_info names the node of each instance, and of kube-state-metrics kube_node_info and kube_node_labels
# with the labels of nodegroups (--metric-labels-allowlist=nodes=[${labels.join(',')}]).
# HighwaterAlertsBlind fires if these do not belong together: then no other alert here can fire.
# A Prometheus of one cluster takes that cluster's group; one that holds several tells them apart by the label cluster.
# Where an image filesystem is mounted elsewhere, correct its mountpoint.
`

export const prometheusRules: Format = {
  id: 'prometheus-rules',
  name: 'prometheus-rules.yaml',
  contentType: 'application/yaml; charset=utf-8',
  render({ document: { run }, nodes }) {
    const all = alertLevels(nodes)
    const levels = Map.groupBy(all, ({ cluster }) => nameText(cluster))
    const labels = new Set(all.flatMap(({ group }) => (group ? labelOf(group) : [])))
    const groups = [...levels]
      .toSorted(by(([cluster]) => cluster))
      .flatMap(([cluster, cohorts]) => {
        const rules = cohorts.flatMap(cohort => rulesOf(cluster, cohort))
        const name = `highwater/${cluster}`
        return rules.length === 0 ? [] : [{ name, rules: [...rules, blindRule(cluster)] }]
      })
    return `${header(run.takenAt, [...labels].toSorted())}${stringify({ groups }, { lineWidth: 0 })}`
  },
}

function rulesOf(cluster: string, levels: AlertLevels): object[] {
  const { group, imageGcUsedPercent, evictions, differing } = levels
  const name = group ? `${group.kind} ${nameText(group.name)}` : 'nodes without a group'
  const labels = {
    cluster: escapeTemplate(cluster),
    group: escapeTemplate(name),
    ...(levels.layout && { layout: levels.layout.id }),
  }
  const varied =
    differing > 0
      ? ` Set otherwise than most: ${formatCount(differing)} of them; the latest moment of all is taken.`
      : ''
  const gc = imageGcUsedPercent && {
    alert: 'HighwaterImageGCNotEnough',
    expr: cohortExpression(
      `100 - 100 * ${filesystemSelector('avail_bytes', cluster, levels.imagefs)} / ${filesystemSelector('size_bytes', cluster, levels.imagefs)}`,
      `> ${imageGcUsedPercent.alertAt}`,
      cluster,
      levels,
    ),
    for: gcHold,
    labels: { ...labels, severity: 'warning' },
    annotations: {
      summary: escapeTemplate(`Image GC does not keep up on {{ $labels.node }} (${name})`, [
        '{{ $labels.node }}',
      ]),
      description: escapeTemplate(
        `Image GC starts above ${imageGcUsedPercent.startsAbove} % used and has had two rounds: it finds too little to delete.${
          imageGcUsedPercent.isAfterEviction
            ? ' On these nodes eviction comes first: see rule eviction-before-image-gc.'
            : ''
        }${varied}`,
      ),
    },
  }
  return [
    ...(gc ? [gc] : []),
    ...evictions.map(({ signal, on, limit }) => {
      const avail = filesystemSelector('avail_bytes', cluster, on)
      const left =
        'percent' in limit
          ? `100 * ${avail} / ${filesystemSelector('size_bytes', cluster, on)}`
          : avail
      const shown = 'percent' in limit ? `${limit.percent} %` : `${limit.bytes} bytes`
      return {
        alert: 'HighwaterEvictionThresholdMet',
        expr: cohortExpression(
          left,
          `< ${'percent' in limit ? limit.percent : limit.bytes}`,
          cluster,
          levels,
        ),
        for: evictionHold,
        labels: { ...labels, signal, severity: 'critical' },
        annotations: {
          summary: escapeTemplate(`Pods are being evicted on {{ $labels.node }} (${name})`, [
            '{{ $labels.node }}',
          ]),
          description: escapeTemplate(
            `Less than ${shown} is available, the hard threshold of ${signal}, and what the kubelet collected was not enough: it evicts pods.${varied}`,
          ),
        },
      }
    }),
  ]
}

/**
 * The matcher also selects series without a `cluster` label, as in a cluster's own Prometheus:
 * PromQL treats a missing label as empty.
 */
const clusterMatcher = (cluster: string) => `cluster=~${promqlString(`${quotedMeta(cluster)}|`)}`

const filesystemSelector = (what: string, cluster: string, mountpoints: string[]) =>
  `node_filesystem_${what}{${clusterMatcher(cluster)},mountpoint=~${promqlString(mountpoints.join('|'))},fstype!~"tmpfs|overlay|squashfs|erofs"}`

/** The node of each instance of node_exporter: an instance is often an address. */
const nodeOfInstance = (cluster: string) =>
  `label_replace(max by (cluster, instance, nodename) (node_uname_info{${clusterMatcher(cluster)}}), "node", "$1", "nodename", "(.*)")`

/** Fires if no node of the cluster has an instance of node_exporter: all other rules are empty then. */
function blindRule(cluster: string): object {
  const nodes = `kube_node_info{${clusterMatcher(cluster)}}`
  return {
    alert: 'HighwaterAlertsBlind',
    expr: `absent(${nodes}) or count(${nodes}) unless count(${nodes} and on (cluster, node) ${nodeOfInstance(cluster)})`,
    for: gcHold,
    labels: { cluster: escapeTemplate(cluster), severity: 'warning' },
    annotations: {
      summary: escapeTemplate(`Disk alerts of ${cluster} see no node`),
      description:
        'kube_node_info of kube-state-metrics and node_uname_info of node_exporter have no node in common: nodename is not the name of a node, or one of them is not scraped.',
    },
  }
}

const labelOf = (group: Subject) =>
  groupLabels.find(([, kind]) => kind === group.kind)?.[0] ?? group.kind

/** The fullest mount of each node that belongs to the cohort. */
function cohortExpression(
  expression: string,
  comparison: string,
  cluster: string,
  { group, names, layout }: AlertLevels,
) {
  const aggregate = comparison.startsWith('>') ? 'max' : 'min'
  const members = group
    ? `kube_node_labels{${clusterMatcher(cluster)},label_${labelOf(group).replaceAll(/\W/g, '_')}=${promqlString(group.name.slice(0, nameMax))}}`
    : `kube_node_info{${clusterMatcher(cluster)},node=~${promqlString(names.map(name => quotedMeta(name.slice(0, nameMax))).join('|'))}}`
  // Selects nodes by mount point, not by name, so that the rule also covers future nodes.
  const alike = layout
    ? ` ${layout.id === 'shared' ? 'unless' : 'and'} on (cluster, instance) ${filesystemSelector('size_bytes', cluster, layout.ownMounts)}`
    : ''
  return `${aggregate} by (cluster, node) ((${expression}${alike}) * on (cluster, instance) group_left (node) ${nodeOfInstance(cluster)}) ${comparison} and on (cluster, node) ${members}`
}

/**
 * A string literal of PromQL in YAML, which matches exactly and shows what the eye would not see. The PromQL lexer refuses the
 * replacement character, YAML refuses control characters.
 */
function promqlString(text: string) {
  const whole = text.toWellFormed().replace(/[\ufffd-\uffff]/g, '?')
  const escaped = (character: string) =>
    `\\U${character.codePointAt(0)?.toString(16).padStart(8, '0')}`
  return `"${whole.replace(/[\\"]/g, '\\$&').replace(invisible, escaped)}"`
}

/** Also the joiner of emoji. */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Escapes a text for RE2. */
const quotedMeta = (text: string) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')

/** Labels and annotations are Go templates: template syntax in foreign text is escaped. */
function escapeTemplate(text: string, meant: string[] = []): string {
  const [first, ...rest] = meant
  if (first === undefined) return text.replace(/\{\{/g, '{{ "{{" }}')
  const at = text.indexOf(first)
  return `${escapeTemplate(text.slice(0, at))}${first}${escapeTemplate(text.slice(at + first.length), rest)}`
}

/** What the upgrade to the minor of their control plane changes on nodes that are behind, and nodegroups whose AMI release is behind. */
import { byText } from '#base/text/text-order.ts'
import type { ClusterResult } from '#model/finding/finding.ts'
import { plainClusterName, type Subject } from '#model/input/record.ts'
import type { AuditedNode, AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { subjectText } from '#report/parts/findings.ts'
import { nameLimit, regionOf } from '#report/parts/node.ts'
import { insightText, nodeUpgradeText } from '#report/terminal/upgrade-text.ts'

const shownGroups = 20
const shownLines = 8

/**
 * Nodes of one group with the same changes are one row; those that would not start come first, releases last. Below are the upgrade
 * insights of EKS that do not pass. Null: no node is behind, and no insight is known.
 */
export function upgradesView(
  {
    document: { run, clusters },
    nodes,
  }: Pick<AuditReport, 'nodes'> & { document: Pick<AuditReport['document'], 'run' | 'clusters'> },
  language: Language,
) {
  const { words } = language
  const rows = [...kubeletRows(nodes, language), ...releaseRows(nodes, run.region, language)]
  const insights = clusters.flatMap(cluster => insightRows(cluster, language))
  if (rows.length + insights.length === 0) return null
  return {
    count: language.count(rows.length + insights.length),
    insights: insights.slice(0, shownGroups),
    moreInsights:
      insights.length > shownGroups
        ? words.upgrades.moreInsights(insights.length - shownGroups)
        : null,
    commands: [...new Set(rows.flatMap(({ command }) => command ?? []))].slice(0, shownGroups),
    rows: rows.slice(0, shownGroups),
    leftOut: rows.length > shownGroups ? words.upgrades.leftOut(rows.length - shownGroups) : null,
  }
}

const insightRows = ({ name, insights = [] }: ClusterResult, { line }: Language) =>
  insights.map(insight => {
    const [what, ...lines] = insightText(insight)
    return {
      where: line(name, nameLimit),
      isError: insight.insightStatus?.status === 'ERROR',
      what,
      lines,
    }
  })

const placeOf = (cluster: string, group: Subject, language: Language) =>
  language.words.list([language.line(cluster, nameLimit), subjectText(group, language)])

function kubeletRows(nodes: readonly AuditedNode[], language: Language) {
  const { words, line } = language
  const behind = nodes.flatMap(node => (node.upgrade === undefined ? [] : [node]))
  const alike = Map.groupBy(behind, ({ cluster, identity: { group }, upgrade }) =>
    JSON.stringify([cluster, group, upgrade]),
  )
  return [...alike]
    .toSorted(
      ([a, [first]], [b, [second]]) =>
        Number(second!.upgrade!.errors.length > 0) - Number(first!.upgrade!.errors.length > 0) ||
        byText(a, b),
    )
    .map(([, members]) => {
      const [node] = members
      const { cluster, identity, upgrade } = node!
      const { from, to, errors } = upgrade!
      return {
        where: placeOf(cluster, identity.group, language),
        nodes: words.nodeCount(members.length),
        versions: `${line(from ?? words.unknown, nameLimit)} → ${to}`,
        isRefused: errors.length > 0,
        lines: nodeUpgradeText(upgrade!).slice(0, shownLines),
        note: null,
        command: `highwater upgrade --to ${to.slice(1, -2)} --cluster ${line(plainClusterName(cluster), nameLimit)}`,
      }
    })
}

/** Nodegroups with an older release than another one of their image and minor. */
function releaseRows(nodes: readonly AuditedNode[], region: string | null, language: Language) {
  const { words, line } = language
  const behind = nodes.filter(({ newerRelease }) => newerRelease !== undefined)
  const groups = Map.groupBy(behind, ({ cluster, identity: { group } }) =>
    placeOf(cluster, group, language),
  )
  return [...groups].map(([where, members]) => {
    const { cluster, identity, release, newerRelease } = members[0]!
    const newer = newerRelease!
    const options = [
      ['region', regionOf(cluster, region)],
      ['cluster-name', plainClusterName(cluster)],
      ['nodegroup-name', identity.group.name],
      ['release-version', newer.release],
    ] as const
    return {
      where,
      nodes: words.nodeCount(members.length),
      versions: words.steps.labelled(
        `${line(release!, nameLimit)} → ${line(newer.release, nameLimit)}`,
        words.steps.effect('replaces', members.length, 0),
      ),
      isRefused: false,
      lines: [],
      note: words.upgrades.newer(placeOf(newer.cluster, newer.group, language)),
      // A shell reads any other character.
      command: options.every(([, value]) => /^[\w.-]{1,255}$/.test(value ?? ''))
        ? `aws eks update-nodegroup-version ${options.map(([name, value]) => `--${name} ${value}`).join(' ')}`
        : null,
    }
  })
}

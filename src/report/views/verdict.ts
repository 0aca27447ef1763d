/** The first thing read: how bad it is, how much of the fleet that is known of, and what was not looked at. */
import type { ClusterResult, FindingsDocument, Severity } from '#model/finding.ts'
import { counted, formatCount, formatPercent } from '#report/numbers.ts'
import { shownLine } from '#report/text.ts'
import { nodeCountText, severityWords, subjectText, tally, worstFirst } from './findings.ts'
import { nameLimit } from './node.ts'

interface ClusterView {
  name: string
  /** Null where nothing was read: then there is no grade. */
  grade: string | null
  coverage: string
  /** Parts of the coverage bar. */
  parts: { state: 'read' | 'partly-read' | 'not-read'; x: string; width: string }[]
}

export interface VerdictView {
  severity: Severity | 'none' | 'unread'
  headline: string
  /** The worst finding and where it is; null without findings. */
  worst: string | null
  tally: ReturnType<typeof tally>
  scope: string
  /** What the verdict does not cover, each with the section that lists it. */
  gaps: { text: string; section: string }[]
  /** Stands where there is no gap. */
  complete: string | null
  clusters: ClusterView[]
  clustersLeftOut: string | null
}

const shownClusters = 300

export function verdictView({ clusters, findings, unknowns, notAudited, run }: FindingsDocument): VerdictView {
  const sum = (of: (cluster: ClusterResult) => number) => clusters.reduce((total, cluster) => total + of(cluster), 0)
  const nodes = sum(({ coverage }) => coverage.nodes)
  const seen = sum(({ coverage }) => coverage.read + coverage.partlyRead)
  const worst = findings.toSorted(worstFirst)[0]
  const partly = sum(({ coverage }) => coverage.partlyRead)
  // A node that was not read is in notAudited, too; should one list forget it, the other counts it.
  const lostNodes = Math.max(
    notAudited.filter(({ node }) => node !== null).length,
    sum(({ coverage }) => coverage.notRead),
  )
  const incomplete = new Set(notAudited.filter(({ node }) => node === null).map(({ cluster }) => cluster))
  // Of a cluster whose nodes are known something else is missing: events, a launch template, the end of a list.
  const partlyClusters = [...incomplete].filter(cluster => hasNodes(clusters, cluster)).length
  const lostClusters = incomplete.size - partlyClusters
  const lost = [lostNodes > 0 ? counted(lostNodes, 'node') : '', lostClusters > 0 ? counted(lostClusters, 'whole cluster') : ''].filter(
    Boolean,
  )
  const gaps = [
    { is: lost.length > 0, text: `${lost.join(' and ')} not audited`, section: 'not-audited' },
    { is: partlyClusters > 0, text: `${counted(partlyClusters, 'cluster')} not wholly read`, section: 'not-audited' },
    { is: partly > 0, text: `${counted(partly, 'node')} only partly read`, section: 'nodes' },
    { is: unknowns.length > 0, text: `${counted(unknowns.length, 'question')} undecided`, section: 'unknowns' },
    { is: run.inputErrors.length > 0, text: `${counted(run.inputErrors.length, 'error')} in the input`, section: 'how-it-was-read' },
  ]
  const named = gaps.filter(({ is }) => is).map(({ text, section }) => ({ text, section }))
  return {
    severity: worst?.severity ?? (seen === 0 ? 'unread' : 'none'),
    headline: worst
      ? `${severityWords[worst.severity]}: ${counted(findings.length, 'finding')}`
      : seen === 0
        ? 'Nothing could be read'
        : 'No findings in what was read',
    worst: worst
      ? `${shownLine(worst.title, 240)}: ${subjectText(worst.subject)} of ${[shownLine(worst.cluster, nameLimit), nodeCountText(worst.nodes)].filter(Boolean).join(', ')}`
      : null,
    tally: tally(findings),
    scope: `${counted(clusters.length, 'cluster')}, ${formatCount(seen - partly)} of ${counted(nodes, 'node')} read${partly > 0 ? `, ${formatCount(partly)} partly` : ''}`,
    gaps: named,
    complete:
      named.length > 0 ? null : nodes === 0 ? 'No node is known.' : 'Nothing was left out: every node was read, every rule decided.',
    clusters: clusters.slice(0, shownClusters).map(clusterView),
    clustersLeftOut:
      clusters.length > shownClusters ? `${counted(clusters.length - shownClusters, 'more cluster')} in findings.json` : null,
  }
}

/** Whether anything is known of a cluster's nodes. */
export const hasNodes = (clusters: ClusterResult[], name: string) =>
  clusters.some(cluster => cluster.name === name && cluster.coverage.nodes > 0)

function clusterView({ name, grade, coverage }: ClusterResult): ClusterView {
  const { nodes, read, partlyRead, notRead } = coverage
  const share = (count: number) => (nodes > 0 ? (100 * count) / nodes : 0)
  const part = (state: ClusterView['parts'][number]['state'], before: number, count: number) =>
    count > 0 && nodes > 0 ? [{ state, x: `${share(before).toFixed(2)}%`, width: `${share(count).toFixed(2)}%` }] : []
  const rest = [partlyRead > 0 ? `${formatCount(partlyRead)} partly` : '', notRead > 0 ? `${formatCount(notRead)} not` : ''].filter(Boolean)
  return {
    name: shownLine(name, nameLimit),
    grade,
    coverage:
      nodes === 0
        ? 'no node known'
        : `${formatCount(read)} of ${counted(nodes, 'node')} read (${formatPercent(share(read))})${rest.map(text => `, ${text}`).join('')}`,
    parts: [...part('read', 0, read), ...part('partly-read', read, partlyRead), ...part('not-read', read + partlyRead, notRead)],
  }
}

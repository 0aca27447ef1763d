/**
 * The first thing on the page: how bad it is, how much of the fleet was read, and what is not
 * covered.
 */
import type { ClusterResult, Severity } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { TitleOf } from '#report/rule-words.ts'
import type { Fold } from '#report/text.ts'
import { subjectText, tally, worstFirst } from './findings.ts'
import { freeableText } from './ledger.ts'
import { type NextView, nextView } from './next.ts'
import { nameLimit } from './node.ts'
import type { OutlookView } from './outlook.ts'

interface ClusterView {
  name: string
  /** Null: nothing was read, so there is no grade. */
  grade: string | null
  coverage: string
  /** Parts of the coverage bar. */
  parts: { state: 'read' | 'partly-read' | 'not-read'; x: string; width: string }[]
}

export interface VerdictView {
  severity: Severity | 'none' | 'unread'
  headline: string
  /** Nodes that evict first; null: unknown for every node. */
  next: NextView | null
  /** The worst finding and where it is; null without findings. */
  worst: string | null
  tally: ReturnType<typeof tally>
  scope: string
  /** What can be freed and what cannot be used, in GiB; null: not known. */
  freeable: string | null
  /** What the verdict does not cover, each with its section. */
  gaps: { text: string; section: string }[]
  /** Shown if there is no gap. */
  complete: string | null
  clusters: ClusterView[]
  clustersLeftOut: string | null
}

const shownClusters = 300

/** How the verdict is rendered. */
interface VerdictContext {
  outlook: OutlookView
  titleOf: TitleOf
  language: Language
  fold: Fold
}

export function verdictView(
  { document, nodes: audited }: AuditReport,
  { outlook, titleOf, language, fold }: VerdictContext,
): VerdictView {
  const { clusters, findings, unknowns, notAudited, run } = document
  const words = language.words.verdict
  const sum = (of: (cluster: ClusterResult) => number) =>
    clusters.reduce((total, cluster) => total + of(cluster), 0)
  const nodes = sum(({ coverage }) => coverage.nodes)
  const seen = sum(({ coverage }) => coverage.read + coverage.partlyRead)
  const worst = findings.toSorted(worstFirst)[0]
  const partly = sum(({ coverage }) => coverage.partlyRead)
  // An unread node is in notAudited as well; if it is missing in one list, the other one counts
  // it.
  const lostNodes = Math.max(
    notAudited.filter(({ node }) => node !== null).length,
    sum(({ coverage }) => coverage.notRead),
  )
  const incomplete = new Set(
    notAudited.filter(({ node }) => node === null).map(({ cluster }) => cluster),
  )
  // If nodes of the cluster are known, something else is missing: events, a launch template, the
  // end of a list.
  const partlyClusters = [...incomplete].filter(cluster => hasNodes(clusters, cluster)).length
  const lostClusters = incomplete.size - partlyClusters
  const gaps = [
    {
      is: lostNodes + lostClusters > 0,
      text: words.notAudited(lostNodes, lostClusters),
      section: 'not-audited',
    },
    { is: partlyClusters > 0, text: words.notWhollyRead(partlyClusters), section: 'not-audited' },
    { is: partly > 0, text: words.partlyRead(partly), section: 'nodes' },
    { is: unknowns.length > 0, text: words.undecided(unknowns.length), section: 'unknowns' },
    {
      is: run.inputErrors.length > 0,
      text: words.inputErrors(run.inputErrors.length),
      section: 'how-it-was-read',
    },
  ]
  const named = gaps.filter(({ is }) => is).map(({ text, section }) => ({ text, section }))
  return {
    severity: worst?.severity ?? (seen === 0 ? 'unread' : 'none'),
    headline: worst
      ? words.headline(language.words.severities[worst.severity], findings.length, outlook.evicting)
      : words[seen === 0 ? 'nothingRead' : 'nothingFound'],
    next: nextView(outlook, audited.length, fold, language),
    worst: worst
      ? words.worst(
          language.line(titleOf(worst).title, 240),
          subjectText(worst.subject, language),
          language.line(worst.cluster, nameLimit),
          worst.nodes.count,
        )
      : null,
    tally: tally(findings, language),
    scope: words.scope(clusters.length, seen - partly, nodes, partly),
    freeable: freeableText(audited, language),
    gaps: named,
    complete: named.length > 0 ? null : words[nodes === 0 ? 'noNode' : 'complete'],
    clusters: clusters.slice(0, shownClusters).map(cluster => clusterView(cluster, language)),
    clustersLeftOut:
      clusters.length > shownClusters ? words.moreClusters(clusters.length - shownClusters) : null,
  }
}

/** Whether any node of a cluster was read. */
export const hasNodes = (clusters: ClusterResult[], name: string) =>
  clusters.some(cluster => cluster.name === name && cluster.coverage.nodes > 0)

function clusterView(
  { name, grade, coverage }: ClusterResult,
  { words: { verdict: words }, line, percent }: Language,
): ClusterView {
  const { nodes, read, partlyRead, notRead } = coverage
  const share = (count: number) => (nodes > 0 ? (100 * count) / nodes : 0)
  const part = (state: ClusterView['parts'][number]['state'], before: number, count: number) =>
    count > 0 && nodes > 0
      ? [{ state, x: `${share(before).toFixed(2)}%`, width: `${share(count).toFixed(2)}%` }]
      : []
  return {
    name: line(name, nameLimit),
    grade,
    coverage:
      nodes === 0
        ? words.noNodeOfCluster
        : words.coverage(read, nodes, percent(share(read)), partlyRead, notRead),
    parts: [
      ...part('read', 0, read),
      ...part('partly-read', read, partlyRead),
      ...part('not-read', read + partlyRead, notRead),
    ],
  }
}

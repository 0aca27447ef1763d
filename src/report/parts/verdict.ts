/**
 * The first thing on the page: how bad it is, how much of the fleet was read, and what is not
 * covered.
 */
import type { ClusterResult } from '#model/finding.ts'
import type { AuditReport } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { tally, worstFirst } from './findings.ts'
import { freeableText } from './ledger.ts'
import type { OutlookView } from './outlook.ts'

interface VerdictContext {
  outlook: Pick<OutlookView, 'evicting'>
  causeCount: number
  language: Language
}

export function verdictView(
  { document, nodes: audited }: AuditReport,
  { outlook, causeCount, language }: VerdictContext,
) {
  const { clusters, findings } = document
  const words = language.words.verdict
  const sum = (of: (cluster: ClusterResult) => number) =>
    clusters.reduce((total, cluster) => total + of(cluster), 0)
  const nodes = sum(({ coverage }) => coverage.nodes)
  const partly = sum(({ coverage }) => coverage.partlyRead)
  const read = sum(({ coverage }) => coverage.read)
  const seen = read + partly
  const worst = findings.toSorted(worstFirst)[0]
  const gaps = gapsOf(
    document,
    partly,
    sum(({ coverage }) => coverage.notRead),
    language,
  )
  return {
    severity: worst?.severity ?? (seen === 0 ? ('unread' as const) : ('none' as const)),
    headline: worst
      ? words.headline(
          language.words.severities[worst.severity],
          findings.length,
          outlook.evicting,
          causeCount,
        )
      : withoutFindings(seen, outlook.evicting, language),
    tally: tally(findings, language),
    scope: words.scope(clusters.length, read, nodes, partly),
    freeable: freeableText({ document, nodes: audited }, language),
    gaps,
    complete: gaps.length > 0 ? null : words[nodes === 0 ? 'noNode' : 'complete'],
  }
}

/** The headline without open findings. Nodes can still evict now if their findings are waived. */
function withoutFindings(seen: number, evicting: number, { words }: Language) {
  if (seen === 0) return words.verdict.nothingRead
  const { nothingFound } = words.verdict
  return evicting > 0 ? words.clauses([nothingFound, words.next.bands.now(evicting)]) : nothingFound
}

function gapsOf(
  { clusters, notAudited, run, findings }: AuditReport['document'],
  partly: number,
  notRead: number,
  { words: { verdict: words } }: Language,
) {
  // Unread nodes are counted in `notAudited` and in coverage. If one of the two lacks a node, the
  // larger count is used.
  const lostNodes = Math.max(notAudited.filter(({ node }) => node !== null).length, notRead)
  const incomplete = new Set(
    notAudited.filter(({ node }) => node === null).map(({ cluster }) => cluster),
  )
  // If the cluster has known nodes, another part is missing: events, a launch template, the end of
  // a list.
  const partlyClusters = [...incomplete].filter(cluster => hasNodes(clusters, cluster)).length
  const lostClusters = incomplete.size - partlyClusters
  const errors = run.inputErrors.length
  const ofUnmeasured = findings.filter(
    ({ cause }) => cause.kind === 'device' && cause.what === 'unmeasured',
  )
  // Two rules report one disk.
  const byRule = Map.groupBy(ofUnmeasured, ({ rule }) => rule)
  const counts = [...byRule.values()].map(own => own.reduce((sum, one) => sum + one.nodes.count, 0))
  const unmeasured = Math.max(0, ...counts)
  const gap = (count: number, section: string, text: string) =>
    count > 0 ? [{ text, section }] : []
  return [
    ...gap(lostNodes + lostClusters, 'not-audited', words.notAudited(lostNodes, lostClusters)),
    ...gap(partlyClusters, 'not-audited', words.notWhollyRead(partlyClusters)),
    ...gap(partly, 'nodes', words.partlyRead(partly)),
    ...gap(unmeasured, 'causes', words.unmeasuredDisks(unmeasured)),
    ...gap(errors, 'how-it-was-read', words.inputErrors(errors)),
  ]
}

/** Whether any node of the cluster is known, read or not. */
export const hasNodes = (clusters: ClusterResult[], name: string) =>
  clusters.some(cluster => cluster.name === name && cluster.coverage.nodes > 0)

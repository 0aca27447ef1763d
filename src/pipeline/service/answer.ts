/** The answer of a run: the verdict, the worst causes, and the nodes that evict first. */

import { isListBroken } from '#judge/compare/delta/run-knowledge.ts'
import { bounded, counted } from '#judge/text.ts'
import type { Severity } from '#model/finding/finding.ts'
import type { AuditedNode } from '#model/report.ts'
import type { RunAnswer, RunSummary } from '#model/run.ts'
import type { AuditResult } from '#pipeline/audit/audit.ts'
import type { Language } from '#report/languages/language.ts'
import { openCommandOf, reportLink } from '#report/mail/mail.ts'
import { causesAndOutlook, causeView } from '#report/parts/causes.ts'
import { titlesOf } from '#report/parts/rule-words.ts'
import { verdictView } from '#report/parts/verdict.ts'

const shown = { causes: 5, next: 5 }

export function answerOf(
  runId: string,
  state: RunAnswer['state'],
  { document, deliveries, report }: AuditResult,
  { language, isPart }: { language: Language; isPart: boolean },
): RunAnswer {
  const findings: Partial<Record<Severity, number>> = {}
  for (const { severity } of document.findings) findings[severity] = (findings[severity] ?? 0) + 1
  const link = reportLink(deliveries)
  const open = openCommandOf(deliveries, document.run.region, isPart)
  const clusters = document.clusters.map(({ name, grade, coverage }) => ({ name, grade, coverage }))
  return {
    runId,
    state,
    findings,
    clusters,
    deliveries,
    notAudited: document.notAudited.length,
    summary: summaryOf(report, language),
    link,
    ...(link === null && open !== null && { open }),
  }
}

function summaryOf(report: AuditResult['report'], language: Language): RunSummary {
  const { causes, outlook } = causesAndOutlook(report, language)
  const titleOf = titlesOf(report, language)
  const { headline } = verdictView(report, { outlook, causeCount: causes.length, language })
  return {
    verdict: headline,
    causes: causes.slice(0, shown.causes).map((cause, index) => {
      const { severity, title, where, step, commands } = causeView(cause, index, {
        titleOf,
        language,
      })
      return { severity, title, where, step, command: commands[0]?.command ?? null }
    }),
    next: outlook.rows
      .slice(0, shown.next)
      .map(({ name: node, where, state, victims }) => ({ node, where, state, victims })),
  }
}

/**
 * Why no node was read, for people; null: a node was read, or nothing can be read. A cluster may have no nodes, and a Fargate node
 * cannot be read.
 */
export function nothingRead({
  document: { notAudited },
  nodes,
}: Pick<AuditResult, 'document' | 'nodes'>): string | null {
  if (!nodes.every(isSilent)) return null
  const unread = nodes.filter(({ identity }) => identity.owner !== 'fargate')
  const unlisted = notAudited.filter(isListBroken)
  if (unread.length === 0 && unlisted.length === 0) return null
  const clusters = new Set(unlisted.map(({ cluster }) => cluster)).size
  const what = [
    ...(unread.length > 0 ? [`${counted(unread.length, 'node')} could not be read`] : []),
    ...(clusters > 0
      ? [`of ${counted(clusters, 'cluster')} it is not known which nodes there are`]
      : []),
  ]
  const [first] = [
    ...unlisted.map(({ cluster, reason }) => `cluster ${cluster}: ${reason}`),
    ...unread.map(whyUnread),
  ]
  return `no node was read: ${what.join(', and ')}. The report names each with its reason, as that of ${first}`
}

/** Whether the node's settings and disks are unknown. Pods from the API server do not count as read. */
const isSilent = ({ coverage, prediction: { eviction, imageGC, filesystems } }: AuditedNode) =>
  coverage === 'notRead' ||
  (coverage === 'partlyRead' &&
    eviction === null &&
    imageGC === null &&
    filesystems.nodefs === null)

const whyUnread = ({ cluster, identity, errors }: AuditedNode) =>
  bounded(
    `node ${identity.name} of cluster ${cluster}: ${errors.map(({ what, message }) => `${what}: ${message}`).join('; ')}`,
  )

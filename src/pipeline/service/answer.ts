/** The answer of a run: the verdict, the worst causes, and the nodes that evict first. */
import type { Severity } from '#model/finding.ts'
import type { RunAnswer, RunSummary } from '#model/run.ts'
import type { AuditResult } from '#pipeline/audit.ts'
import { causesOf } from '#report/causes.ts'
import type { Language } from '#report/languages/language.ts'
import { reportLink } from '#report/mail.ts'
import { titlesOf } from '#report/rule-words.ts'
import { causeView } from '#report/views/causes.ts'
import { outlookView } from '#report/views/outlook.ts'
import { verdictView } from '#report/views/verdict.ts'

const shown = { causes: 5, next: 5 }

export function answerOf(
  runId: string,
  state: RunAnswer['state'],
  { document, deliveries, report }: AuditResult,
  language: Language,
): RunAnswer {
  const findings: Partial<Record<Severity, number>> = {}
  for (const { severity } of document.findings) findings[severity] = (findings[severity] ?? 0) + 1
  const clusters = document.clusters.map(({ name, grade, coverage }) => ({ name, grade, coverage }))
  return {
    ...{ runId, state, findings, clusters, deliveries },
    notAudited: document.notAudited.length,
    summary: summaryOf(report, language),
    link: reportLink(deliveries),
  }
}

function summaryOf(report: AuditResult['report'], language: Language): RunSummary {
  const causes = causesOf(report)
  const outlook = outlookView(report, language)
  const titleOf = titlesOf(report, language)
  const { headline } = verdictView(report, { outlook, causeCount: causes.length, language })
  return {
    verdict: headline,
    causes: causes.slice(0, shown.causes).map((cause, index) => {
      const { severity, title, where, step, commands } = causeView(cause, index, {
        titleOf,
        language,
      })
      return { severity, title, where, step, command: commands[0] ?? null }
    }),
    next: outlook.rows
      .slice(0, shown.next)
      .map(({ name: node, where, state, victims }) => ({ node, where, state, victims })),
  }
}

/** Merges judgements in a fixed order. One judgement of the fleet and one per cluster give equal results. */

import type { NotAudited } from '#model/finding.ts'
import { byText } from '#model/text-order.ts'
import type { JudgementResult, RuleError } from './result.ts'
import { byFinding, byUnknown } from './tally.ts'

/** The same result as one judgement of all clusters. @param results of different clusters, each with every node listed */
export const mergedJudgements = (results: readonly JudgementResult[]): JudgementResult => ({
  clusters: results.flatMap(({ clusters }) => clusters).toSorted((a, b) => byText(a.name, b.name)),
  findings: results.flatMap(({ findings }) => findings).toSorted(byFinding),
  waived: results.flatMap(({ waived }) => waived).toSorted(byFinding),
  unknowns: results.flatMap(({ unknowns }) => unknowns).toSorted(byUnknown),
  notAudited: withoutRepeats(results.flatMap(({ notAudited }) => notAudited)),
  delta: { new: [], resolved: [] },
  ruleErrors: inOrder(results.flatMap(({ ruleErrors }) => ruleErrors)),
  garbage: results
    .flatMap(({ garbage }) => garbage)
    .toSorted((a, b) => byText(a.cluster, b.cluster)),
})

export const withoutRepeats = (entries: readonly NotAudited[]): NotAudited[] =>
  [...new Map(entries.map(entry => [JSON.stringify(entry), entry])).values()].toSorted(
    (a, b) =>
      byText(a.cluster, b.cluster) ||
      byText(a.node ?? '', b.node ?? '') ||
      byText(a.reason, b.reason),
  )

export const inOrder = (errors: readonly RuleError[]): RuleError[] =>
  errors.toSorted(
    (a, b) =>
      byText(a.rule, b.rule) ||
      byText(a.cluster, b.cluster) ||
      byText(a.node, b.node) ||
      byText(a.message, b.message),
  )

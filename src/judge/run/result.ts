/** The result of a judgement, in an order that does not depend on the order of the nodes. */

import { by } from '#base/text.ts'
import { sampleSize } from '#judge/drift/variants.ts'
import type { GarbageOverview } from '#model/cluster-garbage.ts'
import type {
  ClusterResult,
  Finding,
  FindingsDocument,
  NotAudited,
  UnknownOutcome,
} from '#model/finding.ts'
import { byFinding, byUnknown, fewNodes } from './tally.ts'

/** A rule that threw. That is a defect of ours, so the run fails. */
export interface RuleError {
  rule: string
  cluster: string
  node: string
  message: string
}

export interface JudgementResult {
  clusters: ClusterResult[]
  findings: Finding[]
  waived: Finding[]
  unknowns: UnknownOutcome[]
  notAudited: NotAudited[]
  /** Empty here: history decides which findings are new or resolved. */
  delta: { new: string[]; resolved: string[] }
  ruleErrors: RuleError[]
  /** Sorted by cluster; only clusters that were searched for garbage. */
  garbage: GarbageOverview[]
}

/** The same result as one judgement of all clusters. @param results of different clusters, each with every node listed */
export const mergedJudgements = (results: readonly JudgementResult[]): JudgementResult => ({
  clusters: results.flatMap(({ clusters }) => clusters).toSorted(by(({ name }) => name)),
  findings: results.flatMap(({ findings }) => findings).toSorted(byFinding),
  waived: results.flatMap(({ waived }) => waived).toSorted(byFinding),
  unknowns: results.flatMap(({ unknowns }) => unknowns).toSorted(byUnknown),
  notAudited: withoutRepeats(results.flatMap(({ notAudited }) => notAudited)),
  delta: { new: [], resolved: [] },
  ruleErrors: sortedErrors(results.flatMap(({ ruleErrors }) => ruleErrors)),
  garbage: results.flatMap(({ garbage }) => garbage).toSorted(by(({ cluster }) => cluster)),
})

export const withoutRepeats = (entries: readonly NotAudited[]): NotAudited[] =>
  [...new Map(entries.map(entry => [JSON.stringify(entry), entry])).values()].toSorted(
    by(
      ({ cluster }) => cluster,
      ({ node }) => node ?? '',
      ({ reason }) => reason,
    ),
  )

export const sortedErrors = (errors: readonly RuleError[]): RuleError[] =>
  errors.toSorted(
    by(
      ({ rule }) => rule,
      ({ cluster }) => cluster,
      ({ node }) => node,
      ({ message }) => message,
    ),
  )

/** If a document has more findings than this, each names fewer nodes, so that reports stay short. */
export const manyFindings = 300

type NamedSample = Pick<FindingsDocument, 'findings' | 'waived' | 'unknowns'>

/** Gives the same names as a judgement without `allNodes`. */
export function withShownNames({ findings, waived, unknowns }: NamedSample): NamedSample {
  const size = findings.length + waived.length > manyFindings ? fewNodes : sampleSize
  const cut = <Entry extends Finding | UnknownOutcome>(entry: Entry, names: number): Entry => ({
    ...entry,
    nodes: { ...entry.nodes, sample: entry.nodes.sample.slice(0, names) },
  })
  return {
    findings: findings.map(finding => cut(finding, size)),
    waived: waived.map(finding => cut(finding, size)),
    unknowns: unknowns.map(unknown => cut(unknown, fewNodes)),
  }
}

/** What a judgement comes to. */
import type { ClusterResult, Finding, NotAudited, UnknownOutcome } from '#model/finding.ts'

/** A rule that threw: a mistake of ours, so the run ends red. */
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
  /** Empty: what is new and what is gone comes from history. */
  delta: { new: string[]; resolved: string[] }
  ruleErrors: RuleError[]
}

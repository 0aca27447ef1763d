import type { ClusterResult, Finding, NotAudited, UnknownOutcome } from '#model/finding.ts'
import type { GarbageOverview } from '#model/garbage-overview.ts'

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

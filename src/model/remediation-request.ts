/** Request and response of the function `remediate`. */
import type { RunState, StepState } from './remediation.ts'
import type { Selection } from './selection.ts'
import type { ConfigurationChange } from './what-if.ts'

/** Make a plan, and keep it in the bucket. */
export interface PlanningRequest {
  action: 'plan'
  selection: Selection
  /** Rule and finding ids; both empty: every finding with a fix that a plan may apply, unless there are changes. */
  rules: string[]
  findings: string[]
  changes: ConfigurationChange[]
  allowActAtOnce: boolean
  /** `live`: the fleet is read anew; `latest`: the snapshot of the last scheduled audit in the bucket is taken. */
  source: 'live' | 'latest'
}

/** Apply a plan of the bucket by its approval there; where it has been begun before, go on with it. */
export interface ApplyRequest {
  action: 'apply'
  /** Its digest. */
  plan: string
  /** Nodes that have changed since the plan are passed over; else they refuse it. */
  skipChanged: boolean
}

/** Go on with a run; null: with every one that is not at its end. */
export interface ResumeRequest {
  action: 'resume'
  run: string | null
}

export interface RollbackRequest {
  action: 'rollback'
  run: string
  /** More nodes than may have got worse by it, and it goes on all the same. */
  despiteErrors: boolean
}

export type RemediationRequest = PlanningRequest | ApplyRequest | ResumeRequest | RollbackRequest

/** How much of a plan there is. */
export interface PlanCounts {
  cohorts: number
  /** Nodes with a step. */
  nodes: number
  waves: number
  never: number
  refused: number
  unchanged: number
  /** Number of refused nodes whose only reason is missing data. */
  unread: number
}

export interface PlanAnswer {
  action: 'plan'
  id: string
  digest: string
  /** Location of the plan. */
  location: string
  counts: PlanCounts
  /** Broken lines of the snapshot, and clusters that could not be read. */
  inputErrors: string[]
  /** Null: not approved yet. */
  approvedBy: string | null
  /** What to do next, or why the policy does not approve it. */
  next: string
}

/** What came of one run. `refused`: it did not go on now, and why says why. */
export interface RanOne {
  id: string
  state: RunState | 'refused'
  why: string | null
  /** By where they stand. */
  nodes: Partial<Record<StepState, number>>
  next: string
}

export interface RunAnswered extends RanOne {
  action: 'apply' | 'resume' | 'rollback'
  digest: string
  approvedBy: string
}

export interface ResumedAnswer {
  action: 'resume'
  /** Those that were not at their end, and what the policy has approved. */
  runs: RanOne[]
  /** For people: what was refused because it has no valid seal, and was not named before. The function fails then. */
  unsealed: string[]
}

export type RemediationAnswer = PlanAnswer | RunAnswered | ResumedAnswer

/** Request and response of the function `remediate`. */

import type { Selection } from '#model/input/record.ts'
import type { RunState, StepState } from './remediation.ts'
import type { ConfigurationChange } from './what-if.ts'

/** Make a plan and store it in the bucket. */
export interface PlanningRequest {
  action: 'plan'
  selection: Selection
  /** Rule and finding ids. If both and `changes` are empty, the plan covers every finding whose fix it may apply. */
  rules: string[]
  findings: string[]
  changes: ConfigurationChange[]
  allowActAtOnce: boolean
  /** `live`: read the fleet anew; `latest`: use the snapshot of the last scheduled audit in the bucket. */
  source: 'live' | 'latest'
}

/** Apply a plan from the bucket with its approval. If the plan has a run already, continue the run. */
export interface ApplyRequest {
  action: 'apply'
  /** The plan's digest. */
  plan: string
  /** True: skip nodes that changed since the plan. False: such a node refuses the plan. */
  skipChanged: boolean
}

/** Continue a run. `run` null: continue every unfinished run. */
export interface ResumeRequest {
  action: 'resume'
  run: string | null
}

export interface RollbackRequest {
  action: 'rollback'
  run: string
  /** Continue the rollback even if it makes more nodes worse than the policy permits. */
  despiteErrors: boolean
}

export type RemediationRequest = PlanningRequest | ApplyRequest | ResumeRequest | RollbackRequest

/** Size of a plan. */
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
  /** Invalid snapshot lines, and clusters that could not be read. */
  inputErrors: string[]
  /** Null: not approved yet. */
  approvedBy: string | null
  /** What to do next, or why the policy does not approve it. */
  next: string
}

/** Outcome of one run. `refused`: the run did not continue now, for the reason in `why`. */
export interface RanOne {
  id: string
  state: RunState | 'refused'
  why: string | null
  /** Number of nodes by state. */
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
  /** Runs that were unfinished, and runs of plans that the policy approved. */
  runs: RanOne[]
  /** For people: objects refused for an invalid seal and not reported before. If there is one, the function fails. */
  unsealed: string[]
}

export type RemediationAnswer = PlanAnswer | RunAnswered | ResumedAnswer

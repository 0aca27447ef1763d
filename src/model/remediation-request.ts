/** What is asked of the function `remediate`, and what it answers. */
import type { Selection } from './selection.ts'
import type { ConfigurationChange } from './what-if.ts'

/** Make a plan, and keep it in the bucket. */
export interface PlanAsked {
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

export type RemediationRequest = PlanAsked

/** How much of a plan there is. */
export interface PlanCounts {
  cohorts: number
  /** Nodes with a step. */
  nodes: number
  waves: number
  never: number
  refused: number
  unchanged: number
  /** Of the refused: only because they told too little. */
  unread: number
}

export interface PlanAnswer {
  action: 'plan'
  id: string
  digest: string
  /** Where the plan lies. */
  location: string
  counts: PlanCounts
  /** Broken lines of the snapshot, and clusters that could not be read. */
  inputErrors: string[]
  /** Null: nobody has approved it. */
  approvedBy: string | null
  /** What to do next, or why the policy does not approve it. */
  next: string
}

export type RemediationAnswer = PlanAnswer

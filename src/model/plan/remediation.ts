/** State and report of a remediation run, node by node (the contract `highwater.remediation/1`). */
import type { LeftAlone } from './plan.ts'

export const remediationSchema = 'highwater.remediation/1'
export const verificationSchema = 'highwater.verification/1'

/**
 * Progress of a node in a run, in order.
 * `sending`: recorded before the command is sent. A run that died in this state sends the command again; the node applies it once.
 * `returning`: a temporary change has reached its end, and the old file is being restored as planned; `pruned`: the restored state was confirmed.
 * `restored`: the node itself restored its files, byte for byte; `rolled-back`: this run rolled it back.
 * `skipped`: nothing was sent, the node had the new file already, or its instance is gone with the change; `failed`: nothing was changed; `broken`: the node might not be healthy and needs a person.
 */
export const stepStates = [
  'pending',
  'sending',
  'sent',
  'applied',
  'verified',
  'returning',
  'pruned',
  'restored',
  'rolled-back',
  'skipped',
  'failed',
  'broken',
] as const
export type StepState = (typeof stepStates)[number]

/** Answer of an SSM document that changes a node (`highwater.apply/1`). */
export interface ApplyAnswer {
  run: string
  action: 'check' | 'apply' | 'rollback'
  instanceId: string
  outcome: 'ready' | 'applied' | 'unchanged' | 'restored' | 'refused' | 'failed' | 'broken'
  reason: string | null
  oldSha256: string | null
  newSha256: string | null
  presentSha256: string | null
  kubelet: {
    active: boolean | null
    startedAtBefore: string | null
    startedAtAfter: string | null
    healthz: string | null
  } | null
  steps: string[]
}

/** Result of comparing a node, read anew, with the settings that its step expects. */
export type Verification = { state: 'verified' } | { state: 'not-yet' | 'wrong'; why: string }

/** Output of `highwater verify` (the contract `highwater.verification/1`). */
export interface VerificationReport {
  schema: typeof verificationSchema
  /** The plan's digest. */
  plan: string
  counts: { verified: number; notYet: number; wrong: number }
  /** Results by cluster and node, in the plan's order. */
  nodes: ({ cluster: string; node: string } & Verification)[]
}

/** One node's entry in the journal of a run. */
export interface StepEntry {
  cluster: string
  node: string
  instanceId: string
  /** Index in the plan's waves. */
  wave: number
  state: StepState
  /** Reason, for people; null: the state needs no reason. */
  why: string | null
  /** Why the step is rolled back, without what came of it. Absent: it is not. */
  cause?: string
  commandIds: string[]
  /** The last answer; null: no answer yet. */
  answer: ApplyAnswer | null
  /** `namespace/name` of pods that were ready before the change; null: not read. */
  readyPods: string[] | null
  /** Used bytes of the image filesystem before a change that prunes images; null: not read. */
  usedBytesBefore?: number | null
  /** After a rollback: whether a new reading confirmed that the node runs as before. */
  seenBack?: boolean
  /** RFC 3339: when the node reached each state. */
  at: Partial<Record<StepState, string>>
}

/** `paused`: the run continues on request; `stopped`: the run does not continue. */
export const runStates = ['running', 'paused', 'stopped', 'done', 'rolled-back'] as const
export type RunState = (typeof runStates)[number]

/** One run: a plan that is being applied. A plan has exactly one run, so a repeated request continues the same run. */
export interface RemediationRun {
  schema: typeof remediationSchema
  /** The plan's id. Nodes identify the run by it. */
  run: string
  /** The plan's digest. */
  plan: string
  approvedBy: string
  /** Further approvers who resumed the run, in order. Absent: it was not resumed. */
  resumedBy?: string[]
  startedAt: string
  endedAt: string | null
  state: RunState
  /** Why the run is not running; null: the state needs no reason. */
  why: string | null
  /** Checks that were skipped before nodes were changed, one sentence per cluster. Absent: none. */
  unasked?: string[]
  /** UID of the namespace kube-system, by cluster name in the plan. The cluster's lease is named after the UID. Absent: an older version started the run. */
  clusters?: Record<string, string>
  /** `cluster/node` of nodes that are not healthy after the rollback. Absent: none. */
  notBack?: string[]
  steps: StepEntry[]
  /** Nodes in the plan's `never` and `refused`. */
  leftAlone: LeftAlone[]
}

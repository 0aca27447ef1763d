/** State and report of a remediation run, node by node (the contract `highwater.remediation/1`). */
import type { LeftAlone } from './plan.ts'

export const remediationSchema = 'highwater.remediation/1'
export const verificationSchema = 'highwater.verification/1'

/**
 * Progress of a node in a run, in order.
 * `sending`: written before the command is sent. A run that died there sends it again; the node applies it once.
 * `returning`: its change was for a while, has done what it was for, and is being put back as the plan says; `pruned`: that was seen to be done.
 * `restored`: the node itself restored its files, byte for byte; `rolled-back`: this run rolled it back.
 * `skipped`: nothing was sent, the node had the new file already, or its instance is gone and nothing is left; `failed`: nothing was changed; `broken`: it is not known to be well, and needs a person.
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

/** What a document that changes a node answers (`highwater.apply/1`). */
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

/** What was read of a node anew, beside what its step promised. */
export type Verification = { state: 'verified' } | { state: 'not-yet' | 'wrong'; why: string }

/** Output of `highwater verify` (the contract `highwater.verification/1`). */
export interface VerificationReport {
  schema: typeof verificationSchema
  /** The plan's digest. */
  plan: string
  counts: { verified: number; notYet: number; wrong: number }
  /** By cluster and node, as the plan has them. */
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
  /** For people; null where the state says it all. */
  why: string | null
  commandIds: string[]
  /** The last one. */
  answer: ApplyAnswer | null
  /** `namespace/name` of pods that were ready before it was touched; null: not read. */
  readyPods: string[] | null
  /** Of the image filesystem, before it was touched, where images are to be pruned; null: not read. */
  usedBytesBefore?: number | null
  /** Once it was put back: whether it was then read anew and runs as before. */
  seenBack?: boolean
  /** RFC 3339: when it came to each state. */
  at: Partial<Record<StepState, string>>
}

/**
 * Where an object stands in a run of deletions. `deleting`: written before the request is sent, so a run that died there sends it again; `gone`: somebody else was
 * there first, or an earlier try of the same run; `changed`: it is not what was approved any more, and stays; `failed`: refused, or not answered.
 */
export const deletionStates = [
  'pending',
  'deleting',
  'deleted',
  'gone',
  'changed',
  'failed',
] as const

/** One object's entry in the journal of a run of deletions. */
export interface DeletionEntry {
  cluster: string
  resource: string
  namespace: string | null
  name: string
  uid: string
  state: (typeof deletionStates)[number]
  /** For people; null where the state says it all. */
  why: string | null
  /** RFC 3339: when it came to its state; null: nothing was begun. */
  at: string | null
}

/** `paused`: continues on request; `stopped`: does not continue. */
export const runStates = ['running', 'paused', 'stopped', 'done', 'rolled-back'] as const
export type RunState = (typeof runStates)[number]

/** One run: a plan that is being applied. A plan has one run and no other, so the same request twice is one run. */
export interface RemediationRun {
  schema: typeof remediationSchema
  /** The plan's id: what the nodes know it by. */
  run: string
  /** The plan's digest. */
  plan: string
  approvedBy: string
  /** Further approvers who resumed the run, in order. Absent: it was not resumed. */
  resumedBy?: string[]
  startedAt: string
  endedAt: string | null
  state: RunState
  /** Why it is not running; null where the state says it all. */
  why: string | null
  /** Checks that were skipped before nodes were changed, one sentence per cluster. Absent: none. */
  unasked?: string[]
  /** By the names that the plan has for clusters: the UID of the namespace kube-system of each, by which its lease is called. Absent: begun by an older version. */
  clusters?: Record<string, string>
  /** `cluster/node` of nodes that are not well since they were put back. Absent: none. */
  notBack?: string[]
  steps: StepEntry[]
  /** Of a plan of deletions, which has no steps; absent: it is none. */
  deletions?: DeletionEntry[]
  /** Of the plan: never touched, refused. */
  leftAlone: LeftAlone[]
}

/** What a remediation works with. */
import type { Store } from '#clients/store.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { OperatorError } from '#model/operator-error.ts'
import type { Plan } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { StepEntry } from '#model/remediation.ts'
import type { ServiceRuntime } from '#pipeline/service/runtime.ts'
import type { PolicyApproval } from '#remediate/plan/policy-approval.ts'
import type { Clock } from '#remediate/run/clock.ts'
import type { SessionOptions } from '#remediate/run/session.ts'
import type { SealKeys, Unsealed } from '#remediate/seal.ts'
import type { FreshOptions } from './fresh.ts'

export interface RemediateOptions {
  policy: Policy
  /** Where the journal and the leases are; sealed (`sealedStore`). */
  store: Store
  /** Another one for each process. */
  holder: string
  /** Nothing more is sent; what is under way is waited for. */
  stop: AbortSignal
  /** Nothing is waited for any more. */
  end: AbortSignal
  /** A pause between waves that is longer ends the call, and not the run; absent: each is waited for. */
  patienceMs?: number
  /** Where nodes are read; default: the live EKS clusters. */
  read?: FreshOptions['read']
  /** How these clusters are reached: their instances' accounts and regions. */
  targets(
    clusters: readonly string[],
  ): AsyncIterable<ClusterTarget> | Promise<Iterable<ClusterTarget>>
  /** What a run does to the world, by the run's id. Default: it reaches the live clusters. */
  effects?: (run: string) => SessionOptions['effects']
  /** Default: the machine's. */
  clock?: Clock
  onEntry?: (entry: StepEntry) => void
  onWait?: (text: string) => void
}

/** What each action works with. */
export interface RemediationService {
  /** Of sealed journals. */
  store: Store
  keys: SealKeys
  /** Notes what has no valid seal: the mail of the next audit names it. */
  onUnsealed: (error: Unsealed) => void
  /** Places of objects that an earlier call refused: a call fails only for a new one. */
  named: ReadonlySet<string>
  /** Approves nothing by itself unless an approver has approved it. */
  policy: Policy
  /** Of this policy, or why it has none. */
  policyApproval: PolicyApproval | OperatorError
  runtime: Pick<ServiceRuntime, 'now' | 'folder' | 'version'>
  /** Until when a fleet may be read. */
  readUntil: AbortSignal
  /** Nothing more is sent. */
  stop: AbortSignal
  /** Nothing is waited for any more. */
  end: AbortSignal
  /** What a run does to the world, by the run's id; absent: it reaches the live clusters. */
  effects?: (run: string) => SessionOptions['effects']
  /** The plan that the policy's schedule makes; absent: of the fleet as it is now. */
  planNow?: () => Promise<Plan>
}

export const actingPolicy = (policy: Policy): Policy => ({
  ...policy,
  accounts: policy.accounts.map(account => ({
    ...account,
    roleArn: account.remediateRoleArn ?? account.roleArn,
  })),
})

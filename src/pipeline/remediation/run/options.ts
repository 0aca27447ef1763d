/** What a remediation works with. */

import type { OperatorError } from '#base/operator-error.ts'
import type { Store } from '#clients/store/store.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { Plan } from '#model/plan/plan.ts'
import type { StepEntry } from '#model/plan/remediation.ts'
import type { Policy } from '#model/policy.ts'
import type { ServiceRuntime } from '#pipeline/service/runtime.ts'
import type { PolicyApproval } from '#remediate/plan/policy-approval.ts'
import type { Clock } from '#remediate/run/pausing.ts'
import type { SessionOptions } from '#remediate/run/session.ts'
import type { SealKeys, Unsealed } from '#remediate/seal.ts'
import type { FreshOptions } from './fresh.ts'

export interface RemediateOptions {
  policy: Policy
  /** Store of the journal and the leases; sealed (`sealedStore`). */
  store: Store
  /** Identifies this process as holder of a lease; each process has another. */
  holder: string
  /** Once aborted, nothing more is sent; sent commands are waited for. */
  stop: AbortSignal
  /** Once aborted, nothing is waited for. */
  end: AbortSignal
  /** Longest pause between waves to wait for: a longer pause ends the call, not the run. Absent: waits for every pause. */
  patienceMs?: number
  /** Source of node records; default: the live EKS clusters. */
  read?: FreshOptions['read']
  /** Finds how to reach these clusters, with the accounts and regions of their instances. */
  targets(
    clusters: readonly string[],
  ): AsyncIterable<ClusterTarget> | Promise<Iterable<ClusterTarget>>
  /** The run's effects on clusters and nodes, by run id. Default: effects on the live clusters. */
  effects?: (run: string) => SessionOptions['effects']
  /** Default: the machine's clock. */
  clock?: Clock
  onEntry?: (entry: StepEntry) => void
  onWait?: (text: string) => void
}

/** Everything that an action of `remediate` needs. */
export interface RemediationService {
  /** Store of sealed journals. */
  store: Store
  keys: SealKeys
  /** Notes an object without a valid seal: the mail of the next audit names it. */
  onUnsealed: (error: Unsealed) => void
  /** Places of objects that an earlier call refused: a call fails only for a newly refused object. */
  named: ReadonlySet<string>
  /** The policy approves plans only if an approver has approved the policy. */
  policy: Policy
  /** Approval of this policy, or the reason why it has none. */
  policyApproval: PolicyApproval | OperatorError
  runtime: Pick<ServiceRuntime, 'now' | 'folder' | 'version'>
  /** Aborted when the time for reading a fleet is over. */
  readUntil: AbortSignal
  /** Once aborted, nothing more is sent. */
  stop: AbortSignal
  /** Once aborted, nothing is waited for. */
  end: AbortSignal
  /** The run's effects on clusters and nodes, by run id. Absent: effects on the live clusters. */
  effects?: (run: string) => SessionOptions['effects']
  /** Makes the plan of the policy's schedule; absent: plans for the fleet as it is now. */
  planNow?: () => Promise<Plan>
}

export const actingPolicy = (policy: Policy): Policy => ({
  ...policy,
  accounts: policy.accounts.map(account => ({
    ...account,
    roleArn: account.remediateRoleArn ?? account.roleArn,
  })),
})

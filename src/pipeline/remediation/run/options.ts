/** What a remediation works with. */

import type { OperatorError } from '#base/operator-error.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { PlanningRequest, StepEntry } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { PlanResult } from '#pipeline/remediation/plan/plan.ts'
import type { ServiceRuntime } from '#pipeline/runtime/runtime.ts'
import type { PolicyApproval } from '#remediate/plan/policy-approval.ts'
import type { Clock } from '#remediate/run/pausing.ts'
import type { SessionOptions } from '#remediate/run/session.ts'
import type { SealKeys, Unsealed } from '#remediate/seal.ts'
import type { FreshOptions } from './fresh.ts'

/** `store` is sealed (`sealedStore`). */
export interface RemediateOptions extends Omit<SessionOptions, 'policy' | 'effects'> {
  policy: Policy
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
}

export type PlanWanted = Omit<PlanningRequest, 'action'>

/** Everything that an action of `remediate` needs. */
export interface RemediationService
  extends Pick<RemediateOptions, 'policy' | 'store' | 'stop' | 'end' | 'effects'> {
  keys: SealKeys
  /** Notes an object without a valid seal: the mail of the next audit names it. */
  onUnsealed: (error: Unsealed) => void
  /** Places of objects that an earlier call refused: a call fails only for a newly refused object. */
  named: ReadonlySet<string>
  /** Approval of this policy, or the reason why it has none. Without it the policy approves no plan. */
  policyApproval: PolicyApproval | OperatorError
  runtime: Pick<ServiceRuntime, 'now' | 'folder' | 'version'>
  /** Aborted when the time for reading a fleet is over. */
  readUntil: AbortSignal
  /** Plans for the fleet that the request's source names; stores nothing in the bucket. @throws OperatorError */
  planFleet(request: PlanWanted, service: RemediationService): Promise<PlanResult>
}

export const actingPolicy = (policy: Policy): Policy => ({
  ...policy,
  accounts: policy.accounts.map(account => ({
    ...account,
    roleArn: account.remediateRoleArn ?? account.roleArn,
  })),
})

/** The story of a change: the plan's nodes read anew, what speaks against it, each wave sent, and each node read again until it is seen to be well. */
import type { Store } from '#clients/store.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { Approval, Plan } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { RemediationRun, StepEntry } from '#model/remediation.ts'
import { type Clock, systemClock } from '#remediate/run/clock.ts'
import {
  type ApplyOptions,
  applyPlan,
  rollBack,
  type SessionOptions,
} from '#remediate/run/session.ts'
import type { FreshOptions } from './fresh.ts'
import { LiveNodes, type Planned } from './live-nodes.ts'
import { LiveObjects } from './live-objects.ts'

export { openedPersonsApproval, sealedApproval } from '#remediate/plan/file.ts'
export { approvePolicy, keepPolicyApproval } from '#remediate/plan/policy-approval.ts'
export { sealedStore } from '#remediate/seal.ts'

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

/** @throws OperatorError before anything is sent, or when the run broke off: then the journal says how to go on */
export function remediate(
  plan: Plan,
  approval: Approval,
  options: RemediateOptions & Pick<ApplyOptions, 'resume' | 'skipChanged'>,
): Promise<RemediationRun> {
  const { resume, skipChanged } = options
  const { steps, cohorts } = plan
  const { allowActAtOnce } = approval.options
  return withNodes(plan.id, { steps, cohorts, allowActAtOnce }, options, session =>
    applyPlan(plan, approval, { ...session, resume, skipChanged }),
  )
}

/** Takes back what a run has changed, by its journal. @throws OperatorError likewise */
export const takeBack = (
  run: string,
  options: RemediateOptions & { despiteErrors: boolean },
): Promise<RemediationRun> =>
  withNodes(run, { steps: [], cohorts: [], allowActAtOnce: false }, options, session =>
    rollBack(run, { ...session, despiteErrors: options.despiteErrors }),
  )

async function withNodes(
  run: string,
  planned: Planned,
  options: RemediateOptions,
  work: (session: SessionOptions) => Promise<RemediationRun>,
): Promise<RemediationRun> {
  const {
    policy,
    store,
    holder,
    stop,
    end,
    patienceMs,
    clock = systemClock,
    onEntry,
    onWait,
  } = options
  const nodes = new LiveNodes(run, planned, options)
  const objects = new LiveObjects(options)
  try {
    return await work({
      ...{ store, holder, stop, end, onWait, policy: policy.remediation },
      ...(patienceMs !== undefined && { patienceMs }),
      effects: options.effects?.(run) ?? {
        clock,
        send: (step, action, onSent) => nodes.send(step, action, onSent),
        before: steps => nodes.before(steps),
        verify: entries => nodes.verify(entries),
        verifyBack: steps => nodes.verifyBack(steps),
        imageUse: steps => nodes.imageUse(steps),
        isGone: step => nodes.isGone(step),
        present: steps => nodes.present(steps),
        deleteObject: deletion => objects.delete(deletion),
        identityOf: cluster => objects.identityOf(cluster),
        onEntry,
      },
    })
  } finally {
    nodes.close()
    objects.close()
  }
}

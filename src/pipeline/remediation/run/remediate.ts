/** Carries out a plan: reads its nodes anew, checks for objections, sends each wave, and reads each node again until the change is verified. */

import type { HeldApproval, Plan } from '#model/plan/plan.ts'
import type { RemediationRun } from '#model/plan/remediation.ts'
import { keepNotices } from '#remediate/notices.ts'
import {
  type ApplyOptions,
  applyPlan,
  rollBack,
  runAsKept,
  type SessionOptions,
} from '#remediate/run/session.ts'
import { LiveNodes, type Planned } from './live-nodes.ts'
import type { RemediateOptions } from './options.ts'

/** @throws OperatorError before anything is sent, or if the run stopped early: the journal then says how to continue */
export function remediate(
  plan: Plan,
  approval: HeldApproval,
  options: RemediateOptions & Pick<ApplyOptions, 'resume' | 'skipChanged'>,
): Promise<RemediationRun> {
  const { resume, skipChanged } = options
  const { steps, cohorts } = plan
  const { allowActAtOnce } = approval.options
  return withNodes(plan.id, { steps, cohorts, allowActAtOnce }, options, session =>
    applyPlan(plan, approval, { ...session, resume, skipChanged }),
  )
}

/** Takes back what a run has changed, by its journal. @throws OperatorError as remediate */
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
) {
  const { policy, store, holder, stop, end, patienceMs, onWait } = options
  const nodes = new LiveNodes(run, planned, options)
  // If the list cannot be written, the run is still in its journal.
  const note = (kept: RemediationRun | null) =>
    keepNotices(store, { runs: kept === null ? [] : [kept] }, nodes.clock.now()).catch(
      () => undefined,
    )
  try {
    const ended = await work({
      store,
      holder,
      stop,
      end,
      onWait,
      policy: policy.remediation,
      ...(patienceMs !== undefined && { patienceMs }),
      effects: options.effects?.(run) ?? nodes,
    })
    await note(ended)
    return ended
  } catch (error) {
    await note(await runAsKept(run, store).catch(() => null))
    throw error
  } finally {
    nodes.close()
  }
}

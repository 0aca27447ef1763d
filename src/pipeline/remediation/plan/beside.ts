/** A plan of all plannable findings of an audit. It reads the snapshot three more times and never fails the audit. */
import { messageOf } from '#base/text/error-message.ts'
import type { Selection } from '#model/input/selection.ts'
import { actsAtOnce, type Plan, type ReportedPlan } from '#model/plan/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { PlanBeside } from '#model/report.ts'
import { planText } from '#remediate/plan/file.ts'
import { makePlan } from './plan.ts'

export interface PlanBesideOptions {
  policy: Policy
  selection: Selection
  version: string
  /** Ends planning early enough to publish. */
  signal?: AbortSignal
  /** Options after `highwater approve plan.json --digest …`. */
  approveOptions?: string
  /** Stores the plan in a second place. */
  keep?: (plan: Plan) => Promise<unknown>
}

/** File name of the plan beside a report. */
const planName = 'plan.json'

/** @param snapshot of the audit; null: not written. Never throws. */
export async function planBeside(
  snapshot: string | null,
  options: PlanBesideOptions,
): Promise<PlanBeside> {
  const { policy, selection, version, signal, approveOptions = '', keep } = options
  if (snapshot === null) return failed('the snapshot that it would be made of was not kept')
  try {
    const choice = { rules: [], findings: [], changes: [], allowActAtOnce: false, selection }
    const { plan } = await makePlan(snapshot, { ...choice, policy, version, signal })
    if (plan.steps.length > 0) await keep?.(plan)
    return {
      reported: reportedOf(plan, approveOptions),
      file: { name: planName, contentType: 'application/json', body: planText(plan) },
    }
  } catch (error) {
    return failed(messageOf(error))
  }
}

const failed = (why: string): PlanBeside => ({ reported: { state: 'failed', why }, file: null })

function reportedOf(plan: Plan, approveOptions: string): ReportedPlan {
  const { id, digest, steps, waves, never, refused, unchanged } = plan
  const acting = steps.some(actsAtOnce) ? ' --allow-act-at-once' : ''
  return {
    state: 'made',
    id,
    digest,
    nodes: steps.length,
    waves: waves.length,
    never: never.length,
    refused: refused.length,
    unchanged,
    command: `highwater approve ${planName} --digest ${digest}${acting} --by "YOUR NAME"${approveOptions}`,
  }
}

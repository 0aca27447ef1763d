/** What the policy approves by itself: named fields in named clusters, but no eviction at once. `begun-today.ts` limits the number of nodes per day. */
import { isPlannable } from '#facts/kubelet/fields.ts'
import { matchesCluster } from '#model/input/cluster-name.ts'
import {
  type Approval,
  actsAtOnce,
  approvalSchema,
  type Plan,
  type PlanMethod,
} from '#model/plan/plan.ts'
import type { AutoApproval } from '#model/policy.ts'
import { isOpen, windowText } from '#remediate/run/window.ts'
import { whyUntrue } from './step-truth.ts'
import { type ContentReader, contentReader } from './written-fields.ts'

/** The approver's name if the policy approves; a person must not use this name. */
export const byPolicy = 'policy'

export type AutoApproved = { approval: Approval } | { why: string }

const holdsMs = 24 * 3_600_000
/** Methods whose whole content follows from the fields of the cohort. */
const kubeletMethods: readonly PlanMethod[] = ['kubelet-file', 'nodeadm', 'drop-in', 'bottlerocket']

/**
 * Approves the whole plan or nothing. A `kubelet-file` step contains a whole file, so the plan must be one that this process has made itself.
 * @param auto null: the policy approves nothing
 * @param identity who approved the policy
 */
export function autoApprove(
  plan: Plan,
  auto: AutoApproval | null,
  now: Date,
  identity: string,
): AutoApproved {
  const why = whyNotByPolicy(plan, auto, now)
  if (why !== null) return { why }
  return {
    approval: {
      schema: approvalSchema,
      plan: plan.digest,
      by: byPolicy,
      identity,
      at: now.toISOString(),
      until: new Date(now.getTime() + holdsMs).toISOString(),
      options: { allowActAtOnce: false },
    },
  }
}

/** The reason for people; null: the policy approves the plan now. */
export const whyNotByPolicy = (plan: Plan, auto: AutoApproval | null, now: Date): string | null =>
  auto === null
    ? 'the policy approves nothing by itself (remediation.auto)'
    : whyNot(plan, auto, now)

function whyNot({ steps, cohorts }: Plan, { fields, clusters, windows }: AutoApproval, now: Date) {
  if (steps.length === 0) return 'it changes no node'
  if (!isOpen(windows, now))
    return `the policy approves only ${windows.slice(0, 3).map(windowText).join('; or ')}`
  const foreign = steps.find(
    ({ cluster }) => !clusters.some(pattern => matchesCluster(pattern, cluster)),
  )
  if (foreign !== undefined)
    return `cluster ${foreign.cluster} is none of those that the policy names`
  const strange = steps.find(({ method }) => !kubeletMethods.includes(method))
  if (strange !== undefined)
    return `${strange.cluster}/${strange.node} is changed by ${strange.method}, and the policy names fields of the kubelet only`
  const writtenBy = contentReader()
  const other = [...fieldsOf({ steps, cohorts }, writtenBy)].find(
    field => !fields.includes(field) || !isPlannable(field),
  )
  if (other !== undefined)
    return `it changes ${other}, which is none of the fields that the policy names`
  const passing = steps.find(({ until }) => until !== undefined)
  if (passing !== undefined)
    return `${passing.cluster}/${passing.node} is changed for a while only, and that takes a person`
  const untrue = untrueOf({ steps, cohorts }, writtenBy)
  if (untrue !== null) return untrue
  const acting = steps.find(step => actsAtOnce(step) || step.after.evictsNow === null)
  if (acting !== undefined)
    return `${acting.cluster}/${acting.node} ${acting.after.evictsNow === null ? 'may evict at once, as far as is known' : 'would evict at once'}`
  return null
}

/** Why a step differs from its cohort, for people; null: no step differs. */
function untrueOf({ steps, cohorts }: Pick<Plan, 'steps' | 'cohorts'>, writtenBy: ContentReader) {
  const byId = new Map(cohorts.map(cohort => [cohort.id, cohort]))
  for (const step of steps) {
    const why = whyUntrue(step, byId.get(step.cohort), writtenBy)
    if (why !== null) return `${step.cluster}/${step.node}: ${why}`
  }
  return null
}

/** Fields that cohorts name, steps expect or partial contents write, so no field stays hidden. Fields of whole files are not counted: see `autoApprove`. */
function fieldsOf({ steps, cohorts }: Pick<Plan, 'steps' | 'cohorts'>, writtenBy: ContentReader) {
  const used = new Set(steps.map(({ cohort }) => cohort))
  const said = cohorts.filter(({ id }) => used.has(id)).map(({ fields }) => Object.keys(fields))
  const known = new Set(cohorts.map(({ id }) => id))
  const orphans = [...used]
    .filter(id => !known.has(id))
    .map(id => `something that cohort ${id} would have to name`)
  const empty = said.some(fields => fields.length === 0) ? ['something that no cohort names'] : []
  const promised = steps.flatMap(({ expect }) =>
    expect.map(({ field }) => field.split('.')[0] ?? field),
  )
  const written = steps.flatMap(step => {
    const found = writtenBy(step)
    return found === null || found.isWhole ? [] : Object.keys(found.fields)
  })
  return new Set([...said.flat(), ...promised, ...written, ...orphans, ...empty])
}

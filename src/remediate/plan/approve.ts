/** A person's approval of one plan, by its digest: a run does what the person read. */

import { OperatorError } from '#base/operator-error.ts'
import { dayMs, weekMs } from '#base/units.ts'
import { isPlannable } from '#facts/kubelet/fields.ts'
import { matchesCluster } from '#model/input/record.ts'
import {
  type Approval,
  actsAtOnce,
  approvalSchema,
  type LeftAlone,
  type Plan,
  type PlanMethod,
  type PlanStep,
  restartsKubelet,
  stepKey,
} from '#model/plan.ts'
import type { AutoApproval } from '#model/policy.ts'
import { imageText } from '#remediate/remedies/pull-image.ts'
import { isWindowOpen, windowsText } from '#remediate/run/window.ts'
import { type ContentReader, contentReader, untrueSteps } from './step-truth.ts'

export interface ApprovalRequest extends Omit<Approval, 'schema' | 'plan'> {
  digest: string
}

/** Maximum duration of an approval: nodes are added and removed after the snapshot. */
export const longestMs = weekMs
/** Maximum time by which the approver's clock may be ahead. */
const skewMs = 5 * 60_000

/** @throws OperatorError if the digest is another plan's, or the approval is not allowed */
export function approve(plan: Plan, request: ApprovalRequest) {
  const { digest, identity, at, until, options } = request
  const by = request.by.trim()
  if (by === '') throw new OperatorError('An approval needs the name of the person who gives it')
  if (by.toLowerCase() === byPolicy)
    throw new OperatorError('Only the policy approves as "policy": give the name of the person')
  if (!isPlainName(by))
    throw new OperatorError(
      'The name of the approver has characters that are no Latin letters, digits or signs of ASCII, or looks like "policy": give it on one line',
    )
  const approval: Approval = {
    schema: approvalSchema,
    plan: digest,
    by: by.slice(0, 200),
    identity,
    at,
    until,
    options,
  }
  checkApproval(plan, approval, at)
  if (plan.steps.length === 0)
    throw new OperatorError(`Plan ${plan.id} changes no node: there is nothing to approve`)
  return approval
}

/** Printable ASCII, accented Latin letters and single spaces: no letter that looks like another. Names of other scripts are written in Latin letters. */
const latinWords = /^(?:[!-~]|(?=[\u00c0-\u017f])\p{L})+(?: (?:[!-~]|(?=[\u00c0-\u017f])\p{L})+)*$/u
/** `policy` with digits, signs or strokes for letters. */
const likePolicy = /^p[o0ø][l1i|!ł][i1l|!ı]cy$/i

/** Whether a name is in Latin letters and its normal form (NFKC), and does not read as `policy` without being it. */
export const isPlainName = (by: string) =>
  latinWords.test(by) &&
  by === by.normalize('NFKC') &&
  (by.toLowerCase() === byPolicy ||
    !likePolicy.test(by.normalize('NFKD').replaceAll(/[^\w|!øłı]|_/gi, '')))

/**
 * @param now RFC 3339
 * @param auto the policy's automatic approval now; a plan that the policy approved still needs it
 * @throws OperatorError if the approval does not let this plan run now
 */
export function checkApproval(
  plan: Plan,
  approval: Approval,
  now: string,
  auto: AutoApproval | null = null,
) {
  const { plan: digest, by, at, until, options } = approval
  if (digest !== plan.digest)
    throw new OperatorError(
      `The approval is for another plan: it names ${JSON.stringify(digest.slice(0, 64))}, this plan's digest is ${plan.digest}`,
    )
  if (Date.parse(until) - Date.parse(at) > longestMs)
    throw new OperatorError(
      `An approval holds for 7 days at most, and ${until} is later: nodes change meanwhile`,
    )
  if (Date.parse(now) >= Date.parse(until))
    throw new OperatorError(
      `The approval of plan ${plan.id} by ${by} expired at ${until}: read the plan again and approve it anew`,
    )
  if (Date.parse(now) + skewMs < Date.parse(at))
    throw new OperatorError(`The approval of plan ${plan.id} holds from ${at}; it is ${now} now`)
  const acting = plan.steps.filter(actsAtOnce)
  if (acting.length > 0 && !options.allowActAtOnce)
    throw new OperatorError(
      `Plan ${plan.id} makes ${acting.length} kubelets evict at once, ${acting[0]?.cluster}/${acting[0]?.node} among them: its approval has to say so (--allow-act-at-once)`,
    )
  const why = by === byPolicy ? whyNotByPolicy(plan, auto, new Date(now)) : null
  if (why !== null)
    throw new OperatorError(
      `The policy has approved plan ${plan.id}, and does not approve it now: ${why}. A person may approve it`,
    )
}

/** A node's data just before the change. */
export interface PresentNode {
  cluster: string
  node: string
  instanceId: string
  /** SHA-256 of the file at the step's path: hex or `absent`; null: the file was not read. */
  sha256: string | null
  /** Why `sha256` was not read, if the reason is known. */
  unread?: string | null
  /** RFC 3339; null: unknown. */
  kubeletStartedAt: string | null
  /** Why the step is not what a plan would write now; null: it is, or the node already has the new content. */
  objection: string | null
}

/** Tolerance for kubelet start times: each reading computes them from the node's clock. */
const startedApartMs = 5000

/** Steps whose nodes changed since the plan. A node that already has the new content does not count: its step is done. */
export function changedSince(
  { steps }: Pick<Plan, 'steps'>,
  present: readonly PresentNode[],
): LeftAlone[] {
  const byName = new Map(present.map(node => [stepKey(node), node]))
  return steps.flatMap(step => {
    const why = whyChanged(step, byName.get(stepKey(step)))
    return why === null ? [] : [{ cluster: step.cluster, node: step.node, why }]
  })
}

function whyChanged(step: PlanStep, found: PresentNode | undefined) {
  const { instanceId, method, path, oldSha256, newSha256 } = step
  if (!found) return 'the node is gone, or was not read again'
  if (found.instanceId !== instanceId)
    return `the node is another instance now: ${found.instanceId}, planned was ${instanceId}`
  const { sha256, unread, objection } = found
  if (sha256 === null) return `${path} was not read again${unread ? `: ${unread}` : ''}`
  if (sha256 === newSha256) return null
  if (sha256 !== oldSha256)
    return `${path} was changed since the plan: ${method === 'pull-image' ? imageText(path, sha256) : `its SHA-256 is ${sha256}, planned was ${oldSha256}`}`
  const [planned, started] = [step.kubeletStartedAt, found.kubeletStartedAt]
  if (!restartsKubelet(method) || planned === null || started === null) return objection
  return Math.abs(Date.parse(started) - Date.parse(planned)) > startedApartMs
    ? `its kubelet was started anew since the plan, at ${started}`
    : objection
}

/* What the policy approves by itself: named fields in named clusters, but no eviction at once. The session limits the number of nodes per day. */

/** The approver's name if the policy approves; a person must not use this name. */
export const byPolicy = 'policy'

export type AutoApproved = { approval: Approval } | { why: string }

const holdsMs = dayMs
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
function whyNotByPolicy({ steps, cohorts }: Plan, auto: AutoApproval | null, now: Date) {
  if (!auto) return 'the policy approves nothing by itself (remediation.auto)'
  const { fields, clusters, windows } = auto
  if (steps.length === 0) return 'it changes no node'
  if (!isWindowOpen(windows, now)) return `the policy approves only ${windowsText(windows)}`
  const foreign = steps.find(
    ({ cluster }) => !clusters.some(pattern => matchesCluster(pattern, cluster)),
  )
  if (foreign) return `cluster ${foreign.cluster} is none of those that the policy names`
  const strange = steps.find(({ method }) => !kubeletMethods.includes(method))
  if (strange)
    return `${strange.cluster}/${strange.node} is changed by ${strange.method}, and the policy names fields of the kubelet only`
  const writtenBy = contentReader()
  const other = [...fieldsOf({ steps, cohorts }, writtenBy)].find(
    field => !fields.includes(field) || !isPlannable(field),
  )
  if (other !== undefined)
    return `it changes ${other}, which is none of the fields that the policy names`
  const passing = steps.find(({ until }) => until !== undefined)
  if (passing)
    return `${passing.cluster}/${passing.node} is changed for a while only, and that takes a person`
  const [untrue] = untrueSteps({ steps, cohorts }, writtenBy)
  if (untrue !== undefined) return untrue
  const acting = steps.find(step => actsAtOnce(step) || step.after.evictsNow === null)
  if (acting)
    return `${acting.cluster}/${acting.node} ${acting.after.evictsNow ? 'would evict at once' : 'may evict at once, as far as is known'}`
  return null
}

/** Fields that cohorts name, steps expect or partial contents write, so no field stays hidden. Fields of whole files are not counted: see `autoApprove`. */
function fieldsOf({ steps, cohorts }: Pick<Plan, 'steps' | 'cohorts'>, writtenBy: ContentReader) {
  const used = new Set(steps.map(({ cohort }) => cohort))
  const said = cohorts.filter(({ id }) => used.has(id)).map(({ fields }) => Object.keys(fields))
  const orphans = [...used.difference(new Set(cohorts.map(({ id }) => id)))].map(
    id => `something that cohort ${id} would have to name`,
  )
  const empty = said.some(fields => fields.length === 0) ? ['something that no cohort names'] : []
  const promised = steps.flatMap(({ expect }) =>
    expect.map(({ field }) => field.split('.')[0] ?? field),
  )
  const written = steps.flatMap(step => {
    const found = writtenBy(step)
    return !found || found.isWhole ? [] : Object.keys(found.fields)
  })
  return new Set([...said.flat(), ...promised, ...written, ...orphans, ...empty])
}

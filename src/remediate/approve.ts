/** A person's word for one plan: it names the digest, so what was read is what runs. */
import { OperatorError } from '#model/operator-error.ts'
import { type Approval, type ApprovalOptions, actsAtOnce, approvalSchema, type LeftAlone, type Plan, restartsKubelet } from '#model/plan.ts'
import { byPolicy } from './auto-approve.ts'
import { imageText } from './remedies/pull-image.ts'

export interface ApprovalRequest {
  digest: string
  by: string
  /** RFC 3339, both. */
  at: string
  until: string
  options: ApprovalOptions
}

/** An approval may not outlive what the snapshot told: nodes come and go. */
const longestMs = 7 * 24 * 3_600_000
/** How far the clock of whoever approves may be ahead. */
const skewMs = 5 * 60_000

/** @throws OperatorError when the plan is not the one that is meant, or may not be approved like this */
export function approve(plan: Plan, { digest, by, at, until, options }: ApprovalRequest): Approval {
  if (by.trim() === '') throw new OperatorError('An approval needs the name of the person who gives it')
  if (by.trim().toLowerCase() === byPolicy) throw new OperatorError('Only the policy approves as "policy": give the name of the person')
  if (Date.parse(until) - Date.parse(at) > longestMs)
    throw new OperatorError(`An approval holds for 7 days at most, and ${until} is later: nodes change meanwhile`)
  const approval: Approval = { schema: approvalSchema, plan: digest, by: by.trim().slice(0, 200), at, until, options }
  checkApproval(plan, approval, at)
  if (plan.steps.length === 0 && (plan.deletions ?? []).length === 0)
    throw new OperatorError(`Plan ${plan.id} changes no node and deletes nothing: there is nothing to approve`)
  return approval
}

/** @param now RFC 3339 @throws OperatorError when it does not let this plan run now */
export function checkApproval(plan: Plan, { plan: digest, by, at, until, options }: Approval, now: string): void {
  if (digest !== plan.digest)
    throw new OperatorError(`The approval is for another plan: it names ${shown(digest)}, this plan's digest is ${plan.digest}`)
  if (Date.parse(now) >= Date.parse(until))
    throw new OperatorError(`The approval of plan ${plan.id} by ${by} expired at ${until}: read the plan again and approve it anew`)
  if (Date.parse(now) + skewMs < Date.parse(at))
    throw new OperatorError(`The approval of plan ${plan.id} holds from ${at}; it is ${now} now`)
  const acting = plan.steps.filter(actsAtOnce)
  if (acting.length > 0 && !options.allowActAtOnce)
    throw new OperatorError(
      `Plan ${plan.id} makes ${acting.length} kubelets evict at once, ${acting[0]?.cluster}/${acting[0]?.node} among them: its approval has to say so (--allow-act-at-once)`,
    )
}

const shown = (digest: string): string => JSON.stringify(digest.slice(0, 64))

/** What a node tells of itself just before it is changed. */
export interface PresentNode {
  cluster: string
  node: string
  instanceId: string
  /** Of the step's path; hex or `absent`. Null: it was not read. */
  sha256: string | null
  /** Why it was not, where that is known. */
  unread?: string | null
  /** RFC 3339; null: nobody told. */
  kubeletStartedAt: string | null
}

/** The start is reckoned from the node's clock at each reading. */
const startedApartMs = 5000

/** The steps whose nodes are no longer those that were planned. One that already has the new content has not changed: its step is done. */
export function changedSince({ steps }: Pick<Plan, 'steps'>, present: readonly PresentNode[]): LeftAlone[] {
  const byName = new Map(present.map(node => [`${node.cluster}/${node.node}`, node]))
  return steps.flatMap(({ cluster, node, instanceId, method, path, oldSha256, newSha256, kubeletStartedAt }) => {
    const found = byName.get(`${cluster}/${node}`)
    const changed = (why: string): LeftAlone[] => [{ cluster, node, why }]
    if (found === undefined) return changed('the node is gone, or was not read again')
    if (found.instanceId !== instanceId) return changed(`the node is another instance now: ${found.instanceId}, planned was ${instanceId}`)
    if (found.sha256 === null) return changed(`${path} was not read again${found.unread ? `: ${found.unread}` : ''}`)
    if (found.sha256 !== oldSha256 && found.sha256 !== newSha256)
      return changed(
        method === 'pull-image'
          ? `${path} was changed since the plan: ${imageText(path, found.sha256)}`
          : `${path} was changed since the plan: its SHA-256 is ${found.sha256}, planned was ${oldSha256}`,
      )
    if (found.sha256 === newSha256 || !restartsKubelet(method) || kubeletStartedAt === null || found.kubeletStartedAt === null) return []
    if (Math.abs(Date.parse(found.kubeletStartedAt) - Date.parse(kubeletStartedAt)) > startedApartMs)
      return changed(`its kubelet was started anew since the plan, at ${found.kubeletStartedAt}`)
    return []
  })
}

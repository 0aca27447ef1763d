/** The approval of one text of `highwater.yaml`: write access to that file alone opens no window and approves no plan. */

import * as z from 'zod'
import { OperatorError } from '#base/operator-error.ts'
import { dayMs } from '#base/units.ts'
import type { MacKey, Store } from '#clients/store/store.ts'
import { checkSeal, sealedText, Unsealed, unsealedText } from '#remediate/seal.ts'
import { isPlainName } from './approve.ts'
import { canonicalJson, sha256 } from './canonical.ts'

const policyApprovalSchema = 'highwater.policy-approval/1'
const longestPolicyDays = 366

const name = z.string().min(1).max(2100).refine(isPlainName, 'a name in Latin letters')
const form = z.strictObject({
  schema: z.literal(policyApprovalSchema),
  /** SHA-256 of the file. */
  policy: z.string().regex(/^[a-f0-9]{64}$/),
  by: name,
  /** The approver's identity, as reported by STS or the machine. */
  identity: name,
  at: z.iso.datetime(),
  until: z.iso.datetime(),
})
export type PolicyApproval = z.infer<typeof form>

const keyOf = (digest: string) => `remediation/approvals/policy-${digest}.json`
const sealName = (digest: string) => `approval of policy ${digest}`

/** @throws OperatorError if the approval would last too long, or has ended */
export function approvePolicy(
  text: string,
  { by, identity, at, until }: Omit<PolicyApproval, 'schema' | 'policy'>,
): PolicyApproval {
  const ms = Date.parse(until) - Date.parse(at)
  if (!(ms > 0 && ms <= longestPolicyDays * dayMs))
    throw new OperatorError(
      `An approval of a policy ends after now, and within ${longestPolicyDays} days: ${until} does not`,
    )
  if (by.trim() === '' || !isPlainName(by))
    throw new OperatorError(
      'An approval needs the name of the person who gives it, on one line, in Latin letters',
    )
  return { schema: policyApprovalSchema, policy: sha256(text), by, identity, at, until }
}

/** @returns where the approval lies, for people */
export async function keepPolicyApproval(store: Store, approval: PolicyApproval, key: MacKey) {
  const at = keyOf(approval.policy)
  const text = `${canonicalJson(approval, 1)}\n`
  await store.write(at, await sealedText(text, sealName(approval.policy), key))
  return `${store.location}/${at}`
}

/**
 * @param text the policy's text; null: there is no policy
 * @throws Unsealed when no approver has approved that text, or the approval has ended
 */
export async function keptPolicyApproval(
  store: Store,
  text: string | null,
  key: MacKey,
  now: Date,
) {
  if (text === null) throw unapprovedPolicy(store, 'there is none')
  const digest = sha256(text)
  const at = keyOf(digest)
  const place = `${store.location}/${at}`
  const found = await store.read(at)
  if (!found) throw unapprovedPolicy(store, `no approver has approved it (${place} is not there)`)
  const opened = unsealedText(found.body.toString('utf8'), place)
  await checkSeal(opened, sealName(digest), key, place)
  const approval = form.parse(JSON.parse(opened.text))
  if (approval.policy !== digest || now.getTime() >= Date.parse(approval.until))
    throw unapprovedPolicy(store, `its approval by ${approval.by} ended at ${approval.until}`)
  return approval
}

const unapprovedPolicy = (store: Store, why: string) =>
  new Unsealed(
    `${store.location}/highwater.yaml`,
    `Nodes are changed only by an approved policy. The policy ${store.location}/highwater.yaml: ${why}. Read it, then: highwater approve-policy highwater.yaml --by NAME --store ${store.location}`,
  )

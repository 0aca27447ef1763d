/** The approval of a policy ends, and counts for its own text only. */
import { expect, it } from 'vitest'
import {
  approvePolicy,
  keepPolicyApproval,
  keptPolicyApproval,
} from '#remediate/plan/policy-approval.ts'
import { Unsealed } from '#remediate/seal.ts'
import { memoryStore } from '#test/remediation-world.ts'
import { memoryKeys } from '#test/seals.ts'

const text = 'remediation: { auto: { nodesPerDay: 3 } }\n'
const at = '2026-08-23T08:00:00Z'
const until = '2026-11-21T08:00:00Z'

async function approved() {
  const store = memoryStore()
  const approval = approvePolicy(text, { by: 'Ada Lovelace', identity: 'ada', at, until })
  await keepPolicyApproval(store, approval, memoryKeys.approvals)
  return (policy: string | null, now: string) =>
    keptPolicyApproval(store, policy, memoryKeys.approvals, new Date(now))
}

it('holds until its end, and not at it or after it', async () => {
  const kept = await approved()
  expect(await kept(text, '2026-11-21T07:59:59Z')).toMatchObject({ by: 'Ada Lovelace', until })
  for (const now of [until, '2026-11-22T00:00:00Z'])
    await expect(kept(text, now)).rejects.toThrow(`its approval by Ada Lovelace ended at ${until}`)
})

it('is of its own text only', async () => {
  const kept = await approved()
  await expect(kept(`${text}#`, at)).rejects.toThrow(Unsealed)
  await expect(kept(null, at)).rejects.toThrow('there is none')
})

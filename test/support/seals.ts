/** Keys of tests: in memory, in the lab's KMS, and in a file that no person uses. */
import { createHmac } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { folderStore } from '#clients/store/folder-store.ts'
import type { MacKey, Store } from '#clients/store/store.ts'
import { labApprovalKey, labRunKey } from '#lab/world.ts'
import type { Approval } from '#model/plan.ts'
import { approve } from '#remediate/plan/approve.ts'
import { approvePolicy, keepPolicyApproval } from '#remediate/plan/policy-approval.ts'
import { keepApproval, keptPlan } from '#remediate/plan/store.ts'
import { type SealKeys, sealedStore } from '#remediate/seal.ts'

// The command line keeps the machine's key there.
process.env.XDG_CONFIG_HOME = join(tmpdir(), 'highwater-test-config')

export const ada = 'arn:aws:iam::111122223333:user/ada'

function memoryKey(secret: string): MacKey {
  // Ten thousand forged buckets check the same seals.
  const known = new Map<string, string>()
  const of = (message: string) => {
    const mac = known.get(message) ?? createHmac('sha256', secret).update(message).digest('base64')
    known.set(message, mac)
    return mac
  }
  return {
    mac: async message => of(message),
    isMac: async (message, mac) => of(message) === mac,
    identity: async () => ada,
  }
}

export const memoryKeys: SealKeys = { runs: memoryKey('runs'), approvals: memoryKey('approvals') }

/** Of the lab that the environment names. */
const labKeys = (): SealKeys => ({
  runs: kmsMacKey({ keyId: labRunKey, region: 'us-east-1' }),
  approvals: kmsMacKey({ keyId: labApprovalKey, region: 'us-east-1' }),
})

/** The bucket of the function, written from outside of it. @param folder where the lab keeps it */
export function labBucket(folder: string) {
  const keys = labKeys()
  const store: Store = { ...folderStore(folder), location: 's3://highwater-lab' }
  return {
    /** As the function writes journals. */
    sealed: sealedStore(store, keys.runs),
    keys,
    /** As `highwater approve-policy` does, of the policy that lies there. */
    async approvePolicy(): Promise<void> {
      const found = await store.read('highwater.yaml')
      const { at, until } = forAnHour()
      const approval = approvePolicy(String(found?.body ?? ''), {
        ...{ by: 'Ada Lovelace', identity: await keys.approvals.identity(), at, until },
      })
      await keepPolicyApproval(store, approval, keys.approvals)
    },
    /** As `highwater approve` does. */
    async approve(digest: string, changed: Partial<Approval> = {}): Promise<void> {
      const plan = await keptPlan(store, digest)
      const approval = approve(plan, {
        ...{ digest, by: 'Ada Lovelace', identity: await keys.approvals.identity() },
        ...{ ...forAnHour(), options: { allowActAtOnce: false } },
      })
      await keepApproval(store, { ...approval, ...changed }, keys.approvals)
    },
  }
}

const hourMs = 3_600_000
const forAnHour = () => ({
  at: new Date().toISOString(),
  until: new Date(Date.now() + hourMs).toISOString(),
})

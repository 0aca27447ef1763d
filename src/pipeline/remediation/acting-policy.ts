/** Who changes nodes enters other accounts by a role of its own, where the policy names one: that of the audit may not change any. */
import type { Policy } from '#model/policy.ts'

export const actingPolicy = (policy: Policy): Policy => ({
  ...policy,
  accounts: policy.accounts.map(account => ({
    ...account,
    roleArn: account.remediateRoleArn ?? account.roleArn,
  })),
})

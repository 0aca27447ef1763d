/** The account and roles in printed permissions. Output that can be applied unchanged contains no guessed names. */
import { accountInArn, partitionInArn } from '#model/arn.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Policy } from '#model/policy.ts'
import type { ReadMode } from '#model/read-mode.ts'
import type { Applied } from '#pipeline/access/grants.ts'
import { identityNames } from '#pipeline/access/permissions.ts'
import { requireKubeletIdentity } from '#pipeline/fleet.ts'

interface PermissionFlags {
  mode: ReadMode
  /** Twelve digits. */
  account?: string
  partition?: string
  /** ARN of the role that reads. */
  roleArn?: string
  cluster: readonly string[]
  inspectOutput: Policy['inspectOutput']
}

/** @throws OperatorError if the account is unknown, or in mode `kubelet` the identity that kubelets see */
export function appliedOf(asked: PermissionFlags, policy: Policy): Applied {
  if (accountOf(asked) === null)
    throw new OperatorError(
      'The account of the clusters is unknown: set --account, or --role-arn to the role that reads (AuditRoleArn of the stack)',
    )
  requireKubeletIdentity({ ...policy, modes: [{ match: {}, mode: asked.mode }] })
  return shownApplied(asked, policy)
}

/** For people to read. An unknown account is printed as ACCOUNT; mode `kubelet` names a role that might not exist yet. */
export function shownApplied(asked: PermissionFlags, { kubelet }: Policy): Applied {
  const { roleArn, cluster, inspectOutput: output } = asked
  const account = accountOf(asked) ?? 'ACCOUNT'
  const partition = asked.partition ?? (roleArn ? partitionInArn(roleArn) : null) ?? 'aws'
  const reader = roleArn ?? `arn:${partition}:iam::${account}:role/${identityNames.reader}`
  // The role is in the account of the reader. Clusters of other accounts grant access by its ARN.
  const beside = reader.replace(/role\/.*/s, `role/${identityNames.kubelet}`)
  const seen = kubelet.roleArn ?? (kubelet.useOwnToken ? reader : beside)
  return {
    partition,
    account,
    clusters: cluster.length === 0 ? null : cluster,
    roles: { reader, kubelet: seen },
    output,
  }
}

const accountOf = ({ account, roleArn }: PermissionFlags): string | null =>
  account ?? (roleArn ? accountInArn(roleArn) : null)

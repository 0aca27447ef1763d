/** What to paste where something is missing. */
import type { Account } from '#facts/aws/iam.ts'
import { everyDocument, fleetGrants, iamStatements, outputGrants, readingDocuments } from '#facts/aws/iam.ts'
import type { Check, Fix } from '#model/checkup.ts'
import type { Policy } from '#model/policy.ts'
import type { ReadMode } from '#model/read-mode.ts'
import { type DeletionRole, deleterName } from '#pipeline/deletion-permissions.ts'
import { applyKubernetesRights, type IdentityName, identityNames, kubernetesRights } from '#pipeline/permissions.ts'
import { accessEntryCommand, roleManifests } from '#pipeline/permissions-document.ts'

export interface Patient {
  mode: ReadMode
  /** What it asks to be read decides what a role needs. */
  policy: Policy
  /** The name by which EKS knows it. */
  cluster: string
  account: Account
  /** Where its instances are; null: not known. */
  region: string | null
  /** Access entries are not looked at: identities are mapped by the ConfigMap aws-auth. */
  isByConfigMap: boolean
  /** Whether plans are to be applied there, too. */
  isRemediating?: boolean
  /** Who asked, as an access entry names it; null: not known, as behind a kubeconfig. */
  principals: Readonly<Record<IdentityName, string | null>>
  deletions: DeletionRole | null
  /** Where agents put long answers; null: nowhere. */
  output: Policy['inspectOutput']
}

/** @param checks by whom they were about */
export function fixesOf(
  { mode, policy, cluster, account, region, isByConfigMap, isRemediating, principals, deletions, output }: Patient,
  checks: Readonly<Record<IdentityName, readonly Check[]>>,
): Fix[] {
  const fixes: Fix[] = []
  const actions = [...checks.reader, ...checks.kubelet]
    .filter(({ what, state }) => state === 'missing' && /^\w+:\w+$/.test(what))
    .map(({ what }) => what)
  if (actions.length > 0) {
    const statements = {
      Version: '2012-10-17',
      Statement: iamStatements([...new Set(actions)], {
        ...fleetGrants(account, isRemediating ? everyDocument : readingDocuments),
        ...(output !== null && outputGrants(account.partition, output)),
        ...(principals.kubelet !== null && { role: { Resource: principals.kubelet } }),
      }),
    }
    fixes.push({ target: `an IAM policy of ${principals.reader ?? 'the identity that reads'}`, text: JSON.stringify(statements, null, 2) })
  }
  if (region !== null && checks.reader.some(({ what, state }) => what.startsWith('document ') && state !== 'ok'))
    fixes.push({
      target: 'the stack with its documents, in the account of the instances',
      text: `npx serverless deploy --region ${region}${isRemediating ? " --param='remediation=on'" : ''}`,
    })
  for (const identity of ['reader', 'kubelet'] as const) {
    const missing = checks[identity].filter(({ state }) => state === 'missing').map(({ what }) => what)
    const principal = principals[identity] ?? 'ROLE_ARN'
    if (missing.includes('token'))
      fixes.push(
        isByConfigMap
          ? {
              target: `mapRoles in the ConfigMap aws-auth of kube-system, in cluster ${cluster} (its authenticationMode is CONFIG_MAP)`,
              text: `- rolearn: ${principal}\n  username: ${identityNames[identity]}\n  groups: [${identityNames[identity]}]`,
            }
          : { target: `an access entry of cluster ${cluster}`, text: accessEntryCommand(identity, principal, cluster) },
      )
    const applying = isRemediating && identity === 'reader' ? applyKubernetesRights() : []
    const needed = [...kubernetesRights(mode, identity, policy), ...applying].map(({ right }) => right)
    // The whole role, not what it lacks: applied, it replaces the one that is there.
    if (needed.some(right => missing.includes(right)))
      fixes.push({
        target: `kubectl apply -f - in cluster ${cluster}, for whoever is in the group ${identityNames[identity]}`,
        text: roleManifests(identity, needed).join('---\n'),
      })
  }
  if (deletions !== null && checks.reader.some(({ what, state }) => state === 'missing' && deletions.rights.includes(what)))
    fixes.push({ target: `kubectl apply -f - in cluster ${cluster}, for whoever is in the group ${deleterName}`, text: deletions.text })
  return fixes
}

/** Texts to paste where a right is missing. */
import type { AwsPlace } from '#discover/discover.ts'
import { type Account, everyDocument, iamStatements, isIamAction } from '#facts/aws/iam.ts'
import type { Check, CheckFix } from '#model/checkup.ts'
import { type ReadMode, remediateSuffix } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import {
  accessEntryCommand,
  fleetStatements,
  type IdentityName,
  identityNames,
  kubernetesRights,
  policyOf,
  roleManifests,
  trustIn,
} from '#pipeline/access/permissions.ts'
import { documentTitle } from './ssm.ts'

export interface Patient {
  mode: ReadMode
  /** The rights of a role depend on what the policy reads. */
  policy: Policy
  /** The cluster's name in EKS. */
  cluster: string
  account: Account
  /** The cluster maps identities by the ConfigMap aws-auth, not by access entries. */
  isByConfigMap: boolean
  /** The fixes include the rights to apply plans. */
  isRemediating: boolean
  /** ARN of each identity, as an access entry has it; null: unknown, as with a kubeconfig. */
  principals: Readonly<Record<IdentityName, string | null>>
  /** The identity that assumes roles: the caller, not a role that it has already assumed; null: unknown. */
  taker: string | null
  /** The role to assume in the cluster's account, and the region of its instances; null: unknown, as with a kubeconfig. */
  member: Pick<AwsPlace, 'region' | 'roleArn' | 'externalId'> | null
}

/** @param checks by the identity that they checked */
export function fixesOf(
  patient: Patient,
  checks: Readonly<Record<IdentityName, readonly Check[]>>,
) {
  const { account, member, isRemediating, principals, policy } = patient
  const fixes = roleFixes(patient, checks)
  const actions = [...checks.reader, ...checks.kubelet]
    .filter(({ what, state }) => state === 'missing' && isIamAction(what) && what !== takes)
    .map(({ what }) => what)
  if (actions.length > 0) {
    const statements = fleetStatements(actions, account, policy.inspectOutput, isRemediating)
    fixes.push({
      target: `an IAM policy of ${principals.reader ?? 'the identity that reads'}`,
      text: jsonOf(policyOf(statements)),
    })
  }
  if (member && checks.reader.some(({ what, state }) => documentTitles.has(what) && state !== 'ok'))
    fixes.push({
      target: 'the stack with its documents, in the account of the instances',
      text: `npx serverless deploy --region ${member.region}${isRemediating ? " --param='remediation=on'" : ''}`,
    })
  for (const identity of ['reader', 'kubelet'] as const)
    fixes.push(...identityFixes(patient, identity, checks[identity]))
  return fixes
}

/** Fixes that let an identity into the cluster and give it its whole role. */
function identityFixes(
  { mode, policy, cluster, isByConfigMap, isRemediating, principals }: Patient,
  identity: IdentityName,
  checks: readonly Check[],
) {
  const fixes: CheckFix[] = []
  const missing = checks.filter(({ state }) => state === 'missing').map(({ what }) => what)
  const principal = principals[identity] ?? 'ROLE_ARN'
  if (missing.includes('token'))
    fixes.push(
      isByConfigMap
        ? {
            target: `mapRoles in the ConfigMap aws-auth of kube-system, in cluster ${cluster} (its authenticationMode is CONFIG_MAP)`,
            text: `- rolearn: ${principal}\n  username: ${identityNames[identity]}\n  groups: [${identityNames[identity]}]`,
          }
        : {
            target: `an access entry of cluster ${cluster}`,
            text: accessEntryCommand([identity], principal, cluster),
          },
    )
  const needed = kubernetesRights(mode, identity, policy, isRemediating).map(({ right }) => right)
  // The text has the whole role, not only the missing rights: `kubectl apply` replaces the existing role.
  if (needed.some(right => missing.includes(right)))
    fixes.push({
      target: `kubectl apply -f - in cluster ${cluster}, for the members of the group ${identityNames[identity]}`,
      text: roleManifests(identity, needed).join('---\n'),
    })
  return fixes
}

const takes = 'sts:AssumeRole'
const documentTitles = new Set(everyDocument.map(documentTitle))
const jsonOf = (value: object) => JSON.stringify(value, null, 2)

/** Fixes for a role that could not be assumed: the right to assume it, and its trust policy. */
function roleFixes(
  { mode, isRemediating, principals, taker, member }: Patient,
  checks: Readonly<Record<IdentityName, readonly Check[]>>,
) {
  const isMissing = (identity: IdentityName) =>
    checks[identity].some(({ what, state }) => what === takes && state === 'missing')
  const mayTake = (roleArn: string): CheckFix => ({
    target: `an IAM policy of ${taker ?? 'the identity that runs highwater'}`,
    text: jsonOf(policyOf(iamStatements([takes], { role: { Resource: roleArn } }))),
  })
  const fixes: CheckFix[] = []
  if (isMissing('reader') && member && member.roleArn !== null) {
    const [, , , , id = '', role = ''] = member.roleArn.split(':')
    fixes.push(mayTake(member.roleArn), {
      target: `the role ${member.roleArn}, made in account ${id}${member.externalId === null ? '; what you choose as external id goes into the policy, as externalId of that account' : ''}`,
      text: memberCommands({
        mode,
        isRemediating,
        taker,
        member,
        name: role.slice(role.lastIndexOf('/') + 1),
      }),
    })
  }
  if (isMissing('kubelet') && principals.kubelet !== null)
    fixes.push(mayTake(principals.kubelet), {
      target: `the trust policy of ${principals.kubelet}, the role that kubelets see`,
      text: jsonOf(trustIn(taker ?? 'ROLE_ARN')),
    })
  return fixes
}

interface MemberPatient extends Pick<Patient, 'mode' | 'isRemediating' | 'taker'> {
  member: NonNullable<Patient['member']>
  name: string
}

/** The commands need the right to make roles in that account. The template takes a role's ARN; for an IAM user a placeholder stays. */
function memberCommands({ mode, isRemediating, taker, member, name }: MemberPatient) {
  const { region, externalId } = member
  const callerArn = taker !== null && /:role\//.test(taker) ? taker : null
  const isRemediator = isRemediating && name.endsWith(remediateSuffix)
  const takers = isRemediator
    ? `AuditRoleArn=AUDIT_ROLE_ARN RemediateRoleArn=${callerArn ?? 'REMEDIATE_ROLE_ARN'}`
    : `AuditRoleArn=${callerArn ?? 'AUDIT_ROLE_ARN'}`
  const roleName = isRemediator ? name.slice(0, -remediateSuffix.length) : name
  return [
    `highwater permissions --mode ${mode}${isRemediating ? ' --remediate' : ''} --format cloudformation > member.yaml`,
    `aws cloudformation deploy --stack-name highwater-member --region ${region} --template-file member.yaml --s3-bucket A_BUCKET \\`,
    `  --capabilities CAPABILITY_NAMED_IAM --parameter-overrides ${takers} \\`,
    `  ExternalId=${externalId ?? 'EXTERNAL_ID'} RoleName=${roleName} RoleRegion=${region}`,
  ].join('\n')
}

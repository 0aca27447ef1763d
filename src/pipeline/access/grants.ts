/** The permissions of a mode, ready to apply: Kubernetes manifests, IAM policies, EKS access entries. */
import { Document, isScalar, visit } from 'yaml'
import type { Account, IamPolicy, IamStatement } from '#facts/aws/iam.ts'
import type { InspectOutput } from '#facts/aws/inspect-output.ts'
import { clusterRole, type ServiceAccount } from '#facts/kubernetes/rbac.ts'
import type { ReadMode } from '#model/input/read-mode.ts'
import type { Policy } from '#model/policy.ts'
import {
  applyKubernetesRights,
  type IdentityName,
  identityNames,
  kubernetesRights,
  roleStatements,
} from './permissions.ts'

/** The roles that get access, and the account of the clusters. */
export interface Applied extends Account {
  /** The IAM role of each identity. */
  roles: Readonly<Record<IdentityName, string>>
  /** Bucket for long answers of agents; null: none. */
  output: InspectOutput | null
}

/** Placeholders for the documents. */
export const exampleApplied: Applied = {
  partition: 'aws',
  account: '111122223333',
  clusters: null,
  roles: {
    reader: 'arn:aws:iam::111122223333:role/highwater',
    kubelet: 'arn:aws:iam::111122223333:role/highwater-kubelet',
  },
  output: null,
}

/** False: kubelets see the reader's own token, so one role is both identities. */
export const hasSeenRole = ({ reader, kubelet }: Applied['roles']) => reader !== kubelet

/** The identities that need access in this mode. */
export const identitiesOf = (mode: ReadMode): readonly IdentityName[] =>
  mode === 'kubelet' ? ['reader', 'kubelet'] : ['reader']

interface Granted {
  /** Decides which objects are read; absent: the default policy. */
  policy?: Policy
  /** The service account that reads from a pod; null: the groups of access entries. */
  account?: ServiceAccount | null
  /** Includes the permissions of the role that applies plans. */
  isRemediating?: boolean
}

/** ClusterRoles and bindings, for `kubectl apply -f -`. */
export const manifests = (
  mode: ReadMode,
  { policy, account = null, isRemediating = false }: Granted = {},
): string =>
  identitiesOf(mode)
    .flatMap(identity =>
      roleManifests(
        identity,
        [
          ...kubernetesRights(mode, identity, policy),
          ...(isRemediating && identity === 'reader' ? applyKubernetesRights() : []),
        ].map(({ right }) => right),
        identity === 'reader' ? account : null,
      ),
    )
    .join('---\n')

/** ClusterRole and binding of one identity: for the group of its name, or for a service account. */
export const roleManifests = (
  identity: IdentityName,
  rights: readonly string[],
  account: ServiceAccount | null = null,
): string[] => clusterRole(identityNames[identity], rights, account).map(object => yamlOf(object))

/** Prints YAML with lists of plain words on one line. */
export function yamlOf(object: object): string {
  const document = new Document(object)
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(item => isScalar(item))
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** The IAM policy of the reader. @param isRemediating the role applies plans: it may also send the documents that change a node */
export const iamPolicy = (mode: ReadMode, applied: Applied, isRemediating = false): IamPolicy => {
  const isTaking = mode === 'kubelet' && hasSeenRole(applied.roles)
  return policyOf(
    roleStatements(
      mode,
      applied,
      applied.output,
      isRemediating,
      isTaking ? { role: { Resource: applied.roles.kubelet } } : {},
    ),
  )
}

/** A policy document of just these statements. */
export const policyOf = (Statement: readonly IamStatement[]): IamPolicy => ({
  Version: '2012-10-17',
  Statement,
})

/** The command that makes an IAM role a member of the groups that the ClusterRoles are bound to. */
export const accessEntryCommand = (
  identities: readonly IdentityName[],
  roleArn: string,
  cluster: string,
) =>
  `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${roleArn} --kubernetes-groups ${groupsOf(identities).join(' ')}`

const groupsOf = (identities: readonly IdentityName[]) =>
  identities.map(identity => identityNames[identity])

/** One access entry per role: a cluster cannot have two for the same role. */
export const principalsOf = (
  mode: ReadMode,
  { roles }: Applied,
): { identities: readonly IdentityName[]; roleArn: string }[] => {
  const identities = identitiesOf(mode)
  if (!hasSeenRole(roles)) return [{ identities, roleArn: roles.reader }]
  return identities.map(identity => ({ identities: [identity], roleArn: roles[identity] }))
}

/** Access entries as a CloudFormation template, for clusters of the role's own account. `kubectl apply` creates the ClusterRoles. */
export const accessTemplate = (mode: ReadMode, applied: Applied): object => ({
  AWSTemplateFormatVersion: '2010-09-09',
  Description: `Lets highwater into clusters (mode ${mode}), once they have the ClusterRole that highwater permissions --format yaml prints`,
  Resources: Object.fromEntries(
    namedClusters(applied).flatMap((cluster, index) =>
      Object.entries(accessEntries(mode, applied, cluster)).map(([name, entry]) => [
        `${name}${index + 1}`,
        entry,
      ]),
    ),
  ),
})

/** The clusters that are named in full; patterns are left out. */
export const namedClusters = ({ clusters }: Pick<Account, 'clusters'>): string[] =>
  (clusters ?? []).filter(cluster => !cluster.includes('*'))

/** The access entries of a cluster as CloudFormation resources, by their names. */
export const accessEntries = (mode: ReadMode, applied: Applied, cluster: string) =>
  Object.fromEntries(
    principalsOf(mode, applied).map(({ identities, roleArn }) => [
      `Highwater${identities[0] === 'kubelet' ? 'Kubelet' : ''}AccessEntry`,
      accessEntry(identities, roleArn, cluster),
    ]),
  )

/** An access entry as a CloudFormation resource. @param PrincipalArn a text, or an intrinsic function */
export const accessEntry = (
  identities: readonly IdentityName[],
  PrincipalArn: string | object,
  ClusterName: string,
) => ({
  Type: 'AWS::EKS::AccessEntry',
  Properties: { ClusterName, PrincipalArn, KubernetesGroups: groupsOf(identities) },
})

/** Trust policy of a role that only `roleArn` may assume. */
export const trustIn = (roleArn: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { AWS: roleArn }, Action: 'sts:AssumeRole' }],
})

/** Collects the rights of each read mode from the calls that need them: AWS, Kubernetes, and the second identity of mode `kubelet`. */

import { Document, isScalar, visit } from 'yaml'
import { cloudwatchPermissions } from '#clients/aws/cloudwatch.ts'
import { stsPermissions } from '#clients/aws/credentials.ts'
import { ec2Permissions } from '#clients/aws/ec2.ts'
import { eksPermissions } from '#clients/aws/eks.ts'
import { ssmPermissions } from '#clients/aws/ssm.ts'
import { s3ReadPermissions } from '#clients/store/s3.ts'
import { listNodesPermission, listNodesPurpose } from '#collect/collect.ts'
import { clusterCollectorsOf } from '#collect/collectors/cluster.ts'
import { collectorsOf, kubeletCollectors } from '#collect/modes.ts'
import { awsResources } from '#facts/aws/cluster-resources.ts'
import {
  type Account,
  everyDocument,
  fleetGrants,
  type Grants,
  type IamPolicy,
  type IamStatement,
  iamStatements,
  outputGrants,
  readingDocuments,
} from '#facts/aws/iam.ts'
import { agentOutputPermissions, type InspectOutput } from '#facts/aws/inspect-targets.ts'
import { clusterRole, type ServiceAccount } from '#facts/kubernetes/rbac.ts'
import { promisedSources, type ReadMode } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { identityPermission } from '#remediate/cluster-identity.ts'

/** A right and its purpose: the facts that stay unknown without the right. */
export interface NeededRight {
  right: string
  purpose: string
}

/** The identities that read a cluster. `kubelet`: its token is shown to each kubelet. */
export const identityNames = { reader: 'highwater', kubelet: 'highwater-kubelet' } as const
export type IdentityName = keyof typeof identityNames

/** The rights of an identity in a cluster. @param policy decides which objects are read @param isRemediating the reader applies plans, too */
export function kubernetesRights(
  mode: ReadMode,
  identity: IdentityName,
  policy: Policy = defaultPolicy,
  isRemediating = false,
): NeededRight[] {
  const isOfKubelet = (collector: object) => kubeletCollectors.some(each => each === collector)
  const ofNodes = collectorsOf[mode].filter(
    collector => isOfKubelet(collector) === (identity === 'kubelet'),
  )
  const collectors = identity === 'kubelet' ? ofNodes : [...ofNodes, ...clusterCollectorsOf(policy)]
  const rights = collectors.flatMap(({ permissions, purpose }) =>
    permissions.kubernetes.map(right => ({ right, purpose })),
  )
  if (identity === 'kubelet') return mergeRights(rights)
  const read = mergeRights([{ right: listNodesPermission, purpose: listNodesPurpose }, ...rights])
  return isRemediating ? [...read, ...applyKubernetesRights()] : read
}

/** Whether SSM agents can put long answers into a bucket. */
export const hasOutput = (mode: ReadMode) => promisedSources[mode].includes('host')

/** The AWS rights of the reader. @param output bucket for long answers of agents; null: none */
export function awsRights(mode: ReadMode, output: InspectOutput | null = null): NeededRight[] {
  const ofClusters = clusterCollectorsOf(defaultPolicy).flatMap(
    ({ permissions }) => permissions.aws ?? [],
  )
  return [...nodeActions(mode, output), ...ofClusters].map(right => ({
    right,
    purpose: awsPurposes[right] ?? '',
  }))
}

/** Actions to find clusters and read their nodes, without cluster garbage. */
function nodeActions(mode: ReadMode, output: InspectOutput | null) {
  const actions = [
    ...eksPermissions,
    ...ec2Permissions,
    ...collectorsOf[mode].flatMap(({ permissions }) => permissions.aws ?? []),
  ]
  if (mode === 'kubelet') actions.push(...stsPermissions)
  if (output && hasOutput(mode)) actions.push(...s3ReadPermissions)
  return actions
}

/** Joins the purposes of equal rights. */
const mergeRights = (rights: readonly NeededRight[]): NeededRight[] =>
  [...Map.groupBy(rights, ({ right }) => right)].map(([right, some]) => ({
    right,
    purpose: [...new Set(some.map(({ purpose }) => purpose))].join('; '),
  }))

const awsPurposes: Readonly<Record<string, string>> = {
  'eks:ListClusters': 'the list of clusters: without it nothing is audited',
  'eks:DescribeCluster':
    "a cluster's endpoint and certificate authority: without it nothing of the cluster is audited",
  'eks:ListNodegroups': 'the list of nodegroups, and so the place of a durable fix',
  'eks:DescribeNodegroup': 'AMI, disk and launch template of a nodegroup',
  'eks:ListInsights': 'what EKS warns of before an upgrade of the cluster',
  'eks:DescribeInsight': 'what EKS recommends against such a warning',
  'ec2:DescribeLaunchTemplateVersions':
    'kubelet settings in launch templates, and so the place of a durable fix',
  ...Object.fromEntries(awsResources.map(({ action, purpose }) => [action, purpose])),
  's3:GetObject': 'answers that are longer than SSM keeps (`inspectOutput`)',
  's3:ListBucket':
    'whether such an answer exists yet: without it S3 answers 403 for missing objects',
  'sts:AssumeRole': 'the token that kubelets see: without it no kubelet is read',
  'ssm:DescribeDocument':
    'whether the document in the account is the one of this version: without it no node is read through SSM',
  'ssm:DescribeInstanceInformation':
    'the instances that SSM reaches: without it no node is read through SSM',
  'ssm:SendCommand':
    'files on disk, images and their pins, dead containers, filesystems, logs, kernel',
  'ssm:ListCommandInvocations':
    'when a node has answered: without it no answer is read through SSM',
  'ssm:GetCommandInvocation': 'the answer of a node: without it nothing is read through SSM',
}

/** The IAM policy of some actions on the clusters of an account. @param output bucket for long answers of agents; null: none */
export const fleetStatements = (
  actions: readonly string[],
  account: Account,
  output: InspectOutput | null,
  isRemediating: boolean,
  more: Grants = {},
) =>
  iamStatements([...new Set(actions)], {
    ...fleetGrants(account, isRemediating ? everyDocument : readingDocuments),
    ...(output !== null && outputGrants(account.partition, output)),
    ...more,
  })

/**
 * The IAM policy of the role that reads clusters, in its own or another account.
 * @param isRemediating the role applies plans: it reads by the mode and may send every document
 * @param more the roles that it may assume
 */
export function roleStatements(
  mode: ReadMode,
  account: Account,
  output: InspectOutput | null = null,
  isRemediating = false,
  more?: Grants,
) {
  const actions = isRemediating
    ? [...nodeActions(mode, output), ...applyRights().map(({ right }) => right)]
    : awsRights(mode, output).map(({ right }) => right)
  return fleetStatements([...actions, ...stsPermissions], account, output, isRemediating, more)
}

/** The IAM policy of the instance roles, whose agents write answers that are too long for SSM. */
export const agentStatements = (partition: string, output: InspectOutput) =>
  iamStatements(agentOutputPermissions, outputGrants(partition, output))

/** The Kubernetes rights to apply a plan, in addition to those of reading. */
export const applyKubernetesRights = (): NeededRight[] => [
  {
    right: identityPermission,
    purpose:
      'identifies the cluster by the UID of the namespace kube-system: without it nothing is sent, since another apply may use another name for it',
  },
]

const applyPurposes: Readonly<Record<string, string>> = {
  'ssm:DescribeDocument':
    'whether the documents in the account are those of this version: without it nothing is sent',
  'ssm:DescribeInstanceInformation':
    'whether SSM reaches a node, and its agent is new enough: without it nothing is sent',
  'ssm:SendCommand':
    'sends an approved step, to instances of the clusters and with our own documents only: without it nothing is changed',
  'ssm:ListCommandInvocations':
    'when a node has done its step: without it the state of every node is unknown',
  'ssm:GetCommandInvocation': 'the result of a step: likewise',
  'cloudwatch:DescribeAlarms':
    'whether an alarm of `remediation.alarms` is in state ALARM: if the policy names alarms, nothing is changed without it',
}

/** The AWS rights to apply a plan, in addition to those of reading. */
export const applyRights = (): NeededRight[] =>
  [...ssmPermissions, ...cloudwatchPermissions].map(right => ({
    right,
    purpose: applyPurposes[right] ?? '',
  }))

/* The permissions of a mode, ready to apply: Kubernetes manifests, IAM policies, EKS access entries. */

/** The roles that get access, and the account of the clusters. */
export interface Applied extends Account {
  /** The IAM role of each identity. */
  roles: Readonly<Record<IdentityName, string>>
  /** Bucket for long answers of agents; null: none. */
  output: InspectOutput | null
}

/** False: kubelets see the reader's own token, so one role is both identities. */
const hasSeenRole = ({ reader, kubelet }: Applied['roles']) => reader !== kubelet

/** The identities that need access in this mode. */
const identitiesOf = (mode: ReadMode): readonly IdentityName[] =>
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
) =>
  identitiesOf(mode)
    .flatMap(identity =>
      roleManifests(
        identity,
        kubernetesRights(mode, identity, policy, isRemediating).map(({ right }) => right),
        identity === 'reader' ? account : null,
      ),
    )
    .join('---\n')

/** ClusterRole and binding of one identity: for the group of its name, or for a service account. */
export const roleManifests = (
  identity: IdentityName,
  rights: readonly string[],
  account: ServiceAccount | null = null,
) => clusterRole(identityNames[identity], rights, account).map(object => yamlOf(object))

/** Prints YAML with lists of plain words on one line. */
function yamlOf(object: object) {
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
const principalsOf = (
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
export const namedClusters = ({ clusters }: Pick<Account, 'clusters'>) =>
  (clusters ?? []).filter(cluster => !cluster.includes('*'))

/** The access entries of a cluster as CloudFormation resources, by their names. */
const accessEntries = (mode: ReadMode, applied: Applied, cluster: string) =>
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

const modeDescriptions: Readonly<Record<ReadMode, string>> = {
  proxy:
    'The default. The API server forwards requests to the kubelet. `get nodes/proxy` permits every request to a kubelet, including a shell in every container of the node: grant it only to a role that only highwater uses, or choose another mode.',
  ssm: 'A fixed, read-only script runs on the node as an SSM document. The cluster grants only lists of plain objects. The instance needs an SSM agent, and `AmazonSSMManagedInstanceCore` in its role.',
  both: 'Modes `proxy` and `ssm` together.',
  kubelet:
    'highwater calls the kubelet on its own port (10250), from inside the VPC. The nodes’ security group must permit that, and the cluster must have issued the kubelet’s certificate (`serverTLSBootstrap`, as EKS’s AMIs set it), because it is always verified. Two narrow rights are enough on kubelets of 1.33 and later; older ones need `get nodes/proxy` instead of `get nodes/configz`. Every kubelet sees the token, and the owner of a node could use it until it expires. Therefore it belongs to a separate role (`kubelet.roleArn` in the policy) without other rights.',
}

/** The rights of a mode, in Markdown. @param policy decides which objects are read */
export function modeSection(mode: ReadMode, applied: Applied, policy?: Policy) {
  return [
    `## Mode ${mode}`,
    '',
    modeDescriptions[mode],
    '',
    '| where | right | what stays unknown without it |',
    '| --- | --- | --- |',
    ...rows('AWS', awsRights(mode, applied.output)),
    ...identitiesOf(mode).flatMap(identity =>
      rows(
        identity === 'kubelet' ? 'Kubernetes, the identity that kubelets see' : 'Kubernetes',
        kubernetesRights(mode, identity, policy),
      ),
    ),
    '',
    'Kubernetes (`kubectl apply -f -`):',
    '',
    ...codeBlock('yaml', manifests(mode, { policy })),
    'AWS, the policy of the role:',
    '',
    ...codeBlock('json', JSON.stringify(iamPolicy(mode, applied), null, 2)),
    ...(mode === 'kubelet' && hasSeenRole(applied.roles) ? seenRole(applied.roles) : []),
    ...(applied.output && hasOutput(mode) ? agentPolicy(applied.partition, applied.output) : []),
    'Each cluster grants access to the role by an access entry:',
    '',
    ...codeBlock(
      'sh',
      principalsOf(mode, applied)
        .map(({ identities, roleArn }) =>
          accessEntryCommand(identities, roleArn, applied.clusters?.[0] ?? 'CLUSTER'),
        )
        .join('\n'),
    ),
    'or, in CloudFormation:',
    '',
    ...codeBlock('yaml', yamlOf(accessEntries(mode, applied, applied.clusters?.[0] ?? 'CLUSTER'))),
  ]
}

/** The role that kubelets see. It is made once, in the reader's account; clusters of other accounts grant access by its ARN. */
const seenRole = ({ reader, kubelet }: Applied['roles']) => {
  const resource = kubelet.slice(kubelet.lastIndexOf(':role/') + ':role'.length)
  const path = resource.slice(0, resource.lastIndexOf('/') + 1)
  const name = resource.slice(path.length)
  return [
    "AWS, the role that kubelets see: it has no policy, and the roles that read nodes may assume it. The stack creates it with `--param='readsByKubelet=yes'`; elsewhere:",
    '',
    ...codeBlock(
      'sh',
      `aws iam create-role --role-name ${name}${path === '/' ? '' : ` --path ${path}`} --assume-role-policy-document '${JSON.stringify(trustIn(reader))}'`,
    ),
  ]
}

/** Policy of the instances whose agents write long answers to the bucket. */
export const agentPolicy = (partition: string, output: InspectOutput) => [
  "AWS, the policy of the instances' own roles, whose agents write to the bucket:",
  '',
  ...codeBlock('json', JSON.stringify(policyOf(agentStatements(partition, output)), null, 2)),
]

/** The rights to apply plans, in addition to those of a mode, in Markdown. */
export const remediationSection = (mode: ReadMode, applied: Applied) => [
  '## Remediation',
  '',
  `The role that applies plans by SSM reads nodes in its mode, to verify changes, and sends the documents that change a node. These documents exist only if the stack is deployed with \`--param='remediation=on'\`, which also creates the function that sends them. \`highwater permissions --remediate\` prints this part; \`highwater doctor --remediate\` checks the documents. In Kubernetes it needs the rights of its mode, and the right of the table below; \`highwater permissions --remediate --format yaml\` prints the role with both. Plans, approvals and the journal are in a bucket: \`s3:GetObject\`, \`s3:PutObject\` below \`remediation/\` there, \`s3:ListBucket\` and \`s3:ListBucketVersions\`. Writing an approval also needs \`kms:GenerateMac\` on the approval key.`,
  '',
  '| where | right | what for |',
  '| --- | --- | --- |',
  ...rows('AWS', applyRights()),
  ...rows('Kubernetes', applyKubernetesRights()),
  '',
  `AWS, the policy of the role, with mode ${mode}:`,
  '',
  ...codeBlock('json', JSON.stringify(iamPolicy(mode, applied, true), null, 2)),
]

export const rows = (where: string, rights: readonly NeededRight[]) =>
  rights.map(({ right, purpose }) => `| ${where} | \`${right}\` | ${purpose} |`)

export const codeBlock = (language: string, text: string) => [
  `\`\`\`${language}`,
  text.trimEnd(),
  '```',
  '',
]

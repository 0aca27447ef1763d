/** Collects the rights of each read mode from the calls that need them: AWS, Kubernetes, and the second identity of mode `kubelet`. */
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
  type IamStatement,
  iamStatements,
  outputGrants,
  readingDocuments,
} from '#facts/aws/iam.ts'
import { agentOutputPermissions, type InspectOutput } from '#facts/aws/inspect-targets.ts'
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
export const hasOutput = (mode: ReadMode): boolean => promisedSources[mode].includes('host')

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
function mergeRights(rights: readonly NeededRight[]): NeededRight[] {
  const byRight = new Map<string, Set<string>>()
  for (const { right, purpose } of rights)
    byRight.set(right, (byRight.get(right) ?? new Set()).add(purpose))
  return [...byRight].map(([right, purpose]) => ({ right, purpose: [...purpose].join('; ') }))
}

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
): IamStatement[] =>
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
): IamStatement[] {
  const actions = isRemediating
    ? [...nodeActions(mode, output), ...applyRights().map(({ right }) => right)]
    : awsRights(mode, output).map(({ right }) => right)
  return fleetStatements([...actions, ...stsPermissions], account, output, isRemediating, more)
}

/** The IAM policy of the instance roles, whose agents write answers that are too long for SSM. */
export const agentStatements = (partition: string, output: InspectOutput): IamStatement[] =>
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

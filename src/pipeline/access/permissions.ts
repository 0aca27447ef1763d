/** What each mode of reading needs to be allowed, from what stands beside the calls: for AWS, for Kubernetes, and for the second identity that mode `kubelet` has. */
import { cloudwatchPermissions } from '#clients/cloudwatch.ts'
import { stsPermissions } from '#clients/credentials.ts'
import { ec2Permissions } from '#clients/ec2.ts'
import { eksPermissions } from '#clients/eks.ts'
import { s3ReadPermissions } from '#clients/s3.ts'
import { ssmPermissions } from '#clients/ssm.ts'
import { listNodesPermission, listNodesTells } from '#collect/collect.ts'
import { clusterCollectorsOf } from '#collect/collectors/index.ts'
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
} from '#facts/aws/iam.ts'
import { agentOutputPermissions, type InspectOutput } from '#facts/aws/inspect-output.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { promisedSources, type ReadMode } from '#model/read-mode.ts'
import { identityPermission } from '#remediate/cluster-identity.ts'

/** A right, and what stays unknown without it. */
export interface NeededRight {
  right: string
  tells: string
}

/** By whom a cluster is read; `kubelet`: whose token each kubelet sees. */
export const identityNames = { reader: 'highwater', kubelet: 'highwater-kubelet' } as const
export type IdentityName = keyof typeof identityNames

/** What an identity needs in a cluster. @param policy what it asks to be read; by default what is read unless someone says otherwise */
export function kubernetesRights(
  mode: ReadMode,
  identity: IdentityName,
  policy: Policy = defaultPolicy,
): NeededRight[] {
  const isOfKubelet = (collector: object) => kubeletCollectors.some(each => each === collector)
  const ofNodes = collectorsOf[mode].filter(
    collector => isOfKubelet(collector) === (identity === 'kubelet'),
  )
  const asked = identity === 'kubelet' ? ofNodes : [...ofNodes, ...clusterCollectorsOf(policy)]
  const rights = asked.flatMap(({ permissions, tells }) =>
    permissions.kubernetes.map(right => ({ right, tells })),
  )
  if (identity === 'kubelet') return merged(rights)
  return merged([{ right: listNodesPermission, tells: listNodesTells }, ...rights])
}

/** Whether SSM agents can put long answers into a bucket. */
export const hasOutput = (mode: ReadMode): boolean => promisedSources[mode].includes('host')

/** What the reader needs in AWS, beside credentials for the cluster. @param output where agents put long answers; null: nowhere */
export function awsRights(mode: ReadMode, output: InspectOutput | null = null): NeededRight[] {
  const ofClusters = clusterCollectorsOf(defaultPolicy).flatMap(
    ({ permissions }) => permissions.aws ?? [],
  )
  return [...nodeActions(mode, output), ...ofClusters].map(right => ({
    right,
    tells: awsTells[right] ?? '',
  }))
}

/** To find clusters and read their nodes, without cluster garbage. */
function nodeActions(mode: ReadMode, output: InspectOutput | null): string[] {
  const actions = [
    ...eksPermissions,
    ...ec2Permissions,
    ...collectorsOf[mode].flatMap(({ permissions }) => permissions.aws ?? []),
  ]
  if (mode === 'kubelet') actions.push(...stsPermissions)
  if (output !== null && hasOutput(mode)) actions.push(...s3ReadPermissions)
  return actions
}

/** One right may serve several readings. */
function merged(rights: readonly NeededRight[]): NeededRight[] {
  const byRight = new Map<string, Set<string>>()
  for (const { right, tells } of rights)
    byRight.set(right, (byRight.get(right) ?? new Set()).add(tells))
  return [...byRight].map(([right, tells]) => ({ right, tells: [...tells].join('; ') }))
}

const awsTells: Readonly<Record<string, string>> = {
  'eks:ListClusters': 'which clusters there are: without it nothing is audited',
  'eks:DescribeCluster':
    "a cluster's endpoint and certificate authority: without it nothing of the cluster is audited",
  'eks:ListNodegroups': 'which nodegroups there are, and so where a durable fix belongs',
  'eks:DescribeNodegroup': 'what a nodegroup is made of: AMI, disk, launch template',
  'ec2:DescribeLaunchTemplateVersions':
    'what launch templates tell the kubelet, and so where a durable fix belongs',
  ...Object.fromEntries(awsResources.map(({ action, tells }) => [action, tells])),
  's3:GetObject': 'answers that are longer than SSM keeps (`inspectOutput`)',
  's3:ListBucket':
    'whether such an answer is not there yet: without it S3 calls what is missing forbidden',
  'sts:AssumeRole': 'the token that kubelets see: without it no kubelet is asked',
  'ssm:DescribeDocument':
    'whether the document in the account is the one of this version: without it no node is asked through SSM',
  'ssm:DescribeInstanceInformation':
    'which instances SSM reaches: without it no node is asked through SSM',
  'ssm:SendCommand':
    'what only the node knows: files on disk, images and their pins, dead containers, filesystems, logs, kernel',
  'ssm:ListCommandInvocations':
    "when a node has answered: without it no node's answer is had through SSM",
  'ssm:GetCommandInvocation': 'what a node has answered: without it none of it is known',
}

/** The policy of the role that reads clusters: in the account itself, or by a role there that the policy names. @param more the roles that it may assume */
export function readerStatements(
  mode: ReadMode,
  account: Account,
  more: Grants = {},
  output: InspectOutput | null = null,
): IamStatement[] {
  const actions = [...awsRights(mode, output).map(({ right }) => right), ...stsPermissions]
  return iamStatements(actions, {
    ...fleetGrants(account),
    ...(output !== null && outputGrants(account.partition, output)),
    ...more,
  })
}

/** The policy of the instances' own roles, whose agents write what is longer than SSM keeps. */
export const agentStatements = (partition: string, output: InspectOutput): IamStatement[] =>
  iamStatements(agentOutputPermissions, outputGrants(partition, output))

/** What applying a plan needs in a cluster beside its reading, which may have it already. */
export const applyKubernetesRights = (): NeededRight[] => [
  {
    right: identityPermission,
    tells:
      'which cluster it is, by the UID of the namespace kube-system: without it nothing is sent, since another apply may call the same cluster otherwise',
  },
]

const applyTells: Readonly<Record<string, string>> = {
  'ssm:DescribeDocument':
    'whether the documents in the account are those of this version: without it nothing is sent',
  'ssm:DescribeInstanceInformation':
    'whether SSM reaches a node, and its agent is new enough: without it nothing is sent',
  'ssm:SendCommand':
    'sends an approved step, to instances of the clusters and with our own documents only: without it nothing is changed',
  'ssm:ListCommandInvocations':
    'when a node has done its step: without it every node counts as not known to be well',
  'ssm:GetCommandInvocation': 'what a node has done: likewise',
  'cloudwatch:DescribeAlarms':
    'whether one of the alarms of `remediation.alarms` rings: where the policy names some, nothing is changed without it',
}

/** What applying a plan needs in AWS beside the reading that it checks by. */
export const applyRights = (): NeededRight[] =>
  [...ssmPermissions, ...cloudwatchPermissions].map(right => ({
    right,
    tells: applyTells[right] ?? '',
  }))

/** The policy of the role that applies plans: it reads as the mode says, and may send every document. */
export function remediatorStatements(
  mode: ReadMode,
  account: Account,
  more: Grants = {},
  output: InspectOutput | null = null,
): IamStatement[] {
  const actions = [...nodeActions(mode, output), ...applyRights().map(({ right }) => right)]
  const grants = {
    ...fleetGrants(account, everyDocument),
    ...(output !== null && outputGrants(account.partition, output)),
    ...more,
  }
  return iamStatements([...new Set([...actions, ...stsPermissions])], grants)
}

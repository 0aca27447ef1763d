/**
 * IAM policies as narrow as AWS allows: the resource types to which each action can be limited, and the statements that limit it.
 * Source: Service Authorization Reference, tables of actions and resource types of Amazon EKS, EC2, Systems Manager, S3, SES v2, SNS, SQS, Step Functions, CloudWatch, CloudWatch Logs, STS, KMS, Lambda, X-Ray.
 */
import { applyDocumentHashes } from './apply-documents.ts'
import { type InspectOutput, inspectDocumentHashes, outputFolder } from './inspect-targets.ts'

/** Resource types by action. Empty: the action permits only `*`. */
const narrowed = {
  'cloudwatch:DescribeAlarms': ['alarm'],
  'ec2:AssignPrivateIpAddresses': ['network-interface'],
  'ec2:CreateNetworkInterface': ['network-interface', 'security-group', 'subnet'],
  'ec2:DeleteNetworkInterface': ['network-interface'],
  'ec2:DescribeInstances': [],
  'ec2:DescribeLaunchTemplateVersions': [],
  'ec2:DescribeNetworkInterfaces': [],
  'ec2:DescribeSubnets': [],
  'ec2:DescribeVolumes': [],
  'ec2:UnassignPrivateIpAddresses': ['network-interface'],
  'eks:DescribeCluster': ['cluster'],
  'eks:DescribeInsight': ['cluster'],
  'eks:DescribeNodegroup': ['nodegroup'],
  'eks:ListClusters': [],
  'eks:ListInsights': ['cluster'],
  'eks:ListNodegroups': ['cluster'],
  'kms:Decrypt': ['key'],
  'kms:GenerateDataKey': ['key'],
  'kms:GenerateMac': ['key'],
  'kms:VerifyMac': ['key'],
  'lambda:InvokeFunction': ['function'],
  'logs:CreateLogStream': ['log-stream'],
  'logs:PutLogEvents': ['log-stream'],
  's3:GetEncryptionConfiguration': ['bucket'],
  's3:GetObject': ['object'],
  's3:ListBucket': ['bucket'],
  's3:ListBucketVersions': ['bucket'],
  's3:PutObject': ['object'],
  'ses:GetSuppressedDestination': [],
  'ses:SendEmail': ['identity'],
  'sns:Publish': ['topic'],
  'sqs:SendMessage': ['queue'],
  'ssm:DescribeDocument': ['document'],
  'ssm:DescribeInstanceInformation': [],
  'ssm:GetCommandInvocation': [],
  'ssm:ListCommandInvocations': [],
  'ssm:SendCommand': ['document', 'instance', 'managed-instance'],
  'states:DescribeExecution': ['execution'],
  'states:RedriveExecution': ['execution'],
  'states:StartExecution': ['state-machine'],
  'states:StopExecution': ['execution'],
  'sts:AssumeRole': ['role'],
  'xray:PutTelemetryRecords': [],
  'xray:PutTraceSegments': [],
} as const

export type ResourceType = (typeof narrowed)[keyof typeof narrowed][number]
const resourceTypes: Readonly<Record<string, readonly ResourceType[]>> = narrowed

export interface IamStatement {
  Effect: 'Allow'
  Action: readonly string[]
  Resource: string | readonly string[]
  Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

export interface IamPolicy {
  Version: '2012-10-17'
  Statement: readonly IamStatement[]
}

export type Grants = Readonly<
  Partial<Record<ResourceType, Pick<IamStatement, 'Resource' | 'Condition'>>>
>

export const isIamAction = (text: string): boolean => Object.hasOwn(resourceTypes, text)

/** One statement for all actions of the same resources. @throws Error for an action that the table does not know */
export function iamStatements(actions: readonly string[], grants: Grants): IamStatement[] {
  const statements = new Map<
    string,
    { Action: Set<string>; grant: Pick<IamStatement, 'Resource' | 'Condition'> }
  >()
  const grantAction = (action: string, grant: Pick<IamStatement, 'Resource' | 'Condition'>) => {
    const key = JSON.stringify(grant)
    const statement = statements.get(key) ?? { Action: new Set(), grant }
    statement.Action.add(action)
    statements.set(key, statement)
  }
  for (const action of actions) {
    const types = Object.hasOwn(resourceTypes, action) ? resourceTypes[action] : undefined
    if (!types) throw new Error(`facts/aws/iam.ts does not know to what ${action} can be narrowed`)
    if (types.length === 0) grantAction(action, { Resource: '*' })
    for (const type of types) {
      const grant = grants[type]
      if (grant) grantAction(action, grant)
    }
  }
  return [...statements.values()].map(({ Action, grant }) => ({
    Effect: 'Allow',
    Action: [...Action],
    ...grant,
  }))
}

export interface Account {
  /** `aws`, `aws-cn`, `aws-us-gov` */
  partition: string
  account: string
  /** Names; null: every cluster of the account. */
  clusters: readonly string[] | null
}

export const readingDocuments: readonly string[] = Object.keys(inspectDocumentHashes)
/** The documents that read a node, and those that change it. */
export const everyDocument: readonly string[] = [
  ...readingDocuments,
  ...Object.keys(applyDocumentHashes),
]

/**
 * IAM resources for reading a fleet, or, with `everyDocument`, for changing it. Regions stay open:
 * the policy names them. EKS sets the tag `aws:eks:cluster-name` on every instance that joins a
 * cluster, and only EKS can write it (source: EKS user guide, tagging for billing). Activations of
 * hybrid nodes carry `EKSClusterARN` (source: EKS user guide, hybrid nodes credentials).
 */
export function fleetGrants(
  { partition, account, clusters }: Account,
  documents = readingDocuments,
): Grants {
  const arn = (service: string, resource: string) =>
    `arn:${partition}:${service}:*:${account}:${resource}`
  const perCluster = (named: (cluster: string) => string) =>
    oneOrMore((clusters ?? ['*']).map(named))
  const test =
    !clusters || clusters.some(name => name.includes('*')) ? 'StringLike' : 'StringEquals'
  return {
    // Composite alarms are returned only if the resource is `*` (source: CloudWatch API, DescribeAlarms).
    alarm: { Resource: '*' },
    cluster: { Resource: perCluster(name => arn('eks', `cluster/${name}`)) },
    nodegroup: {
      Resource: perCluster(name =>
        arn('eks', name === '*' ? 'nodegroup/*' : `nodegroup/${name}/*`),
      ),
    },
    document: { Resource: documents.map(name => arn('ssm', `document/${name}`)) },
    instance: {
      Resource: arn('ec2', 'instance/*'),
      Condition: { [test]: { 'ssm:resourceTag/aws:eks:cluster-name': perCluster(name => name) } },
    },
    'managed-instance': {
      Resource: arn('ssm', 'managed-instance/*'),
      // The value of the tag contains a region, which stays open.
      Condition: {
        StringLike: {
          'ssm:resourceTag/EKSClusterARN': perCluster(name => arn('eks', `cluster/${name}`)),
        },
      },
    },
  }
}

/** Where agents write answers that are too long for SSM. */
export const outputGrants = (partition: string, output: InspectOutput): Grants => ({
  bucket: { Resource: `arn:${partition}:s3:::${output.bucket}` },
  object: { Resource: `arn:${partition}:s3:::${output.bucket}/${outputFolder(output)}*` },
})

const oneOrMore = (values: readonly string[]): string | readonly string[] =>
  values.length === 1 ? (values[0] ?? '') : values

/** An account at moto as the stack and its owner leave it: bucket, sender, topic, state machine, a role for each function, and a cluster with instances. */
import { EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2'
import { CreateClusterCommand, CreateNodegroupCommand, EKSClient } from '@aws-sdk/client-eks'
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { CreateEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { CreateStateMachineCommand, DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn'
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { CreateDocumentCommand, SSMClient } from '@aws-sdk/client-ssm'
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import type { AwsCredentials } from '#clients/aws/credentials.ts'
import type { ClusterScenario } from '#lab/scenarios/scenario.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { stateMachine } from '#test/state-machine.ts'

const region = 'us-east-1'
const account = '123456789012'
export const bucket = 'highwater-reports'
const functionArn = (name: string) => `arn:aws:lambda:${region}:${account}:function:${name}`
const roleArn = (name: string) => `arn:aws:iam::${account}:role/${name}`

export interface Account {
  /** Of every function: what the stack sets, and where AWS is. */
  environment: Readonly<Record<string, string>>
  topicArn: string
  stateMachineArn: string
  /** As STS gives them to a function of that role. */
  credentialsOf(role: string): Promise<AwsCredentials>
  /** Of whom STS has given that key. */
  keyOf(accessKeyId: string): AwsCredentials | null
  /** Who STS says they are. */
  arnOf(credentials: AwsCredentials): Promise<string>
  write(key: string, body: string): Promise<void>
  /** @throws the SDK's error where there is no such object */
  read(key: string): Promise<Buffer>
  /** `output` null: it is under way, or `failure` says why there is none. */
  execution(name: string): Promise<{ status: string; output: unknown; failure: string }>
  /** The ids of that many instances of the cluster. */
  runInstances(cluster: string, count: number): Promise<string[]>
}

/** @param endpoint where AWS is. @param names of the functions of a fan-out. @param credentials of its administrator */
export async function openAccount(
  endpoint: string,
  names: readonly string[],
  credentials: AwsCredentials,
): Promise<Account> {
  const at = { region, endpoint, credentials }
  const given = new Map<string, AwsCredentials>()
  const s3 = new S3Client({ ...at, forcePathStyle: true })
  const [ses, sns, sfn, sts, ec2] = [
    new SESv2Client(at),
    new SNSClient(at),
    new SFNClient(at),
    new STSClient(at),
    new EC2Client(at),
  ]
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  await ses.send(new CreateEmailIdentityCommand({ EmailIdentity: 'example.com' }))
  const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'reports' }))
  const ssm = new SSMClient(at)
  for (const { name: Name, content: Content } of deployedDocuments())
    await ssm.send(
      new CreateDocumentCommand({ Name, Content, DocumentType: 'Command', DocumentFormat: 'JSON' }),
    )
  const definition = names
    .reduce(
      (text, name) => text.replaceAll(`\${${name}Arn}`, functionArn(name)),
      JSON.stringify(stateMachine),
    )
    // The same number: moto's parser takes none without a point there.
    .replace(/("ToleratedFailurePercentage":\d+)/g, '$1.0')
  const { stateMachineArn = '' } = await sfn.send(
    new CreateStateMachineCommand({
      name: 'highwater-prod',
      roleArn: roleArn('states'),
      definition,
    }),
  )
  return {
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_EC2_METADATA_DISABLED: 'true',
      HIGHWATER_SERVICE: 'highwater-prod',
      HIGHWATER_BUCKET: bucket,
      HIGHWATER_SENDER: 'highwater@example.com',
      HIGHWATER_RECIPIENTS: 'team@example.com',
    },
    topicArn: TopicArn,
    stateMachineArn,
    async credentialsOf(role) {
      const { Credentials } = await sts.send(
        new AssumeRoleCommand({ RoleArn: roleArn(role), RoleSessionName: role }),
      )
      const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {}
      const credentials = {
        accessKeyId: AccessKeyId,
        secretAccessKey: SecretAccessKey,
        sessionToken: SessionToken,
      }
      given.set(AccessKeyId, credentials)
      return credentials
    },
    keyOf: accessKeyId => given.get(accessKeyId) ?? null,
    async arnOf(credentials) {
      const client = new STSClient({ region, endpoint, credentials })
      const { Arn = '' } = await client.send(new GetCallerIdentityCommand({}))
      return Arn
    },
    async write(Key, Body) {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))
    },
    async read(Key) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    async execution(name) {
      const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`
      const {
        status = '',
        output,
        error,
        cause,
      } = await sfn.send(new DescribeExecutionCommand({ executionArn }))
      return {
        status,
        output: JSON.parse(output ?? 'null'),
        failure: `${error ?? ''} ${cause ?? ''}`,
      }
    },
    async runInstances(cluster, count) {
      const tags = [{ Key: `kubernetes.io/cluster/${cluster}`, Value: 'owned' }]
      const { Instances = [] } = await ec2.send(
        new RunInstancesCommand({
          ...{
            ImageId: 'ami-12c6146b',
            InstanceType: 'm6i.large',
            MinCount: count,
            MaxCount: count,
          },
          TagSpecifications: [{ ResourceType: 'instance', Tags: tags }],
        }),
      )
      return Instances.map(({ InstanceId = '' }) => InstanceId)
    },
  }
}

/** The scenario's cluster and its nodegroups. */
export async function createCluster(
  endpoint: string,
  { name, version, nodegroups = [] }: ClusterScenario,
  credentials: AwsCredentials,
): Promise<void> {
  const eks = new EKSClient({ region, endpoint, credentials })
  const subnets = ['subnet-1', 'subnet-2']
  await eks.send(
    new CreateClusterCommand({
      name,
      version,
      roleArn: roleArn('cluster'),
      resourcesVpcConfig: { subnetIds: subnets },
    }),
  )
  for (const {
    name: nodegroupName,
    instanceTypes = [],
    version: ofNodes,
    releaseVersion,
    desiredSize,
    diskSize,
  } of nodegroups)
    await eks.send(
      new CreateNodegroupCommand({
        ...{
          clusterName: name,
          nodegroupName,
          subnets,
          nodeRole: roleArn('nodes'),
          version: ofNodes,
          releaseVersion,
          diskSize,
        },
        ...{
          amiType: 'AL2023_x86_64_STANDARD',
          instanceTypes: [...instanceTypes],
          scalingConfig: { desiredSize },
        },
      }),
    )
}

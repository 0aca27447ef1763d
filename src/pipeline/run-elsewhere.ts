/** What running highwater in a cluster needs to be allowed, ready to apply: `docs/run/kubernetes/` has it as files. */
import { s3Permissions } from '#clients/s3.ts'
import { sesPermissions } from '#clients/sesv2.ts'
import { type Grants, type IamStatement, iamStatements } from '#facts/aws/iam.ts'
import { defaultReadMode } from '#model/read-mode.ts'
import { readerStatements } from './permissions.ts'
import { manifests, yamlOf } from './permissions-document.ts'

const account = { namespace: 'highwater', name: 'highwater' }
/** What the service writes in its bucket. */
const written = ['history/', 'runs/', 'remediation/plans/']

/** The role of a pod that reads the cluster around it. */
export const inClusterRole = (): string =>
  `# Written by a test: what highwater permissions --mode ${defaultReadMode} --format yaml --service-account ${account.namespace}/${account.name} prints.\n${manifests(defaultReadMode, { account })}`

/** CloudFormation: the role of a pod that does the service's work in an EKS cluster, and who may have it. */
export function podIdentityTemplate(): string {
  const sub = (name: string) => `$\{${name}}`
  const partition = sub('AWS::Partition')
  const bucket = `arn:${partition}:s3:::${sub('Bucket')}`
  const objects = (...below: string[]) => below.map(folder => `${bucket}/${sub('Prefix')}${folder}*`)
  const grants: Grants = {
    bucket: { Resource: bucket },
    object: { Resource: objects('') },
    identity: { Resource: `arn:${partition}:ses:${sub('AWS::Region')}:${sub('AWS::AccountId')}:identity/*` },
    // Roles in other accounts, where the policy names them.
    role: { Resource: `arn:${partition}:iam::*:role/${sub('MemberRole')}` },
  }
  const reads = s3Permissions.filter(action => action !== 's3:PutObject')
  const statements = [
    ...readerStatements(defaultReadMode, { partition, account: sub('AWS::AccountId'), clusters: null }, grants),
    ...iamStatements([...reads, ...sesPermissions], grants),
    ...iamStatements(['s3:PutObject'], { object: { Resource: objects(...written) } }),
  ]
  const text = (Default: string, Description: string) => ({ Type: 'String', Default, Description })
  const template = {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'highwater in a pod: its role, and which pod has it. Each cluster that it audits lets the role in by an access entry.',
    Parameters: {
      HomeCluster: { Type: 'String', Description: 'EKS cluster in which the CronJob runs, with the Pod Identity agent.' },
      Bucket: { Type: 'String', Description: 'Where reports, history and the policy lie.' },
      Prefix: text('', 'What their keys begin with; ends in /'),
      MemberRole: text('highwater', 'Name of the role to assume in other accounts.'),
    },
    Resources: {
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          AssumeRolePolicyDocument: {
            Version: '2012-10-17',
            Statement: [
              { Effect: 'Allow', Principal: { Service: 'pods.eks.amazonaws.com' }, Action: ['sts:AssumeRole', 'sts:TagSession'] },
            ],
          },
          Policies: [{ PolicyName: 'highwater', PolicyDocument: { Version: '2012-10-17', Statement: statements.map(substituted) } }],
        },
      },
      Association: {
        Type: 'AWS::EKS::PodIdentityAssociation',
        Properties: {
          ...{ ClusterName: { Ref: 'HomeCluster' }, Namespace: account.namespace, ServiceAccount: account.name },
          RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
        },
      },
    },
    Outputs: { RoleArn: { Value: { 'Fn::GetAtt': ['Role', 'Arn'] }, Description: 'For the access entries.' } },
  }
  return `# Written by a test from the permissions that stand beside the calls.\n${yamlOf(template, '1.1')}`
}

const substituted = ({ Resource, ...statement }: IamStatement) => ({
  ...statement,
  Resource: [Resource].flat().map(value => (value.includes('${') ? { 'Fn::Sub': value } : value)),
})

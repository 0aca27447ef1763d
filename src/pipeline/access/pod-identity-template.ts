/**
 * The role of a pod that does the service's work in an EKS cluster, and who may have it, as a CloudFormation template: `docs/run/kubernetes/eks` has it as a file.
 * Parameters that the service's stack has, too, are called as they are there, and grant the same.
 */
import { stsPermissions } from '#clients/credentials.ts'
import { s3KmsPermissions, s3Permissions, s3ReadPermissions } from '#clients/s3.ts'
import { sesPermissions } from '#clients/sesv2.ts'
import { snsPermissions } from '#clients/sns.ts'
import { ssmPermissions } from '#clients/ssm.ts'
import {
  fleetGrants,
  type Grants,
  type IamStatement,
  iamStatements,
  keyGrants,
  senderGrants,
} from '#facts/aws/iam.ts'
import { defaultReadMode } from '#model/read-mode.ts'
import { cloudFormationYaml, substituted } from './cloudformation-yaml.ts'
import { readerStatements } from './permissions.ts'
import { runAccount } from './run-elsewhere.ts'

const named = (name: string) => `$\{${name}}`
const partition = named('AWS::Partition')
const fleet = { partition, account: named('AWS::AccountId'), clusters: null }
const role = (name: string): Grants => ({
  role: { Resource: `arn:${partition}:iam::*:role/${name}` },
})

/** What the service writes in its bucket. */
const written = ['history/', 'runs/', 'remediation/plans/']

/** What every run needs: to find clusters, to read them by the default mode, to publish. */
function always(): IamStatement[] {
  const bucket = `arn:${partition}:s3:::${named('Bucket')}`
  const objects = (...below: string[]) =>
    below.map(folder => `${bucket}/${named('Prefix')}${folder}*`)
  const grants: Grants = {
    bucket: { Resource: bucket },
    object: { Resource: objects('') },
    // Roles in other accounts, where the policy names them.
    ...role(named('MemberRole')),
  }
  return [
    ...readerStatements(defaultReadMode, fleet, grants),
    ...iamStatements(
      s3Permissions.filter(action => action !== 's3:PutObject'),
      grants,
    ),
    ...iamStatements(['s3:PutObject'], { object: { Resource: objects(...written) } }),
  ]
}

const identities = `arn:${partition}:ses:${named('AWS::Region')}:${named('AWS::AccountId')}:identity/*`

/** What is needed only where somebody wants it: by the parameter that says so. */
const wanted: Readonly<Record<string, IamStatement[]>> = {
  Sender: iamStatements(
    sesPermissions,
    senderGrants(identities, named('Sender'), 'StringEqualsIgnoreCase'),
  ),
  PolicySender: iamStatements(
    sesPermissions,
    senderGrants(identities, named('PolicySender'), 'StringLike'),
  ),
  TopicArn: iamStatements(snsPermissions, { topic: { Resource: named('TopicArn') } }),
  KmsKeyArn: iamStatements(s3KmsPermissions, keyGrants(named('KmsKeyArn'))),
  ReadsBySsm: iamStatements(ssmPermissions, fleetGrants(fleet)),
  InspectOutputBucket: iamStatements(s3ReadPermissions, {
    bucket: { Resource: `arn:${partition}:s3:::${named('InspectOutputBucket')}` },
    object: {
      Resource: `arn:${partition}:s3:::${named('InspectOutputBucket')}/${named('InspectOutputPrefix')}*`,
    },
  }),
  KubeletRole: iamStatements(stsPermissions, role(named('KubeletRole'))),
}

const text = (Default: string, Description: string, more: object = {}) => ({
  Type: 'String',
  Default,
  ...more,
  Description,
})
const prefix = { AllowedPattern: '^(.+/)?$' }
const yesOrNo = { AllowedValues: ['yes', 'no'] }

const parameters: Readonly<
  Record<string, { Type: string; Default?: string; Description: string }>
> = {
  HomeCluster: {
    Type: 'String',
    Description: 'EKS cluster in which the CronJob runs, with the Pod Identity agent.',
  },
  Bucket: {
    Type: 'String',
    Description: 'Bucket for reports, history and the policy: HIGHWATER_BUCKET.',
  },
  Prefix: text('', "What the bucket's keys begin with: HIGHWATER_PREFIX. Ends in /.", prefix),
  KmsKeyArn: text('', 'KMS key for what is written: HIGHWATER_KMS_KEY_ID.'),
  Sender: text(
    '',
    'Address that mail comes from, of a verified SES identity: HIGHWATER_SENDER. The pod may send from no other.',
  ),
  PolicySender: text(
    '',
    'Address that the policy may name as report.sender in its place, or *@example.com for any of a domain.',
    { AllowedPattern: '^([^@\\s,]+@[^@\\s,*?]+)?$' },
  ),
  TopicArn: text('', 'SNS topic that is told after each run: HIGHWATER_TOPIC_ARN.'),
  MemberRole: text(
    'highwater',
    'Name of the role that is taken in other accounts, where the policy names them.',
  ),
  ReadsBySsm: text(
    'no',
    'yes lets nodes be read through SSM (modes ssm and both of the policy).',
    yesOrNo,
  ),
  InspectOutputBucket: text(
    '',
    "Bucket of the policy's inspectOutput, into which nodes write long answers.",
  ),
  InspectOutputPrefix: text('', 'Prefix in that bucket. Ends in /.', prefix),
  ReadsByKubelet: text(
    'no',
    'yes makes the role whose token kubelets see (mode kubelet of the policy), which may do nothing in AWS.',
    yesOrNo,
  ),
  KubeletRole: text('', 'Name of such a role, where you have made one yourself.'),
}

/** Its file, as people read it. */
export function podIdentityTemplate(): string {
  const conditions = Object.keys(wanted).map(name => {
    const isOff = { 'Fn::Equals': [{ Ref: name }, parameters[name]?.Default ?? ''] }
    return [conditionOf(name), { 'Fn::Not': [isOff] }]
  })
  const template = {
    AWSTemplateFormatVersion: '2010-09-09',
    Description:
      'highwater in a pod: its role, and which pod has it. Each cluster that it audits lets the role in by an access entry.',
    Parameters: parameters,
    Conditions: {
      ...Object.fromEntries(conditions),
      ReadsByKubelet: { 'Fn::Equals': [{ Ref: 'ReadsByKubelet' }, 'yes'] },
    },
    Resources: {
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          AssumeRolePolicyDocument: trust,
          Policies: [
            policy('highwater', always()),
            ...Object.entries(wanted).map(([name, statements]) =>
              onlyWith(name, policy(conditionOf(name), statements)),
            ),
          ],
        },
      },
      SeenByKubeletsRole: {
        Type: 'AWS::IAM::Role',
        Condition: 'ReadsByKubelet',
        Properties: {
          Description: 'Whose token kubelets see. It may do nothing in AWS',
          AssumeRolePolicyDocument: {
            Version: '2012-10-17',
            Statement: [
              { Effect: 'Allow', Principal: { AWS: arnOf('Role') }, Action: 'sts:AssumeRole' },
            ],
          },
        },
      },
      TakesSeenByKubelets: {
        Type: 'AWS::IAM::RolePolicy',
        Condition: 'ReadsByKubelet',
        Properties: {
          RoleName: { Ref: 'Role' },
          ...policy(
            'TakesSeenByKubelets',
            iamStatements(stsPermissions, { role: { Resource: named('SeenByKubeletsRole.Arn') } }),
          ),
        },
      },
      Association: {
        Type: 'AWS::EKS::PodIdentityAssociation',
        Properties: {
          ...{
            ClusterName: { Ref: 'HomeCluster' },
            Namespace: runAccount.namespace,
            ServiceAccount: runAccount.name,
          },
          RoleArn: arnOf('Role'),
          // They would go on into every role that is taken from here, which then has to allow sts:TagSession, and make tokens for clusters longer.
          DisableSessionTags: true,
        },
      },
    },
    Outputs: {
      RoleArn: {
        Description:
          'For the access entries, and as AuditRoleArn of the template for other accounts.',
        Value: arnOf('Role'),
      },
      KubeletRoleArn: {
        Description: 'kubelet.roleArn of the policy, and for its access entries.',
        Condition: 'ReadsByKubelet',
        Value: arnOf('SeenByKubeletsRole'),
      },
    },
  }
  return `# Written by a test from the permissions that stand beside the calls.\n${cloudFormationYaml(template)}`
}

const arnOf = (resource: string) => ({ 'Fn::GetAtt': [resource, 'Arn'] })
const conditionOf = (parameter: string) =>
  parameter === 'ReadsBySsm' ? parameter : `Has${parameter.replace(/Arn$/, '')}`
const onlyWith = (parameter: string, value: object) => ({
  'Fn::If': [conditionOf(parameter), value, { Ref: 'AWS::NoValue' }],
})
const policy = (PolicyName: string, statements: readonly IamStatement[]) => ({
  PolicyName,
  PolicyDocument: { Version: '2012-10-17', Statement: statements.map(substituted) },
})

/** Only for pods of that cluster. Source: EKS best practices guide, IAM roles for EKS Pod Identities: the service says for which cluster it asks. */
const trust = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { Service: 'pods.eks.amazonaws.com' },
      Action: ['sts:AssumeRole', 'sts:TagSession'],
      Condition: {
        StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
        ArnEquals: {
          'aws:SourceArn': substituted(
            `arn:${partition}:eks:${named('AWS::Region')}:${named('AWS::AccountId')}:cluster/${named('HomeCluster')}`,
          ),
        },
      },
    },
  ],
}

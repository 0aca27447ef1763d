/**
 * What an account needs whose clusters are audited from another one, as a CloudFormation template for a stack or a StackSet: the role that is taken there, with an external id,
 * the SSM documents where nodes are read or changed through them, and access entries.
 */
import { everyDocument, type IamStatement, readingDocuments } from '#facts/aws/iam.ts'
import { promisedSources, type ReadMode } from '#model/read-mode.ts'
import {
  applyDocuments,
  contentOf,
  type Document,
  documents,
} from '#remediate/scripts/documents.ts'
import { readScript } from '#remediate/scripts/read-script.ts'
import { substituted } from './cloudformation-yaml.ts'
import type { Applied } from './grants.ts'
import {
  type IdentityName,
  identityNames,
  readerStatements,
  remediatorStatements,
} from './permissions.ts'

export interface MemberOptions {
  mode: ReadMode
  /** The account is that of the stack, and regions stay open; of `applied` the clusters and the place of long answers count. */
  applied: Pick<Applied, 'clusters' | 'output'>
  isRemediating: boolean
  /** Whose token kubelets see in mode `kubelet`, as the policy names it; null: not known yet. */
  kubeletRoleArn: string | null
}

const sub = (text: string) => ({ 'Fn::Sub': text })
const ref = (name: string) => ({ Ref: name })
const stackAccount = { partition: `$\{AWS::Partition}`, account: `$\{AWS::AccountId}` }

/** The outputs of the stack that name who takes the role, and what each does. */
const takers = {
  AuditRoleArn: 'audits',
  DiscoverRoleArn: 'finds the nodes of large fleets',
  AuditShardRoleArn: 'reads the nodes of large fleets',
  RemediateRoleArn: 'applies plans',
} as const
/** The others are there where the stack has more than its function audit. */
const required = 'AuditRoleArn'
const optional = Object.keys(takers).filter(name => name !== required)
const changes = 'RemediateRoleArn'
/** Of the name of the role that may change nodes. The stack's own role may take that, too: test/permissions.test.ts. */
export const remediateSuffix = '-remediate'
const isGiven = (name: string) => `Has${name.replace(/Arn$/, '')}`

/** As an object, with CloudFormation's long forms. */
export function memberTemplate(options: MemberOptions): object {
  const sent = documentsOf(options)
  const hasDocuments = sent.length > 0
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: `Lets highwater, in another account, read the EKS clusters of this one (mode ${options.mode})${options.isRemediating ? ', and change their nodes by approved plans' : ''}`,
    Parameters: { ...parameters(hasDocuments), ...kubeletParameter(options) },
    Conditions: {
      ...Object.fromEntries(
        optional.map(name => [isGiven(name), { 'Fn::Not': [{ 'Fn::Equals': [ref(name), ''] }] }]),
      ),
      MakesRole: { 'Fn::Equals': [ref('AWS::Region'), ref('RoleRegion')] },
      ...(options.isRemediating && {
        MakesRemediateRole: {
          'Fn::And': [{ Condition: 'MakesRole' }, { Condition: isGiven(changes) }],
        },
      }),
      ...(hasDocuments && { MakesDocuments: { 'Fn::Equals': [ref('Documents'), 'yes'] } }),
    },
    Resources: {
      ...roles(options),
      ...accessEntries(options),
      ...Object.fromEntries(sent.map(documentResource)),
    },
    Outputs: {
      RoleArn: {
        Description:
          'What the policy of highwater names under accounts, as roleArn, with the external id beside it',
        Condition: 'MakesRole',
        Value: { 'Fn::GetAtt': ['Role', 'Arn'] },
      },
      ...(options.isRemediating && {
        RemediateRoleArn: {
          Description: 'What the policy names there as remediateRoleArn',
          Condition: 'MakesRemediateRole',
          Value: { 'Fn::GetAtt': ['RemediateRole', 'Arn'] },
        },
      }),
    },
  }
}

const parameters = (hasDocuments: boolean) => ({
  ...Object.fromEntries(
    Object.entries(takers).map(([name, does]) => [
      name,
      {
        Type: 'String',
        ...(name === required
          ? { AllowedPattern: roleArnPattern }
          : { Default: '', AllowedPattern: `^$|${roleArnPattern}` }),
        Description: `Role that ${does}: ${name} of the outputs of the stack of highwater${name === required ? '' : ', where it may take the role, too'}.`,
      },
    ]),
  ),
  ExternalId: {
    Type: 'String',
    // Source: STS API reference, AssumeRole ExternalId.
    AllowedPattern: '^[\\w+=,.@:/-]{2,1224}$',
    Description:
      'Text that has to come along with whoever takes the role: externalId of this account in the policy of highwater.',
  },
  RoleName: {
    Type: 'String',
    Default: identityNames.reader,
    Description:
      'Name of the role: memberRole of the stack of highwater. That of whoever changes nodes ends in -remediate.',
  },
  RoleRegion: {
    Type: 'String',
    Default: 'us-east-1',
    Description:
      'Region of which the stack makes the role. Roles are of all regions, so that of the others makes none.',
  },
  ...(hasDocuments && {
    Documents: {
      Type: 'String',
      Default: 'yes',
      AllowedValues: ['yes', 'no'],
      Description: 'no where another stack of this account and region has made the SSM documents.',
    },
  }),
})

/** The role stands in the account of the stack: whoever reads takes it there, and each cluster lets it in by its ARN. */
const kubeletParameter = (options: MemberOptions) =>
  options.mode === 'kubelet' && namedClusters(options).length > 0
    ? {
        KubeletRoleArn: {
          Type: 'String',
          ...(options.kubeletRoleArn !== null && { Default: options.kubeletRoleArn }),
          AllowedPattern: roleArnPattern,
          Description:
            'Role whose token kubelets see: KubeletRoleArn of those outputs, and kubelet.roleArn of the policy.',
        },
      }
    : {}

const roleArnPattern = '^arn:[a-z-]+:iam::\\d{12}:role/.+$'

/** Where nodes may be changed a second role may do it, which only whoever applies plans takes: whoever audits cannot. */
function roles({ mode, applied, isRemediating }: MemberOptions): object {
  const account = { ...stackAccount, clusters: applied.clusters }
  const reading = readerStatements(mode, account, {}, applied.output)
  const readers = optional.filter(name => !isRemediating || name !== changes)
  const given = readers.map(name => ({ 'Fn::If': [isGiven(name), ref(name), ref('AWS::NoValue')] }))
  const Role = role(
    'MakesRole',
    ref('RoleName'),
    [ref(required), ...given],
    policy('read', reading),
  )
  if (!isRemediating) return { Role }
  const changing = policy('remediate', remediatorStatements(mode, account, {}, applied.output))
  return {
    Role,
    RemediateRole: role(
      'MakesRemediateRole',
      sub(`$\{RoleName}${remediateSuffix}`),
      [ref(changes)],
      changing,
    ),
  }
}

const policy = (PolicyName: string, statements: readonly IamStatement[]) => ({
  PolicyName,
  PolicyDocument: { Version: '2012-10-17', Statement: statements.map(substituted) },
})

/** Taken by name of the role, not by its principal: that would be another one after the role has been made anew. */
const role = (Condition: string, RoleName: object, trusted: readonly object[], may: object) => ({
  Type: 'AWS::IAM::Role',
  Condition,
  Properties: {
    RoleName,
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: { 'Fn::Select': [4, { 'Fn::Split': [':', ref(required)] }] } },
          Action: 'sts:AssumeRole',
          Condition: {
            StringEquals: { 'sts:ExternalId': ref('ExternalId') },
            ArnEquals: { 'aws:PrincipalArn': trusted },
          },
        },
      ],
    },
    Policies: [may],
  },
})

/** A mode that reads hosts sends the documents that read; who remediates sends all. */
function documentsOf({ mode, isRemediating }: MemberOptions): Document[] {
  const isSent = isRemediating
    ? everyDocument
    : promisedSources[mode].includes('host')
      ? readingDocuments
      : []
  return [...documents, ...applyDocuments].filter(({ name }) => isSent.includes(name))
}

/** Content is text, so that what is deployed has the hash that the sender pins, to the byte. */
const documentResource = (document: Document) => [
  document.resource,
  {
    Type: 'AWS::SSM::Document',
    Condition: 'MakesDocuments',
    Metadata: {
      'cfn-lint': {
        config: { ignore_checks: ['E3051'] },
        reason:
          'Content is text, so that its hash can be pinned. E3051 reads only documents that are objects.',
      },
    },
    Properties: {
      Name: document.name,
      DocumentType: 'Command',
      DocumentFormat: 'JSON',
      UpdateMethod: 'NewVersion',
      Content: contentOf(document, readScript),
    },
  },
]

/** In the clusters that are named, and only there: a pattern names none. */
const namedClusters = ({ applied: { clusters } }: MemberOptions) =>
  (clusters ?? []).filter(cluster => !cluster.includes('*'))

const accessEntries = (options: MemberOptions) =>
  Object.fromEntries(
    namedClusters(options).flatMap((cluster, index) => [
      [`AccessEntry${index + 1}`, accessEntry(cluster, 'reader', roleArnOf('MakesRole', 'Role'))],
      ...(options.isRemediating
        ? [
            [
              `RemediateAccessEntry${index + 1}`,
              {
                Condition: isGiven(changes),
                ...accessEntry(
                  cluster,
                  'reader',
                  roleArnOf('MakesRemediateRole', 'RemediateRole', remediateSuffix),
                ),
              },
            ],
          ]
        : []),
      ...(options.mode === 'kubelet'
        ? [
            [
              `KubeletAccessEntry${index + 1}`,
              accessEntry(cluster, 'kubelet', ref('KubeletRoleArn')),
            ],
          ]
        : []),
    ]),
  )

/** Its stack may be that of another region. */
const roleArnOf = (condition: string, resource: string, suffix = '') => ({
  'Fn::If': [
    condition,
    { 'Fn::GetAtt': [resource, 'Arn'] },
    sub(`arn:$\{AWS::Partition}:iam::$\{AWS::AccountId}:role/$\{RoleName}${suffix}`),
  ],
})

const accessEntry = (ClusterName: string, identity: IdentityName, PrincipalArn: object) => ({
  Type: 'AWS::EKS::AccessEntry',
  Properties: { ClusterName, PrincipalArn, KubernetesGroups: [identityNames[identity]] },
})

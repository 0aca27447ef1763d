/** One source for every permission: what stands beside the calls. The documents are written from it, the stack's role is compared with it. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse, type YAMLMap, type YAMLSeq } from 'yaml'
import { cloudwatchPermissions } from '#clients/aws/cloudwatch.ts'
import { stsPermissions } from '#clients/aws/credentials.ts'
import { ec2Permissions } from '#clients/aws/ec2.ts'
import { eksPermissions } from '#clients/aws/eks.ts'
import { kmsGenerateMacPermissions, kmsVerifyMacPermissions } from '#clients/aws/kms.ts'
import { sfnPermissions } from '#clients/aws/sfn.ts'
import { ssmPermissions } from '#clients/aws/ssm.ts'
import { eventPermissions, eventSource } from '#clients/send/event-bridge.ts'
import { sesPermissions } from '#clients/send/sesv2.ts'
import { snsPermissions } from '#clients/send/sns.ts'
import {
  s3KmsPermissions,
  s3KmsReadPermissions,
  s3Permissions,
  s3ReadPermissions,
  s3VersionsPermissions,
} from '#clients/store/s3.ts'
import { awsResources } from '#facts/aws/cluster-resources.ts'
import {
  type Account,
  everyDocument,
  fleetGrants,
  type Grants,
  type IamStatement,
  iamStatements,
} from '#facts/aws/iam.ts'
import { attributesOf, policyRules } from '#facts/kubernetes/rbac.ts'
import { readModes } from '#model/input/record.ts'
import { type ClusterGarbagePolicy, defaultPolicy } from '#model/policy.ts'
import {
  agentStatements,
  applyRights,
  awsRights,
  iamPolicy,
  kubernetesRights,
  roleStatements,
} from '#pipeline/access/permissions.ts'
import { exampleApplied, permissionsDocument } from '#tools/permissions-document.ts'
import {
  logPermissions,
  networkPermissions,
  redrivePermissions,
  schedulePermissions,
  stateMachinePermissions,
  tracePermissions,
} from '#tools/service-permissions.ts'

/** A key that encrypts objects or messages, and whatever else it protects. Source: KMS developer guide, kms:ViaService: `s3.` and the region's domain. */
const keyGrants = (keyArn: string, service = 's3'): Grants => ({
  key: { Resource: keyArn, Condition: { StringLike: { 'kms:ViaService': `${service}.*` } } },
})

/**
 * Mail from one address. Which identity has verified it, it or its domain, only SES knows, and in the sandbox SES asks for the recipients' identities, too: so the address narrows it.
 * @param test `StringLike` where it may have a `*`. Source: Service Authorization Reference, SES v2, ses:FromAddress.
 */
const senderGrants = (
  identities: string,
  sender: string,
  test: 'StringEqualsIgnoreCase' | 'StringLike',
): Grants => ({
  identity: { Resource: identities, Condition: { [test]: { 'ses:FromAddress': sender } } },
})

const rights = (...of: Parameters<typeof kubernetesRights>) =>
  kubernetesRights(...of).map(({ right }) => right)

describe('the rights of a mode', () => {
  const plain = [
    'list certificatesigningrequests.certificates.k8s.io',
    'list controllerrevisions.apps',
    'list cronjobs.batch',
    'list daemonsets.apps',
    'list deployments.apps',
    'list events',
    'list jobs.batch',
    'list leases.coordination.k8s.io',
    'list nodeclasses.eks.amazonaws.com',
    'list nodepools.karpenter.sh',
    'list ec2nodeclasses.karpenter.k8s.aws',
    'list nodes',
    'list persistentvolumeclaims',
    'list persistentvolumes',
    'list poddisruptionbudgets.policy',
    'list pods',
    'list replicasets.apps',
    'list statefulsets.apps',
  ]

  it.each([
    ['proxy', [...plain, 'get nodes/proxy']],
    ['ssm', plain],
    ['both', [...plain, 'get nodes/proxy']],
    ['kubelet', plain],
  ] as const)('%s, in a cluster', (mode, expected) => {
    expect(rights(mode, 'reader').toSorted()).toEqual(expected.toSorted())
  })

  it('are fewer where the policy looks for less garbage', () => {
    const without = (clusterGarbage: Partial<ClusterGarbagePolicy>) =>
      kubernetesRights('ssm', 'reader', {
        ...defaultPolicy,
        clusterGarbage: { ...defaultPolicy.clusterGarbage, ...clusterGarbage },
      })
        .map(({ right }) => right)
        .filter(right => /jobs|leases|apps|list pods/.test(right))
    expect(without({ enabled: false })).toEqual(['list pods'])
    expect(without({ kinds: ['leases'] })).toEqual(['list pods', 'list leases.coordination.k8s.io'])
  })

  it('of the identity that kubelets see: two, and none of the reader’s', () => {
    expect(rights('kubelet', 'kubelet')).toEqual(['get nodes/configz', 'get nodes/stats'])
    for (const mode of ['proxy', 'ssm', 'both'] as const)
      expect(rights(mode, 'kubelet')).toEqual([])
  })

  it.each(readModes)('%s: each says what stays unknown without it', mode => {
    for (const { right, purpose } of [
      ...applyRights(),
      ...awsRights(mode, { bucket: 'b', prefix: '' }),
      ...kubernetesRights(mode, 'reader'),
      ...kubernetesRights(mode, 'kubelet'),
    ])
      expect({ right, purpose }).toEqual({ right, purpose: expect.stringMatching(/\w{4}/) })
  })
})

describe('RBAC', () => {
  it.each([
    ['list nodes', { verb: 'list', group: '', resource: 'nodes', subresource: '' }],
    ['get nodes/proxy', { verb: 'get', group: '', resource: 'nodes', subresource: 'proxy' }],
    [
      'list ec2nodeclasses.karpenter.k8s.aws',
      { verb: 'list', group: 'karpenter.k8s.aws', resource: 'ec2nodeclasses', subresource: '' },
    ],
  ])('%s', (right, attributes) => {
    expect(attributesOf(right)).toEqual(attributes)
  })

  it('grants what was asked for and nothing beside it', () => {
    for (const mode of readModes) {
      const asked = rights(mode, 'reader')
      const granted = policyRules(asked).flatMap(({ apiGroups, resources, verbs }) =>
        verbs.flatMap(verb =>
          resources.flatMap(resource =>
            apiGroups.map(group => `${verb} ${resource}${group && `.${group}`}`),
          ),
        ),
      )
      expect(granted.toSorted()).toEqual(asked.toSorted())
    }
  })
})

describe('IAM', () => {
  const account: Account = {
    partition: 'aws',
    account: '111122223333',
    clusters: ['prod', 'stage'],
  }
  const send = iamStatements(['ssm:SendCommand'], fleetGrants(account))

  it('narrows SendCommand to the documents, and to instances of the clusters', () => {
    expect(send).toEqual([
      {
        Effect: 'Allow',
        Action: ['ssm:SendCommand'],
        Resource: [
          'arn:aws:ssm:*:111122223333:document/Highwater-Inspect',
          'arn:aws:ssm:*:111122223333:document/Highwater-InspectDisks',
          'arn:aws:ssm:*:111122223333:document/Highwater-InspectBottlerocket',
        ],
      },
      {
        Effect: 'Allow',
        Action: ['ssm:SendCommand'],
        Resource: 'arn:aws:ec2:*:111122223333:instance/*',
        Condition: { StringEquals: { 'ssm:resourceTag/aws:eks:cluster-name': ['prod', 'stage'] } },
      },
      {
        Effect: 'Allow',
        Action: ['ssm:SendCommand'],
        Resource: 'arn:aws:ssm:*:111122223333:managed-instance/*',
        Condition: {
          StringLike: {
            'ssm:resourceTag/EKSClusterARN': [
              'arn:aws:eks:*:111122223333:cluster/prod',
              'arn:aws:eks:*:111122223333:cluster/stage',
            ],
          },
        },
      },
    ])
  })

  it('never lets the reader send a document that changes a node', () => {
    const changing = everyDocument.filter(name => name.includes('Apply') || name.includes('Sync'))
    expect(changing).toHaveLength(3)
    for (const mode of readModes)
      for (const name of changing) {
        expect(JSON.stringify(iamPolicy(mode, exampleApplied))).not.toContain(name)
        expect(JSON.stringify(iamPolicy(mode, exampleApplied, true))).toContain(`document/${name}"`)
      }
  })

  it('has * only where AWS knows nothing narrower', () => {
    const open = roleStatements('both', account).filter(({ Resource }) => Resource === '*')
    // Source: Service Authorization Reference: no resource type.
    expect(open.flatMap(({ Action }) => Action)).toEqual([
      'eks:ListClusters',
      'ec2:DescribeLaunchTemplateVersions',
      ...ssmPermissions.filter(
        action => !['ssm:SendCommand', 'ssm:DescribeDocument'].includes(action),
      ),
      'ec2:DescribeVolumes',
      'ec2:DescribeInstances',
    ])
  })

  it('lets only the reader of mode kubelet assume the kubelet role', () => {
    const assumed = readModes.map(mode => [
      mode,
      iamPolicy(mode, exampleApplied).Statement.filter(({ Action }) =>
        Action.includes('sts:AssumeRole'),
      ),
    ])
    expect(Object.fromEntries(assumed)).toEqual({
      ...{ proxy: [], ssm: [], both: [] },
      kubelet: [
        { Effect: 'Allow', Action: ['sts:AssumeRole'], Resource: exampleApplied.roles.kubelet },
      ],
    })
  })

  it('narrows the reading of long answers to the bucket and its folder, and writing them is the instances’ own', () => {
    const output = { bucket: 'answers', prefix: 'nodes' }
    const ofS3 = (statements: readonly IamStatement[]) =>
      statements.filter(({ Action }) => Action.some(action => action.startsWith('s3:')))
    const grant = (Action: string, Resource: string) => ({
      Effect: 'Allow',
      Action: [Action],
      Resource,
    })
    for (const mode of readModes) {
      const isAsked = awsRights(mode).some(({ right }) => right === 'ssm:SendCommand')
      expect(ofS3(roleStatements(mode, account))).toEqual([])
      expect(ofS3(roleStatements(mode, account, output))).toEqual(
        isAsked
          ? [
              grant('s3:GetObject', 'arn:aws:s3:::answers/nodes/*'),
              grant('s3:ListBucket', 'arn:aws:s3:::answers'),
            ]
          : [],
      )
    }
    expect(agentStatements('aws-cn', output)).toEqual([
      grant('s3:PutObject', 'arn:aws-cn:s3:::answers/nodes/*'),
      grant('s3:GetEncryptionConfiguration', 'arn:aws-cn:s3:::answers'),
    ])
  })

  it('narrows what alarms need to them, and the document names it', () => {
    const alarm = { Resource: 'arn:aws:cloudwatch:*:111122223333:alarm:*' }
    expect(iamStatements(cloudwatchPermissions, { alarm })).toEqual([
      { Effect: 'Allow', Action: cloudwatchPermissions, ...alarm },
    ])
    for (const action of cloudwatchPermissions)
      expect(permissionsDocument()).toContain(`\`${action}\` on them`)
  })

  it('does not guess what an action that it does not know may be narrowed to', () => {
    expect(() => iamStatements(['eks:DeleteCluster'], fleetGrants(account))).toThrow(
      'eks:DeleteCluster',
    )
  })
})

describe('the roles of the stack', () => {
  const sub = (name: string) => `$\{${name}}`
  const customTags = [
    { tag: '!Sub', resolve: (text: string) => text },
    { tag: '!Ref', resolve: (name: string) => sub(name) },
    { tag: '!GetAtt', resolve: (path: string) => sub(path) },
    // As where its condition holds.
    { tag: '!If', collection: 'seq' as const, resolve: (list: YAMLMap | YAMLSeq) => list.items[1] },
    ...['!Join', '!Split'].map(tag => ({
      tag,
      collection: 'seq' as const,
      resolve: (list: YAMLMap | YAMLSeq) => list,
    })),
  ]
  const { Resources } = parse(readFileSync('src/handlers/stack/roles.yml', 'utf8'), { customTags })
  const seals = parse(readFileSync('src/handlers/stack/seals.yml', 'utf8'), {
    customTags,
    merge: true,
  }).Resources
  const statements = (document: { Statement: IamStatement[] }) =>
    document.Statement.map(canonical).toSorted()
  const stack: Account = {
    partition: sub('AWS::Partition'),
    account: sub('AWS::AccountId'),
    clusters: null,
  }
  const arn = (service: string, rest: string) => `arn:${sub('AWS::Partition')}:${service}:${rest}`
  const here = `${sub('AWS::Region')}:${sub('AWS::AccountId')}`
  /** Roles of other accounts come by a policy of their own: only where the stack names some. */
  const ownAccount = (statements: IamStatement[]) =>
    statements.filter(({ Action }) => !Action.includes('sts:AssumeRole'))

  const object = (...prefixes: string[]) =>
    prefixes.map(
      prefix =>
        `${sub('ReportBucket.Arn')}/${sub('Prefix')}${prefix}${prefix === 'index.html' ? '' : '*'}`,
    )
  /** What a function needs of its bucket and its log. It reads all that lies there, and writes only its own. */
  function ownStatements(name: string, written: string[], more: string[] = []): IamStatement[] {
    const own: Grants = {
      object: { Resource: object('') },
      bucket: { Resource: sub('ReportBucket.Arn') },
      'log-stream': {
        Resource: arn('logs', `${here}:log-group:/aws/lambda/${sub('AWS::StackName')}-${name}:*`),
      },
    }
    const reads = s3Permissions.filter(action => action !== 's3:PutObject')
    return [
      ...iamStatements([...reads, ...more, ...logPermissions], own),
      ...iamStatements(['s3:PutObject'], { object: { Resource: object(...written) } }),
    ]
  }
  /** What stands in a role itself, under its one policy. */
  function inRole(name: string) {
    const [policy, ...others] = Resources[name].Properties.Policies
    expect(others).toEqual([])
    return statements(policy.PolicyDocument)
  }

  interface Policy {
    PolicyDocument: { Statement: IamStatement[] }
  }
  /** What policies add to a role that stand beside it. */
  const attached = (role: string): IamStatement[] =>
    Object.values<{ Properties: Partial<Policy> & { Roles?: string[]; RoleName?: string } }>(
      Resources,
    ).flatMap(({ Properties: { Roles, RoleName, PolicyDocument } }) =>
      [Roles ?? [], RoleName ?? []].flat().includes(sub(role))
        ? (PolicyDocument?.Statement ?? [])
        : [],
    )

  it('grants the function what the code calls, as narrow as AWS allows, and no more', () => {
    const written = ['history/', 'index.html', 'latest/', 'runs/', 'remediation/plans/']
    const expected = [
      ...ownAccount(roleStatements('proxy', stack)),
      ...ownStatements('audit', written),
      ...iamStatements(sfnPermissions, {
        'state-machine': { Resource: sub('StateMachine') },
        execution: { Resource: arn('states', `${here}:execution:${sub('AWS::StackName')}:*`) },
      }),
    ]
    expect(inRole('AuditRole')).toEqual(expected.map(canonical).toSorted())
  })

  it.each([
    ['DiscoverRole', 'discover', [...eksPermissions, ...ec2Permissions], ['runs/']],
    [
      'AuditShardRole',
      'auditShard',
      [...awsResources.map(({ action }) => action), 'eks:DescribeCluster'],
      ['runs/'],
    ],
    [
      'PublishRole',
      'publish',
      [],
      ['history/', 'index.html', 'latest/', 'runs/', 'remediation/plans/'],
    ],
  ] as const)(
    'grants each function of a fan-out its part of that: %s',
    (role, name, called, written) => {
      const expected = [
        ...iamStatements(called, fleetGrants(stack)),
        ...ownStatements(name, [...written]),
      ]
      expect(inRole(role)).toEqual(expected.map(canonical).toSorted())
    },
  )

  it('lets the state machine invoke its functions, read what there is to do and start itself for each cluster', () => {
    const execution = (rest: string) =>
      arn('states', `${here}:execution:${sub('AWS::StackName')}${rest}`)
    const own: Grants = {
      function: {
        Resource: ['Discover', 'AuditShard', 'Publish'].map(name =>
          sub(`${name}LambdaFunction.Arn`),
        ),
      },
      object: { Resource: object('runs/').map(any => `${any}/fan-out/work.json`) },
      'state-machine': { Resource: arn('states', `${here}:stateMachine:${sub('AWS::StackName')}`) },
      execution: { Resource: [execution(':*'), execution('/*')] },
    }
    const expected = [
      ...iamStatements(stateMachinePermissions, own),
      ...iamStatements(redrivePermissions, { execution: { Resource: execution('/*') } }),
    ]
    expect(inRole('StateMachineRole')).toEqual(expected.map(canonical).toSorted())
  })

  it.each([
    ['AuditSsmPolicy', ['AuditRole', 'AuditShardRole']],
    ['AuditOutputPolicy', ['AuditRole', 'AuditShardRole']],
    ['AuditKubeletPolicy', ['AuditRole', 'AuditShardRole']],
    ['AuditMailPolicy', ['AuditRole', 'PublishRole']],
    ['AuditPolicySenderPolicy', ['AuditRole', 'PublishRole']],
    ['AuditTopicPolicy', ['AuditRole', 'PublishRole']],
    ['AuditMemberPolicy', ['AuditRole', 'DiscoverRole', 'AuditShardRole']],
    ['AuditKmsPolicy', ['AuditRole', 'DiscoverRole', 'AuditShardRole', 'PublishRole']],
  ])('grants optional rights only to the roles that need them: %s', (name, to) => {
    expect(Resources[name].Properties.Roles).toEqual(to.map(sub))
  })

  it('grants who applies plans a role of its own, only where remediation is on', () => {
    expect(Resources.RemediateRole.Condition).toBe('Remediates')
    const expected = [
      ...ownAccount(roleStatements('ssm', stack, null, true)),
      ...ownStatements('remediate', ['remediation/'], s3VersionsPermissions),
    ]
    expect(inRole('RemediateRole')).toEqual(expected.map(canonical).toSorted())
  })

  it('lets who changes nodes seal runs, and only check approvals', () => {
    const { Condition, Properties } = seals.RemediateSealPolicy
    expect([Condition, Properties.RoleName]).toEqual(['Remediates', sub('RemediateRole')])
    const key = (name: string): Grants => ({ key: { Resource: sub(`${name}.Arn`) } })
    const both = [...kmsGenerateMacPermissions, ...kmsVerifyMacPermissions]
    const expected = [
      ...iamStatements(both, key('RunKey')),
      ...iamStatements(kmsVerifyMacPermissions, key('ApprovalKey')),
    ]
    expect(statements(Properties.PolicyDocument)).toEqual(expected.map(canonical).toSorted())
  })

  it.each([
    [
      'RunKey',
      [
        [sub('RemediateRole.Arn'), ['kms:GenerateMac', 'kms:VerifyMac']],
        [sub('ApplierArns'), ['kms:GenerateMac', 'kms:VerifyMac']],
      ],
    ],
    [
      'ApprovalKey',
      [
        [sub('RemediateRole.Arn'), ['kms:VerifyMac']],
        [sub('ApplierArns'), ['kms:VerifyMac']],
        [sub('ApproverArns'), ['kms:GenerateMac', 'kms:VerifyMac']],
      ],
    ],
  ])('lets no other role seal, by the policy of the key: %s', (name, expected) => {
    const used = (seals[name].Properties.KeyPolicy.Statement as unknown[])
      // As where its condition holds.
      .map(statement => (Array.isArray(statement) ? statement[1] : statement))
      .map(({ Principal, Action }) => [Principal.AWS, Action])
      .filter(([, actions]) => actions.some((action: string) => action.endsWith('Mac')))
    expect(used).toEqual(expected)
  })

  it.each([
    ['ScheduleRole', 'AuditLambdaFunction'],
    ['RemediateScheduleRole', 'RemediateLambdaFunction'],
  ])(
    'lets a schedule invoke its function, keep what it could not hand over, and nothing else: %s',
    (name, target) => {
      const own: Grants = {
        function: { Resource: sub(`${target}.Arn`) },
        queue: { Resource: sub('UndeliveredQueue.Arn') },
      }
      expect(inRole(name)).toEqual(
        iamStatements(schedulePermissions, own).map(canonical).toSorted(),
      )
    },
  )

  it('grants what SSM needs only where it is wanted', () => {
    const { Condition, Properties } = Resources.AuditSsmPolicy
    expect(Condition).toBe('ReadsBySsm')
    expect(statements(Properties.PolicyDocument)).toEqual(
      iamStatements(ssmPermissions, fleetGrants(stack)).map(canonical).toSorted(),
    )
  })

  it.each([
    ['AuditOutputPolicy', 'HasInspectOutput'],
    ['RemediateOutputPolicy', 'RemediatesWithInspectOutput'],
  ])(
    'lets a function read long answers only where there is a bucket for them: %s',
    (name, condition) => {
      const { Condition, Properties } = Resources[name]
      expect(Condition).toBe(condition)
      const bucket = `arn:${sub('AWS::Partition')}:s3:::${sub('InspectOutputBucket')}`
      const output: Grants = {
        bucket: { Resource: bucket },
        object: { Resource: `${bucket}/${sub('InspectOutputPrefix')}*` },
      }
      expect(statements(Properties.PolicyDocument)).toEqual(
        iamStatements(s3ReadPermissions, output).map(canonical).toSorted(),
      )
    },
  )

  it.each([
    ['AuditMailPolicy', 'HasSender', 'Sender', 'StringEqualsIgnoreCase'],
    ['AuditPolicySenderPolicy', 'HasPolicySender', 'PolicySender', 'StringLike'],
  ] as const)(
    'lets a function mail only where there is a sender, and from that address alone: %s',
    (name, condition, parameter, test) => {
      const { Condition, Properties } = Resources[name]
      expect(Condition).toBe(condition)
      const mail = senderGrants(arn('ses', `${here}:identity/*`), sub(parameter), test)
      expect(statements(Properties.PolicyDocument)).toEqual(
        iamStatements(sesPermissions, mail).map(canonical).toSorted(),
      )
    },
  )

  it('lets the function publish to the topic only where there is one', () => {
    const { Condition, Properties } = Resources.AuditTopicPolicy
    expect(Condition).toBe('HasTopic')
    const topic: Grants = { topic: { Resource: sub('TopicArn') } }
    expect(statements(Properties.PolicyDocument)).toEqual(
      iamStatements(snsPermissions, topic).map(canonical),
    )
    for (const action of snsPermissions)
      expect(permissionsDocument()).toContain(`\`${action}\` on that topic`)
  })

  it('lets the function put its own events on the bus only where there is one', () => {
    const { Condition, Properties } = Resources.AuditEventBusPolicy
    expect(Condition).toBe('HasEventBus')
    expect(Properties.PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: eventPermissions,
        Resource: sub('EventBusArn'),
        Condition: { StringEquals: { 'events:source': eventSource } },
      },
    ])
    for (const action of eventPermissions)
      expect(permissionsDocument()).toContain(`\`${action}\` on that bus`)
  })

  it.each([
    ['AuditKmsPolicy', 'HasKmsKey'],
    ['StateMachineKmsPolicy', 'HasKmsKey'],
    ['RemediateKmsPolicy', 'RemediatesWithKmsKey'],
    ['ScheduleKmsPolicy', 'HasKmsKey', 'sqs.*'],
  ])('lets a key be used only where there is one: %s', (name, condition, via = 's3.*') => {
    const { Condition, Properties } = Resources[name]
    expect(Condition).toBe(condition)
    expect(JSON.stringify(Properties)).toContain(`"kms:ViaService":"${via}"`)
  })

  it.each(
    Object.keys(Resources).filter(
      name => name.endsWith('Role') && Resources[name].Properties.Policies,
    ),
  )('lets a key encrypt for the writer, and decrypt for the reader: %s', name => {
    const isOfBucket = ({ Resource }: IamStatement) =>
      [Resource].flat().some(arn => arn.includes('ReportBucket'))
    const own: IamStatement[] = Resources[name].Properties.Policies.flatMap(
      (policy: Policy) => policy.PolicyDocument.Statement,
    )
    const does = own.filter(isOfBucket).flatMap(({ Action }) => Action)
    // Source: S3 user guide, SSE-KMS: writing needs a data key, reading what was written its decryption.
    const reads = does.includes('s3:GetObject') ? s3KmsReadPermissions : []
    // Source: SQS developer guide, key management: a sender to an encrypted queue needs both.
    const isSender = own.some(({ Action }) => Action.includes('sqs:SendMessage'))
    const needed = isSender || does.includes('s3:PutObject') ? s3KmsPermissions : reads
    const withKey = attached(name).filter(({ Action }) =>
      Action.some(action => action.startsWith('kms:')),
    )
    expect(withKey.map(canonical)).toEqual(
      iamStatements(needed, keyGrants(sub('KmsKeyArn'), isSender ? 'sqs' : 's3')).map(canonical),
    )
  })

  it.each([
    ['AuditKubeletPolicy', 'TakesKubeletRole'],
    ['RemediateKubeletPolicy', 'RemediatesWithKubeletRole'],
  ])(
    'lets the function become the role that kubelets see only where there is one: %s',
    (name, condition) => {
      const { Condition, Properties } = Resources[name]
      expect(Condition).toBe(condition)
      const kubelet: Grants = {
        role: {
          Resource: [
            arn('iam', `:${sub('AWS::AccountId')}:role/${sub('KubeletRole')}`),
            sub('SeenByKubeletsRole.Arn'),
          ],
        },
      }
      expect(statements(Properties.PolicyDocument)).toEqual(
        iamStatements(stsPermissions, kubelet).map(canonical),
      )
    },
  )

  it('makes the role that kubelets see only where that is wanted: it may do nothing in AWS, and only those take it that are granted to', () => {
    const { Condition, Properties } = Resources.SeenByKubeletsRole
    expect(Condition).toBe('ReadsByKubelet')
    expect(Object.keys(Properties)).toEqual(['Description', 'AssumeRolePolicyDocument'])
    const { Roles } = Resources.AuditKubeletPolicy.Properties
    const { RoleName } = Resources.RemediateKubeletPolicy.Properties
    expect(Properties.AssumeRolePolicyDocument.Statement).toEqual([
      {
        ...{ Effect: 'Allow', Action: 'sts:AssumeRole' },
        Principal: { AWS: [...Roles, RoleName].map((role: string) => role.replace('}', '.Arn}')) },
      },
    ])
  })

  it('lets Lambda put functions into subnets only where there are some, and never the functions’ own code', () => {
    const { Condition, Properties } = Resources.NetworkPolicy
    expect(Condition).toBe('InVpc')
    const inVpc = (...names: string[]) => ({
      Resource: names.map(name => arn('ec2', `${here}:${name}/*`)),
    })
    const allowed = [
      ...iamStatements(['ec2:CreateNetworkInterface'], {
        subnet: inVpc('subnet', 'security-group'),
      }),
      ...iamStatements(networkPermissions, { 'network-interface': inVpc('network-interface') }),
    ]
    const isDenied = (statement: { Effect: string }) => statement.Effect === 'Deny'
    const all: IamStatement[] = Properties.PolicyDocument.Statement
    expect(all.filter(statement => !isDenied(statement)).map(canonical)).toEqual(
      expect.arrayContaining(allowed.map(canonical)),
    )
    expect(all).toHaveLength(allowed.length + 1)
    expect(all.filter(isDenied)).toEqual([
      {
        Effect: 'Deny',
        Action: expect.toSatisfy(
          (actions: string[]) => actions.toSorted().join() === networkPermissions.toSorted().join(),
        ),
        Resource: '*',
        Condition: {
          ArnLike: {
            'lambda:SourceFunctionArn': arn(
              'lambda',
              `${here}:function:${sub('AWS::StackName')}-*`,
            ),
          },
        },
      },
    ])
  })

  it('lets functions be traced only where that is wanted', () => {
    const { Condition, Properties } = Resources.TracePolicy
    expect(Condition).toBe('Traces')
    expect(statements(Properties.PolicyDocument)).toEqual(
      iamStatements(tracePermissions, {}).map(canonical),
    )
  })

  it('are all looked at here', () => {
    const looked = [
      ...['DiscoverRole', 'AuditShardRole', 'PublishRole', 'StateMachineRole'],
      ...[
        'AuditRole',
        'RemediateRole',
        'ScheduleRole',
        'RemediateScheduleRole',
        'AuditSsmPolicy',
        'AuditTopicPolicy',
        'AuditEventBusPolicy',
      ],
      ...[
        'AuditOutputPolicy',
        'RemediateOutputPolicy',
        'AuditKmsPolicy',
        'StateMachineKmsPolicy',
        'ScheduleKmsPolicy',
        'RemediateKmsPolicy',
        'AuditKubeletPolicy',
        'AuditMailPolicy',
        'AuditPolicySenderPolicy',
      ],
      ...[
        'AuditMemberPolicy',
        'RemediateMemberPolicy',
        'RemediateKubeletPolicy',
        'SeenByKubeletsRole',
        'NetworkPolicy',
        'TracePolicy',
      ],
    ]
    expect(Object.keys(Resources).toSorted()).toEqual(looked.toSorted())
  })
})

/** Order says nothing in IAM, and one value is a list of one. */
function canonical({ Effect, Action, Resource, Condition }: IamStatement): string {
  const list = (value: string | readonly string[]) => [value].flat().toSorted()
  return JSON.stringify([
    list(Resource),
    list(Action),
    Effect,
    Condition &&
      Object.entries(Condition).map(([test, keys]) => [
        test,
        Object.entries(keys).map(([key, values]) => [key, list(values)]),
      ]),
  ])
}

it('docs/permissions.md is what the code says', async () => {
  await expect(permissionsDocument()).toMatchFileSnapshot('../../docs/permissions.md')
})

it('the README leads there', () => {
  expect(readFileSync('README.md', 'utf8')).toContain('docs/permissions.md')
})

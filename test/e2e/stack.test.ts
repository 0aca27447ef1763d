/** What CloudFormation would make: the template that the framework makes of serverless.yml, with its parameters and conditions resolved. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import { iamStatements } from '#facts/aws/iam.ts'
import { inspectDocumentHashes } from '#facts/aws/inspect-targets.ts'
import { parseAuditEvent } from '#handlers/audit.ts'
import { parseRemediationEvent } from '#handlers/remediate.ts'
import { readModes } from '#model/input/record.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { parseSettings } from '#settings.ts'
import { type Packaged, packageService } from '#test/packaged.ts'
import {
  instantiate,
  ofType,
  parseTemplate,
  type Resource,
  type Stack,
  type Template,
  wholeParameters,
} from '#test/template.ts'

let packaged: Packaged
/** As it is by default; and with all that can be had. */
let stack: Stack
let whole: Stack

beforeAll(async () => {
  packaged = await packageService()
  stack = instantiate(packaged.template)
  whole = instantiate(packaged.template, wholeParameters)
}, 130_000)
afterAll(() => packaged.remove())

interface Statement {
  Effect: string
  Action: string | string[]
  Resource: unknown
  Principal?: unknown
  Condition?: unknown
}
/** Every statement of every policy that stands anywhere in it. */
function statementsIn(node: unknown): Statement[] {
  if (typeof node !== 'object' || node === null) return []
  if ('Effect' in node) return [node as Statement]
  return Object.values(node).flatMap(statementsIn)
}
const withoutKeys = (resources: Stack['resources']) =>
  Object.fromEntries(Object.entries(resources).filter(([, { Type }]) => Type !== 'AWS::KMS::Key'))
const grantsIn = (node: unknown) => statementsIn(node).filter(({ Effect }) => Effect === 'Allow')
const actionsOf = (role: string) =>
  grantsIn(whole.resources[role]?.Properties.Policies).flatMap(({ Action }) => Action)
const named = (of: Stack, name: string): Resource['Properties'] => {
  const resource = of.resources[name]
  if (!resource) throw new Error(`the stack has no ${name}`)
  return resource.Properties
}

/** As serverless.yml says them. */
function parametersDocument({ Parameters }: Template): string {
  const rows = Object.entries(Parameters).map(([name, { Default, Description, AllowedValues }]) => {
    const parameter = name.replace(/^./, letter => letter.toLowerCase())
    const values = AllowedValues
      ? ` One of ${AllowedValues.map(value => `\`${value}\``).join(', ')}.`
      : ''
    return `| \`${parameter}\` | ${Default === '' ? '' : `\`${Default}\``} | ${Description}${values} |`
  })
  return [
    '# Which parameters does the stack have?',
    '',
    "`npm run docs` writes this page from [serverless.yml](../serverless.yml). Set a parameter with `--param='NAME=VALUE'`, or for a stage under `params`. With CloudFormation alone, names begin with a capital letter.",
    '',
    '| parameter | default | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

describe('the parameters', () => {
  it('each say what they are for and have a default, under the name that --param gives', () => {
    for (const [name, parameter] of Object.entries(packaged.template.Parameters)) {
      expect(parameter, name).toMatchObject({
        Description: expect.stringMatching(/^\S.{15,}\.$/),
        Default: expect.anything(),
      })
      expect(parameter.Description?.length, name).toBeLessThan(400)
    }
  })

  it('are listed in docs/parameters.md', async () => {
    await expect(parametersDocument(packaged.template)).toMatchFileSnapshot(
      '../../docs/parameters.md',
    )
  })

  it('are each used', () => {
    const { Parameters, ...rest } = packaged.template
    const text = JSON.stringify(rest)
    for (const name of Object.keys(Parameters))
      expect(text).toMatch(new RegExp(`"Ref":"${name}"|\\$\\{${name}\\}`))
  })
})

describe('the functions', () => {
  it('run on the Node that the sources are written for, the last only where remediation is on', () => {
    const on = { Runtime: 'nodejs24.x', Architectures: ['arm64'], Timeout: 900, MemorySize: '1024' }
    const always = ['audit', 'discover', 'auditShard', 'publish'].map(name => ({
      Properties: { ...on, Handler: `.build/${name}.handler` },
    }))
    expect(ofType(stack, 'AWS::Lambda::Function')).toMatchObject(always)
    expect(ofType(whole, 'AWS::Lambda::Function')).toMatchObject([
      ...always,
      { Properties: { ...on, Handler: '.build/remediate.handler' } },
    ])
  })

  it('get every setting, under the names that the settings know', () => {
    const variablesOf = (name: string) =>
      (named(whole, name).Environment as { Variables: Record<string, string> }).Variables
    const variables = variablesOf('AuditLambdaFunction')
    const { HIGHWATER_STATE_MACHINE_ARN: machine, ...telling } = variables
    const {
      HIGHWATER_TOPIC_ARN: _topic,
      HIGHWATER_EVENT_BUS_ARN: _bus,
      HIGHWATER_WEBHOOK_URL: webhook,
      HIGHWATER_WEBHOOK_HOSTS: _hosts,
      HIGHWATER_WEBHOOK_FORMAT: _format,
      ...shared
    } = telling
    expect(variablesOf('PublishLambdaFunction')).toEqual(telling)
    for (const name of ['Discover', 'AuditShard'])
      expect(variablesOf(`${name}LambdaFunction`)).toEqual(shared)
    const seals = {
      HIGHWATER_RUN_KEY_ID: '<RunKey.Arn>',
      HIGHWATER_APPROVAL_KEY_ID: '<ApprovalKey.Arn>',
    }
    expect(variablesOf('RemediateLambdaFunction')).toEqual({ ...shared, ...seals })
    expect(machine).toBe('<StateMachine>')
    // Read by CloudFormation when the stack is deployed: the template has no secret.
    expect(webhook).toBe(
      `{{resolve:secretsmanager:${wholeParameters.WebhookSecretArn}:SecretString}}`,
    )
    const settings = parseSettings({
      ...variables,
      HIGHWATER_RUN_KEY_ID: 'alias/runs',
      HIGHWATER_APPROVAL_KEY_ID: 'alias/approvals',
      HIGHWATER_BUCKET: 'reports',
      HIGHWATER_WEBHOOK_URL: 'https://hooks.slack.com/services/T0',
      HIGHWATER_STATE_MACHINE_ARN:
        'arn:aws:states:eu-west-1:111122223333:stateMachine:highwater-prod',
    })
    expect(settings).toEqual({
      bucket: 'reports',
      prefix: 'eks/',
      kmsKeyId: wholeParameters.KmsKeyArn,
      runKeyId: 'alias/runs',
      approvalKeyId: 'alias/approvals',
      sender: 'highwater@example.com',
      recipients: ['a@example.com', 'b@example.com'],
      topicArn: wholeParameters.TopicArn,
      eventBusArn: wholeParameters.EventBusArn,
      webhookUrl: 'https://hooks.slack.com/services/T0',
      reportBaseUrl: 'https://reports.example.com',
      stateMachineArn: 'arn:aws:states:eu-west-1:111122223333:stateMachine:highwater-prod',
      webhookFormat: 'slack',
      webhookHosts: ['hooks.slack.com'],
      policyGrants: {
        memberRoles: wholeParameters.MemberRoleArns.split(','),
        kubeletRoles: [
          'arn:aws:iam::111122223333:role/highwater-prod-SeenByKubeletsRole-*',
          'arn:aws:iam::111122223333:role/highwater-kubelet',
        ],
        showsOwnToken: false,
        plans: true,
        approvals: false,
        mail: ['example.com', 'team.example.com'],
        inspectOutputBucket: 'answers',
      },
    })
    expect(variables.HIGHWATER_SERVICE).toBe('highwater-prod')
    expect(named(whole, 'NoReportAlarm').Dimensions).toEqual([
      { Name: 'service', Value: 'highwater-prod' },
    ])
  })

  it('run in subnets and are traced only where that is wanted', () => {
    for (const { Properties } of ofType(stack, 'AWS::Lambda::Function')) {
      expect(Properties).toMatchObject({ TracingConfig: { Mode: 'PassThrough' } })
      expect(Properties).not.toHaveProperty('VpcConfig')
    }
    for (const { Properties } of ofType(whole, 'AWS::Lambda::Function'))
      expect(Properties).toMatchObject({
        TracingConfig: { Mode: 'Active' },
        VpcConfig: { SubnetIds: ['subnet-0a', 'subnet-0b'], SecurityGroupIds: ['sg-0a'] },
      })
    expect(named(stack, 'AuditRole').ManagedPolicyArns).toEqual([])
    for (const role of [
      'AuditRole',
      'DiscoverRole',
      'AuditShardRole',
      'PublishRole',
      'RemediateRole',
    ])
      expect(named(whole, role).ManagedPolicyArns).toEqual(['<NetworkPolicy>', '<TracePolicy>'])
  })

  it('are not tried again by themselves when they end red: they could not know that the mail went', () => {
    expect(
      ofType(whole, 'AWS::Lambda::EventInvokeConfig').map(
        ({ Properties }) => Properties.MaximumRetryAttempts,
      ),
    ).toEqual([0, 0])
  })

  it('have a key and reserved executions only where these are given', () => {
    const given = {
      KmsKeyArn: wholeParameters.KmsKeyArn,
      ReservedConcurrentExecutions: wholeParameters.ReservedConcurrency,
    }
    for (const { Properties } of ofType(whole, 'AWS::Lambda::Function'))
      expect(Properties).toMatchObject(given)
    for (const { Properties } of ofType(stack, 'AWS::Lambda::Function'))
      for (const name of Object.keys(given)) expect(Properties).not.toHaveProperty(name)
  })

  it('have logs that expire, and that the given key encrypts', () => {
    for (const { Properties } of ofType(whole, 'AWS::Logs::LogGroup'))
      expect(Properties.KmsKeyId).toBe(wholeParameters.KmsKeyArn)
    const logs = ofType(
      instantiate(packaged.template, { Remediation: 'on', LogRetentionDays: '90' }),
      'AWS::Logs::LogGroup',
    )
    expect(logs.map(({ Properties }) => Properties)).toEqual(
      ['audit', 'discover', 'auditShard', 'publish', 'remediate'].map(name => ({
        LogGroupName: `/aws/lambda/highwater-prod-${name}`,
        RetentionInDays: '90',
      })),
    )
  })
})

describe('the state machine', () => {
  it('is the one that the tests run, with the functions that it invokes, and a disk for the last of them', () => {
    const { Definition, DefinitionSubstitutions, RoleArn } = named(stack, 'StateMachine')
    expect(Definition).toEqual(
      JSON.parse(readFileSync('src/pipeline/fan-out/state-machine.json', 'utf8')),
    )
    expect(DefinitionSubstitutions).toEqual(
      Object.fromEntries(
        ['Discover', 'AuditShard', 'Publish'].map(name => [
          `${name}Arn`,
          `<${name}LambdaFunction.Arn>`,
        ]),
      ),
    )
    // CloudFormation takes no null, not even in another language's objects.
    expect(JSON.stringify(packaged.template.Resources.StateMachine)).not.toContain(':null')
    const filled = [...JSON.stringify(Definition).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)
    expect([...new Set(filled)].toSorted()).toEqual(
      Object.keys(DefinitionSubstitutions as object).toSorted(),
    )
    expect(RoleArn).toBe('<StateMachineRole.Arn>')
    expect(named(stack, 'PublishLambdaFunction').EphemeralStorage).toEqual({ Size: 5120 })
  })
})

describe('the schedules', () => {
  it('come with the tick’s time, a clock of their own and a window; what cannot be handed over is tried again, and then kept', () => {
    const schedule = named(stack, 'AuditSchedule')
    expect(schedule).toMatchObject({
      ScheduleExpression: 'cron(0 5 * * ? *)',
      ScheduleExpressionTimezone: 'Etc/UTC',
      State: 'ENABLED',
      FlexibleTimeWindow: { Mode: 'FLEXIBLE', MaximumWindowInMinutes: '15' },
      Target: {
        Arn: '<AuditLambdaFunction.Arn>',
        RoleArn: '<ScheduleRole.Arn>',
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 20 },
        DeadLetterConfig: { Arn: '<UndeliveredQueue.Arn>' },
      },
    })
    const { Input } = schedule.Target as { Input: string }
    const scheduledTime = '2026-11-21T05:00:00.000Z'
    expect(
      parseAuditEvent(
        JSON.parse(Input.replace('<aws.scheduler.scheduled-time>', '2026-11-21T05:00:00Z')),
      ),
    ).toMatchObject({ scheduledTime })
    expect(named(stack, 'UndeliveredQueue')).toMatchObject({
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 14 * 86_400,
    })
  })

  it('observe between audits only where a schedule is given', () => {
    const observing = instantiate(packaged.template, { ObserveSchedule: 'rate(1 hour)' })
    const { ScheduleExpression, Target } = named(observing, 'ObserveTick') as {
      ScheduleExpression: string
      Target: { Input: string }
    }
    expect(ScheduleExpression).toBe('rate(1 hour)')
    const input = Target.Input.replace('<aws.scheduler.scheduled-time>', '2026-11-21T05:00:00Z')
    expect(parseAuditEvent(JSON.parse(input))).toMatchObject({ isObservation: true })
  })

  it('go on with what was approved every quarter of an hour, only where remediation is on', () => {
    expect(ofType(stack, 'AWS::Scheduler::Schedule')).toHaveLength(1)
    const { ScheduleExpression, Target } = named(whole, 'RemediateSchedule') as {
      ScheduleExpression: string
      Target: { Input: string }
    }
    expect(ScheduleExpression).toBe('rate(15 minutes)')
    expect(parseRemediationEvent(JSON.parse(Target.Input))).toEqual({ action: 'resume', run: null })
    expect(Target).toMatchObject({
      Arn: '<RemediateLambdaFunction.Arn>',
      RoleArn: '<RemediateScheduleRole.Arn>',
    })
  })
})

describe('where reports go', () => {
  it('is a bucket that is private, encrypted, kept, and cleaned up after a while', () => {
    expect(stack.resources.ReportBucket?.DeletionPolicy).toBe('Retain')
    const open = {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    }
    const encrypted = (by: object) => ({
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: by }],
    })
    const rule = (Prefix: string) =>
      expect.objectContaining({ Status: 'Enabled', Prefix, ExpirationInDays: '400' })
    expect(named(stack, 'ReportBucket')).toMatchObject({
      PublicAccessBlockConfiguration: open,
      BucketEncryption: encrypted({ SSEAlgorithm: 'AES256' }),
      LifecycleConfiguration: { Rules: expect.arrayContaining([rule('runs/'), rule('history/')]) },
    })
    expect(named(whole, 'ReportBucket')).toMatchObject({
      BucketEncryption: encrypted({
        SSEAlgorithm: 'aws:kms',
        KMSMasterKeyID: wholeParameters.KmsKeyArn,
      }),
      LifecycleConfiguration: {
        Rules: expect.arrayContaining([rule('eks/runs/'), rule('eks/history/')]),
      },
      LoggingConfiguration: { DestinationBucketName: 'access-logs', LogFilePrefix: 'highwater/' },
    })
    expect(named(stack, 'ReportBucket')).not.toHaveProperty('LoggingConfiguration')
  })

  it('creates the SES identity only if the sender has none', () => {
    expect(ofType(stack, 'AWS::SES::EmailIdentity')).toEqual([])
    expect(named(whole, 'SenderEmailIdentity')).toEqual({ EmailIdentity: 'example.com' })
    expect(whole.outputs.SenderDnsRecords).toMatch(
      /^<SenderEmailIdentity.DkimDNSTokenName1> CNAME <.*Value1>, .*Value3>$/,
    )
    const address = instantiate(packaged.template, { SenderIdentity: 'team@example.com' })
    expect(ofType(address, 'AWS::SES::EmailIdentity')).toHaveLength(1)
    expect(address.outputs).not.toHaveProperty('SenderDnsRecords')
  })
})

describe('the alarms', () => {
  it('ring for missing reports, failed runs and undelivered ticks', () => {
    const alarms = ofType(whole, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)
    expect(alarms).toMatchObject([
      {
        MetricName: 'ReportsPublished',
        Period: 3600,
        EvaluationPeriods: '26',
        TreatMissingData: 'breaching',
        Threshold: 1,
      },
      {
        MetricName: 'Errors',
        Dimensions: [{ Name: 'FunctionName', Value: '<AuditLambdaFunction>' }],
        TreatMissingData: 'notBreaching',
      },
      {
        MetricName: 'ExecutionsFailed',
        Dimensions: [{ Name: 'StateMachineArn', Value: '<StateMachine>' }],
      },
      {
        MetricName: 'Errors',
        Dimensions: [{ Name: 'FunctionName', Value: '<RemediateLambdaFunction>' }],
      },
      {
        MetricName: 'ApproximateNumberOfMessagesVisible',
        Dimensions: [{ Name: 'QueueName', Value: '<UndeliveredQueue.QueueName>' }],
      },
    ])
    for (const { AlarmActions } of alarms)
      expect(AlarmActions).toEqual([wholeParameters.AlarmTopicArn, '<AlarmTopic>'])
    expect(
      ofType(stack, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmActions),
    ).toEqual([[], [], [], []])
  })

  it('reach a mailbox by a topic that only alarms of this stack may write to', () => {
    expect(named(whole, 'AlarmTopic')).toEqual({
      KmsMasterKeyId: wholeParameters.KmsKeyArn,
      Subscription: [{ Protocol: 'email', Endpoint: 'ops@example.com' }],
    })
    expect(statementsIn(named(whole, 'AlarmTopicPolicy'))).toEqual([
      {
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: '<AlarmTopic>',
        Condition: {
          StringEquals: { 'aws:SourceAccount': '111122223333' },
          ArnLike: {
            'aws:SourceArn': 'arn:aws:cloudwatch:eu-west-1:111122223333:alarm:highwater-prod-*',
          },
        },
      },
      expect.objectContaining({ Sid: 'TlsOnly' }),
    ])
    // By their given names the condition would not know them.
    for (const { Properties } of ofType(whole, 'AWS::CloudWatch::Alarm'))
      expect(Properties).not.toHaveProperty('AlarmName')
    expect(ofType(stack, 'AWS::SNS::Topic')).toEqual([])
  })

  it('do not expect reports without a schedule', () => {
    const quiet = ofType(
      instantiate(packaged.template, { ScheduleState: 'DISABLED' }),
      'AWS::CloudWatch::Alarm',
    )
    expect(quiet.map(({ Properties }) => Properties.MetricName)).toEqual([
      'Errors',
      'ExecutionsFailed',
      'ApproximateNumberOfMessagesVisible',
    ])
  })
})

describe('a stack without receivers', () => {
  const saysSo = (parameters: Record<string, string>) =>
    'NoReceivers' in instantiate(packaged.template, parameters).outputs

  it('says so in its outputs', () => {
    expect(saysSo({})).toBe(true)
    expect(saysSo({ Sender: 'a@example.com' })).toBe(true)
    expect(saysSo({ Sender: 'a@example.com', Recipients: 'b@example.com' })).toBe(false)
    expect(saysSo({ AlarmEmail: 'a@example.com' })).toBe(false)
  })
})

describe('the documents', () => {
  const hashes = (of: Stack) =>
    Object.fromEntries(
      ofType(of, 'AWS::SSM::Document').map(({ Properties: { Name, Content } }) => [
        Name,
        sha256(String(Content)),
      ]),
    )

  it('that run on nodes have the content whose hash the sender pins; those that read one are there only if a mode needs them, those that change one only with remediation', () => {
    expect(hashes(stack)).toEqual({})
    const reading = instantiate(packaged.template, { ReadsBySsm: 'yes' })
    expect(hashes(reading)).toEqual(inspectDocumentHashes)
    expect(hashes(whole)).toEqual({ ...inspectDocumentHashes, ...applyDocumentHashes })
    for (const { Properties } of ofType(whole, 'AWS::SSM::Document'))
      expect(Properties).toMatchObject({
        DocumentType: 'Command',
        DocumentFormat: 'JSON',
        UpdateMethod: 'NewVersion',
      })
  })

  it('are left to another stack of the account where that has them', () => {
    expect(hashes(instantiate(packaged.template, { Documents: 'no', Remediation: 'on' }))).toEqual(
      {},
    )
  })
})

describe('who may do what', () => {
  it('includes no outsider: only AWS services assume these roles', () => {
    const roles = Object.entries(whole.resources).filter(
      ([name, { Type }]) => Type === 'AWS::IAM::Role' && name !== 'SeenByKubeletsRole',
    )
    for (const [, { Properties }] of roles) {
      const trusted = statementsIn(Properties.AssumeRolePolicyDocument)
      expect(trusted).toHaveLength(1)
      expect(trusted[0]?.Principal).toEqual({
        Service: expect.stringMatching(/^(lambda|scheduler|states)\.amazonaws\.com$/),
      })
    }
    const [byRoles, ...others] = statementsIn(
      named(whole, 'SeenByKubeletsRole').AssumeRolePolicyDocument,
    )
    expect({ ...byRoles, others }).toMatchObject({
      ...{
        Principal: { AWS: ['<AuditRole.Arn>', '<AuditShardRole.Arn>', '<RemediateRole.Arn>'] },
        others: [],
      },
    })
    const everyone = grantsIn(whole).filter(({ Principal }) =>
      JSON.stringify(Principal ?? '').includes('*'),
    )
    expect(everyone).toEqual([])
    expect(ofType(whole, 'AWS::Lambda::Url')).toEqual([])
    expect(ofType(whole, 'AWS::Lambda::Permission')).toEqual([])
  })

  it('keeps bucket, queue and topic to TLS', () => {
    const denied = ['ReportBucketPolicy', 'UndeliveredQueuePolicy', 'AlarmTopicPolicy']
      .flatMap(name => statementsIn(named(whole, name)))
      .filter(({ Condition }) => JSON.stringify(Condition ?? '').includes('SecureTransport'))
    for (const statement of denied)
      expect(statement).toMatchObject({
        Effect: 'Deny',
        Principal: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      })
    expect(denied).toHaveLength(3)
  })

  it('denies to write what changes nodes by prefix, to all but who writes it', () => {
    const key = (name: string) => `<ReportBucket.Arn>/eks/${name}`
    const denied = statementsIn(named(whole, 'ReportBucketPolicy')).filter(
      ({ Effect, Resource }) => Effect === 'Deny' && JSON.stringify(Resource).includes('/eks/'),
    )
    expect(denied).toMatchObject([
      {
        Principal: '*',
        Action: ['s3:PutObject', 's3:DeleteObject', 's3:DeleteObjectVersion'],
        Resource: ['runs/*', 'leases/*', 'begun/*', 'over/*', 'notices.json'].map(name =>
          key(`remediation/${name}`),
        ),
        Condition: {
          ArnNotEquals: {
            'aws:PrincipalArn': ['<RemediateRole.Arn>', 'arn:aws:iam::111122223333:root'],
          },
          StringNotEquals: { 'aws:PrincipalArn': [wholeParameters.ApplierArns] },
        },
      },
      {
        ...{
          Principal: '*',
          Resource: ['begun/*', 'over/*'].map(name => key(`remediation/${name}`)),
        },
        Action: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
      },
      {
        Resource: [key('remediation/approvals/*'), key('highwater.yaml')],
        Condition: { StringNotEquals: { 'aws:PrincipalArn': [wholeParameters.ApproverArns] } },
      },
      {
        Resource: ['runs/*', 'latest/*', 'index.html', 'history/*', 'remediation/plans/*'].map(key),
      },
    ])
    expect(named(whole, 'ReportBucket')).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      ObjectLockEnabled: true,
    })
    expect(named(stack, 'ReportBucket')).not.toHaveProperty('ObjectLockEnabled')
  })

  it('has no action and no resource with a star where AWS allows a narrower one', () => {
    // What IAM lets each action be narrowed to is in facts/aws/iam.ts, and test/pipeline/permissions.test.ts compares.
    // The policy of a key says * of that key alone.
    const grants = grantsIn({ ...whole, resources: withoutKeys(whole.resources) })
    expect(grants.flatMap(({ Action }) => Action).filter(action => action.includes('*'))).toEqual(
      [],
    )
    const open = grants
      .filter(({ Resource }) => [Resource].flat().includes('*'))
      .flatMap(({ Action }) => Action)
    const isNarrow = (action: string) => iamStatements([action], {}).length === 0
    // Narrower ones hide composite alarms. Source: CloudWatch API, DescribeAlarms.
    expect([...new Set(open.filter(isNarrow))]).toEqual(['cloudwatch:DescribeAlarms'])
    expect(open).toContain('eks:ListClusters')
  })

  it('lets the auditor send no changing document and write no approval', () => {
    const ofAudit = JSON.stringify(
      Object.entries(whole.resources).filter(
        ([name]) => name.startsWith('Audit') && name !== 'AuditLambdaFunction',
      ),
    )
    for (const name of Object.keys(applyDocumentHashes)) expect(ofAudit).not.toContain(name)
    expect(ofAudit).not.toMatch(/document\/(\*|Highwater-\*)|remediation\/(\*|approvals)/)
    for (const name of Object.keys(applyDocumentHashes))
      expect(JSON.stringify(stack)).not.toContain(name)
    expect(actionsOf('AuditRole').filter(action => action.startsWith('ssm:'))).toEqual([])
  })

  it('makes the kubelet role only on request, and assumes no unnamed role', () => {
    const assumed = (of: Stack) =>
      grantsIn(of).filter(({ Action }) => JSON.stringify(Action) === '["sts:AssumeRole"]')
    const resources = (given: Record<string, string>) =>
      JSON.stringify(assumed(instantiate(packaged.template, given)).map(({ Resource }) => Resource))
    expect(stack.resources).not.toHaveProperty('SeenByKubeletsRole')
    expect(stack.outputs).not.toHaveProperty('KubeletRoleArn')
    expect(instantiate(packaged.template, { ReadsByKubelet: 'yes' }).outputs).toHaveProperty(
      'KubeletRoleArn',
      '<SeenByKubeletsRole.Arn>',
    )
    expect(resources({})).not.toMatch(/Kubelets|role\/"/)
    expect(resources({ ReadsByKubelet: 'yes' })).not.toMatch(/role\/"/)
    expect(resources({ KubeletRole: 'mine' })).toContain('["arn:aws:iam::111122223333:role/mine"]')
    expect(resources({ KubeletRole: 'mine' })).not.toContain('Kubelets')
  })

  it('assumes in other accounts the roles that a parameter names, with their remediation twins where it remediates, and no others', () => {
    const assumed = (of: Stack) =>
      Object.fromEntries(
        Object.entries(of.resources)
          .filter(([name]) => name.endsWith('MemberPolicy'))
          .map(([name, resource]) => [name, grantsIn(resource).map(({ Resource }) => Resource)]),
      )
    const [here = '', there = ''] = wholeParameters.MemberRoleArns.split(',')
    expect(assumed(stack)).toEqual({})
    expect(assumed(whole)).toEqual({
      AuditMemberPolicy: [[here, there]],
      RemediateMemberPolicy: [[here, there, `${here}-remediate`, `${there}-remediate`]],
    })
    expect(JSON.stringify(grantsIn(packaged.template))).not.toContain('iam::*')
  })

  it('names nothing that is there only with remediation where remediation is off', () => {
    expect(Object.keys(stack.resources).filter(name => name.startsWith('Remediate'))).toEqual([])
  })
})

describe('the role of a pod that does what the function does', () => {
  const pod = parseTemplate(readFileSync('docs/run/kubernetes/eks/pod-identity.yaml', 'utf8'))
  /** Every right with its resource and what it hangs on, one by one. */
  const rightsIn = (node: unknown) =>
    grantsIn(node)
      .flatMap(({ Action, Resource, Condition }) =>
        [Action]
          .flat()
          .flatMap(action =>
            [Resource]
              .flat()
              .map(resource => JSON.stringify([action, resource, Condition ?? null])),
          ),
      )
      .map(right => right.replaceAll('<ReportBucket.Arn>', 'arn:aws:s3:::reports'))
      .toSorted()
  const ofFunction = ({ resources }: Stack) => [
    resources.AuditRole?.Properties.Policies,
    ...Object.values(resources).filter(
      ({ Type, Properties }) =>
        Type === 'AWS::IAM::Policy' && [Properties.Roles].flat().includes('<AuditRole>'),
    ),
  ]
  /** Lambda's own, and what no pod does. */
  const isElsewhere = (right: string) => /^\["(logs|states):/.test(right)

  it.each<Record<string, string>>([
    {},
    { TopicArn: wholeParameters.TopicArn },
    { EventBusArn: wholeParameters.EventBusArn },
    { Sender: wholeParameters.Sender },
    { PolicySender: wholeParameters.PolicySender },
    { KmsKeyArn: wholeParameters.KmsKeyArn, Prefix: 'eks/' },
    { ReadsBySsm: 'yes', InspectOutputBucket: 'answers', InspectOutputPrefix: 'nodes/' },
    { ReadsByKubelet: 'yes' },
    { KubeletRole: 'mine' },
    { MemberRoleArns: wholeParameters.MemberRoleArns },
  ])('may do what the function may with the same settings, and no more: %j', given => {
    const resources = instantiate(pod, {
      HomeCluster: 'ops',
      Bucket: 'reports',
      ...given,
    }).resources
    const { Role, TakesSeenByKubelets } = resources
    const ofPod = rightsIn([Role?.Properties.Policies, TakesSeenByKubelets])
    expect(ofPod).toEqual(
      rightsIn(ofFunction(instantiate(packaged.template, given))).filter(
        right => !isElsewhere(right),
      ),
    )
    expect(Object.keys(resources)).toHaveLength('ReadsByKubelet' in given ? 4 : 2)
  })

  it('has every parameter of the stack by which the function’s own role gets more', () => {
    const more = (name: keyof typeof wholeParameters) =>
      rightsIn(
        ofFunction(instantiate(packaged.template, { [name]: wholeParameters[name] })),
      ).join() !== rightsIn(ofFunction(stack)).join()
    const names = (Object.keys(wholeParameters) as (keyof typeof wholeParameters)[]).filter(more)
    expect(names).toContain('TopicArn')
    for (const name of names) {
      const { Type, Default, AllowedValues } = packaged.template.Parameters[name] ?? {}
      expect(pod.Parameters[name], name).toMatchObject({
        Type,
        Default,
        ...(AllowedValues && { AllowedValues }),
      })
    }
  })
})

describe('docs/deploy.md', () => {
  const text = readFileSync('docs/deploy.md', 'utf8')

  it('lists each alarm, and links offline subnets to the list of endpoints', () => {
    const alarms = Object.entries(packaged.template.Resources).flatMap(([name, { Type }]) =>
      Type === 'AWS::CloudWatch::Alarm' ? [name] : [],
    )
    expect([...text.matchAll(/^\| `(\w+Alarm)` \|/gm)].map(([, name]) => name)).toEqual(alarms)
    // Which ones stands there, and nowhere else: test/docs.test.ts holds it to the facts.
    const [endpoints = ''] = /\*\*Without a way to the internet\*\*[^.]*/.exec(text) ?? []
    expect(endpoints).toMatch(/: \[air-gapped\]\(air-gapped$/)
  })

  it('says in which region, to every command of the way from zero that asks AWS', () => {
    const [way = ''] = /^## From zero[\s\S]*?(?=^## )/m.exec(text) ?? []
    const lines = [...way.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
      block.replaceAll('\\\n', ' ').split('\n'),
    )
    const isSaid = lines.findIndex(line =>
      /^ *export AWS_REGION=(\S+) AWS_DEFAULT_REGION=\1\b/.test(line),
    )
    const asking = lines.flatMap((line, index) =>
      /^ *(aws|npx serverless|sh access)|&& sh access/.test(line) ? [index] : [],
    )
    expect(asking.length).toBeGreaterThanOrEqual(4)
    for (const index of asking) expect(isSaid >= 0 && isSaid < index, lines[index]).toBe(true)
    expect(way).not.toContain('--region')
    // The framework's own commands take it from there, too.
    expect(readFileSync('serverless.yml', 'utf8')).toContain('region: ${opt:region')
  })

  it('describes ticks that Lambda drops, which do not reach the queue', () => {
    const configs = ofType(stack, 'AWS::Lambda::EventInvokeConfig').map(
      ({ Properties }) => Properties.DestinationConfig,
    )
    expect(configs.length).toBeGreaterThan(0)
    expect(JSON.stringify(configs)).not.toContain('OnFailure')
    expect(text).toMatch(/^\| `NoReportAlarm` \|.*Lambda took a tick and dropped it/m)
    expect(text).toMatch(/Lambda took and dropped/m)
  })

  it('names parameters, outputs and modes that exist', () => {
    const { Parameters, Outputs } = packaged.template
    for (const [, name = ''] of text.matchAll(/--param='(\w+)=/g))
      expect(Object.keys(Parameters)).toContain(name.replace(/^./, letter => letter.toUpperCase()))
    for (const name of ['AuditRoleArn', 'ReportBucketName', 'SenderDnsRecords'])
      expect(Object.keys(Outputs)).toContain(name)
    expect([...text.matchAll(/^\| `(\w+)` \| (?:lists of|as )/gm)].map(([, mode]) => mode)).toEqual(
      readModes,
    )
  })
})

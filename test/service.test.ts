/** What is deployed: the CloudFormation that the framework makes of serverless.yml, and the very bundle in the archive. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { stsPermissions } from '#clients/credentials.ts'
import { ec2Permissions } from '#clients/ec2.ts'
import { eksPermissions } from '#clients/eks.ts'
import { s3Permissions } from '#clients/s3.ts'
import { sesPermissions } from '#clients/sesv2.ts'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import { awsResources } from '#facts/aws/cluster-resources.ts'
import { inspectDocumentHashes } from '#facts/aws/inspect-documents.ts'
import { parseRemediationEvent } from '#handlers/remediate-event.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { usualFleet } from '#pipeline/cost/cost-document.ts'
import { stackAlarms } from '#pipeline/cost/estimate.ts'
import { hashOf } from '#remediate/scripts/documents.ts'
import { parseSettings } from '#settings.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { serviceEnvironment } from '#test/lambda.ts'
import { unzip } from '#test/zip.ts'

const run = promisify(execFile)
const packaged = '.serverless'
/** Nothing of this machine's AWS: packaging needs no account. */
const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')))

const parameters = [
  'prefix=eks/',
  'sender=highwater@example.com',
  'recipients=a@example.com,b@example.com',
  'reportBaseUrl=https://reports.example.com',
].map(parameter => `--param=${parameter}`)

interface Statement {
  Effect: string
  Action: string[]
  Resource: unknown
  Principal?: unknown
}

interface Template {
  Parameters: Record<string, unknown>
  Conditions: Record<string, unknown>
  Resources: Record<string, { Type: string; Properties: Record<string, unknown>; DeletionPolicy?: string; Condition?: string }>
}

let template: Template
beforeAll(async () => {
  await run('npx', ['serverless', 'package', ...parameters], { env: { ...bare, HOME: '/nonexistent', CI: 'true' }, timeout: 120_000 })
  template = JSON.parse(readFileSync(join(packaged, 'cloudformation-template-update-stack.json'), 'utf8'))
}, 130_000)

const ofType = (type: string) => Object.values(template.Resources).filter(resource => resource.Type === type)

function statementsOf(role: string): Statement[] {
  const policies = template.Resources[role]?.Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[]
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}
function trustOf(role: string): unknown[] {
  const document = template.Resources[role]?.Properties.AssumeRolePolicyDocument as { Statement: Statement[] } | undefined
  return document?.Statement.map(({ Principal }) => Principal) ?? []
}

describe('npx serverless package, without account or login', () => {
  it('makes its functions on the Node that the sources are written for, the second only where remediation is on', () => {
    const on = { Runtime: 'nodejs24.x', Architectures: ['arm64'], Timeout: 900 }
    expect(ofType('AWS::Lambda::Function')).toMatchObject([
      { Properties: { ...on, Handler: '.build/audit.handler' } },
      { Properties: { ...on, Handler: '.build/remediate.handler' }, Condition: 'Remediates' },
    ])
    expect(ofType('AWS::Lambda::Function')[0]?.Condition).toBeUndefined()
  })

  it('hands every stack parameter to it, under the names that the settings know', () => {
    const [lambda, other] = ofType('AWS::Lambda::Function')
    const variablesOf = (made: typeof lambda) =>
      (made?.Properties.Environment as { Variables: Record<string, unknown> } | undefined)?.Variables ?? {}
    const Variables = variablesOf(lambda)
    const { HIGHWATER_TOPIC_ARN: _topic, HIGHWATER_WEBHOOK_URL: _webhook, ...shared } = Variables
    expect(variablesOf(other)).toEqual(shared)
    expect(Variables).toEqual({
      HIGHWATER_SERVICE: 'highwater-prod',
      HIGHWATER_BUCKET: { Ref: 'ReportBucket' },
      HIGHWATER_PREFIX: 'eks/',
      HIGHWATER_KMS_KEY_ID: '',
      HIGHWATER_SENDER: 'highwater@example.com',
      HIGHWATER_RECIPIENTS: 'a@example.com,b@example.com',
      HIGHWATER_REPORT_BASE_URL: 'https://reports.example.com',
      HIGHWATER_TOPIC_ARN: '',
      // Read by CloudFormation when the stack is deployed: the template has no secret.
      HIGHWATER_WEBHOOK_URL: {
        'Fn::If': ['HasWebhook', { 'Fn::Sub': `{{resolve:secretsmanager:$\{WebhookSecretArn}:SecretString}}` }, ''],
      },
    })
    expect(
      parseSettings({ ...(Variables as Record<string, string>), HIGHWATER_BUCKET: 'reports', HIGHWATER_WEBHOOK_URL: '' }),
    ).toMatchObject({
      sender: 'highwater@example.com',
      recipients: ['a@example.com', 'b@example.com'],
    })
    expect(ofType('AWS::CloudWatch::Alarm')[0]?.Properties.Dimensions).toEqual([{ Name: 'service', Value: Variables.HIGHWATER_SERVICE }])
  })

  it('makes its schedule, with the tick’s time in the event and a clock of its own', () => {
    const [schedule] = ofType('AWS::Scheduler::Schedule')
    expect(schedule?.Properties).toMatchObject({ ScheduleExpression: 'cron(0 5 * * ? *)', ScheduleExpressionTimezone: 'Etc/UTC' })
    const target = schedule?.Properties.Target as { Input: string } | undefined
    expect(JSON.parse(target?.Input ?? '')).toEqual({ source: 'highwater.schedule', scheduledTime: '<aws.scheduler.scheduled-time>' })
  })

  it('makes a bucket that is private, encrypted, kept, and cleaned up after a while', () => {
    const bucket = template.Resources.ReportBucket
    expect(bucket?.DeletionPolicy).toBe('Retain')
    expect(bucket?.Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { ServerSideEncryptionByDefault: { 'Fn::If': ['HasKmsKey', { SSEAlgorithm: 'aws:kms' }, { SSEAlgorithm: 'AES256' }] } },
        ],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      LifecycleConfiguration: {
        Rules: [
          { Status: 'Enabled', Prefix: 'eks/runs/' },
          { Status: 'Enabled', Prefix: 'eks/history/' },
        ],
      },
    })
    expect(JSON.stringify(template.Resources.ReportBucketPolicy)).toContain('aws:SecureTransport')
  })

  it('makes an alarm for a day without a report, and lets logs expire', () => {
    expect(ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)).toMatchObject([
      { Namespace: 'highwater', MetricName: 'ReportsPublished', Period: 86_400, TreatMissingData: 'breaching', Threshold: 1 },
    ])
    for (const { Properties } of ofType('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(30)
  })

  it('gives the function a role of its own, with what the code calls and its own log, and no more', () => {
    const statements = statementsOf('AuditRole')
    const granted = statements.flatMap(({ Action }) => Action)
    const called = [
      ...eksPermissions,
      ...ec2Permissions,
      ...awsResources.map(({ action }) => action),
      ...stsPermissions,
      ...s3Permissions,
      ...sesPermissions,
    ]
    expect(granted.toSorted()).toEqual([...called, 'logs:CreateLogStream', 'logs:PutLogEvents'].toSorted())
    expect(statements.map(({ Effect }) => Effect)).toEqual(statements.map(() => 'Allow'))
    // Source: service authorization reference, Amazon EKS and Amazon EC2: these have no resource type.
    expect(statements.filter(({ Resource }) => Resource === '*').flatMap(({ Action }) => Action)).toEqual([
      'eks:ListClusters',
      'ec2:DescribeLaunchTemplateVersions',
      ...awsResources.map(({ action }) => action),
    ])
    expect(trustOf('AuditRole')).toEqual([{ Service: 'lambda.amazonaws.com' }])
    expect(ofType('AWS::Lambda::Function')[0]?.Properties.Role).toEqual({ 'Fn::GetAtt': ['AuditRole', 'Arn'] })
  })

  it('goes on with runs every quarter of an hour, by a schedule and a role that are there only with remediation', () => {
    const { Condition, Properties } = template.Resources.RemediateSchedulerSchedule1 ?? {}
    expect(Condition).toBe('Remediates')
    expect(Properties).toMatchObject({ ScheduleExpression: 'rate(15 minutes)' })
    const target = Properties?.Target as { Input: string; RoleArn: unknown; Arn: unknown } | undefined
    expect(parseRemediationEvent(JSON.parse(target?.Input ?? ''))).toEqual({ action: 'resume', run: null })
    expect(target).toMatchObject({
      RoleArn: { 'Fn::GetAtt': ['RemediateScheduleRole', 'Arn'] },
      Arn: { 'Fn::GetAtt': ['RemediateLambdaFunction', 'Arn'] },
    })
    expect(statementsOf('RemediateScheduleRole').flatMap(({ Action }) => Action)).toEqual(['lambda:InvokeFunction'])
    expect(JSON.stringify(statementsOf('RemediateScheduleRole'))).toMatch(/function:highwater-prod-remediate"/)
    expect(trustOf('RemediateScheduleRole')).toEqual([{ Service: 'scheduler.amazonaws.com' }])
  })

  it('gives the schedule another role, which may only invoke the function', () => {
    expect(statementsOf('ScheduleRole').flatMap(({ Action }) => Action)).toEqual(['lambda:InvokeFunction'])
    expect(trustOf('ScheduleRole')).toEqual([{ Service: 'scheduler.amazonaws.com' }])
    const target = ofType('AWS::Scheduler::Schedule')[0]?.Properties.Target
    expect(target).toMatchObject({ RoleArn: { 'Fn::GetAtt': ['ScheduleRole', 'Arn'] } })
    expect(ofType('AWS::IAM::Role').filter(({ Condition }) => Condition === undefined)).toHaveLength(2)
  })

  it('makes the documents that run on nodes, with the content whose hash the sender pins', () => {
    const deployed = ofType('AWS::SSM::Document')
      .filter(({ Condition }) => Condition === undefined)
      .map(({ Properties }) => Properties)
    expect(deployed).toMatchObject(
      Object.keys(inspectDocumentHashes).map(Name => ({
        Name,
        DocumentType: 'Command',
        DocumentFormat: 'JSON',
        UpdateMethod: 'NewVersion',
      })),
    )
    expect(Object.fromEntries(deployed.map(({ Name, Content }) => [Name, hashOf(String(Content))]))).toEqual(inspectDocumentHashes)
  })

  it('makes what changes a node only where remediation is on, and off is what it is', () => {
    expect(template.Parameters.Remediation).toEqual({ Type: 'String', Default: 'off', AllowedValues: ['off', 'on'] })
    expect(template.Conditions.Remediates).toEqual({ 'Fn::Equals': [{ Ref: 'Remediation' }, 'on'] })
    const conditional = ofType('AWS::SSM::Document').filter(({ Condition }) => Condition === 'Remediates')
    expect(Object.fromEntries(conditional.map(({ Properties: { Name, Content } }) => [Name, hashOf(String(Content))]))).toEqual(
      applyDocumentHashes,
    )
    // No role of the default template may send them, by name or by a star.
    const unconditional = Object.entries(template.Resources).filter(([, { Condition }]) => Condition !== 'Remediates')
    const text = JSON.stringify(unconditional)
    for (const name of Object.keys(applyDocumentHashes)) expect(text).not.toContain(name)
    const statements = ['AuditRole', 'ScheduleRole'].flatMap(statementsOf)
    expect(statements.flatMap(({ Action }) => Action).filter(action => action.includes('*'))).toEqual([])
    const sends = statements.filter(({ Action }) => Action.some(action => /^ssm:(Send|Start|Create|Update)/.test(action)))
    expect(JSON.stringify(sends)).not.toMatch(/document\/(\*|Highwater-\*)|"Resource":"\*"/)
  })

  it('does not try a red run again by itself: it could not know that its mail went', () => {
    const once = { MaximumRetryAttempts: 0 }
    expect(ofType('AWS::Lambda::EventInvokeConfig').map(({ Properties }) => Properties)).toMatchObject([once, once])
  })

  it('refers from nothing that is always there to what is there only with remediation', () => {
    const conditional = Object.entries(template.Resources).flatMap(([name, { Condition }]) =>
      Condition?.startsWith('Remediates') ? [name] : [],
    )
    expect(conditional).toEqual(
      expect.arrayContaining([
        'RemediateLambdaFunction',
        'RemediateSchedulerSchedule1',
        'RemediateLogGroup',
        'RemediateRole',
        'RemediateLambdaEvConf',
      ]),
    )
    const others = JSON.stringify(Object.entries(template.Resources).filter(([name]) => !conditional.includes(name)))
    for (const name of conditional) expect(others).not.toContain(`"${name}"`)
  })

  it.each(['audit', 'remediate'])('puts into the archive of %s what runs and nothing else', name => {
    const files = unzip(readFileSync(join(packaged, `${name}.zip`)))
    expect([...files.keys()]).toEqual([`.build/${name}.cjs`])
    const bundle = files.get(`.build/${name}.cjs`)?.toString() ?? ''
    expect(bundle.length).toBeLessThan(2_750_000)
    expect(['isomorphic-ws', 'openid-client', 'fast-check', 'osls'].filter(stranger => bundle.includes(stranger))).toEqual([])
  })
})

it('costs what highwater cost reckons with: its alarms, its memory, how long it keeps reports', () => {
  expect(ofType('AWS::CloudWatch::Alarm')).toHaveLength(stackAlarms)
  const stated = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(readFileSync('serverless.yml', 'utf8'))?.[1])
  expect(usualFleet).toMatchObject({ memoryMiB: stated('memorySize'), retentionDays: stated('retentionDays') })
})

describe('the packaged bundle, run by plain Node', () => {
  it('makes report and mail', { timeout: 30_000 }, async () => {
    const folder = temporaryFolder()
    for (const [name, content] of unzip(readFileSync(join(packaged, 'audit.zip')))) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const lab = await labOf([recorded], { storeFolder: join(folder, 's3') })
    const context = "{ awsRequestId: 'r-1', getRemainingTimeInMillis: () => 60000 }"
    const call = `require('./.build/audit.cjs').handler(${readFileSync('events/scheduled.json', 'utf8')}, ${context}).then(answer => console.log(JSON.stringify(answer)))`
    const env = { PATH: '/usr/bin:/bin', ...lab.environment, ...serviceEnvironment }
    const { stdout } = await run(process.execPath, ['--disallow-code-generation-from-strings', '-e', call], { cwd: folder, env })
    expect(JSON.parse(stdout)).toMatchObject({ state: 'published', clusters: [{ name: 'recorded', coverage: { read: 2 } }] })
    expect(readFileSync(join(folder, 's3/highwater-lab/runs/2026-11-21T05-00-00Z/report.html'), 'utf8')).toContain('recorded')
    expect(lab.mails()).toHaveLength(1)
  })

  it('logs at its end a line with the run’s id, its duration, memory and cold start, and the metric for the alarm', {
    timeout: 30_000,
  }, async () => {
    const lab = await labOf([recorded], { storeFolder: temporaryFolder() })
    const context = "{ awsRequestId: 'r-2', getRemainingTimeInMillis: () => 60000 }"
    const call = `require(${JSON.stringify(resolve('.build/audit.cjs'))}).handler(${readFileSync('events/scheduled.json', 'utf8')}, ${context})`
    const { POWERTOOLS_LOG_LEVEL: _level, POWERTOOLS_METRICS_DISABLED: _disabled, ...settings } = serviceEnvironment
    const env = { PATH: '/usr/bin:/bin', ...lab.environment, ...settings, HIGHWATER_SERVICE: 'highwater-prod' }
    const { stdout } = await run(process.execPath, ['-e', call], { env })
    const lines: Record<string, unknown>[] = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.find(({ message }) => message === 'run ended')).toMatchObject({
      runId: '2026-11-21T05-00-00Z',
      coldStart: true,
      durationMs: expect.any(Number),
      peakRssBytes: expect.any(Number),
    })
    expect(lines.find(line => 'ReportsPublished' in line)).toMatchObject({ ReportsPublished: 1, service: 'highwater-prod' })
  })
})

it('npx serverless invoke local runs the function against the lab', async () => {
  const lab = await labOf([{ ...recorded, clusters: recorded.clusters.map(cluster => ({ ...cluster, name: 'incidents' })) }])
  // A dry run publishes nothing, so it needs neither bucket nor recipients.
  const env = { ...bare, ...lab.environment, POWERTOOLS_LOG_LEVEL: 'SILENT', CI: 'true' }
  const args = ['serverless', 'invoke', 'local', '-f', 'audit', '-p', 'events/on-demand.json']
  const { stdout } = await run('npx', args, { env, timeout: 60_000 })
  expect(JSON.parse(stdout.slice(stdout.indexOf('{\n')))).toMatchObject({ state: 'dry-run', clusters: [{ name: 'incidents' }] })
}, 70_000)

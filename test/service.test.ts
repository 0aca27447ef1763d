/** What is deployed: the CloudFormation that the framework makes of serverless.yml, and the very bundle in the archive. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { serviceEnvironment } from '#test/lambda.ts'
import { unzip } from '#test/zip.ts'

const run = promisify(execFile)
const packaged = '.serverless'
/** Nothing of this machine's AWS: packaging needs no account. */
const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')))

interface Template {
  Resources: Record<string, { Type: string; Properties: Record<string, unknown>; DeletionPolicy?: string }>
}

let template: Template
beforeAll(async () => {
  await run('npx', ['serverless', 'package'], { env: { ...bare, HOME: '/nonexistent', CI: 'true' }, timeout: 120_000 })
  template = JSON.parse(readFileSync(join(packaged, 'cloudformation-template-update-stack.json'), 'utf8'))
}, 130_000)

const ofType = (type: string) => Object.values(template.Resources).filter(resource => resource.Type === type)

describe('npx serverless package, without account or login', () => {
  it('makes one function on the Node that the sources are written for', () => {
    expect(ofType('AWS::Lambda::Function').map(({ Properties }) => Properties)).toMatchObject([
      { Environment: { Variables: { HIGHWATER_BUCKET: { Ref: 'ReportBucket' } } } },
    ])
    expect(ofType('AWS::Lambda::Function').map(({ Properties }) => Properties)).toMatchObject([
      { Runtime: 'nodejs24.x', Architectures: ['arm64'], Timeout: 900, Handler: '.build/audit.handler' },
    ])
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
      BucketEncryption: { ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }] },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      LifecycleConfiguration: { Rules: [{ Status: 'Enabled', Prefix: 'runs/' }] },
    })
    expect(JSON.stringify(template.Resources.ReportBucketPolicy)).toContain('aws:SecureTransport')
  })

  it('makes an alarm for a day without a report, and lets logs expire', () => {
    expect(ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)).toMatchObject([
      { Namespace: 'highwater', MetricName: 'ReportsPublished', Period: 86_400, TreatMissingData: 'breaching', Threshold: 1 },
    ])
    for (const { Properties } of ofType('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(30)
  })

  it('makes roles that write only to their own logs beside what serverless.yml grants', () => {
    const roles = JSON.stringify(ofType('AWS::IAM::Role').map(({ Properties }) => Properties.Policies))
    const actions = [...roles.matchAll(/"((?:eks|s3|ses|sts|logs|lambda|kms|iam|ec2):[A-Za-z*]+)"/g)].map(([, action]) => action)
    expect(actions.filter(action => action?.includes('*'))).toEqual([])
  })

  it('puts into the archive what runs and nothing else', () => {
    const files = unzip(readFileSync(join(packaged, 'highwater.zip')))
    expect([...files.keys()]).toEqual(['.build/audit.cjs'])
    const bundle = files.get('.build/audit.cjs')?.toString() ?? ''
    expect(bundle.length).toBeLessThan(2_000_000)
    expect(['isomorphic-ws', 'openid-client', 'fast-check', 'osls'].filter(stranger => bundle.includes(stranger))).toEqual([])
  })
})

describe('the packaged bundle, run by plain Node', () => {
  it('makes report and mail', { timeout: 30_000 }, async () => {
    const folder = temporaryFolder()
    for (const [name, content] of unzip(readFileSync(join(packaged, 'highwater.zip')))) {
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

  it('logs one line with the run’s id, its duration, memory and cold start, and the metric for the alarm', {
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
    expect(lines.find(line => '_aws' in line)).toMatchObject({ ReportsPublished: 1, service: 'highwater-prod' })
  })
})

it('npx serverless invoke local runs the function against the lab', async () => {
  const lab = await labOf([{ ...recorded, clusters: recorded.clusters.map(cluster => ({ ...cluster, name: 'incidents' })) }])
  const env = { ...bare, ...lab.environment, ...serviceEnvironment, CI: 'true' }
  const args = ['serverless', 'invoke', 'local', '-f', 'audit', '-p', 'events/on-demand.json']
  const { stdout } = await run('npx', args, { env, timeout: 60_000 })
  expect(JSON.parse(stdout.slice(stdout.indexOf('{\n')))).toMatchObject({ state: 'dry-run', clusters: [{ name: 'incidents' }] })
}, 70_000)

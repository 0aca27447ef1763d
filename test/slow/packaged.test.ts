/** The service as packaged: archives, bundles and templates. test/e2e/stack.test.ts checks the resources. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recorded } from '#lab/scenarios/recorded.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'
import { serviceEnvironment } from '#test/lambda.ts'
import {
  bare,
  checkovChecks,
  lintTemplate,
  type Packaged,
  packageService,
  run,
} from '#test/packaged.ts'
import {
  instantiate,
  ofType,
  parseTemplate,
  type Resource,
  type Stack,
  type Template,
  wholeParameters,
} from '#test/template.ts'
import { unzip } from '#test/zip.ts'

const readerRole = 'arn:aws:iam::111122223333:role/highwater'
let packaged: Packaged
/** The template for deployment by CloudFormation alone. */
let plainFile: string
beforeAll(async () => {
  packaged = await packageService()
  await run(process.execPath, ['tools/template.ts', packaged.archives])
  plainFile = join(packaged.archives, 'highwater.template.yaml')
}, 130_000)
afterAll(() => packaged.remove())

describe('the packaged archives', () => {
  it.each(['audit', 'auditShard', 'discover', 'publish', 'remediate'])(
    'puts into the archive of %s what runs and nothing else',
    name => {
      const archive = readFileSync(join(packaged.archives, `${name}.zip`))
      expect(archive.length).toBeLessThan(2 ** 20)
      const files = unzip(archive)
      expect([...files.keys()]).toEqual([`.build/${name}.cjs`])
      const bundle = files.get(`.build/${name}.cjs`)?.toString() ?? ''
      expect(
        ['isomorphic-ws', 'openid-client', 'fast-check', 'osls'].filter(stranger =>
          bundle.includes(stranger),
        ),
      ).toEqual([])
    },
  )
})

describe('the packaged bundle, run by plain Node', () => {
  it('makes report and mail', { timeout: 30_000 }, async () => {
    const folder = temporaryFolder()
    for (const [name, content] of unzip(readFileSync(join(packaged.archives, 'audit.zip')))) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const lab = await labOf([recorded], { storeFolder: join(folder, 's3') })
    const context = "{ awsRequestId: 'r-1', getRemainingTimeInMillis: () => 60000 }"
    const call = `require('./.build/audit.cjs').handler(${readFileSync('events/scheduled.json', 'utf8')}, ${context}).then(answer => console.log(JSON.stringify(answer)))`
    const env = { PATH: '/usr/bin:/bin', ...lab.environment, ...serviceEnvironment }
    const { stdout } = await run(
      process.execPath,
      ['--disallow-code-generation-from-strings', '-e', call],
      { cwd: folder, env },
    )
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'published',
      clusters: [{ name: 'recorded', coverage: { read: 2 } }],
    })
    expect(
      readFileSync(join(folder, 's3/highwater-lab/runs/2026-11-21T05-00-00Z/report.html'), 'utf8'),
    ).toContain('recorded')
    expect(lab.mails()).toHaveLength(1)
  })

  it('logs at its end a line with the run’s id, its duration, memory and cold start, and the metric for the alarm', {
    timeout: 30_000,
  }, async () => {
    const lab = await labOf([recorded], { storeFolder: temporaryFolder() })
    const context = "{ awsRequestId: 'r-2', getRemainingTimeInMillis: () => 60000 }"
    const call = `require(${JSON.stringify(join(packaged.bundles, 'audit.cjs'))}).handler(${readFileSync('events/scheduled.json', 'utf8')}, ${context})`
    const {
      POWERTOOLS_LOG_LEVEL: _level,
      POWERTOOLS_METRICS_DISABLED: _disabled,
      ...settings
    } = serviceEnvironment
    const env = {
      PATH: '/usr/bin:/bin',
      ...lab.environment,
      ...settings,
      HIGHWATER_SERVICE: 'highwater-prod',
    }
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
    expect(lines.find(line => 'ReportsPublished' in line)).toMatchObject({
      ReportsPublished: 1,
      service: 'highwater-prod',
    })
  })
})

it('npx serverless invoke local runs the function against the lab', async () => {
  const lab = await labOf([
    {
      ...recorded,
      clusters: recorded.clusters.map(cluster => ({ ...cluster, name: 'incidents' })),
    },
  ])
  // A dry run publishes nothing, so it needs neither bucket nor recipients.
  const env = { ...bare, ...lab.environment, POWERTOOLS_LOG_LEVEL: 'SILENT', CI: 'true' }
  const args = ['serverless', 'invoke', 'local', '-f', 'audit', '-p', 'events/on-demand.json']
  const { stdout } = await run('npx', args, { env, timeout: 60_000 })
  expect(JSON.parse(stdout.slice(stdout.indexOf('{\n')))).toMatchObject({
    state: 'dry-run',
    clusters: [{ name: 'incidents' }],
  })
}, 70_000)

describe('the parameters', () => {
  it('reach it from the command line and by the stage; a name that there is not is refused', {
    timeout: 130_000,
  }, async () => {
    const dev = await packageService(
      '--stage',
      'dev',
      '--param=schedule=rate(2 hours)',
      '--param=flexibleWindowMinutes=0',
    )
    try {
      const { resources } = instantiate(dev.template)
      expect(resources.AuditSchedule?.Properties).toMatchObject({
        ScheduleExpression: 'rate(2 hours)',
        State: 'DISABLED',
        FlexibleTimeWindow: { Mode: 'OFF' },
      })
      expect(resources.AuditLambdaFunction?.Properties.FunctionName).toBe('highwater-dev-audit')
      expect(
        Object.keys(resources).filter(
          name => name.endsWith('Document') || name === 'NoReportAlarm',
        ),
      ).toEqual([])
    } finally {
      dev.remove()
    }
    await expect(packageService('--param=shedule=rate(2 hours)')).rejects.toMatchObject({
      stdout: expect.stringMatching(/no parameter shedule. There are: schedule, timezone/),
    })
  })
})

describe('npm run template', () => {
  let plain: Template
  beforeAll(() => {
    plain = parseTemplate(readFileSync(plainFile, 'utf8'))
  })

  const code = { CodeBucket: 'code' }
  /** What the framework adds for itself is not there; what it knows of archives is not the same. */
  function alike({ resources, outputs }: Stack) {
    const kept = (entries: object) =>
      Object.entries(entries).filter(([name]) => !name.startsWith('ServerlessDeploymentBucket'))
    const withoutCode = kept(resources).map(
      ([name, { DependsOn: _, Metadata: __, Properties, ...rest }]) => [
        name,
        { ...rest, Properties: { ...Properties, Code: null } },
      ],
    )
    return {
      resources: Object.fromEntries(withoutCode),
      outputs: Object.fromEntries(kept(outputs)),
    }
  }

  it('makes the same stack, whatever is set', () => {
    expect(alike(instantiate(plain, code))).toEqual(alike(instantiate(packaged.template)))
    expect(alike(instantiate(plain, { ...code, ...wholeParameters }))).toEqual(
      alike(instantiate(packaged.template, wholeParameters)),
    )
  })

  it('takes the code from a bucket, by the names of the archives that lie beside it', () => {
    const codeOf = ({ Properties }: Resource) =>
      Properties.Code as { S3Bucket: string; S3Key: string }
    const made = ofType(
      instantiate(plain, { ...code, CodePrefix: 'highwater/1/', Remediation: 'on' }),
      'AWS::Lambda::Function',
    ).map(codeOf)
    expect(made.map(({ S3Bucket }) => S3Bucket)).toEqual(made.map(() => 'code'))
    for (const { S3Key } of made)
      expect(readdirSync(packaged.archives)).toContain(S3Key.replace('highwater/1/', ''))
    expect(plain.Parameters.CodePrefix?.Default).toMatch(/^highwater\/\d+\.\d+\.\d+\/$/)
  })

  it('is named by its stack, and nothing of the framework or a stage is left', () => {
    const text = readFileSync(plainFile, 'utf8')
    expect(text).not.toMatch(/serverless|highwater-prod/i)
    expect(text).toMatch(/!Sub \$\{AWS::StackName\}-audit/)
  })
})

describe('checkov', () => {
  /** Checks that a parameter of the stack meets. */
  const ofParameters = [18, 26, 27, 115, 117, 158, 173].map(number => `CKV_AWS_${number}`)

  it('passes over by name what a default stack does not do', async context => {
    const { resources } = instantiate(packaged.template, { AlarmEmail: 'ops@example.com' })
    const { failed, skipped } = await checkovChecks(resources, temporaryFolder(), context)
    expect(failed).toEqual([])
    expect(new Set(skipped.map(check => check.split(' ')[0]))).toEqual(
      new Set([...ofParameters, 'CKV_AWS_116']),
    )
  })

  it('passes over two checks if all parameters are set', async context => {
    const { resources } = instantiate(packaged.template, wholeParameters)
    for (const { Metadata } of Object.values(resources)) {
      const notes = Metadata?.checkov
      if (notes) notes.skip = notes.skip.filter(({ id }) => !ofParameters.includes(id))
    }
    expect(await checkovChecks(resources, temporaryFolder(), context)).toEqual({
      failed: [],
      skipped: [
        ...['Audit', 'AuditShard', 'Discover', 'Publish', 'Remediate'].map(
          name => `CKV_AWS_116 ${name}LambdaFunction`,
        ),
        'CKV_AWS_7 ApprovalKey',
        'CKV_AWS_7 RunKey',
      ],
    })
  })
})

describe('cfn-lint finds nothing', () => {
  it('in the packaged template, nor in the plain one', async context => {
    await lintTemplate(packaged.templateFile, context)
    await lintTemplate(plainFile, context)
  })

  it('in the template of the pod identity', context =>
    lintTemplate('docs/run/kubernetes/eks/pod-identity.yaml', context))

  it.for([
    { more: [] },
    { more: ['--mode', 'both', '--remediate', '--cluster', 'prod'] },
    { more: ['--mode', 'kubelet', '--cluster', 'prod'] },
    { more: ['--mode', 'kubelet', '--cluster', 'prod', '--role-arn', readerRole] },
  ])('in what permissions $more prints', async ({ more }, context) => {
    const policy = join(temporaryFolder(), 'policy.yaml')
    writeFileSync(policy, `kubelet:\n  roleArn: ${readerRole}-tokens\n`)
    const { stdout, code } = await inProcess([
      ...['permissions', '--format', 'cloudformation', '--policy', policy],
      ...more,
    ])
    expect(code).toBe(0)
    const file = join(temporaryFolder(), 'member.yaml')
    writeFileSync(file, stdout)
    await lintTemplate(file, context)
  })
})

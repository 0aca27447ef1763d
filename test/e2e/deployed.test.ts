/**
 * The deployed functions end to end, if moto and a kube-apiserver with etcd are installed: an independent AWS and cluster. What stands between
 * them is in test/support/strangers.
 */
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FindingsDocument } from '#model/finding.ts'
import type { Plan, RemediationAnswer } from '#model/plan.ts'
import { runIdOf } from '#model/run.ts'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import type { Invocation } from '#test/function-process.ts'
import { firedRules } from '#test/lab-audit.ts'
import { execute } from '#test/state-machine.ts'
import { grantRights } from '#test/stored-objects.ts'
import {
  cluster,
  expectedGarbage,
  expectedNodes,
  foundGarbage,
  silentNodes,
} from '#test/strangers/crowd.ts'
import { type Strangers, startStrangers, strangersMissing } from '#test/strangers/strangers.ts'

// Programs of others, and processes, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const missing = strangersMissing()
const why = missing.length === 0 ? '' : ` (skipped: there is no ${missing.join(', and no ')})`

/** Below which the roles may write. */
const strict = 'strict/'

const answering = cluster.nodes.names().length - silentNodes.length
const tick = (scheduledTime: string) => ({ source: 'highwater.schedule', scheduledTime })

/** What a function wrote for CloudWatch. */
const linesOf = ({ logged = '' }: Partial<Invocation> = {}): Record<string, unknown>[] =>
  logged
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

describe.skipIf(missing.length > 0)(`the deployed functions among strangers${why}`, () => {
  let world: Strangers
  /** What the stack is set to. */
  const stack = {
    prefix: '',
    fansOut: false,
    lost: (_event: unknown): boolean => false,
    outsiders: [] as string[],
    roles: {} as Record<string, string>,
  }
  beforeAll(async () => {
    world = await startStrangers({
      cluster,
      prefix: strict,
      groupsOf: name =>
        stack.outsiders.includes(name) || name === 'Publish' ? null : ['highwater'],
      environmentOf: (name, event, { topicArn, stateMachineArn }) => ({
        HIGHWATER_PREFIX: stack.prefix,
        ...(['Audit', 'Publish'].includes(name) && { HIGHWATER_TOPIC_ARN: topicArn }),
        ...(name === 'Audit' && stack.fansOut && { HIGHWATER_STATE_MACHINE_ARN: stateMachineArn }),
        ...(stack.lost(event) && { HIGHWATER_BUCKET: 'nobodys-bucket' }),
      }),
    })
    await grantRights(
      world.apiServer,
      'highwater',
      kubernetesRights('proxy', 'reader').map(({ right }) => right),
    )
  })
  afterAll(() => world?.close(), 60_000)

  const kept = async (prefix: string, scheduledTime: string) => {
    const read = async (name: string) =>
      world.account.read(`${prefix}runs/${runIdOf(scheduledTime)}/${name}`)
    const findings: FindingsDocument = JSON.parse((await read('findings.json')).toString())
    return {
      findings,
      page: (await read('report.html')).toString(),
      snapshot: gunzipSync(await read('snapshot.ndjson.gz')).toString(),
    }
  }
  const mailsOf = async (): Promise<{ subject: string; text: string }[]> =>
    ((await world.moto.held('ses')).Message ?? []).map(mail => ({
      subject: String(mail.subject),
      text: JSON.stringify(mail),
    }))
  const notices = async () => JSON.stringify((await world.moto.held('sns')).Topic)
  const fannedOut = async (prefix: string, scheduledTime: string) => {
    Object.assign(stack, { prefix, fansOut: true })
    await world.account.write(
      `${prefix}highwater.yaml`,
      'fanOut: { aboveNodes: 10, nodesPerShard: 10 }',
    )
    expect(await world.invoke('Audit', tick(scheduledTime))).toMatchObject({ state: 'fanned-out' })
    await vi.waitFor(
      async () =>
        expect((await world.account.execution(runIdOf(scheduledTime))).status).not.toBe('RUNNING'),
      { timeout: 240_000, interval: 1000 },
    )
    return world.account.execution(runIdOf(scheduledTime))
  }

  const alone = '2026-11-21T05:00:00Z'

  it('audit every node through EKS, its API server and the kubelets, and leave report, mail, notice and metrics', async () => {
    const answer = await world.invoke('Audit', tick(alone))
    expect(answer).toMatchObject({
      state: 'published',
      clusters: [{ name: 'garbage', coverage: { nodes: 19, read: 16, partlyRead: 3, notRead: 0 } }],
      notAudited: 0,
      deliveries: [
        { channel: 's3', error: null },
        { channel: 'ses', error: null, state: 'sent' },
        { channel: 'sns', error: null, state: 'sent' },
      ],
    })
    const { findings, page, snapshot } = await kept('', alone)
    expect(foundGarbage(findings)).toEqual(expectedGarbage)
    expect(
      JSON.stringify(findings.findings.filter(({ family }) => family === 'cluster-gc')),
    ).not.toContain('kept-')
    const fired = firedRules(findings)
    for (const { node, rules } of expectedNodes)
      expect({ node, rules: fired[`garbage/${node}`] ?? [] }).toEqual({
        node,
        rules: expect.arrayContaining([...rules]),
      })
    expect(page).toContain('namespace-stuck-terminating')
    expect(snapshot.match(/"configz":\{/g)).toHaveLength(answering)
    expect(new Set(world.kubelets.asked).size).toBe(2 * answering)

    const [mail, ...others] = await mailsOf()
    expect(others).toEqual([])
    expect(mail?.subject).toMatch(/^Critical: .* in garbage - highwater/)
    expect(mail?.text).toContain('team@example.com')
    expect(await notices()).toContain(mail?.subject)

    const lines = linesOf(world.functions.invocations[0])
    expect(lines.find(({ message }) => message === 'run ended')).toMatchObject({
      runId: runIdOf(alone),
      service: 'highwater-prod',
    })
    expect(lines.find(line => 'NodesRead' in line)).toMatchObject({
      NodesRead: 16,
      NodesPartlyRead: 3,
      NotAudited: 0,
    })
    expect(lines.find(line => 'ReportsPublished' in line)).toMatchObject({ ReportsPublished: 1 })
  })

  it('find the same as many functions, led through the state machine by moto’s Step Functions', async () => {
    const before = world.functions.invocations.length
    const time = '2026-11-22T05:00:00Z'
    expect(await fannedOut('many/', time)).toMatchObject({
      status: 'SUCCEEDED',
      output: { run: runIdOf(time), state: 'published' },
    })
    const steps = world.functions.invocations
      .slice(before)
      .map(({ name, event }) => [name, (event as { step?: string }).step ?? ''].join(' ').trim())
    expect(steps).toEqual([
      'Audit',
      'Discover',
      'AuditShard read',
      'AuditShard read',
      'AuditShard judge',
      'Publish',
    ])
    const comparable = ({ findings, clusters, notAudited }: FindingsDocument) => ({
      findings: findings.map(({ id, rule, severity, nodes }) => ({ id, rule, severity, nodes })),
      clusters,
      notAudited,
    })
    expect(comparable((await kept('many/', time)).findings)).toEqual(
      comparable((await kept('', alone)).findings),
    )
    expect(await mailsOf()).toHaveLength(2)
    const metrics = { NodesRead: 16, NodesPartlyRead: 3, NotAudited: 0 }
    expect(
      linesOf(world.functions.invocations.at(-1)).find(line => 'NodesRead' in line),
    ).toMatchObject(metrics)
  })

  it('lose no more than the shard that fails at every try', async () => {
    stack.lost = event =>
      JSON.stringify(event).includes('"step":"read"') && (event as { shard: number }).shard === 0
    const time = '2026-11-23T05:00:00Z'
    expect(await fannedOut('lost/', time)).toMatchObject({ status: 'SUCCEEDED' })
    stack.lost = () => false
    const { clusters, notAudited } = (await kept('lost/', time)).findings
    expect(clusters).toMatchObject([{ coverage: { nodes: 19, notRead: notAudited.length } }])
    expect(notAudited.length).toBeGreaterThan(0)
    expect(notAudited.length).toBeLessThan(19)
    expect(notAudited[0]?.reason).toMatch(/did not come to its end at any try: .*nobodys-bucket/)
  })

  it('fail, with the next step, if a role has no access entry in the cluster', async () => {
    Object.assign(stack, { prefix: 'outside/', fansOut: false, outsiders: ['Audit'] })
    await expect(world.invoke('Audit', tick(alone))).rejects.toThrow(/an EKS access entry/)
    stack.outsiders = []
    const { clusters, notAudited } = (await kept('outside/', alone)).findings
    expect(clusters).toMatchObject([{ name: 'garbage', grade: null }])
    expect(notAudited).toMatchObject([
      { node: null, reason: expect.stringContaining('answered 401') },
    ])
  })

  it('need no right beyond those of their roles, with signatures and policies checked', async () => {
    Object.assign(stack, { prefix: strict, fansOut: false })
    await world.account.write(
      `${strict}highwater.yaml`,
      'fanOut: { aboveNodes: 10, nodesPerShard: 10 }',
    )
    await world.iam.enforce(true)
    onTestFinished(() => world.iam.enforce(false))
    const coverage = { nodes: 19, read: 16, partlyRead: 3, notRead: 0 }
    expect(await world.invoke('Audit', tick(alone))).toMatchObject({
      state: 'published',
      clusters: [{ coverage }],
      notAudited: 0,
    })
    const many = '2026-11-22T05:00:00Z'
    const run = runIdOf(many)
    stack.fansOut = true
    expect(await world.invoke('Audit', tick(many))).toMatchObject({ state: 'fanned-out' })
    // Moto's own state machines have no role: they may not even read what lies in the bucket.
    await execute(
      { run },
      {
        invoke: world.invoke,
        readObject: async (_bucket, key) => JSON.parse((await world.account.read(key)).toString()),
      },
    )
    const { findings } = await kept(strict, many)
    expect(findings).toMatchObject({ clusters: [{ coverage }], notAudited: [] })
    expect(foundGarbage(findings)).toEqual(expectedGarbage)

    Object.assign(stack, { prefix: 'elsewhere/', fansOut: false })
    await expect(world.invoke('Audit', tick(many))).rejects.toThrow(/s3:(Get|Put)Object/)
  })

  it('plan a change, and refuse nodes that moto’s SSM does not reach, with the reason', async () => {
    Object.assign(stack, { prefix: 'change/', fansOut: false })
    await world.account.write('change/highwater.yaml', 'modes: [{ match: {}, mode: both }]')
    const answer = (await world.invoke('Remediate', { action: 'plan' })) as Extract<
      RemediationAnswer,
      { action: 'plan' }
    >
    expect(answer).toMatchObject({
      counts: { nodes: 0, cohorts: expect.any(Number) },
      approvedBy: null,
    })
    const { digest, refused }: Plan = JSON.parse(
      (await world.account.read(`change/remediation/plans/${answer.digest}.json`)).toString(),
    )
    expect(digest).toBe(answer.digest)
    expect(refused.length).toBe(answer.counts.refused)
    expect(
      refused
        .map(({ why }) => why.replace(/(were not read: SSM) .*/, '$1'))
        .filter(why => !why.endsWith('were not read: SSM')),
    ).toEqual([])
    expect(refused.length).toBeGreaterThan(0)
  })
})

/** A step on its way to a node and back, through the lab's SSM and the real SDK. */
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Lab } from '#lab/lab.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { instanceIdOf } from '#lab/nodes/random.ts'
import { type AgentScenario, fixedNodes, type Scenario } from '#lab/scenarios/scenario.ts'
import { enterLab, scenario } from '#lab/test/support.ts'
import type { ApplyAnswer, PlanStep } from '#model/plan.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { Applier } from '#remediate/run/apply.ts'
import { applyDocuments, contentOf } from '#remediate/scripts/documents.ts'
import { planOf } from '#test/remediation-world.ts'

vi.setConfig({ testTimeout: 60_000 })

let lab: Lab
let applier: Applier
afterEach(async () => {
  applier.close()
  await lab.close()
})

const run = '0123456789abcdef'
const ipOf = (index: number) => `10.0.0.${index + 1}`
const stepOf = (index: number, changed: Partial<PlanStep> = {}): PlanStep => ({
  ...(planOf([1]).steps[0] as PlanStep),
  node: ipOf(index),
  instanceId: instanceIdOf(ipOf(index)),
  ...changed,
})
const deployed = applyDocuments.map(document => ({
  name: document.name,
  content: contentOf(document),
}))

type Environment = Readonly<Record<string, string>>
const answerTo = (environment: Environment, changed: object = {}): string =>
  `${JSON.stringify({
    schema: 'highwater.apply/1',
    run: environment.SSM_Run,
    action: environment.SSM_Action,
    instanceId: environment.AWS_SSM_INSTANCE_ID,
    outcome: 'applied',
    reason: null,
    oldSha256: environment.SSM_OldSha256,
    newSha256: environment.SSM_NewSha256,
    presentSha256: environment.SSM_NewSha256,
    kubelet: {
      active: true,
      startedAtBefore: null,
      startedAtAfter: '2026-11-21T12:00:00Z',
      healthz: 'ok',
    },
    steps: ['saved', 'written', 'placed', 'restarted', 'healthy'],
    ...changed,
  })}\n`
const says =
  (changed: object = {}, exitCode = 0): AgentScenario['run'] =>
  async (_, environment) => ({ stdout: answerTo(environment, changed), stderr: '', exitCode })
const hears =
  (hear: (environment: Environment) => void): AgentScenario['run'] =>
  async (_, environment) => {
    hear(environment)
    return { stdout: answerTo(environment), stderr: '', exitCode: 0 }
  }
const prints =
  (stdout: string): AgentScenario['run'] =>
  async () => ({ stdout, stderr: '', exitCode: 0 })

async function world(
  agents: (AgentScenario | null)[],
  more: Partial<Scenario> = {},
  documents = deployed,
): Promise<void> {
  const nodes = agents.map((agent, index) => {
    const node = profiledNode({
      ...inNodegroup('workers', {
        family: 'AL2023',
        version: '1.34.1',
        instanceType: 'm5.large',
        ip: ipOf(index),
      }),
      nodefs: { capacityBytes: 2 ** 30, usedPercent: 10 },
      pods: [],
    })
    return [
      ipOf(index),
      agent === null ? node : { ...node, agent: { run: says(), ...agent } },
    ] as const
  })
  lab = await enterLab(scenario([{ nodes: fixedNodes(Object.fromEntries(nodes)) }], more), {
    documents,
  })
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = lab.environment
  applier = new Applier({
    region: 'us-east-1',
    credentials: async () => ({
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
    }),
    requestsPerSecond: 200,
    run,
    timeoutSeconds: 240,
    answerTimeoutMs: 3000,
    signal: new AbortController().signal,
  })
}

const send = async (step: PlanStep, action: ApplyAnswer['action'] = 'apply') => {
  const commandIds: string[] = []
  return { result: await applier.send(step, action, id => commandIds.push(id)), commandIds }
}

describe('a step that is sent', () => {
  it('is what the plan says, to the byte, and nothing else', async () => {
    const heard: Record<string, string> = {}
    await world([{ run: hears(environment => Object.assign(heard, environment)) }])
    const step = stepOf(0)
    const { result, commandIds } = await send(step)
    expect(result).toMatchObject({
      kind: 'answer',
      answer: { run, action: 'apply', outcome: 'applied', instanceId: step.instanceId },
    })
    expect(commandIds).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect(heard).toEqual({
      AWS_SSM_INSTANCE_ID: step.instanceId,
      SSM_Action: 'apply',
      SSM_Run: run,
      SSM_Method: 'kubelet-file',
      SSM_Path: step.path,
      SSM_OldSha256: step.oldSha256,
      SSM_NewSha256: step.newSha256,
      SSM_Content: expect.any(String),
      SSM_TimeoutSeconds: '240',
    })
    expect(gunzipSync(Buffer.from(heard.SSM_Content ?? '', 'base64')).toString()).toBe(step.content)
  })

  it.each<[string, Partial<PlanStep>, object]>([
    [
      'Bottlerocket',
      { method: 'bottlerocket', path: 'settings.kubernetes' },
      { SSM_TimeoutSeconds: '240' },
    ],
    [
      'a file of logrotate',
      { method: 'sync-file', path: '/etc/logrotate.d/pods' },
      { SSM_Name: 'pods' },
    ],
  ])('takes the document of its method: %s', async (_, changed, more) => {
    const heard: Record<string, string> = {}
    await world([{ run: hears(environment => Object.assign(heard, environment)) }])
    const step = stepOf(0, changed)
    expect((await send(step, 'rollback')).result).toMatchObject({
      kind: 'unknown',
      why: 'the node says applied to rollback',
    })
    expect(heard).toEqual({
      AWS_SSM_INSTANCE_ID: step.instanceId,
      SSM_Action: 'rollback',
      SSM_Run: run,
      SSM_OldSha256: step.oldSha256,
      SSM_NewSha256: step.newSha256,
      SSM_Content: expect.any(String),
      ...more,
    })
  })

  it('takes the document of its method: an image, of which nothing is written', async () => {
    const heard: Record<string, string> = {}
    await world([{ run: hears(environment => Object.assign(heard, environment)) }])
    const content = '{"name":"quay.io/a/b:1","pinned":true,"source":"mirror.example/b:1"}'
    const step = stepOf(0, {
      method: 'pull-image',
      path: 'quay.io/a/b:1',
      oldSha256: 'absent',
      content,
    })
    expect((await send(step)).result).toMatchObject({
      kind: 'answer',
      answer: { outcome: 'applied' },
    })
    expect(heard).toEqual({
      AWS_SSM_INSTANCE_ID: step.instanceId,
      SSM_Action: 'apply',
      SSM_Run: run,
      SSM_OldSha256: 'absent',
      SSM_NewSha256: step.newSha256,
      SSM_Source: 'mirror.example/b:1',
      SSM_Name: 'quay.io/a/b:1',
    })
    const broken = await send({ ...step, content: '{"source":"mirror.example/b:1"}' })
    expect(broken).toEqual({
      result: {
        kind: 'unsent',
        isCommon: false,
        why: expect.stringContaining('where it is pulled'),
      },
      commandIds: [],
    })
  })

  it('goes out as one command to all nodes with the same parameters', async () => {
    await world([{}, {}, {}, {}])
    const other = stepOf(3, { oldSha256: sha256('another') })
    const all = await Promise.all([stepOf(0), stepOf(1), stepOf(2), other].map(step => send(step)))
    expect(all.map(({ result }) => result.kind)).toEqual(['answer', 'answer', 'answer', 'answer'])
    expect(new Set(all.flatMap(({ commandIds }) => commandIds)).size).toBe(2)
    expect(lab.requests().routes.ssm).toMatchObject({ SendCommand: 2 })
  })

  it('is heard also where the script says that it did not go well', async () => {
    const restored = {
      outcome: 'restored',
      reason: 'the kubelet does not stay',
      presentSha256: stepOf(0).oldSha256,
    }
    await world([{ run: says(restored, 4) }])
    expect((await send(stepOf(0))).result).toMatchObject({
      kind: 'answer',
      answer: { outcome: 'restored', reason: 'the kubelet does not stay' },
    })
  })

  it('is sent again where SSM asks to slow down, and only then', async () => {
    await world([{}], { ssm: { throttlesFirst: 2 } })
    expect((await send(stepOf(0))).result.kind).toBe('answer')
  })
})

describe('what is not known is never half known', () => {
  it.each<[string, AgentScenario, RegExp]>([
    ['nothing', { run: prints('') }, /has printed nothing/],
    ['no JSON', { run: prints('Segmentation fault') }, /no whole answer/],
    [
      'JSON of another kind',
      { run: prints('{"schema":"highwater.inspect/1"}') },
      /no whole answer/,
    ],
    ['an answer with more in it', { run: says({ more: true }) }, /no whole answer/],
    [
      'an answer that was cut',
      { fault: { kind: 'truncated', afterCharacters: 200 } },
      /no whole answer/,
    ],
    [
      'an answer that broke off',
      { fault: { kind: 'killed', afterCharacters: 200 } },
      /no whole answer/,
    ],
    [
      'the answer of another node',
      { fault: { kind: 'other-identity', instanceId: 'i-00000000000000001' } },
      /of another node, i-00000000000000001/,
    ],
    [
      'the answer of another run',
      { run: says({ run: 'fedcba9876543210' }) },
      /of another command, apply of run fedcba9876543210/,
    ],
    [
      'the answer to something else',
      { run: says({ action: 'check', outcome: 'ready' }) },
      /of another command, check/,
    ],
    [
      'an answer about another file',
      { run: says({ newSha256: 'a'.repeat(64) }) },
      /about another file/,
    ],
    [
      'an answer that contradicts itself',
      { run: says({ presentSha256: 'a'.repeat(64) }) },
      /what is there now is something else/,
    ],
    [
      'that it broke off',
      {
        run: says({
          run: null,
          action: null,
          outcome: 'broken',
          reason: 'the script broke off half-way (137)',
        }),
      },
      /broke off half-way/,
    ],
    [
      'no answer in time',
      { fault: { kind: 'status', status: 'TimedOut', details: 'Delivery Timed Out' } },
      /could not be delivered in time/,
    ],
    [
      'that it took too long',
      { fault: { kind: 'status', status: 'TimedOut', details: 'Execution Timed Out' } },
      /longer than it may/,
    ],
  ])('%s', async (_, agent, why) => {
    await world([agent])
    const { result, commandIds } = await send(stepOf(0))
    expect(result).toEqual({ kind: 'unknown', why: expect.stringMatching(why), isRefused: false })
    expect(commandIds).toHaveLength(1)
  })

  it('but for a script that could not even begin', async () => {
    await world([
      {
        run: says({
          run: null,
          action: null,
          outcome: 'refused',
          reason: 'the program awk is not on this node',
        }),
      },
    ])
    expect((await send(stepOf(0))).result).toMatchSnapshot()
  })
})

describe('nothing goes out', () => {
  it.each<[string, AgentScenario | null, RegExp]>([
    ['where SSM knows no such instance', null, /does not know the instance/],
    [
      'to an agent that cannot hand over parameters',
      { version: '3.3.2299.0' },
      /too old to run the document: it needs 3\.3\.2746\.0/,
    ],
    ['to an agent that was lost', { pingStatus: 'ConnectionLost' }, /lost the connection/],
    ['to an instance that has just gone', { fault: { kind: 'gone' } }, /has just gone/],
  ])('%s', async (_, agent, why) => {
    await world([agent])
    const { result, commandIds } = await send(stepOf(0))
    expect([result, commandIds]).toEqual([
      { kind: 'unsent', isCommon: false, why: expect.stringMatching(why) },
      [],
    ])
  })

  it.each<[string, typeof deployed, RegExp]>([
    [
      'without the document',
      [],
      /has no SSM document Highwater-ApplyKubeletConfig in us-east-1: deploy the stack/,
    ],
    [
      'with another one of that name',
      deployed.map(one => ({ ...one, content: one.content.replace('sync', 'rm') })),
      /is not the one of this version/,
    ],
  ])('in an account %s', async (_, documents, why) => {
    await world([{}], {}, documents)
    expect((await send(stepOf(0))).result).toEqual({
      kind: 'unsent',
      isCommon: true,
      why: expect.stringMatching(why),
    })
  })

  it('by an unknown method', async () => {
    await world([{}])
    const step = stepOf(0, { method: 'sed' as PlanStep['method'] })
    expect((await send(step)).result).toMatchSnapshot()
    expect(lab.requests().routes.ssm?.SendCommand).toBeUndefined()
  })

  it('without the right to', async () => {
    await world([{}], { ssm: { denied: ['ssm:SendCommand'] } })
    expect((await send(stepOf(0))).result).toEqual({
      kind: 'unsent',
      isCommon: true,
      why: expect.stringMatching(/Grant ssm:SendCommand/),
    })
  })
})

import { createHash } from 'node:crypto'
import pMap from 'p-map'
import { afterEach, describe, expect, it } from 'vitest'
import { RunCommand, type RunCommandOptions } from '#clients/aws/run-command.ts'
import { SsmApi } from '#clients/aws/ssm.ts'
import { leastAgentVersion } from '#facts/aws/agent-versions.ts'
import type { Lab } from '#lab/lab.ts'
import { inNodegroup } from '#lab/nodes/placement.ts'
import { profiledNode } from '#lab/nodes/profiled-node.ts'
import { instanceIdOf } from '#lab/nodes/random.ts'
import { type AgentScenario, fixedNodes, type Scenario } from '#lab/scenarios/scenario.ts'
import { enterLab, scenario } from '#lab/test/support.ts'

let lab: Lab
afterEach(() => lab.close())

const content = JSON.stringify({
  schemaVersion: '2.2',
  parameters: { Output: { type: 'String', allowedValues: ['short', 'full'] } },
  mainSteps: [
    {
      action: 'aws:runShellScript',
      name: 'inspect',
      precondition: { StringEquals: ['platformType', 'Linux'] },
      inputs: { runCommand: ['echo {{ Output }}'] },
    },
  ],
})
const document = {
  name: 'Highwater-Inspect',
  version: '1',
  sha256: createHash('sha256').update(content).digest('hex'),
}
const signal = new AbortController().signal
const ipOf = (index: number) => `10.0.${Math.trunc(index / 250)}.${(index % 250) + 1}`
const idOf = (index: number) => instanceIdOf(ipOf(index))
const echoes: AgentScenario['run'] = async (script, { AWS_SSM_INSTANCE_ID = '' }) => ({
  stdout: `${script} on ${AWS_SSM_INSTANCE_ID}`,
  stderr: '',
  exitCode: 0,
})

/** Instances with these agents; null: without one. */
async function world(
  agents: (Partial<AgentScenario> | null)[],
  more: Partial<Scenario> = {},
  options: Partial<RunCommandOptions> = {},
  requestsPerSecond = 200,
) {
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
      agent === null ? node : { ...node, agent: { run: echoes, ...agent } },
    ] as const
  })
  const cluster = { nodes: fixedNodes(Object.fromEntries(nodes)) }
  lab = await enterLab(scenario([cluster], more), { documents: [{ name: document.name, content }] })
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = lab.environment
  const credentials = async () => ({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
  })
  const ssm = new SsmApi('us-east-1', credentials, { requestsPerSecond, concurrency: 4 })
  return new RunCommand(ssm, {
    document,
    stepName: 'inspect',
    parameters: { Output: 'short' },
    comment: 'a test',
    output: null,
    timeoutMs: 3000,
    reach: { silentAfterMs: 15 * 60_000, agentVersion: leastAgentVersion },
    gatherMs: 10,
    pollMs: 20,
    signal,
    ...options,
  })
}

describe('Run Command', () => {
  it('asks many instances with few requests, and gives each its own answer', async () => {
    const command = await world(Array.from({ length: 70 }, () => ({})))
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, index) => command.ask(idOf(index))),
    )
    expect(answers.map(({ stdout }) => stdout)).toEqual(
      Array.from({ length: 70 }, (_, index) => `echo short on ${idOf(index)}`),
    )
    expect(lab.requests().routes.ssm).toMatchObject({
      DescribeInstanceInformation: 2,
      SendCommand: 2,
      GetCommandInvocation: 70,
    })
  })

  it('whose answers come slower than it gathers sends those who come in their place together all the same', async () => {
    const nodes = 60
    const command = await world(
      Array.from({ length: nodes }, () => ({})),
      {},
      { gatherMs: 1 },
      50,
    )
    await pMap(Array.from({ length: nodes }).keys(), index => command.ask(idOf(index)), {
      concurrency: 20,
    })
    const { SendCommand = 0, GetCommandInvocation } = lab.requests().routes.ssm ?? {}
    expect(GetCommandInvocation).toBe(nodes)
    expect(SendCommand).toBeLessThanOrEqual(nodes / 5)
  })

  it.each<[string, Partial<AgentScenario> | null, RegExp]>([
    [
      'an instance without an agent',
      null,
      /does not know the instance.*AmazonSSMManagedInstanceCore/,
    ],
    [
      'an agent that was lost',
      { pingStatus: 'ConnectionLost' },
      /lost the connection to its agent/,
    ],
    [
      'an agent that is Online and silent',
      { lastPingMinutesAgo: 40 },
      /last heard 40 min ago, though SSM calls it Online/,
    ],
    [
      'an agent that is too old',
      { version: '2.0.700.0' },
      /its agent 2\.0\.700\.0 is too old to run the document: .* 2\.0\.790\.0 or later/,
    ],
    ['Windows', { platform: 'Windows' }, /as Windows: the document runs on Linux only/],
    [
      'a command that is not delivered',
      { fault: { kind: 'status', status: 'TimedOut', details: 'Delivery Timed Out' } },
      /could not be delivered/,
    ],
    [
      'an instance that is gone',
      { fault: { kind: 'status', status: 'Failed', details: 'Undeliverable' } },
      /SSM: .*cannot be delivered/,
    ],
    [
      'a role that may not',
      { fault: { kind: 'status', status: 'Failed', details: 'Access Denied' } },
      /role does not allow its agent/,
    ],
    [
      'a command that SSM ends',
      { fault: { kind: 'status', status: 'Failed', details: 'Terminated' } },
      /too many other instances/,
    ],
    [
      'a platform it is not for',
      { fault: { kind: 'status', status: 'Failed', details: 'Invalid Platform' } },
      /does not run on the inst/,
    ],
    [
      'too many commands',
      { fault: { kind: 'status', status: 'Failed', details: 'Limit Exceeded' } },
      /limit of commands for one instance/,
    ],
    [
      'commands that are too fast',
      { fault: { kind: 'status', status: 'Failed', details: 'RateExceeded' } },
      /limit of commands a second/,
    ],
    [
      'a command that broke off',
      { fault: { kind: 'status', status: 'Failed', details: 'Incomplete' } },
      /ended before its script did/,
    ],
    [
      'unknown details',
      { fault: { kind: 'status', status: 'Failed', details: 'Moonstruck' } },
      /not known here \(Moonstruck\)/,
    ],
    [
      'a command that a user cancels',
      { fault: { kind: 'status', status: 'Cancelled', details: 'Cancelled' } },
      /cancelled in SSM/,
    ],
    [
      'a script that does not end',
      { fault: { kind: 'stuck', status: 'InProgress' } },
      /still ran when the time was up \(0.3 s\)/,
    ],
    [
      'an agent that does not take it',
      { fault: { kind: 'stuck', status: 'Delayed' } },
      /did not take the command in time/,
    ],
  ])('says why there is no answer, and answers for the others: %s', async (_, agent, reason) => {
    const command = await world([{}, agent, {}], {}, { timeoutMs: 300 })
    const [first, second, third] = await Promise.allSettled(
      [0, 1, 2].map(index => command.ask(idOf(index))),
    )
    expect([first?.status, third?.status]).toEqual(['fulfilled', 'fulfilled'])
    const why =
      second?.status === 'rejected' ? second.reason.message : JSON.stringify(second?.value)
    expect(why).toMatch(reason)
  })

  it('asks the others again without an instance that has gone since SSM listed it', async () => {
    const gone = 4
    const command = await world(
      Array.from({ length: 7 }, (_, index) => (index === gone ? { fault: { kind: 'gone' } } : {})),
    )
    const answers = await Promise.allSettled(
      Array.from({ length: 7 }, (_, index) => command.ask(idOf(index))),
    )
    expect(answers.map(({ status }) => status === 'fulfilled')).toEqual(
      Array.from({ length: 7 }, (_, index) => index !== gone),
    )
    expect(answers[gone]).toMatchObject({
      reason: { message: expect.stringMatching(/managed by SSM here/) },
    })
    // SSM lists it still. All, then the halves, the quarter of the one, and itself.
    expect(lab.requests().routes.ssm).toMatchObject({
      DescribeInstanceInformation: 2,
      SendCommand: 7,
    })
  })

  it('lists the instances in SSM again before it queries the others in halves', async () => {
    const gone = [2, 5]
    const command = await world(
      Array.from({ length: 7 }, (_, index) =>
        gone.includes(index) ? { fault: { kind: 'gone', isForgotten: true } } : {},
      ),
    )
    const answers = await Promise.allSettled(
      Array.from({ length: 7 }, (_, index) => command.ask(idOf(index))),
    )
    expect(answers.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual(
      gone,
    )
    for (const index of gone)
      expect(answers[index]).toMatchObject({
        reason: { message: expect.stringMatching(/not know the instance/) },
      })
    expect(lab.requests().routes.ssm).toMatchObject({
      DescribeInstanceInformation: 2,
      SendCommand: 2,
    })
  })

  it('says of all that they have gone where all have', async () => {
    const command = await world(
      Array.from({ length: 3 }, () => ({ fault: { kind: 'gone', isForgotten: true } })),
    )
    const answers = await Promise.allSettled([0, 1, 2].map(index => command.ask(idOf(index))))
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(lab.requests().routes.ssm).toMatchObject({ SendCommand: 1 })
  })

  it('reports what a failed script printed', async () => {
    const command = await world([{ fault: { kind: 'killed', afterCharacters: 4 } }])
    expect(await command.ask(idOf(0))).toMatchObject({
      status: 'Failed',
      responseCode: 137,
      stdout: 'echo',
    })
  })

  it('waits while SSM does not see what it was sent, and slows down when asked to', async () => {
    const command = await world([{}], { ssm: { unseenFirst: 4, throttlesFirst: 2 } })
    expect(await command.ask(idOf(0))).toMatchObject({ status: 'Success' })
  })

  it.each([
    'ssm:DescribeInstanceInformation',
    'ssm:SendCommand',
    'ssm:ListCommandInvocations',
    'ssm:GetCommandInvocation',
  ])('names the right that is missing: %s', async right => {
    const command = await world([{}], { ssm: { denied: [right] } })
    await expect(command.ask(idOf(0))).rejects.toThrow(new RegExp(`not allowed .*${right}.*Grant`))
  })

  it('runs nothing but the document that it knows', async () => {
    const command = await world([{}], {}, { document: { ...document, sha256: 'f'.repeat(64) } })
    await expect(command.ask(idOf(0))).rejects.toThrowErrorMatchingSnapshot()
  })

  it('stops when the run does', async () => {
    const command = await world(
      [{ fault: { kind: 'stuck', status: 'Pending' } }],
      {},
      { signal: AbortSignal.timeout(200) },
    )
    await expect(command.ask(idOf(0))).rejects.toThrow(/timeout/)
  })
})

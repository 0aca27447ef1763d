/** How a change goes wrong on a node of the lab: each fault shows what it says, and leaves on the disk what it says. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runOn } from '#lab/apis/ssm/run.ts'
import type { Invocation } from '#lab/apis/ssm/state.ts'
import { type Lab, startLab } from '#lab/lab.ts'
import {
  type NodeTrouble,
  remediationNodes,
  remediationScenario,
  successorOf,
} from '#lab/scenarios/remediation.ts'
import { askIn } from '#lab/test/support.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { mainFileOf, pingStatusOf, sha256 } from '#test/lab-changes.ts'
import { WatchedNode } from '#test/watched-node.ts'

const patience = { timeout: 50_000, interval: 50 }
const long = { timeout: 60_000 }
const hourMs = 3_600_000

/** One for each node. */
const faults: Readonly<Record<string, NodeTrouble>> = {
  'shop/al2/0': { change: { kind: 'never-up' } },
  'shop/al2/1': { change: { kind: 'only-old' } },
  'shop/al2/2': { change: { kind: 'sick' } },
  'shop/al2/3': { change: { kind: 'agent-lost', when: 'before-swap', backAfterMs: 200 } },
  'shop/al2/4': { change: { kind: 'agent-lost', when: 'after-swap', backAfterMs: 200 } },
  'shop/al2/5': { change: { kind: 'agent-lost', when: 'end', backAfterMs: 200 } },
  'shop/al2023/0': { change: { kind: 'replaced', when: 'after-swap' } },
  'shop/al2023/1': { change: { kind: 'disk-full', from: 'start' } },
  'shop/al2023/2': { change: { kind: 'disk-full', from: 'write' } },
  'shop/al2023/3': { change: { kind: 'disk-full', from: 'restart' } },
  'shop/al2023/4': { change: { kind: 'clock-skew', byMs: 4 * hourMs } },
  'shop/al2023-dropin/0': { isFileBroken: true },
  'shop/al2023-dropin/1': { change: { kind: 'agent-lost', when: 'before-swap' } },
  'shop/al2023-dropin/2': { agent: { kind: 'late', delayMs: 2000 } },
  'shop/bottlerocket/0': { change: { kind: 'only-old' } },
  'shop/bottlerocket/1': { change: { kind: 'agent-lost', when: 'after-swap', backAfterMs: 200 } },
  'shop/bottlerocket/2': { change: { kind: 'replaced', when: 'before-swap' } },
}
const nodes = new Map(remediationNodes().map(node => [node.key, node]))

let lab: Lab
beforeAll(async () => {
  const ssm = { throttlesFirstOf: { SendCommand: 2 } }
  lab = await startLab(remediationScenario({ faults, ssm }), { documents: deployedDocuments() })
  for (const [name, value] of Object.entries(lab.environment)) vi.stubEnv(name, value)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await lab.close()
})

const nodeAt = (key: string) => new WatchedNode(lab, nodes.get(key)!, askIn(lab))
const mainOf = (node: WatchedNode) => node.file(mainFileOf[node.node.nodegroup] ?? '')

describe('SSM that throttles', () => {
  it('lets a command through after so many tries', long, async () => {
    const node = nodeAt('shop/al2023-plain/0')
    expect(await node.send(await node.change())).toMatchObject({ outcome: 'applied' })
    expect(lab.requests().routes.ssm?.SendCommand).toBe(4)
  })
})

describe('a kubelet', () => {
  it(
    'that never comes back has its file again, and the cluster calls its node unknown',
    long,
    async () => {
      const node = nodeAt('shop/al2/0')
      const change = await node.change()
      const before = mainOf(node)
      expect(await node.send(change)).toMatchObject({
        outcome: 'broken',
        kubelet: { active: false },
      })
      expect(mainOf(node)).toBe(before)
      expect(await node.configz()).toBe(503)
      await vi.waitFor(
        async () =>
          expect(await node.ready()).toMatchObject({
            status: 'Unknown',
            reason: 'NodeStatusUnknown',
          }),
        patience,
      )
      expect((await node.object()).spec?.taints?.map(({ key }) => key)).toContain(
        'node.kubernetes.io/unreachable',
      )
      const ready = (await node.pods()).map(
        ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status,
      )
      expect(new Set(ready)).toEqual(new Set(['False']))
    },
  )

  it.each([
    ['that comes back with its old file only', 'shop/al2/1', /does not stay|not well in time/],
    ['that is not healthy with another file', 'shop/al2/2', /is not healthy/],
  ])('%s runs with that again', long, async (_, key, why) => {
    const node = nodeAt(key)
    const change = await node.change()
    const before = mainOf(node)
    expect(await node.send(change)).toMatchObject({
      outcome: 'restored',
      reason: expect.stringMatching(why),
      kubelet: { active: true, healthz: 'ok' },
    })
    expect(mainOf(node)).toBe(before)
    expect(await node.thresholds()).toEqual([85, 80])
  })

  it(
    'of Bottlerocket, of which its agent sees nothing, is down with settings that were applied',
    long,
    async () => {
      const node = nodeAt('shop/bottlerocket/0')
      expect(await node.send(await node.change())).toMatchObject({ outcome: 'applied' })
      expect(await node.configz()).toBe(503)
    },
  )

  it('runs on beside a file that is no JSON, and does not come back with it', long, async () => {
    const node = nodeAt('shop/al2023-dropin/0')
    const change = await node.change()
    expect(() => JSON.parse(mainOf(node) ?? '')).toThrow()
    const before = mainOf(node)
    expect(await node.thresholds()).toEqual([85, 80])
    expect(await node.send(change)).toMatchObject({ outcome: 'broken' })
    expect([mainOf(node), node.file(change.path ?? '')]).toEqual([before, null])
  })
})

describe('an agent that is lost', () => {
  it.each([
    ['before the swap', 'shop/al2/3', { isSwapped: false, runsWith: [85, 80], outcome: 'applied' }],
    ['after the swap', 'shop/al2/4', { isSwapped: true, runsWith: [85, 80], outcome: 'applied' }],
    [
      'when all is done',
      'shop/al2/5',
      { isSwapped: true, runsWith: [70, 50], outcome: 'unchanged' },
    ],
    [
      'after the settings were swapped',
      'shop/bottlerocket/1',
      { isSwapped: null, runsWith: [70, 50], outcome: 'applied' },
    ],
  ])(
    '%s gives no answer, and when it is back the same run goes on from there',
    long,
    async (_, key, { isSwapped, runsWith, outcome }) => {
      const node = nodeAt(key)
      const change = await node.change()
      const before = hashOfMain(node)
      await node.leave(change, () => struck(node))
      if (isSwapped !== null)
        expect(hashOfMain(node)).toBe(isSwapped ? change.parameters.NewSha256 : before)
      expect(await node.thresholds()).toEqual(runsWith)
      await vi.waitFor(
        async () => expect(await pingStatusOf(lab, node.node)).toBe('Online'),
        patience,
      )
      expect(await node.send(change)).toMatchObject({ outcome })
      expect(await node.thresholds()).toEqual([70, 50])
    },
  )

  it('for good is called so, and its node runs on', long, async () => {
    const node = nodeAt('shop/al2023-dropin/1')
    await node.leave(await node.change(), () => struck(node))
    expect(await pingStatusOf(lab, node.node)).toBe('ConnectionLost')
    await expect(node.send(await node.change())).rejects.toThrow(/connection to its agent/)
    expect(await node.thresholds()).toEqual([85, 80])
  })
})

describe('an instance that is replaced', () => {
  it.each(['shop/al2023/0', 'shop/bottlerocket/2'])(
    'half-way is gone everywhere, and another one is there as it was made (%s)',
    long,
    async key => {
      const node = nodeAt(key)
      const next = new WatchedNode(lab, successorOf(key), askIn(lab))
      expect((await next.ask(`/api/v1/nodes/${next.node.name}`)).status).toBe(404)
      await node.leave(await node.change(), () =>
        vi.waitFor(
          async () => expect(await pingStatusOf(lab, node.node)).toBeUndefined(),
          patience,
        ),
      )
      expect((await node.ask(`/api/v1/nodes/${node.node.name}`)).status).toBe(404)
      expect((await node.ask('/api/v1/pods?resourceVersion=0')).status).toBe(200)
      const { json } = await node.ask('/api/v1/nodes')
      const names = (json as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata }) => metadata.name,
      )
      expect([names.includes(node.node.name), names.includes(next.node.name)]).toEqual([
        false,
        true,
      ])
      await expect(node.send(await node.change())).rejects.toThrow(/not know the instance/)
      expect((await next.object()).metadata?.labels?.['eks.amazonaws.com/nodegroup']).toBe(
        node.node.nodegroup,
      )
      expect(await next.thresholds()).toEqual([85, 80])
      expect(await next.send(await next.change())).toMatchObject({ outcome: 'applied' })
      expect(await next.thresholds()).toEqual([70, 50])
    },
  )
})

describe('a disk that is full', () => {
  it.each([
    [
      'is seen before anything is done',
      'shop/al2023/1',
      { outcome: 'refused', reason: expect.stringMatching(/less than 1 MiB is free/) },
    ],
    [
      'is met by the first write, and nothing was changed',
      'shop/al2023/2',
      { outcome: 'failed', reason: expect.stringMatching(/nothing was changed/) },
    ],
  ])('%s', long, async (_, key, expected) => {
    const node = nodeAt(key)
    const change = await node.change()
    expect(await node.send(change)).toMatchObject(expected)
    expect(node.file(change.path ?? '')).toBeNull()
    expect(await node.thresholds()).toEqual([85, 80])
  })

  it('from the restart on leaves the way back, which takes no room', long, async () => {
    const node = nodeAt('shop/al2023/3')
    const change = await node.change(50, 70)
    const before = mainOf(node)
    expect(await node.send(change)).toMatchObject({
      outcome: 'restored',
      kubelet: { active: true },
    })
    expect([mainOf(node), node.file(change.path ?? '')]).toEqual([before, null])
    expect(await node.thresholds()).toEqual([85, 80])
  })
})

describe('a clock', () => {
  it('that is wrong shows in all that the node itself tells', long, async () => {
    const node = nodeAt('shop/al2023/4')
    const fast = (time: string | undefined | null) =>
      Math.round((Date.parse(time ?? '') - Date.now()) / hourMs)
    expect(fast((await node.ready())?.lastHeartbeatTime)).toBe(4)
    const { outcome, kubelet } = await node.send(await node.change())
    expect([outcome, fast(kubelet?.startedAtAfter)]).toEqual(['applied', 4])
    expect(fast((await node.ready())?.lastHeartbeatTime)).toBe(4)
  })
})

describe('a command', () => {
  it('that comes late is done, though nothing waits for it any more', long, async () => {
    const node = nodeAt('shop/al2023-dropin/2')
    const change = await node.change()
    const sent = () => lab.requests().routes.ssm?.SendCommand ?? 0
    const before = sent()
    await node.leave(change, () => vi.waitFor(() => expect(sent()).toBe(before + 1), patience))
    expect(await node.thresholds()).toEqual([85, 80])
    await vi.waitFor(async () => expect(await node.thresholds()).toEqual([70, 50]), patience)
  })

  it('that comes twice is done twice, and answered once', async () => {
    const ran: string[] = []
    const run = async (script: string) => ({
      stdout: `${ran.push(script)}`,
      stderr: '',
      exitCode: 0,
    })
    const invocation: Invocation = {
      instanceId: 'i-1',
      status: 'Pending',
      statusDetails: 'Pending',
      responseCode: -1,
      stdout: '',
      stderr: '',
      unseenLeft: 0,
    }
    await runOn(
      { run, fault: { kind: 'twice' } },
      { name: 'apply', platform: null, script: 'a script', environment: {} },
      invocation,
    )
    expect(ran).toEqual(['a script', 'a script'])
    expect(invocation).toMatchObject({ status: 'Success', stdout: '1' })
  })
})

describe('an API server', () => {
  it('is away from the first restart on, for so many requests', long, async () => {
    const away = { from: 'first-restart', requests: 3 } as const
    const other = await startLab(
      remediationScenario({ nodes: 2, clusterFaults: { shop: { away } } }),
      { documents: deployedDocuments() },
    )
    for (const [name, value] of Object.entries(other.environment)) vi.stubEnv(name, value)
    try {
      const node = new WatchedNode(other, nodes.get('shop/al2/0')!, askIn(other))
      expect(await node.thresholds()).toEqual([85, 80])
      expect(await node.send(await node.change())).toMatchObject({ outcome: 'applied' })
      for (let request = 0; request < 3; request++)
        await expect(node.thresholds()).rejects.toThrow(/hang up|ECONNRESET/)
      expect(await node.thresholds()).toEqual([70, 50])
    } finally {
      await other.close()
      for (const [name, value] of Object.entries(lab.environment)) vi.stubEnv(name, value)
    }
  })
})

it('knows no fault of a node that it does not have', () => {
  expect(() => remediationScenario({ nodes: 10, faults: { 'shop/al2/9': {} } })).toThrow(
    'no node shop/al2/9',
  )
  expect(() => remediationScenario({ nodes: 0 })).toThrow('1 to 1000 nodes')
})

const struck = ({ node }: WatchedNode) =>
  vi.waitFor(() => expect(lab.machineOf(node.instanceId)?.hasFaultStruck).toBe(true), patience)

const hashOfMain = (node: WatchedNode) =>
  mainFileOf[node.node.nodegroup] === undefined ? null : sha256(mainOf(node) ?? '')

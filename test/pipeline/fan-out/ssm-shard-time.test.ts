/** A shard at its share of SSM's pace, on a clock that is moved by hand: Run Command and its pace are real, SSM is a table of when each script ends. */
import pMap from 'p-map'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RunCommand } from '#clients/aws/run-command.ts'
import type { Command, SsmApi } from '#clients/aws/ssm.ts'
import { Pace } from '#clients/pace.ts'
import { leastAgentVersion } from '#facts/aws/agent-versions.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'
import { defaultPolicy } from '#model/policy.ts'
import { clustersAtOnce, ssmCallsPerNodeMax, ssmShare } from '#pipeline/fan-out/shards.ts'
import { readingSeconds } from '#pipeline/runtime/runtime.ts'

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }),
)
afterEach(() => void vi.useRealTimers())

const { signal } = new AbortController()

/** @param scriptSecondsOf how long a node's script takes; null: it never ends */
function ssmAt(requestsPerSecond: number, scriptSecondsOf: (instanceId: string) => number | null) {
  const pace = new Pace({ requestsPerSecond, concurrency: 5 })
  const commands = new Map<string, { sentMs: number; instanceIds: readonly string[] }>()
  let calls = 0
  const asked = <T>(answer: () => T): Promise<T> =>
    pace.run(async () => {
      calls++
      return answer()
    }, signal)
  const hasEnded = (sentMs: number, instanceId: string) =>
    performance.now() - sentMs >= 1000 * (scriptSecondsOf(instanceId) ?? Infinity)
  const online = {
    pingStatus: 'Online',
    lastPingAt: null,
    agentVersion: leastAgentVersion,
    platformType: 'Linux',
  }
  const ssm = {
    region: 'us-east-1',
    instances: (ids: string[]) => asked(() => ids.map(instanceId => ({ instanceId, ...online }))),
    send: ({ instanceIds }: Command) =>
      asked(() => {
        const id = String(commands.size)
        commands.set(id, { sentMs: performance.now(), instanceIds })
        return id
      }),
    invocations: (id: string) =>
      asked(() => {
        const { sentMs, instanceIds } = commands.get(id)!
        return instanceIds.map(instanceId => ({
          instanceId,
          status: hasEnded(sentMs, instanceId) ? 'Success' : 'InProgress',
          statusDetails: '',
        }))
      }),
    output: () =>
      asked(() => ({
        status: 'Success',
        statusDetails: '',
        responseCode: 0,
        stdout: '{}',
        stderr: '',
      })),
  }
  return { ssm: ssm as unknown as SsmApi, calls: () => calls }
}

async function read(
  nodes: number,
  requestsPerSecond: number,
  scriptSecondsOf: (instanceId: string) => number | null,
) {
  const { ssm, calls } = ssmAt(requestsPerSecond, scriptSecondsOf)
  const command = new RunCommand(ssm, {
    document: { name: 'Highwater-Inspect', version: '1', sha256: '' },
    stepName: 'inspect',
    parameters: {},
    comment: '',
    output: null,
    timeoutMs: defaultPolicy.timeoutsMs.inspect,
    reach: { silentAfterMs: 1, agentVersion: leastAgentVersion },
    gatherMs: 1500,
    pollMs: 2000,
    signal,
  })
  let isOver = false
  const instances = Array.from({ length: nodes }, (_, number) => `i-${number}`)
  const reading = pMap(instances, id => command.ask(id).then(Boolean, () => false), {
    concurrency: 2 * commandInstancesMax,
  })
  void reading.then(() => (isOver = true))
  const startMs = performance.now()
  while (!isOver) await vi.advanceTimersToNextTimerAsync()
  return {
    seconds: (performance.now() - startMs) / 1000,
    calls: calls(),
    read: (await reading).filter(Boolean).length,
  }
}

const numberOf = (instanceId: string) => Number(instanceId.slice(2))

it.each([
  ['of one cluster', 1],
  ['of one of eight clusters', 8],
  ['of one of twenty clusters', 20],
])(
  'a shard %s in a region is read whole in time, with no more calls than are reckoned with',
  async (_, sharing) => {
    const { requestsPerSecond, nodesPerShard } = ssmShare(
      sharing,
      clustersAtOnce([sharing], defaultPolicy),
      defaultPolicy,
    )
    const result = await read(nodesPerShard, requestsPerSecond, id => 4 + (numberOf(id) % 30))
    expect(result.read).toBe(nodesPerShard)
    expect(result.seconds).toBeLessThan(readingSeconds)
    expect(result.calls).toBeLessThanOrEqual(nodesPerShard * ssmCallsPerNodeMax)
  },
)

it('a shard sized without shares is not read in time', async () => {
  const result = await read(defaultPolicy.fanOut.nodesPerShard, 0.25, () => 10)
  expect(result.seconds).toBeGreaterThan(readingSeconds)
})

it('silent nodes stay unread, and the others are read in time', async () => {
  const { requestsPerSecond, nodesPerShard } = ssmShare(20, 20, defaultPolicy)
  const result = await read(nodesPerShard, requestsPerSecond, id =>
    numberOf(id) % 25 === 0 ? null : 10,
  )
  expect(result.read).toBe(nodesPerShard - Math.ceil(nodesPerShard / 25))
  expect(result.seconds).toBeLessThan(readingSeconds)
})

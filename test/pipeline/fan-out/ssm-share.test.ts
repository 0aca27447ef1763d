import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultPolicy } from '#model/policy.ts'
import { clustersAtOnce, ssmCallsPerNodeMax, ssmShare } from '#pipeline/fan-out/shards.ts'
import { readingSeconds } from '#pipeline/runtime/runtime.ts'

const limits = (
  ssmRequestsPerSecond: number,
  fanOut: Partial<typeof defaultPolicy.fanOut> = {},
) => ({
  pace: { ...defaultPolicy.pace, ssmRequestsPerSecond },
  fanOut: { ...defaultPolicy.fanOut, ...fanOut },
})

describe('a share of SSM', () => {
  it('by default lets a function read its shard of 5,000 nodes in 20 clusters of one region, and leaves it a minute', () => {
    const atOnce = clustersAtOnce([20], defaultPolicy)
    const { requestsPerSecond, nodesPerShard } = ssmShare(20, atOnce, defaultPolicy)
    expect({ atOnce, requestsPerSecond, nodesPerShard }).toEqual({
      atOnce: 20,
      requestsPerSecond: 0.25,
      nodesPerShard: 55,
    })
    expect((nodesPerShard * ssmCallsPerNodeMax) / requestsPerSecond).toBeLessThanOrEqual(
      readingSeconds - 60,
    )
  })

  it.each([
    { sharing: 1, ssm: 5, requestsPerSecond: 5, nodesPerShard: 250 },
    { sharing: 8, ssm: 5, requestsPerSecond: 0.625, nodesPerShard: 137 },
    { sharing: 20, ssm: 20, requestsPerSecond: 1, nodesPerShard: 220 },
    { sharing: 400, ssm: 5, requestsPerSecond: 0.25, nodesPerShard: 55 },
    { sharing: 0, ssm: 5, requestsPerSecond: 5, nodesPerShard: 250 },
    { sharing: 3, ssm: 0.1, requestsPerSecond: 0.1, nodesPerShard: 22 },
  ])(
    'of $sharing clusters at $ssm requests a second is $requestsPerSecond, in shards of $nodesPerShard',
    ({ sharing, ssm, ...share }) => {
      expect(ssmShare(sharing, clustersAtOnce([sharing], limits(ssm)), limits(ssm))).toEqual(share)
    },
  )

  it('holds however the policy is: all clusters at once are no faster than it says, and each shard is read in time', () => {
    for (const ssm of [0.5, 1, 5, 100])
      for (const atMost of [1, 20, 500])
        for (const sharing of [1, 19, 500]) {
          const policy = limits(ssm, { clustersAtOnce: atMost, nodesPerShard: 1000 })
          const atOnce = clustersAtOnce([sharing], policy)
          const { requestsPerSecond, nodesPerShard } = ssmShare(sharing, atOnce, policy)
          expect(requestsPerSecond * Math.min(sharing, atOnce)).toBeLessThanOrEqual(ssm * 1.000001)
          expect((nodesPerShard * ssmCallsPerNodeMax) / requestsPerSecond).toBeLessThanOrEqual(
            readingSeconds,
          )
          expect(nodesPerShard).toBeGreaterThanOrEqual(50)
        }
  })

  it.each([
    ['few clusters of an account', [20, 20, 20], {}, 20],
    ['many, of whom few are read at once', [44], {}, 20],
    [
      'so many at once that a shard would be less than a command',
      [60, 3],
      { clustersAtOnce: 100 },
      22,
    ],
    [
      'as many where each has an account of its own',
      Array(60).fill(1),
      { clustersAtOnce: 100 },
      100,
    ],
    ['none by SSM', [], { clustersAtOnce: 100 }, 100],
  ])('with %s: %j and %j are %i at once', (_, sharing, fanOut, atOnce) => {
    expect(clustersAtOnce(sharing, limits(5, fanOut))).toBe(atOnce)
  })

  it('reckons with the time that the stack gives its functions', () => {
    const timeout = Number(
      /^ {2}timeout: (\d+)$/m.exec(readFileSync('serverless.yml', 'utf8'))?.[1],
    )
    expect(readingSeconds).toBe(timeout * 0.8)
  })
})

/** What it costs: the sums, their bounds, and the constants behind them against what the product really does. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { vpcEndpoints } from '#facts/aws/vpc-endpoints.ts'
import { publishMsPerNode, publishMsPerRun } from '#facts/measured.ts'
import { type CostEstimate, type CostQuestion, networks } from '#model/cost.ts'
import { defaultPolicy } from '#model/policy.ts'
import { readModes } from '#model/read-mode.ts'
import { costDocument, usualFleet } from '#pipeline/cost/cost-document.ts'
import { quantityText, secondsText, usdText } from '#pipeline/cost/cost-words.ts'
import { estimateCost } from '#pipeline/cost/estimate.ts'
import { snapshotBytes } from '#pipeline/cost/run-estimate.ts'
import { inProcess } from '#test/in-process.ts'

const estimate = (question: Partial<CostQuestion>, pace = defaultPolicy.pace): CostEstimate =>
  estimateCost({ ...usualFleet, nodes: 1000, clusters: 1, ...question }, { ...defaultPolicy, pace })
const usdOf = (billed: Pick<CostEstimate, 'lines'> | null | undefined, what: string) =>
  billed?.lines.find(line => line.what.includes(what))?.usd.most ?? Number.NaN

const questions = fc.record({
  nodes: fc.integer({ min: 1, max: 100_000 }),
  clusters: fc.integer({ min: 1, max: 500 }),
  accounts: fc.integer({ min: 1, max: 50 }),
  runsPerDay: fc.integer({ min: 1, max: 48 }),
  podsPerNode: fc.integer({ min: 1, max: 250 }),
  mode: fc.constantFrom(...readModes),
  network: fc.constantFrom(...networks),
  recipients: fc.integer({ min: 0, max: 100 }),
  retentionDays: fc.integer({ min: 1, max: 1000 }),
  memoryMiB: fc.integer({ min: 128, max: 10_240 }),
})

describe('an estimate', () => {
  it('is the sum of its lines, and no least is more than its most', () => {
    fc.assert(
      fc.property(questions, question => {
        const { fanOut, ...alone } = estimate(question)
        for (const { lines, totalUsd, run } of fanOut === null ? [alone] : [alone, fanOut]) {
          for (const { least, most } of [
            ...lines.flatMap(({ quantity, usd }) => [quantity, usd]),
            totalUsd,
            run.seconds,
            run.bytes,
            run.ssmCalls,
          ]) {
            expect(least).toBeLessThanOrEqual(most)
            expect(least).toBeGreaterThanOrEqual(0)
            expect(Number.isFinite(most)).toBe(true)
          }
          for (const side of ['least', 'most'] as const)
            expect(totalUsd[side]).toBeCloseTo(
              lines.reduce((total, { usd }) => total + usd[side], 0),
              6,
            )
        }
      }),
    )
  })

  it('never falls when the fleet grows, or is read more often', () => {
    fc.assert(
      fc.property(
        questions,
        fc.constantFrom(
          'nodes',
          'podsPerNode',
          'runsPerDay',
          'recipients',
          'retentionDays' as const,
        ),
        (question, key) => {
          const more = estimate({ ...question, [key]: question[key] * 2 + 1 })
          expect(more.totalUsd.most).toBeGreaterThanOrEqual(estimate(question).totalUsd.most)
        },
      ),
    )
  })

  it('of 1,000 nodes at the default pace is what was measured: 63 s on a whole processor', () => {
    const { seconds, boundBy } = estimate({ memoryMiB: 1769 }).run
    expect(seconds.least).toBeGreaterThan(61)
    expect(seconds.least).toBeLessThan(66)
    expect(boundBy).toBe('the pace of the API servers')
  })

  it.each([
    [400, 12, 2850, 5542],
    [400, 30, 3944, 9669],
    [400, 110, 7369, 20_487],
    [1600, 12, 8206, 5542],
    [1600, 110, 27_913, 20_487],
  ])(
    'of %i nodes with %i pods each takes about what was measured: %i ms of a processor, and %i bytes of snapshot a node',
    (nodes, podsPerNode, cpuMs, bytesPerNode) => {
      const { run } = estimate(
        { nodes, podsPerNode, memoryMiB: 1769 },
        { ...defaultPolicy.pace, requestsPerSecond: 10_000 },
      )
      expect(run.boundBy).toBe('the processor')
      // What comes after reading is mostly waited for, and not computed.
      expect(run.seconds.least * 1000 - cpuMs).toBeGreaterThan(-0.15 * cpuMs)
      expect(run.seconds.least * 1000 - cpuMs).toBeLessThan(
        0.15 * cpuMs + publishMsPerRun + nodes * publishMsPerNode,
      )
      expect(
        Math.abs(
          snapshotBytes({ ...usualFleet, clusters: 1, nodes, podsPerNode }) / nodes / bytesPerNode -
            1,
        ),
      ).toBeLessThan(1 / 7)
    },
  )

  it('of more pods takes more time, memory and room, and no more requests; by many functions, too', () => {
    const [few, many] = [12, 110].map(podsPerNode => {
      const { fanOut, ...alone } = estimate({
        nodes: 2400,
        clusters: 20,
        mode: 'kubelet',
        podsPerNode,
      })
      return [alone, fanOut].map(one => ({
        ...{
          kubernetesRequests: one?.run.kubernetesRequests,
          peakMiB: one?.run.peakMiB,
          seconds: one?.run.seconds.most,
        },
        ...{ lambda: usdOf(one, 'time of the function'), s3: usdOf(one, 'reports ') },
      }))
    })
    for (const [index, { kubernetesRequests, ...grown }] of (many ?? []).entries()) {
      const before = few?.[index]
      expect(kubernetesRequests).toBe(before?.kubernetesRequests)
      for (const [what, value] of Object.entries(grown))
        expect({
          what,
          isMore: (value ?? 0) > (before?.[what as keyof typeof grown] ?? Infinity),
        }).toEqual({ what, isMore: true })
    }
  })

  it('keeps to the policy’s pace: twice as fast a reader is done in half the time', () => {
    const { pace } = defaultPolicy
    const fast = estimate(
      { memoryMiB: 10_240 },
      { ...pace, requestsPerSecond: 2 * pace.requestsPerSecond },
    ).run.seconds.least
    expect(fast).toBeLessThan(estimate({ memoryMiB: 10_240 }).run.seconds.least * 0.6)
  })

  it('by SSM waits for SSM, and less with more accounts', () => {
    const one = estimate({ mode: 'ssm', clusters: 4 }).run
    expect(one.boundBy).toBe('the pace of SSM')
    expect(estimate({ mode: 'ssm', clusters: 4, accounts: 4 }).run.seconds.most).toBeLessThan(
      one.seconds.most / 2,
    )
    expect(estimate({ mode: 'proxy' }).run.ssmCalls.most).toBe(0)
  })

  it('says when one function has too little time or memory', () => {
    expect(estimate({ nodes: 1000 }).run.remarks).toEqual([])
    const [time, memory] = estimate({ nodes: 30_000, clusters: 1 }).run.remarks
    expect(time).toMatch(/reads for 720 s at most; this fleet takes \d+ s/)
    expect(memory).toContain('A function of 1024 MiB is too small')
  })

  it('of a run that no function can hold says that there is none, and nothing of deploying it with more', () => {
    const { run, fanOut } = estimate({ nodes: 1_000_000, clusters: 40, memoryMiB: 10_240 })
    const none =
      /^No function can hold this fleet: .* about [\d,]+ MiB, and Lambda ends at 10,240\. No such run can be made: /
    expect(run.remarks.at(-1)).toMatch(none)
    expect(run.remarks.at(-1)).toContain('let many functions read it (fanOut=on)')
    expect(fanOut?.run.remarks.at(-1)).toMatch(none)
    expect(fanOut?.run.remarks.at(-1)).not.toContain('fanOut=on')
    expect([...run.remarks, ...(fanOut?.run.remarks ?? [])].join()).not.toContain(
      'Deploy it with more',
    )
  })

  it('prices no function for longer than it can run: who does not come to the end stops reading in time', () => {
    const slow = { ...defaultPolicy, pace: { ...defaultPolicy.pace, requestsPerSecond: 1 } }
    const { run, lines, fanOut } = estimateCost({ ...usualFleet, nodes: 3000, clusters: 1 }, slow)
    expect(run.remarks).toEqual([
      expect.stringMatching(/reads for 720 s at most; this fleet takes \d{4,} s/),
    ])
    expect(run.seconds.most).toBeLessThan(900)
    expect(lines.find(({ what }) => what === 'time of the function')?.quantity.most).toBeLessThan(
      900 * (730 / 24),
    )
    expect(fanOut?.run.remarks).toEqual([
      expect.stringContaining('a shard of this fleet takes up to'),
    ])
    expect(
      (fanOut?.functionSeconds.most ?? Infinity) / (fanOut?.invocations.least ?? 1),
    ).toBeLessThan(900)
  })

  it('counts interface endpoints that the fleet needs, and no gateway', () => {
    const hours = (question: Partial<CostQuestion>) =>
      usdOf(estimate({ network: 'endpoints', ...question }), 'endpoints (')
    const each = 0.01 * 2 * 730
    const always = vpcEndpoints.filter(
      ({ of, type }) => of === 'always' && type === 'interface',
    ).length
    expect(hours({ recipients: 0 })).toBeCloseTo(always * each)
    expect(hours({})).toBeCloseTo((always + 1) * each)
    expect(hours({ mode: 'ssm' })).toBeCloseTo((always + 2) * each)
  })

  it('charges metrics by the hours in which they are sent', () => {
    expect(usdOf(estimate({ runsPerDay: 24 }), 'metrics')).toBeCloseTo(
      24 * usdOf(estimate({}), 'metrics'),
    )
    expect(usdOf(estimate({ runsPerDay: 96 }), 'metrics')).toBeCloseTo(
      usdOf(estimate({ runsPerDay: 24 }), 'metrics'),
    )
  })
})

describe('an estimate of many functions', () => {
  const shared = (question: Partial<CostQuestion>) => {
    const { fanOut } = estimate(question)
    if (fanOut === null) throw new Error('the fleet is not handed over')
    return fanOut
  }

  it.each([
    [{ nodes: 2000, clusters: 5 }, defaultPolicy.fanOut, false],
    [{ nodes: 2001, clusters: 5 }, defaultPolicy.fanOut, true],
    [{ nodes: 20, clusters: 5, accounts: 2 }, defaultPolicy.fanOut, true],
    [
      { nodes: 20, clusters: 5, accounts: 2 },
      { ...defaultPolicy.fanOut, acrossPlaces: false },
      false,
    ],
    [{ nodes: 90_000, clusters: 5 }, { ...defaultPolicy.fanOut, aboveNodes: null }, false],
    [{ nodes: 101, clusters: 5 }, { ...defaultPolicy.fanOut, aboveNodes: 100 }, true],
  ])('of %j by %j is there: %s', (question, fanOut, isThere) => {
    expect(
      estimateCost({ ...usualFleet, ...question }, { ...defaultPolicy, fanOut }).fanOut !== null,
    ).toBe(isThere)
  })

  it('counts each state that an execution goes through, of the parent and of each cluster’s own, which are standard ones', () => {
    const { Clusters } = JSON.parse(
      readFileSync('src/pipeline/fan-out/state-machine.json', 'utf8'),
    ).States
    expect(Clusters.ItemProcessor.ProcessorConfig).toEqual({
      Mode: 'DISTRIBUTED',
      ExecutionType: 'STANDARD',
    })
    // Discover, Clusters, Publish; of each cluster Shards, JudgeCluster, ClusterDone; ReadShard of each of 2 × 8 shards.
    const { stateTransitions, invocations, lines } = shared({ nodes: 4000, clusters: 2 })
    expect(stateTransitions.least).toBe(3 + 2 * 3 + 16)
    // Who hands over, discovers and publishes; 16 to 32 shards; two clusters.
    expect(invocations).toEqual({ least: 3 + 16 + 2, most: 3 + 32 + 2 })
    const states = lines.find(({ service }) => service === 'Step Functions')
    expect(states?.usd.least).toBeCloseTo(25 * 0.000025 * (730 / 24))
    expect(states?.usd.most).toBeGreaterThan(states?.usd.least ?? 0)
  })

  it('is sooner done than one function’s, and takes more of Lambda’s time, because each waits for its own API server', () => {
    const { run, fanOut } = estimate({ nodes: 20_000, clusters: 40 })
    expect(fanOut?.run.seconds.most).toBeLessThan(run.seconds.least)
    expect(fanOut?.functionSeconds.least).toBeGreaterThan(run.seconds.most)
    expect(fanOut?.run.kubernetesRequests).toBe(run.kubernetesRequests)
    expect(fanOut?.run.peakMiB).toBeLessThan(1024)
  })

  it('by SSM has smaller shards, each of which is read in time; at a slow pace of the API servers it says that they are not', () => {
    const large = { nodes: 20_000, clusters: 40 }
    const bySsm = shared({ ...large, mode: 'ssm' })
    expect(bySsm.run).toMatchObject({ remarks: [], boundBy: 'the pace of SSM' })
    expect(bySsm.invocations.least).toBeGreaterThan(shared(large).invocations.least)
    const slow = { ...defaultPolicy, pace: { ...defaultPolicy.pace, requestsPerSecond: 1 } }
    expect(estimateCost({ ...usualFleet, ...large }, slow).fanOut?.run.remarks).toEqual([
      expect.stringContaining('lower fanOut.nodesPerShard'),
    ])
  })

  it('needs an endpoint more where there is no way out', () => {
    const { lines, fanOut } = estimate({ nodes: 3000, network: 'endpoints' })
    const endpoints = (all: typeof lines) =>
      all.find(({ what }) => what.includes('endpoints ('))?.what
    expect(endpoints(lines)).not.toContain('states')
    expect(endpoints(fanOut?.lines ?? [])).toContain('states')
  })
})

describe('in words', () => {
  it.each([
    [{ least: 0, most: 0 }, '0.00'],
    [{ least: 0.001, most: 0.002 }, '< 0.01'],
    [{ least: 0, most: 1.234 }, '0.00 – 1.23'],
    [{ least: 0.001, most: 1.234 }, '0.00 – 1.23'],
    [{ least: 1234.5, most: 1234.5 }, '1,234.50'],
  ])('US dollars %j', (bounds, text) => {
    expect(usdText(bounds)).toBe(text)
  })

  it.each([
    [{ least: 45.4, most: 90 }, '45 to 90 s'],
    [{ least: 300, most: 300 }, '5 min'],
    [{ least: 100, most: 130 }, '1.7 to 2.2 min'],
  ])('seconds %j', (bounds, text) => {
    expect(secondsText(bounds)).toBe(text)
  })

  it('quantities keep what counts', () => {
    expect(quantityText({ least: 12_345.6, most: 12_345.6 })).toBe('12,346')
    expect(quantityText({ least: 0, most: 0.0123 })).toBe('0 – 0.012')
  })
})

describe('highwater cost', () => {
  it('tells each line, the total, and what is not counted', async () => {
    const { code, stdout } = await inProcess(['cost', '--nodes', '5,000', '--clusters', '20'])
    expect(stdout.split('\n').filter(line => line.length > 80)).toEqual([])
    expect(code).toBe(0)
    expect(stdout).toContain(
      '5,000 nodes in 20 clusters and 1 account, read 1 time a day by mode proxy',
    )
    for (const text of [
      'Lambda',
      'SES',
      'CloudWatch',
      'US$ a month',
      'Total',
      'us-east-1',
      'Not counted',
      'free tiers',
    ])
      expect(stdout).toContain(text)
    expect(stdout).toMatch(/With fanOut=on many functions read this fleet.*Step Functions.*Total/s)
    expect(
      (await inProcess(['cost', '--nodes', '2,000', '--clusters', '20'])).stdout,
    ).not.toContain('fanOut')
  })

  it('prints data', async () => {
    const { stdout } = await inProcess([
      'cost',
      '--nodes',
      '300',
      '--mode',
      'ssm',
      '--runs-per-day',
      '4',
      '--format',
      'json',
    ])
    const document: CostEstimate = JSON.parse(stdout)
    expect(document).toMatchObject({
      schema: 'highwater.cost/1',
      question: { nodes: 300, clusters: 1, mode: 'ssm', runsPerDay: 4 },
    })
    expect(document.lines.length).toBeGreaterThan(8)
  })

  it.each([
    [['cost'], '--nodes'],
    [['cost', '--nodes', 'many'], 'A whole number'],
    [['cost', '--nodes', '2', '--clusters', '3'], 'at least as many nodes as clusters'],
    [['cost', '--nodes', '2', '--network', 'carrier-pigeon'], 'endpoints'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await inProcess(args)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})

it('docs/cost.md is what the code reckons', async () => {
  await expect(costDocument()).toMatchFileSnapshot('../../docs/cost.md')
})

it('the README leads there', () => {
  expect(readFileSync('README.md', 'utf8')).toContain('docs/cost.md')
})

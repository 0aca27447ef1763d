/** A fan-out in the lab: the deployed state machine, run by an interpreter that others wrote, with the real handlers behind it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import validate from 'asl-validator'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding/finding.ts'
import { mostExecutions } from '#pipeline/fan-out/execution.ts'
import type { FanOutRun } from '#pipeline/fan-out/files.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { labOf } from '#test/lab-audit.ts'
import { fanOutHandlers, invoke, serviceEnvironment } from '#test/lambda.ts'
import { isSlow } from '#test/slow.ts'
import { execute, type Functions, stateMachine } from '#test/state-machine.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 120_000 })

// Two runs that are compared tell of the same moment: what is so many hours old would else now and then be a tenth older in the second.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
afterEach(() => void vi.useRealTimers())

const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const run = '2026-11-21T05-00-00Z'
const stateMachineArn = 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater'
const policy = `
pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4 }
fanOut: { aboveNodes: 8, nodesPerShard: 10 }
`
const scenarios: Scenario[] = [
  fleet({ nodes: 22, seed: 'a', cluster: 'fleet-a', podsPerNode: 1 }),
  fleet({ nodes: 6, seed: 'b', cluster: 'fleet-b', podsPerNode: 1 }),
  fleet({ nodes: 3, seed: 'c', cluster: 'other', podsPerNode: 2 }),
]

/** A bucket each, so that two runs of the same tick know nothing of each other. */
async function world(of: readonly Scenario[] = scenarios, written = policy) {
  const storeFolder = temporaryFolder()
  const lab = await labOf(of, { storeFolder, at: '2026-11-21T05:00:00Z' })
  Object.assign(process.env, serviceEnvironment)
  for (const prefix of ['', 'alone/']) {
    const folder = join(storeFolder, 'highwater-lab', prefix)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'highwater.yaml'), written)
  }
  const inRun = (name: string, prefix = '') =>
    join(storeFolder, 'highwater-lab', prefix, 'runs', run, name)
  const functions: Functions = {
    invoke: (name, event) => fanOutHandlers[name]!(event),
    readObject: async (bucket, key) =>
      JSON.parse(readFileSync(join(storeFolder, bucket, key), 'utf8')),
  }
  return {
    lab,
    bucket: join(storeFolder, 'highwater-lab'),
    inRun,
    functions,
    clusterName: (cluster: number): string =>
      JSON.parse(readFileSync(inRun('fan-out/run.json'), 'utf8')).clusters[cluster]?.cluster,
    handOver: () => invoke(tick, { HIGHWATER_STATE_MACHINE_ARN: stateMachineArn }),
    findings: (prefix = ''): FindingsDocument =>
      JSON.parse(readFileSync(inRun('findings.json', prefix), 'utf8')),
  }
}

/** The report of one function on the same fleet, read live a moment later. */
async function alone({ findings }: Awaited<ReturnType<typeof world>>): Promise<FindingsDocument> {
  await invoke(tick, { HIGHWATER_PREFIX: 'alone/' })
  return findings('alone/')
}

const serialized = (document: FindingsDocument) => JSON.stringify(document)

describe('the state machine', () => {
  it('is one that Step Functions takes', () => {
    expect(validate(stateMachine)).toMatchObject({ isValid: true, errors: [] })
  })
})

describe('a large fleet', () => {
  it('is handed over by the tick, read in shards, and reported byte for byte as by one function', async () => {
    const here = await world([...scenarios.slice(0, 2), incidents])
    const handed = await here.handOver()
    expect(handed).toMatchObject({ runId: run, state: 'fanned-out' })
    expect(here.lab.executions()).toMatchObject([{ name: run, input: { run } }])
    const { output } = await execute(here.lab.executions()[0]!.input, here.functions)
    expect(output).toEqual({ run, state: 'published' })
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
    const { code, stdout } = await inProcess([
      ...[
        'audit',
        '--snapshot',
        here.inRun('snapshot.ndjson.gz'),
        '--format',
        'json',
        '--out',
        temporaryFolder(),
      ],
    ])
    const again: FindingsDocument = JSON.parse(stdout)
    const outlines = ({ findings, notAudited, unknowns, clusters }: FindingsDocument) => ({
      findings: findings.map(({ id, nodes, evidence }) => ({ id, nodes, evidence })),
      ...{ notAudited, unknowns, clusters },
    })
    expect({ code, ...outlines(again) }).toEqual({ code: 0, ...outlines(here.findings()) })
    expect(existsSync(here.inRun('done.json'))).toBe(true)
    expect(here.lab.mails()).toHaveLength(2)
  })

  it.runIf(isSlow)('is judged with what the run before read of its images', async () => {
    const here = await world(
      [probe],
      `${policy}modes: [{ match: { cluster: probe }, mode: ssm }]\n`,
    )
    await invoke({ ...tick, scheduledTime: '2026-11-20T05:00:00Z' })
    const day = new Date().toISOString().slice(0, 10)
    const file = join(here.bucket, 'history/nodes/probe', `${day}.ndjson.gz`)
    const read = gunzipSync(readFileSync(file)).toString()
    writeFileSync(file, gzipSync(read.replaceAll(`"${day}"`, '"2026-01-01"')))
    await here.handOver()
    await execute({ run }, here.functions)
    const { findings } = here.findings()
    expect(findings.find(({ rule }) => rule === 'idle-images')?.subject.name).toBe('probe-worker-1')
  })

  it('is asked for nothing twice, and each API server by one function at a time', async () => {
    const here = await world()
    await here.handOver()
    const counted = here.lab.requests().routes
    const busy = new Map<number, number>()
    let most = 0
    let mostClusters = 0
    await execute(
      { run },
      {
        ...here.functions,
        async invoke(name, event) {
          const { cluster = -1 } = event as { cluster?: number }
          busy.set(cluster, (busy.get(cluster) ?? 0) + 1)
          most = Math.max(most, ...busy.values())
          mostClusters = Math.max(mostClusters, busy.size)
          try {
            return await here.functions.invoke(name, event)
          } finally {
            if (busy.get(cluster) === 1) busy.delete(cluster)
            else busy.set(cluster, busy.get(cluster)! - 1)
          }
        },
      },
    )
    expect({ most, mostClusters: mostClusters > 1 }).toEqual({ most: 1, mostClusters: true })
    const fannedOut = requestsSince(counted, here.lab.requests().routes)
    const before = here.lab.requests().routes
    await invoke(tick, { HIGHWATER_PREFIX: 'alone/' })
    const alone = requestsSince(before, here.lab.requests().routes)
    // Each shard reads the volumes of its own instances: fleet-a has three shards.
    const DescribeVolumes = (alone.ec2?.DescribeVolumes ?? 0) + 2
    expect(fannedOut).toEqual({ ...alone, ec2: { ...alone.ec2, DescribeVolumes } })
  })

  it('is none where it is small, a dry run, or a few nodes by their names', async () => {
    const here = await world(
      scenarios.slice(0, 1),
      policy.replace('aboveNodes: 8', 'aboveNodes: 22'),
    )
    const handed = (event: object) =>
      invoke(event, { HIGHWATER_STATE_MACHINE_ARN: stateMachineArn })
    expect(await handed(tick)).toMatchObject({ state: 'published' })
    writeFileSync(join(here.inRun(''), '../../highwater.yaml'), policy)
    expect(await handed({ dryRun: true })).toMatchObject({ state: 'dry-run' })
    expect(await handed({ nodes: ['ip-10-64-0-1.ec2.internal'] })).toMatchObject({
      state: 'published',
      clusters: [{ coverage: { nodes: 1 } }],
    })
    expect(here.lab.executions()).toEqual([])
  })

  it('is one that lies in several regions, however small', async () => {
    const here = await world([incidents], 'accounts: [{ regions: [us-east-1, us-west-2] }]')
    expect(await here.handOver()).toMatchObject({ state: 'fanned-out' })
    await execute({ run }, here.functions)
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
  })

  it.runIf(isSlow)(
    'by SSM shares its pace among the clusters of one account and region, and is read whole',
    async () => {
      const small = ['a', 'b'].map(seed =>
        fleet({ nodes: 8, seed, cluster: `fleet-${seed}`, podsPerNode: 2 }),
      )
      const elsewhere = fleet({ nodes: 3, seed: 'c', cluster: 'fleet-c', podsPerNode: 2 })
      const written = `
modes: [{ match: { cluster: 'fleet-*' }, mode: ssm }]
pace: { requestsPerSecond: 1000, ssmRequestsPerSecond: 60 }
accounts: [{ regions: [us-east-1, us-west-2] }]
fanOut: { nodesPerShard: 10 }
`
      const west = {
        ...elsewhere,
        clusters: elsewhere.clusters.map(one => ({ ...one, region: 'us-west-2' })),
      }
      const here = await world(
        [...small, west, fleet({ nodes: 3, seed: 'd', cluster: 'proxied', podsPerNode: 2 })],
        written,
      )
      await here.handOver()
      await execute({ run }, here.functions)
      const { clusters, clustersAtOnce }: FanOutRun = JSON.parse(
        readFileSync(here.inRun('fan-out/run.json'), 'utf8'),
      )
      expect(clustersAtOnce).toBe(20)
      expect(
        clusters
          .map(({ cluster, ssmRequestsPerSecond }) => [cluster, ssmRequestsPerSecond])
          .toSorted(),
      ).toEqual([
        ['111122223333/us-east-1/fleet-a', 30],
        ['111122223333/us-east-1/fleet-b', 30],
        ['111122223333/us-east-1/proxied', 60],
        ['111122223333/us-west-2/fleet-c', 60],
      ])
      // Of the fourth of eight, a Bottlerocket, its control container sees little.
      const coverage = here
        .findings()
        .clusters.map(({ name, coverage: { nodes, read } }) => [name, nodes, read])
      expect(coverage).toEqual([
        ['111122223333/us-east-1/fleet-a', 8, 7],
        ['111122223333/us-east-1/fleet-b', 8, 7],
        ['111122223333/us-east-1/proxied', 3, 3],
        ['111122223333/us-west-2/fleet-c', 3, 3],
      ])
    },
  )

  it('is read once where its one place is named twice, and is then of several places no more', async () => {
    const twice = 'accounts: [{ roleArn: null }, { roleArn: null, regions: [us-east-1] }]\n'
    const small = await world([incidents], twice)
    expect(await small.handOver()).toMatchObject({ state: 'published' })
    const large = await world(scenarios.slice(0, 1), `${policy}${twice}`)
    expect(await large.handOver()).toMatchObject({ state: 'fanned-out' })
    await execute({ run }, large.functions)
    expect(large.findings().clusters).toMatchObject([
      { name: 'fleet-a', coverage: { nodes: 22, read: 22 } },
    ])
    expect(serialized(large.findings())).toBe(serialized(await alone(large)))
  })

  it.each([
    ['at its second word', 1, /^started: execution \S+ of \S+$/],
    ['at no try', 100, /the size of the fleet is unknown: cluster fleet-a was not counted: .*429/],
  ])('is handed over when a busy API server says its size %s', async (_, first, location) => {
    const busy = {
      ...scenarios[0]!,
      clusters: scenarios[0]!.clusters.map(one => ({
        ...one,
        faults: { tooManyRequests: { first, retryAfterSeconds: 0 } },
      })),
    }
    const here = await world([busy])
    expect(await here.handOver()).toMatchObject({
      state: 'fanned-out',
      deliveries: [{ location: expect.stringMatching(location) }],
    })
    expect(here.lab.executions()).toHaveLength(1)
  })

  it.each([
    ['ssm', 'fanned-out'],
    ['proxy', 'published'],
  ])('of 60 nodes at an SSM pace for 44 nodes, in mode %s, is %s', async (mode, state) => {
    const pace = `pace: { requestsPerSecond: 1000, ssmRequestsPerSecond: 0.1 }`
    const large = fleet({ nodes: 60, podsPerNode: 1 })
    const here = await world([large], `modes: [{ mode: ${mode} }]\n${pace}\n`)
    expect(await here.handOver()).toMatchObject({ state })
  })

  it('that cannot be handed over is read all the same, and the run ends red', async () => {
    const here = await world([{ ...scenarios[0]!, sfn: { denied: true } }])
    await expect(here.handOver()).rejects.toThrowErrorMatchingSnapshot()
    expect(here.findings()).toMatchObject({
      clusters: [{ name: 'fleet-a', coverage: { read: 22 } }],
    })
    expect(here.findings().run.inputErrors).toHaveLength(1)
  })
})

describe('a tick', () => {
  it('that is delivered twice starts one execution; one that is run twice publishes and mails once', async () => {
    const here = await world()
    await Promise.all([here.handOver(), here.handOver()])
    expect(here.lab.executions()).toHaveLength(1)
    await execute({ run }, here.functions)
    const read = here.lab.requests().routes
    expect((await execute({ run }, here.functions)).output).toEqual({
      run,
      state: 'published-before',
    })
    expect(requestsSince(read, here.lab.requests().routes)).toEqual({})
    expect(await here.handOver()).toMatchObject({ state: 'published-before' })
    expect(here.lab.mails()).toHaveLength(1)
  })

  it.each(isSlow ? (['FAILED', 'TIMED_OUT', 'ABORTED'] as const) : (['FAILED'] as const))(
    'whose execution is %s starts another when it is delivered again, one at a time, which reads nothing twice and mails once',
    async ended => {
      const here = await world()
      const names = () => here.lab.executions().map(({ name }) => name)
      await here.handOver()
      process.env.HIGHWATER_SENDER = 'nobody@unverified.test'
      await expect(execute({ run }, here.functions)).rejects.toThrow('nobody@unverified.test')
      Object.assign(process.env, serviceEnvironment)
      expect(await here.handOver()).toMatchObject({ state: 'fanned-out' })
      expect(names()).toEqual([run])
      here.lab.endExecution(run, ended)
      const again = await Promise.all([here.handOver(), here.handOver()])
      for (const { deliveries } of again)
        expect(deliveries).toMatchObject([
          { location: `started: execution ${run}-2 of ${stateMachineArn}`, error: null },
        ])
      await here.handOver()
      expect(here.lab.executions()).toMatchObject([
        { name: run },
        { name: `${run}-2`, input: { run } },
      ])
      const read = here.lab.requests().routes
      expect((await execute(here.lab.executions()[1]!.input, here.functions)).output).toEqual({
        run,
        state: 'published',
      })
      expect(requestsSince(read, here.lab.requests().routes)).toEqual({})
      expect(here.lab.mails()).toHaveLength(1)
      here.lab.endExecution(`${run}-2`, 'SUCCEEDED')
      expect(await here.handOver()).toMatchObject({ state: 'published-before' })
      rmSync(here.inRun('done.json'))
      const location = `had been started, and is SUCCEEDED: execution ${run}-2 of ${stateMachineArn}`
      expect(await here.handOver()).toMatchObject({
        state: 'fanned-out',
        deliveries: [{ location }],
      })
      expect(names()).toEqual([run, `${run}-2`])
    },
  )

  it('whose retries all failed is read by one function, which reports it', async () => {
    const here = await world(scenarios.slice(0, 1))
    for (let number = 1; number <= mostExecutions; number++) {
      await here.handOver()
      here.lab.endExecution(number === 1 ? run : `${run}-${number}`, 'FAILED')
    }
    await expect(here.handOver()).rejects.toThrow(
      `${mostExecutions} executions of run ${run} have ended red`,
    )
    expect(here.lab.executions()).toHaveLength(mostExecutions)
    expect(here.findings()).toMatchObject({
      clusters: [{ name: 'fleet-a', coverage: { read: 22 } }],
    })
  })

  it('whose first function died early is discovered anew, with the same report', async () => {
    const here = await world()
    await here.handOver()
    await here.functions.invoke('Discover', { run })
    rmSync(here.inRun('fan-out/run.json'))
    await execute({ run }, here.functions)
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
  })
})

describe('a function that dies', () => {
  it.each([
    ['killed', 'Lambda.Unknown', 2],
    ['throttled', 'Lambda.TooManyRequestsException', 6],
  ])('and is %s is retried, with no trace in the report', async (_, error, times) => {
    const here = await world(scenarios.slice(0, 2))
    await here.handOver()
    await execute(
      { run },
      dying(here.functions, ({ step }) => step === 'read' || step === 'judge', times, error),
    )
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
  })

  it.each([
    'Lambda.Unknown',
    ...(isSlow
      ? ['Lambda.ServiceException', 'Lambda.AWSLambdaException', 'Lambda.SdkClientException']
      : []),
  ])('by Lambda itself (%s) publishes at the next try, and mails once', async error => {
    const here = await world(scenarios.slice(0, 1))
    await here.handOver()
    const { output } = await execute(
      { run },
      dying(here.functions, ({ step }) => step === undefined, 2, error),
    )
    expect(output).toEqual({ run, state: 'published' })
    expect(here.lab.mails()).toHaveLength(1)
  })

  it('at every try of a shard costs its nodes, each by its name and with the reason, and no other', async () => {
    const here = await world()
    await here.handOver()
    const isLost = ({ step, cluster, shard }: ShardEvent) =>
      step === 'read' && shard === 1 && here.clusterName(cluster) === 'fleet-a'
    await execute({ run }, dying(here.functions, isLost, Number.POSITIVE_INFINITY))
    const { clusters, notAudited, findings } = here.findings()
    const lost = notAudited.filter(({ cluster }) => cluster === 'fleet-a')
    const reason = expect.stringMatching(/Runtime.ExitError: signal: killed/)
    expect(lost).toEqual(
      lost.map(({ node }) => ({
        cluster: 'fleet-a',
        node: expect.stringMatching(/^ip-/) && node,
        cause: 'sources',
        reason,
      })),
    )
    expect(lost.length).toBeGreaterThan(2)
    const coverage = { nodes: 22, read: 22 - lost.length, notRead: lost.length }
    expect(clusters.find(({ name }) => name === 'fleet-a')).toMatchObject({ coverage })
    const other = (document: FindingsDocument) =>
      document.findings.filter(({ cluster }) => cluster !== 'fleet-a').map(({ id }) => id)
    expect(findings.filter(({ cluster }) => cluster !== 'fleet-a').map(({ id }) => id)).toEqual(
      other(await alone(here)),
    )
    expect(here.lab.mails()).toHaveLength(2)
  })

  it('at every try of a cluster costs the cluster, and its reason if no function can note it', async () => {
    const here = await world()
    await here.handOver()
    const isLost = ({ step, cluster }: ShardEvent) =>
      (step === 'judge' && here.clusterName(cluster).startsWith('fleet-')) ||
      (step === 'lost' && here.clusterName(cluster) === 'fleet-b')
    expect(
      (await execute({ run }, dying(here.functions, isLost, Number.POSITIVE_INFINITY))).output,
    ).toEqual({ run, state: 'published' })
    const { clusters, notAudited } = here.findings()
    expect(
      clusters
        .filter(({ grade }) => grade === null)
        .map(({ name, coverage: { nodes, notRead } }) => ({ name, nodes, notRead })),
    ).toEqual([
      { name: 'fleet-a', nodes: 22, notRead: 22 },
      { name: 'fleet-b', nodes: 6, notRead: 6 },
    ])
    const reasons = Map.groupBy(notAudited, ({ cluster }) => cluster)
    expect(reasons.get('fleet-a')?.[0]?.reason).toMatchSnapshot()
    expect(reasons.get('fleet-b')?.[0]?.reason).toMatchSnapshot()
    const { code } = await inProcess([
      'audit',
      '--snapshot',
      here.inRun('snapshot.ndjson.gz'),
      '--out',
      temporaryFolder(),
    ])
    expect(code).toBe(3)
  })
})

describe('a typing error', () => {
  const onDemand = (event: object) =>
    invoke(event, { HIGHWATER_STATE_MACHINE_ARN: stateMachineArn })

  it('in a nodegroup’s name is refused by the first function, with no second try, and nothing is read', async () => {
    const here = await world()
    const event = { clusters: ['fleet-a'], nodegroups: ['nowhere'] }
    expect(await onDemand(event)).toMatchObject({ state: 'fanned-out' })
    const { input } = here.lab.executions()[0]!
    const asked: string[] = []
    const listening: Functions = {
      ...here.functions,
      invoke(name, given) {
        asked.push(name)
        return here.functions.invoke(name, given)
      },
    }
    const refusal = 'No node belongs to the nodegroup nowhere in what was read'
    await expect(execute(input, listening)).rejects.toThrow(refusal)
    expect(asked).toEqual(['Discover'])
    await expect(invoke(event)).rejects.toThrow(refusal)
  })

  it.each([
    [['general'], 'published', 'general'],
    [
      ['nowhere', 'large-*'],
      'of 1 cluster it is not known which nodes there are',
      'nowhere, nodegroup large-*',
    ],
  ])(
    'is none in %j while an API server is away: the report says what is not known of it, as one function’s does',
    async (nodegroups, end, asked) => {
      const [first, ...others] = scenarios
      const away = {
        ...first!,
        clusters: first!.clusters.map(cluster => ({
          ...cluster,
          faults: { endpoint: 'closed-port' as const },
        })),
      }
      const here = await world([away, ...others], policy.replace('aboveNodes: 8', 'aboveNodes: 4'))
      const event = { clusters: ['fleet-*'], nodegroups }
      const { runId } = await onDemand(event)
      const state = (answer: Promise<{ state: string }>) =>
        answer.then(
          ({ state }) => state,
          ({ message }: Error) => message,
        )
      const many = execute(here.lab.executions()[0]!.input, here.functions).then(
        ({ output }) => output as { state: string },
      )
      expect(await state(many)).toContain(end)
      const one = invoke(event, { HIGHWATER_PREFIX: 'alone/' })
      expect(await state(one)).toContain(end)
      const [sharded, alone] = ['', 'alone/'].map(prefix => {
        const runs = join(here.bucket, prefix, 'runs')
        return readFileSync(
          join(runs, prefix === '' ? runId : readdirSync(runs)[0]!, 'findings.json'),
          'utf8',
        )
      })
      expect(sharded).toBe(alone)
      const { notAudited }: FindingsDocument = JSON.parse(sharded!)
      const reason = expect.stringContaining(
        `nodes: the list of nodes (selected: nodegroup ${asked}) could not be read`,
      )
      expect(notAudited).toEqual([{ cluster: 'fleet-a', node: null, cause: 'nodes', reason }])
    },
  )

  it.each([
    ['of one region', policy, ''],
    ['of several', 'accounts: [{ regions: [us-east-1, us-west-2] }]', '111122223333/us-east-1/'],
  ])(
    'in a cluster’s name is refused before anything is handed over, in a fleet %s',
    async (_, written, where) => {
      const here = await world(scenarios, written)
      await expect(onDemand({ clusters: ['nowhere'] })).rejects.toThrow(
        `No EKS cluster is named nowhere. There are: ${where}fleet-a, ${where}fleet-b`,
      )
      expect(here.lab.executions()).toEqual([])
    },
  )
})

describe('trouble', () => {
  it('with an unreachable API server is reported as by one function', async () => {
    const [first, ...others] = scenarios
    const away = {
      ...first!,
      clusters: first!.clusters.map(cluster => ({
        ...cluster,
        faults: { endpoint: 'closed-port' as const },
      })),
    }
    const here = await world([away, ...others], policy.replace('aboveNodes: 8', 'aboveNodes: 4'))
    await here.handOver()
    await execute({ run }, here.functions)
    expect(here.findings().notAudited.find(({ cluster }) => cluster === 'fleet-a')).toMatchObject({
      node: null,
      reason: /nodes: the list/,
    })
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
  })

  it('with every API server ends red, and leaves the report', async () => {
    const small = fleet({ nodes: 3, podsPerNode: 1 })
    const away = {
      ...small,
      clusters: small.clusters.map(cluster => ({
        ...cluster,
        faults: { endpoint: 'closed-port' as const },
      })),
    }
    const here = await world([away], 'accounts: [{ regions: [us-east-1, us-west-2] }]')
    await here.handOver()
    await expect(execute({ run }, here.functions)).rejects.toThrowErrorMatchingSnapshot()
    expect(here.findings().notAudited).toMatchObject([{ node: null }])
    expect(here.lab.mails()).toHaveLength(1)
  })

  it('with a bucket that slows down is waited for', async () => {
    const [first, ...others] = scenarios
    const here = await world([{ ...first!, s3: { slowDownFirst: 2 } }, ...others])
    await here.handOver()
    await execute({ run }, here.functions)
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
  })

  it('with a bucket that takes what was read of no shard of one cluster costs its nodes, with the reason', async () => {
    const here = await world()
    await here.handOver()
    await here.functions.invoke('Discover', { run })
    const number = [0, 1, 2, 3].find(cluster => here.clusterName(cluster) === 'fleet-b')!
    // A file where a folder would be: the lab's S3 cannot write below it.
    writeFileSync(here.inRun(`fan-out/clusters/${number}/records`), '')
    await execute({ run }, here.functions)
    const lost = here.findings().notAudited.filter(({ cluster }) => cluster === 'fleet-b')
    expect(lost).toHaveLength(6)
    expect(lost[0]?.reason).toMatchSnapshot()
  })

  it.each<[string, (file: Buffer) => Buffer, string]>([
    ['halved', file => file.subarray(0, file.length / 2), 'unexpected end of file'],
    ...(isSlow
      ? ([
          ['of other bytes', () => Buffer.from('no gzip at all'), 'incorrect header check'],
          ['empty', () => gzipSync(''), 'it is empty'],
        ] satisfies [string, () => Buffer, string][])
      : []),
  ])(
    'with what was judged of one cluster, %s, costs that cluster and names the file',
    async (_, spoilt, expectedReason) => {
      const here = await world()
      await here.handOver()
      let name = ''
      const spoiling: Functions = {
        ...here.functions,
        async invoke(called, event) {
          if (called === 'Publish') {
            const file = here.inRun('fan-out/clusters/0/judged.ndjson.gz')
            name = here.clusterName(0)
            writeFileSync(file, spoilt(readFileSync(file)))
          }
          return here.functions.invoke(called, event)
        },
      }
      expect((await execute({ run }, spoiling)).output).toEqual({ run, state: 'published' })
      const { clusters, notAudited } = here.findings()
      expect(clusters.filter(({ grade }) => grade === null).map(one => one.name)).toEqual([name])
      expect(notAudited.find(({ cluster }) => cluster === name)?.reason).toBe(
        `cluster: what was judged of it cannot be read: s3://highwater-lab/runs/${run}/fan-out/clusters/0/judged.ndjson.gz is broken: ${expectedReason}`,
      )
    },
  )

  it('with an unrequested or undiscovered run names the step that comes first', async () => {
    const { functions } = await world()
    const unknown = { run: '2026-01-01T00-00-00Z' }
    await expect(functions.invoke('Discover', unknown)).rejects.toThrowErrorMatchingSnapshot()
    for (const [name, event] of [
      ['AuditShard', { ...unknown, step: 'judge', cluster: 0 }],
      ['Publish', unknown],
    ] as const)
      await expect(functions.invoke(name, event)).rejects.toThrowErrorMatchingSnapshot()
  })
})

interface ShardEvent {
  /** Absent: discovers, or publishes. */
  step?: string
  cluster: number
  shard?: number
}

/** As a function that is gone before it could say anything, so many times each. Source: Lambda developer guide, error types of invocations. */
function dying(
  functions: Functions,
  isStruck: (event: ShardEvent) => boolean,
  times: number,
  name = 'Runtime.ExitError',
): Functions {
  const deaths = new Map<string, number>()
  return {
    ...functions,
    async invoke(called, event) {
      const key = JSON.stringify([called, event])
      const died = deaths.get(key) ?? 0
      if (!isStruck(event as ShardEvent) || died >= times) return functions.invoke(called, event)
      deaths.set(key, died + 1)
      throw Object.assign(
        new Error(JSON.stringify({ errorType: name, errorMessage: 'signal: killed' })),
        { name },
      )
    },
  }
}

type Routes = Record<string, Record<string, number>>

/** What clusters and EC2 were asked; without the one small question by which the fleet's size is known. */
function requestsSince(before: Routes, now: Routes): Routes {
  const since = Object.entries(now).flatMap(([api, routes]) => {
    if (!/^(kubernetes|ec2|ssm)/.test(api)) return []
    const more = Object.entries(routes).flatMap(([route, count]) => {
      const asked = count - (before[api]?.[route] ?? 0)
      return asked > 0 ? [[route, asked] as const] : []
    })
    return more.length > 0 ? [[api, Object.fromEntries(more)] as const] : []
  })
  return Object.fromEntries(since)
}

/** A fan-out in the lab: the deployed state machine, run by an interpreter that others wrote, with the real handlers behind it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import validate from 'asl-validator'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startExecution } from '#clients/aws/sfn.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { probe } from '#lab/scenarios/probe.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
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
fanOut: { aboveNodes: 6, nodesPerShard: 10 }
`
/** Of several shards. */
const largeNodes = isSlow ? 22 : 12
const smallNodes = 4
const scenarios: Scenario[] = [
  fleet({ nodes: largeNodes, seed: 'a', cluster: 'fleet-a', podsPerNode: 1 }),
  fleet({ nodes: smallNodes, seed: 'b', cluster: 'fleet-b', podsPerNode: 1 }),
  fleet({ nodes: 2, seed: 'c', cluster: 'other', podsPerNode: 2 }),
]
/** One cluster; `lowPolicy` hands it over. */
const small = scenarios.slice(1, 2)
const lowPolicy = policy.replace('aboveNodes: 6', `aboveNodes: ${smallNodes - 1}`)

/** The scenario with API servers that cannot be reached. */
const away = (scenario: Scenario): Scenario => ({
  ...scenario,
  clusters: scenario.clusters.map(cluster => ({
    ...cluster,
    faults: { endpoint: 'closed-port' as const },
  })),
})

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
    const here = await world()
    const handed = await here.handOver()
    expect(handed).toMatchObject({ runId: run, state: 'fanned-out' })
    expect(here.lab.executions()).toMatchObject([{ name: run, input: { run } }])
    const counted = here.lab.requests().routes
    const { functions, most } = observed(here.functions)
    const { output } = await execute(here.lab.executions()[0]!.input, functions)
    expect(output).toEqual({ run, state: 'published' })
    const fannedOut = requestsSince(counted, here.lab.requests().routes)
    const before = here.lab.requests().routes
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
    // Nothing is requested twice. Each shard reads the volumes of its own instances.
    const requested = requestsSince(before, here.lab.requests().routes)
    const { clusters }: FanOutRun = JSON.parse(readFileSync(here.inRun('fan-out/run.json'), 'utf8'))
    const moreShards = clusters.reduce((sum, { shards }) => sum + shards - 1, 0)
    expect(moreShards).toBeGreaterThan(isSlow ? 1 : 0)
    const DescribeVolumes = (requested.ec2?.DescribeVolumes ?? 0) + moreShards
    expect(fannedOut).toEqual({ ...requested, ec2: { ...requested.ec2, DescribeVolumes } })
    expect(most.functions).toBe(1)
    expect(most.clusters).toBeGreaterThan(1)
    const { code, stdout } = await inProcess([
      ...['audit', '--snapshot', here.inRun('snapshot.ndjson.gz')],
      ...['--format', 'json', '--out', temporaryFolder()],
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

  it('is reported byte for byte as by one function, whatever passes on the way', async () => {
    const [first, second, third] = scenarios
    const here = await world([{ ...first!, s3: { slowDownFirst: 2 } }, second!, away(third!)])
    await here.handOver()
    // A first function that died early: the fleet is discovered anew.
    await here.functions.invoke('Discover', { run })
    rmSync(here.inRun('fan-out/run.json'))
    const isStruck = ({ step }: ShardEvent) => step === 'read' || step === 'judge'
    const throttled = dying(here.functions, isStruck, 6, 'Lambda.TooManyRequestsException')
    await execute({ run }, dying(throttled, isStruck, 2, 'Lambda.Unknown'))
    expect(here.findings().notAudited).toMatchObject([
      { cluster: 'other', node: null, reason: expect.stringContaining('nodes: the list') },
    ])
    expect(serialized(here.findings())).toBe(serialized(await alone(here)))
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

  it('is none where it is small, a dry run, or a few nodes by their names', async () => {
    const here = await world(small, policy.replace('aboveNodes: 6', `aboveNodes: ${smallNodes}`))
    const handed = (event: object) =>
      invoke(event, { HIGHWATER_STATE_MACHINE_ARN: stateMachineArn })
    expect(await handed(tick)).toMatchObject({ state: 'published' })
    writeFileSync(join(here.inRun(''), '../../highwater.yaml'), lowPolicy)
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
    const low = await world(small, `${policy}${twice}`)
    expect(await low.handOver()).toMatchObject({ state: 'published' })
    const large = await world(small, `${lowPolicy}${twice}`)
    expect(await large.handOver()).toMatchObject({ state: 'fanned-out' })
    await execute({ run }, large.functions)
    expect(large.findings().clusters).toMatchObject([
      { name: 'fleet-b', coverage: { nodes: smallNodes, read: smallNodes } },
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
  ])('of 46 nodes at an SSM pace for 44 nodes, in mode %s, is %s', async (mode, state) => {
    const pace = `pace: { requestsPerSecond: 1000, ssmRequestsPerSecond: 0.1 }`
    const large = fleet({ nodes: 46, podsPerNode: 1 })
    const here = await world([large], `modes: [{ mode: ${mode} }]\n${pace}\n`)
    expect(await here.handOver()).toMatchObject({ state })
  })

  it('that cannot be handed over is read all the same, and the run ends red', async () => {
    const here = await world([{ ...small[0]!, sfn: { denied: true } }], lowPolicy)
    await expect(here.handOver()).rejects.toThrowErrorMatchingSnapshot()
    expect(here.findings()).toMatchObject({
      clusters: [{ name: 'fleet-b', coverage: { read: smallNodes } }],
    })
    expect(here.findings().run.inputErrors).toHaveLength(1)
  })
})

describe('a tick', () => {
  it('that is delivered twice starts one execution; one that is run twice publishes and mails once', async () => {
    const here = await world(small, lowPolicy)
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
      const here = await world(small, lowPolicy)
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
    const here = await world(small, lowPolicy)
    await here.handOver()
    here.lab.endExecution(run, 'FAILED')
    for (let number = 2; number <= mostExecutions; number++) {
      const name = `${run}-${number}`
      await startExecution({ stateMachineArn, name, input: { run } }, AbortSignal.timeout(60_000))
      here.lab.endExecution(name, 'FAILED')
    }
    await expect(here.handOver()).rejects.toThrow(
      `${mostExecutions} executions of run ${run} have ended red`,
    )
    expect(here.lab.executions()).toHaveLength(mostExecutions)
    expect(here.findings()).toMatchObject({
      clusters: [{ name: 'fleet-b', coverage: { read: smallNodes } }],
    })
  })
})

describe('a function that dies', () => {
  it.each([
    'Lambda.Unknown',
    ...(isSlow
      ? ['Lambda.ServiceException', 'Lambda.AWSLambdaException', 'Lambda.SdkClientException']
      : []),
  ])('by Lambda itself (%s) publishes at the next try, and mails once', async error => {
    const here = await world(small, lowPolicy)
    await here.handOver()
    const { output } = await execute(
      { run },
      dying(here.functions, ({ step }) => step === undefined, 2, error),
    )
    expect(output).toEqual({ run, state: 'published' })
    expect(here.lab.mails()).toHaveLength(1)
  })
})

describe('what is lost at every try', () => {
  const fleets = [...'abcdefgh'].map(seed =>
    fleet({ nodes: seed === 'a' ? largeNodes : 2, seed, cluster: `fleet-${seed}`, podsPerNode: 1 }),
  )

  /** What was judged of these clusters is read broken. */
  const broken: [string, (file: Buffer) => Buffer, string][] = [
    ['fleet-d', file => file.subarray(0, file.length / 2), 'unexpected end of file'],
    ['fleet-g', () => Buffer.from('no gzip at all'), 'incorrect header check'],
    ['fleet-h', () => gzipSync(''), 'it is empty'],
  ]

  it('costs its nodes or its cluster, with the reason, and no other', async () => {
    const here = await world(fleets)
    await here.handOver()
    await here.functions.invoke('Discover', { run })
    const numberOf = (name: string) =>
      fleets.findIndex((_fleet, cluster) => here.clusterName(cluster) === name)
    // A file where a folder would be: the lab's S3 cannot write below it.
    writeFileSync(here.inRun(`fan-out/clusters/${numberOf('fleet-e')}/records`), '')
    const judged = (name: string) => `fan-out/clusters/${numberOf(name)}/judged.ndjson.gz`
    const spoiling: Functions = {
      ...here.functions,
      async invoke(called, event) {
        if (called === 'Publish')
          for (const [name, spoilt] of broken) {
            const file = here.inRun(judged(name))
            writeFileSync(file, spoilt(readFileSync(file)))
          }
        return here.functions.invoke(called, event)
      },
    }
    const isStruck = ({ step, cluster, shard }: ShardEvent) =>
      (step === 'read' && shard === 1 && cluster === numberOf('fleet-a')) ||
      (step === 'judge' && [numberOf('fleet-b'), numberOf('fleet-c')].includes(cluster)) ||
      (step === 'lost' && cluster === numberOf('fleet-c'))
    const { output } = await execute({ run }, dying(spoiling, isStruck, Number.POSITIVE_INFINITY))
    expect(output).toEqual({ run, state: 'published' })
    const { clusters, notAudited } = here.findings()
    const lost = Map.groupBy(notAudited, ({ cluster }) => cluster)
    const ofShard = lost.get('fleet-a') ?? []
    expect(ofShard.length).toBeGreaterThan(2)
    expect(new Set(ofShard.map(({ node }) => node)).size).toBe(ofShard.length)
    for (const one of ofShard)
      expect(one).toEqual({
        cluster: 'fleet-a',
        node: expect.stringMatching(/^ip-/),
        cause: 'sources',
        reason: expect.stringContaining('Runtime.ExitError: signal: killed'),
      })
    expect(
      clusters.map(({ name, grade, coverage: { nodes, read, notRead } }) => ({
        ...{ name, nodes, read, notRead },
        isGraded: grade !== null,
      })),
    ).toEqual([
      {
        ...{ name: 'fleet-a', nodes: largeNodes, read: largeNodes - ofShard.length },
        ...{ notRead: ofShard.length, isGraded: true },
      },
      { name: 'fleet-b', nodes: 2, read: 0, notRead: 2, isGraded: false },
      { name: 'fleet-c', nodes: 2, read: 0, notRead: 2, isGraded: false },
      { name: 'fleet-d', nodes: 2, read: 0, notRead: 2, isGraded: false },
      { name: 'fleet-e', nodes: 2, read: 0, notRead: 2, isGraded: false },
      { name: 'fleet-f', nodes: 2, read: 2, notRead: 0, isGraded: true },
      { name: 'fleet-g', nodes: 2, read: 0, notRead: 2, isGraded: false },
      { name: 'fleet-h', nodes: 2, read: 0, notRead: 2, isGraded: false },
    ])
    const reasonOf = (cluster: string) => lost.get(cluster)?.[0]?.reason
    expect(reasonOf('fleet-b')).toMatchSnapshot()
    expect(reasonOf('fleet-c')).toMatchSnapshot()
    for (const [name, , why] of broken)
      expect(reasonOf(name)).toBe(
        `cluster: what was judged of it cannot be read: s3://highwater-lab/runs/${run}/${judged(name)} is broken: ${why}`,
      )
    expect(lost.get('fleet-e')).toHaveLength(2)
    expect(reasonOf('fleet-e')).toMatchSnapshot()
    expect(lost.has('fleet-f')).toBe(false)
    const { code } = await inProcess([
      ...['audit', '--snapshot', here.inRun('snapshot.ndjson.gz'), '--out', temporaryFolder()],
    ])
    expect(code).toBe(3)
    const untouched = ({ findings }: FindingsDocument) =>
      findings.filter(({ cluster }) => cluster === 'fleet-f').map(({ id }) => id)
    const expected = untouched(await alone(here))
    expect(expected).not.toEqual([])
    expect(untouched(here.findings())).toEqual(expected)
    expect(here.lab.mails()).toHaveLength(2)
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
      const here = await world([away(first!), ...others], lowPolicy)
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
  it('with every API server ends red, and leaves the report', async () => {
    const here = await world(
      [away(fleet({ nodes: 3, podsPerNode: 1 }))],
      'accounts: [{ regions: [us-east-1, us-west-2] }]',
    )
    await here.handOver()
    await expect(execute({ run }, here.functions)).rejects.toThrowErrorMatchingSnapshot()
    expect(here.findings().notAudited).toMatchObject([{ node: null }])
    expect(here.lab.mails()).toHaveLength(1)
  })

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

/** With the most functions that ran for one cluster at a time, and the most clusters. */
function observed(functions: Functions) {
  const busy = new Map<number, number>()
  const most = { functions: 0, clusters: 0 }
  const invoke: Functions['invoke'] = async (name, event) => {
    const { cluster = -1 } = event as { cluster?: number }
    busy.set(cluster, (busy.get(cluster) ?? 0) + 1)
    most.functions = Math.max(most.functions, ...busy.values())
    most.clusters = Math.max(most.clusters, busy.size)
    try {
      return await functions.invoke(name, event)
    } finally {
      if (busy.get(cluster) === 1) busy.delete(cluster)
      else busy.set(cluster, busy.get(cluster)! - 1)
    }
  }
  return { functions: { ...functions, invoke }, most }
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

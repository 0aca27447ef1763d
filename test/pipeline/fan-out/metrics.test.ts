/** What a run by many functions says of itself: the same metrics as of one function, each thing counted once, whatever was tried again. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { noteSlowDown } from '#clients/aws/aws-failure.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { fanOutHandlers, invoke, serviceEnvironment, written } from '#test/lambda.ts'
import { execute, type Functions } from '#test/state-machine.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 120_000 })

const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const run = '2026-11-21T05-00-00Z'
const loud = {
  ...serviceEnvironment,
  POWERTOOLS_LOG_LEVEL: 'INFO',
  POWERTOOLS_METRICS_DISABLED: 'false',
}
const stateMachine = {
  HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
}
const service = 'service=highwater'
// One at a time: in this process a function would hear of what slows another one down.
const policy = `
pace: { requestsPerSecond: 1000 }
fanOut: { aboveNodes: 10, nodesPerShard: 10, clustersAtOnce: 1 }
`

async function world() {
  const storeFolder = temporaryFolder()
  const clusters = [
    fleet({ nodes: 12, cluster: 'fleet-a', podsPerNode: 1 }),
    fleet({ nodes: 2, seed: 'b', cluster: 'fleet-b', podsPerNode: 1 }),
  ]
  const lab = await labOf([{ ...clusters[0]!, eksThrottlesFirst: 2 }, ...clusters.slice(1)], {
    storeFolder,
  })
  Object.assign(process.env, loud)
  for (const prefix of ['', 'alone/']) {
    mkdirSync(join(storeFolder, 'highwater-lab', prefix), { recursive: true })
    writeFileSync(join(storeFolder, 'highwater-lab', prefix, 'highwater.yaml'), policy)
  }
  const functions: Functions = {
    invoke: (name, event) => fanOutHandlers[name]!(event),
    readObject: async (bucket, key) =>
      JSON.parse(readFileSync(join(storeFolder, bucket, key), 'utf8')),
  }
  return {
    lab,
    functions,
    notes: () => readdirSync(join(storeFolder, 'highwater-lab/runs', run, 'fan-out/invocations')),
  }
}

const isOfTime = (name: string) => /^(RunDuration|SlowDowns)/.test(name)

describe('the log of a run by many functions', () => {
  it('says on each line of which run, step, cluster and shard it is, and of what is lost why', async () => {
    const { functions } = await world()
    await written(() => invoke(tick, { ...loud, ...stateMachine }))
    const dying: Functions = {
      ...functions,
      async invoke(name, event) {
        const { step, cluster } = event as { step?: string; cluster?: number }
        if (step === 'read' && cluster === 1)
          throw Object.assign(new Error('{"errorMessage":"signal: killed"}'), {
            name: 'Runtime.ExitError',
          })
        return functions.invoke(name, event)
      },
    }
    const { lines } = await written(() => execute({ run }, dying))
    for (const line of lines) expect(line).toMatchObject({ runId: run })
    const ends = lines.filter(({ message }) => message === 'step ended')
    for (const line of ends)
      expect(line).toMatchObject({ level: 'INFO', cluster: expect.stringMatching(/^fleet-[ab]$/) })
    expect(
      ends.filter(({ step }) => step === 'judge').map(({ clusterNumber }) => clusterNumber),
    ).toEqual([0, 1])
    expect(ends.filter(({ step }) => step === 'read').map(({ shard }) => shard)).toEqual(
      ends.filter(({ step }) => step === 'read').map((_, index) => index),
    )
    const lost = lines.filter(({ message }) => message === 'lost')
    expect(lost.length).toBeGreaterThan(0)
    for (const line of lost)
      expect(line).toMatchObject({
        level: 'WARN',
        step: 'lost',
        clusterNumber: 1,
        shard: 0,
        reason: 'Runtime.ExitError: signal: killed',
      })
    expect(lines.find(({ message }) => message === 'discovered')).toMatchObject({
      step: 'discover',
      clusters: 2,
      nodes: 14,
    })
    expect(lines.find(({ message }) => message === 'not audited')).toMatchObject({
      ...{
        level: 'WARN',
        cluster: expect.stringMatching(/^fleet-/),
        node: expect.stringMatching(/^ip-/),
      },
      reason: expect.stringContaining('signal: killed'),
    })
    expect(lines.at(-1)).toMatchObject({ message: 'run ended' })
    expect(lines.at(-1)).not.toHaveProperty('cluster')
  })
})

describe('the metrics of a run by many functions', () => {
  it('are those of one function, from the tick to the report, with what slowed any of them down', async () => {
    const { functions, notes } = await world()
    const startMs = Date.now()
    const handedOver = await written(() => invoke(tick, { ...loud, ...stateMachine }))
    expect(handedOver.lines.at(-1)).toMatchObject({
      message: 'run ended',
      state: 'fanned-out',
      slowDowns: { EKS: 2 },
    })
    expect(handedOver.metrics).toEqual({})
    const handedOverMs = Date.now()
    let invocations = 0
    const slowed: Functions = {
      ...functions,
      invoke(name, event) {
        invocations++
        const answer = functions.invoke(name, event)
        noteSlowDown('Kubernetes')
        return answer
      },
    }
    const { metrics, lines } = await written(() => execute({ run }, slowed))
    const tookMs = Date.now() - startMs
    const publishedMs = Date.parse(
      String(lines.find(({ stage }) => stage === 'publish')?.timestamp),
    )
    // Discovers, reads three shards, judges two clusters, publishes.
    expect(invocations).toBe(7)
    expect(notes()).toHaveLength(invocations + 1)
    expect(metrics[`SlowDowns{${service}}`]).toBe(2 + invocations)
    expect(metrics[`RunDuration{${service}}`]).toBeLessThanOrEqual(tookMs)
    expect(metrics[`RunDuration{${service}}`]).toBeGreaterThanOrEqual(publishedMs - handedOverMs)
    expect(lines.at(-1)).toMatchObject({
      ...{
        message: 'run ended',
        state: 'published',
        slowDowns: { EKS: 2, Kubernetes: invocations },
      },
      ...{ runDurationMs: metrics[`RunDuration{${service}}`], before: { invocations, failed: 0 } },
    })
    const one = await written(() => invoke(tick, { ...loud, HIGHWATER_PREFIX: 'alone/' }))
    const same = (told: Record<string, number>) =>
      Object.fromEntries(Object.entries(told).filter(([name]) => !isOfTime(name)))
    expect(same(metrics)).toEqual(same(one.metrics))
    expect(metrics).toMatchObject({
      [`NodesRead{${service}}`]: 14,
      [`ClustersAudited{${service}}`]: 2,
      [`ReportsPublished{${service}}`]: 1,
    })
    expect(Object.keys(metrics).toSorted()).toEqual(Object.keys(one.metrics).toSorted())
  })

  it('count nothing twice when functions are tried again, and say how many failed', async () => {
    const { functions } = await world()
    await written(() => invoke(tick, { ...loud, ...stateMachine }))
    const seen = new Set<string>()
    let slowDowns = 0
    const dying: Functions = {
      ...functions,
      async invoke(name, event) {
        const isFirst = !seen.has(JSON.stringify([name, event]))
        seen.add(JSON.stringify([name, event]))
        const { step } = event as { step?: string }
        // One shard's and one cluster's function is done, and its answer is lost; the first to publish is gone before it could say anything.
        const answer = name === 'Publish' && isFirst ? null : functions.invoke(name, event)
        if (answer !== null) {
          noteSlowDown('Kubernetes')
          slowDowns++
        }
        await answer
        if (isFirst && (step !== undefined || name === 'Publish'))
          throw Object.assign(new Error('gone'), { name: 'Lambda.Unknown' })
        return answer
      },
    }
    const { metrics, lines } = await written(() => execute({ run }, dying))
    expect(slowDowns).toBe(12)
    expect(metrics).toMatchObject({
      [`SlowDowns{${service}}`]: 2 + slowDowns,
      [`NodesRead{${service}}`]: 14,
    })
    expect(lines.at(-1)).toMatchObject({ before: { invocations: slowDowns, failed: 0 } })
    expect((await written(() => execute({ run }, functions))).metrics).toEqual({})
  })

  it('tell of functions that failed, and of a run that ended red', async () => {
    const { functions } = await world()
    await written(() => invoke(tick, { ...loud, ...stateMachine }))
    const early = await written(() =>
      functions.invoke('AuditShard', { run, step: 'judge', cluster: 0 }),
    )
    expect(early.outcome.status).toBe('rejected')
    process.env.HIGHWATER_SENDER = 'nobody@unverified.test'
    const { metrics, lines, outcome } = await written(() => execute({ run }, functions))
    expect(outcome.status).toBe('rejected')
    expect(metrics).toMatchObject({ [`NodesRead{${service}}`]: 14, [`SlowDowns{${service}}`]: 2 })
    expect(metrics).not.toHaveProperty(`ReportsPublished{${service}}`)
    expect(lines.at(-1)).toMatchObject({ message: 'run failed', before: { failed: 1 } })
  })
})

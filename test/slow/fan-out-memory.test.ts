/** A fan-out as it runs in Lambda: from the deployed bundles, each invocation a process of its own. Its larger brother: `npm run bench -- fan-out`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { temporaryFolder } from '#test/cli.ts'
import { functionProcesses } from '#test/function-process.ts'
import { labOf } from '#test/lab-audit.ts'
import { serviceEnvironment } from '#test/lambda.ts'
import { execute } from '#test/state-machine.ts'

// A process for each shard, and they may share the machine with many others.
vi.setConfig({ testTimeout: 240_000 })

const memoryMiB = 512
/** In which no audit fits: its function really dies. */
const tooLittleMiB = 20
const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const run = '2026-11-21T05-00-00Z'

it('tells what one function tells, within the memory of small functions; one that dies of too little costs its own nodes', async () => {
  const storeFolder = temporaryFolder()
  const lab = await labOf(
    ['a', 'b'].map(seed => fleet({ nodes: 40, seed, cluster: `fleet-${seed}`, podsPerNode: 6 })),
    { storeFolder, at: '2026-11-21T05:00:00Z' },
  )
  const bucket = join(storeFolder, 'highwater-lab')
  for (const prefix of ['', 'alone/', 'dying/']) {
    mkdirSync(join(bucket, prefix), { recursive: true })
    writeFileSync(
      join(bucket, prefix, 'highwater.yaml'),
      'fanOut: { aboveNodes: 50, nodesPerShard: 25, clustersAtOnce: 2 }\npace: { requestsPerSecond: 1000 }',
    )
  }
  // What is so many hours old would else now and then be a tenth older in the second of two runs.
  const atMs = Date.now()
  const functionsOf = async (memory: number, more: Record<string, string>) => {
    const functions = await functionProcesses(
      { ...lab.environment, ...serviceEnvironment, ...more },
      memory,
      atMs,
    )
    onTestFinished(() => functions.remove())
    return functions
  }
  const findings = (prefix: string): FindingsDocument =>
    JSON.parse(readFileSync(join(bucket, prefix, 'runs', run, 'findings.json'), 'utf8'))
  const told = (prefix: string) => JSON.stringify(findings(prefix))
  const readObject = async (_bucket: string, key: string) =>
    JSON.parse(readFileSync(join(bucket, key), 'utf8'))
  const machine = {
    HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
  }

  const many = await functionsOf(memoryMiB, machine)
  expect(await many.invoke('Audit', tick)).toMatchObject({ state: 'fanned-out' })
  await execute({ run }, { invoke: many.invoke, readObject })
  const alone = await functionsOf(memoryMiB, { HIGHWATER_PREFIX: 'alone/' })
  await alone.invoke('Audit', tick)
  expect(told('')).toBe(told('alone/'))
  expect(many.invocations.length).toBeGreaterThanOrEqual(7)
  for (const { name, peakRssBytes } of many.invocations)
    expect({ name, isWithin: peakRssBytes < memoryMiB * 2 ** 20 }).toEqual({ name, isWithin: true })

  const living = await functionsOf(memoryMiB, { HIGHWATER_PREFIX: 'dying/', ...machine })
  const dying = await functionsOf(tooLittleMiB, { HIGHWATER_PREFIX: 'dying/' })
  await living.invoke('Audit', tick)
  const isShort = (event: unknown) =>
    JSON.stringify(event) === JSON.stringify({ step: 'read', run, cluster: 0, shard: 0 })
  await execute(
    { run },
    { invoke: (name, event) => (isShort(event) ? dying : living).invoke(name, event), readObject },
  )
  const { notAudited, clusters } = findings('dying/')
  const lost = clusters.find(({ coverage }) => coverage.notRead > 0)
  expect(clusters.filter(({ coverage }) => coverage.notRead === 0)).toHaveLength(1)
  expect(lost?.coverage).toMatchObject({ nodes: 40, notRead: notAudited.length })
  expect(notAudited[0]?.reason).toMatch(/Runtime.ExitError: Runtime exited/)
})

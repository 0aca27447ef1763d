/** A fan-out whose functions are well and whose map is not: Step Functions gives up, and what it says of it stands in the report. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { fanOutHandlers, invoke, serviceEnvironment } from '#test/lambda.ts'
import { execute } from '#test/state-machine.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 120_000 })

const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const run = '2026-11-21T05-00-00Z'
const refused = 'Access Denied (Service: Amazon S3; Status Code: 403)'

async function handedOver() {
  const storeFolder = temporaryFolder()
  await labOf(
    ['a', 'b', 'c'].map(seed =>
      fleet({ nodes: 4, seed, cluster: `fleet-${seed}`, podsPerNode: 1 }),
    ),
    { storeFolder },
  )
  Object.assign(process.env, serviceEnvironment)
  mkdirSync(join(storeFolder, 'highwater-lab'), { recursive: true })
  writeFileSync(
    join(storeFolder, 'highwater-lab', 'highwater.yaml'),
    'fanOut: { aboveNodes: 10 }\npace: { requestsPerSecond: 1000 }',
  )
  await invoke(tick, {
    HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
  })
  const read = (name: string) =>
    JSON.parse(readFileSync(join(storeFolder, 'highwater-lab/runs', run, name), 'utf8'))
  return {
    invoked: (name: string, event: object) => fanOutHandlers[name]!({ run, ...event }),
    findings: (): FindingsDocument => read('findings.json'),
    clusterNames: (): string[] =>
      read('fan-out/run.json').clusters.map(({ cluster }: { cluster: string }) => cluster),
  }
}

it('that cannot read its items ends red, and the report gives each node the map’s own error as the reason', async () => {
  const here = await handedOver()
  const failing = {
    invoke: (name: string, event: unknown) => here.invoked(name, event as object),
    readObject: async () => {
      throw new Error(refused)
    },
  }
  const reason = `the state machine’s map Clusters failed before the cluster was judged: States.ItemReaderFailed: ${refused}`
  await expect(execute({ run }, failing)).rejects.toThrow('no node was read')
  const { notAudited, clusters } = here.findings()
  expect(clusters.map(({ coverage }) => coverage.notRead)).toEqual([4, 4, 4])
  expect(notAudited.filter(({ node }) => node !== null)).toHaveLength(12)
  for (const one of notAudited)
    expect(one.reason.replace(/^(cluster|pods): /, '').slice(0, reason.length)).toBe(reason)
})

it('that fails on its way costs the clusters it did not come to; what had been judged stays, and what was lost before keeps its reason', async () => {
  const here = await handedOver()
  await here.invoked('Discover', {})
  await here.invoked('AuditShard', { step: 'read', cluster: 0, shard: 0 })
  await here.invoked('AuditShard', { step: 'judge', cluster: 0 })
  await here.invoked('AuditShard', {
    step: 'lost',
    cluster: 1,
    failure: { Error: 'Runtime.ExitError', Cause: 'signal: killed' },
  })
  const failure = {
    Error: 'States.ExceedToleratedFailureThreshold',
    Cause: 'The specified tolerated failure threshold was exceeded',
  }
  expect(await here.invoked('Publish', { failure })).toMatchObject({ state: 'published' })
  const { clusters, notAudited } = here.findings()
  const [judged, killed, notReached] = here.clusterNames()
  expect(clusters.find(({ name }) => name === judged)).toMatchObject({
    coverage: { nodes: 4, read: 4 },
  })
  const reasonOf = (name: string | undefined) =>
    notAudited.find(({ cluster }) => cluster === name)?.reason
  expect(reasonOf(judged)).toBeUndefined()
  expect(reasonOf(killed)).toMatchSnapshot()
  expect(reasonOf(notReached)).toMatchSnapshot()
})

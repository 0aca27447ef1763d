/** A node with more text than is redacted: a fan-out reports it as unread, as one function does. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { fanOutHandlers, invoke, serviceEnvironment } from '#test/lambda.ts'
import { execute } from '#test/state-machine.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 120_000 })

const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const run = '2026-11-21T05-00-00Z'

/** One of its nodes has labels of more characters than are redacted of a node. */
function withManyLabels({ clusters, ...scenario }: Scenario): Scenario {
  const many = Array.from({ length: 900 }, (_, index) => [
    `l${index}`,
    `token=secret${index} `.repeat(12),
  ])
  return {
    ...scenario,
    clusters: clusters.map(({ nodes, ...cluster }) => {
      const node = (name: string) => {
        const made = nodes.node(name)
        if (made === undefined || name !== nodes.names()[0]) return made
        const labelled = (at: string) => {
          const { metadata, ...rest } = made.node(at)
          const labels = { ...Object.fromEntries(many), ...metadata?.labels }
          return { ...rest, metadata: { ...metadata, labels } }
        }
        return { ...made, node: labelled }
      }
      return { ...cluster, nodes: { ...nodes, names: () => nodes.names(), node } }
    }),
  }
}

it.each([
  ['read', {}],
  ['lost', { shard: 0, failure: { Error: 'Lambda.Unknown', Cause: '{}' } }],
])('a node of a shard that is %s names what it has lost, once', async (_, failing) => {
  const storeFolder = temporaryFolder()
  const bucket = join(storeFolder, 'highwater-lab')
  await labOf([withManyLabels(fleet({ nodes: 3, podsPerNode: 1 }))], { storeFolder })
  Object.assign(process.env, serviceEnvironment)
  mkdirSync(bucket, { recursive: true })
  writeFileSync(join(bucket, 'highwater.yaml'), 'fanOut: { aboveNodes: 1 }')
  await invoke(tick, {
    HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:highwater',
  })
  // If no node was read, the state machine ends red, behind its report.
  await execute(
    { run },
    {
      invoke: async (name, event) => {
        const isFailing = 'shard' in failing && (event as { step?: string }).step === 'read'
        if (isFailing) throw new Error('out of memory')
        return fanOutHandlers[name]!(event)
      },
      readObject: async (name, key) =>
        JSON.parse(readFileSync(join(storeFolder, name, key), 'utf8')),
    },
  ).catch(() => undefined)
  const { notAudited }: FindingsDocument = JSON.parse(
    readFileSync(join(bucket, 'runs', run, 'findings.json'), 'utf8'),
  )
  const counts = notAudited.map(({ reason }) => reason.split('node: it has more text').length - 1)
  expect(counts.filter(count => count > 0)).toEqual([1])
})

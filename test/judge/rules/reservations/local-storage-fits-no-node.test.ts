import { describe, expect, it } from 'vitest'
import { localStorageFitsNoNode } from '#judge/rules/reservations/local-storage-fits-no-node.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import type { ContextExample } from '#test/example.ts'
import { buildNode } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { event, failingOf, state } from '#test/rules/events.ts'

const refused = '0/3 nodes are available: 3 Insufficient ephemeral-storage.'

const cluster = (request: string, message = refused): ContextExample => ({
  node: {
    status: {
      allocatable: { 'ephemeral-storage': '17Gi' },
      capacity: { 'ephemeral-storage': '20Gi' },
    },
  },
  objects: {
    pods: [
      {
        metadata: { namespace: 'ml', name: 'train-0' },
        spec: {
          containers: [
            { name: 'train', resources: { requests: { 'ephemeral-storage': request } } },
          ],
        },
        status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', message }] },
      },
    ],
  },
})

itJudgesExamples(localStorageFitsNoNode, { bad: cluster('30Gi'), good: cluster('16Gi') })

describe('local-storage-fits-no-node', () => {
  it('needs the words of the scheduler: other groups may be meant', () => {
    const other = cluster('30Gi', '0/3 nodes are available: 3 Insufficient cpu.')
    expect(state(localStorageFitsNoNode, other)).toBe('pass')
    const said = event({ reason: 'FailedScheduling', of: 'ml/train-0', message: refused })
    expect(state(localStorageFitsNoNode, { ...other, events: [said] })).toBe('fail')
  })

  it('reads the pods that wait once for a group, however many nodes it has', () => {
    let reads = 0
    const [pod] = cluster('30Gi').objects?.pods ?? []
    const counted = { ...pod, status: pod?.status, metadata: pod?.metadata ?? {} }
    Object.defineProperty(counted, 'spec', {
      get() {
        reads++
        return pod?.spec
      },
    })
    const labels = { 'eks.amazonaws.com/nodegroup': 'general' }
    const judgement = openJudgement([localStorageFitsNoNode], defaultPolicy, {})
    judgement.takeObjects({ cluster: 'prod', resource: 'pods', items: [counted], errors: [] })
    for (let index = 0; index < 50; index++) {
      const node = { ...cluster('30Gi').node, metadata: { name: `n${index}`, labels } }
      const { record, prediction } = buildNode({ record: { node } })
      judgement.take(inputOf(record), prediction)
    }
    expect(judgement.close('2026-11-21T00:00:00Z').clusters[0]?.outcomes.fail).toBe(50)
    expect(reads).toBeLessThan(5)
  })

  it('is unknown where the pods without a node were not read', () => {
    const unread = { ...cluster('16Gi'), errors: { pods: 'a right is missing' } }
    expect(state(localStorageFitsNoNode, unread)).toBe('unknown')
  })

  it('writes a volume that has the request beside what is reserved', () => {
    const { seen, steps } = failingOf(localStorageFitsNoNode, cluster('30Gi'))
    expect(seen).toContain('30.0 GiB')
    expect(steps?.[0]).toEqual({ id: 'larger-disk', bytes: 40 * 1024 ** 3 })
  })
})

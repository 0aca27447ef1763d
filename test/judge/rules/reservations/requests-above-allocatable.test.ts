import { describe, expect, it } from 'vitest'
import { requestsAboveAllocatable } from '#judge/rules/reservations/requests-above-allocatable.ts'
import { replay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/input.ts'
import { gateWorld } from '#test/gate-world.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf } from '#test/rule-outcome.ts'

const allocatable = { memory: '8Mi', matchesNode: true }
const bad = {
  allocatable,
  pods: [],
  overRequested: [{ resource: 'memory', requested: '160Mi', allocatable: '8Mi' }],
}

itJudgesExamples(requestsAboveAllocatable, { bad, good: { allocatable, pods: [] } })

it('names both amounts, and gives a step that lists the pods', () => {
  expect(failingOf(requestsAboveAllocatable, bad)).toMatchObject({
    consequence: expect.stringContaining(
      'they request memory 160.0 MiB, and 8.0 MiB is allocatable',
    ),
    steps: [{ id: 'advice' }, { id: 'read-pods' }],
  })
})

describe('pods that the kubelet rejected', () => {
  const rejected = (reason: string, startTime: string) => ({
    allocatable,
    at: '2026-11-21T06:00:00Z',
    pods: [
      {
        metadata: { namespace: 'ci', name: 'runner' },
        status: {
          ...{ phase: 'Failed', reason, startTime },
          message:
            "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 16, capacity: 16",
        },
      },
    ],
  })

  it('are named with the amounts of the kubelet, for a day', () => {
    expect(
      failingOf(requestsAboveAllocatable, rejected('OutOfpods', '2026-11-21T05:00:00Z')),
    ).toMatchObject({
      severity: 'medium',
      cause: { kind: 'setting', fields: ['maxPods'] },
      seen: expect.stringContaining('OutOfpods, requested: 1, used: 16, capacity: 16'),
    })
  })
})

describe('the requests of the pods of a node', () => {
  const record = JSON.parse(gateWorld().find(line => line.includes('"general-0"')) ?? '')
  const over = (fields: object) => {
    const kubeletconfig = { ...record.configz.kubeletconfig, ...fields }
    const input = nodeInput({ ...record, configz: { kubeletconfig } })
    return replay(input, record.at).overRequested?.map(({ resource }) => resource)
  }

  // cpu 110m, memory 160Mi, four pods that run.
  it.each([
    [{ maxPods: 4 }, undefined],
    [{ maxPods: 3 }, ['pods']],
    [{ kubeReserved: { cpu: '7890m' } }, undefined],
    [{ kubeReserved: { cpu: '7891m' } }, ['cpu']],
    [{ kubeReserved: { memory: `${32 * 1024 - 100 - 160}Mi` } }, undefined],
    [{ systemReserved: { memory: `${32 * 1024 - 100 - 574 - 159}Mi` } }, ['memory']],
  ])('with %j are more than is left: %j', (fields, resources) => {
    expect(over(fields)).toEqual(resources)
  })
})

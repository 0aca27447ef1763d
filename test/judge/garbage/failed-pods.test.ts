import { describe, expect, it } from 'vitest'
import { hoursBefore } from '#test/example-cluster.ts'
import { failings, pod, pods } from '#test/rules/cluster-garbage.ts'

describe('failed-pods and evicted-pods', () => {
  it.each([
    ['that failed', pod({}), [1, 0]],
    ['that was evicted', pod({ reason: 'Evicted' }), [0, 1]],
    ['that its node’s shutdown ended', pod({ reason: 'Terminated' }), [0, 1]],
    ['that succeeded', pod({ phase: 'Succeeded' }), [0, 0]],
    ['that is going', pod({ isBeingDeleted: true }), [0, 0]],
    ['that failed a moment too late', pod({ finishedMs: hoursBefore(24) + 1 }), [0, 0]],
    ['that never ran and was made long ago', pod({ finishedMs: null }), [1, 0]],
  ])('of a pod %s', (_, given, [failed, evicted]) => {
    expect(failings('failed-pods', pods(given))).toHaveLength(failed ?? 0)
    expect(failings('evicted-pods', pods(given))).toHaveLength(evicted ?? 0)
  })

  it('say whose they are, and that a threshold of 0 never takes them', () => {
    const of = (name: string) => ({ kind: 'ReplicaSet', name })
    const example = pods(
      pod({ name: 'a', controller: of('x') }),
      pod({ name: 'b', controller: of('x') }),
      pod({ name: 'c' }),
    )
    const [found] = failings('failed-pods', {
      pods: { ...example.pods, threshold: { pods: 0, isAssumed: false } },
    })
    expect(found?.evidence).toContainEqual(
      expect.objectContaining({
        kind: 'object',
        what: 'controlled by',
        value: 'ReplicaSet x: 2, none: 1',
      }),
    )
    expect(found?.consequence).toContain('pod GC deletes never')
  })

  it.each([
    [
      { pods: 12_500, isAssumed: true },
      0,
      'not before more than 12500 (assumed) pods',
      "12500, upstream's default: EKS does not say",
    ],
    [{ pods: 12_500, isAssumed: false }, 0, 'not before more than 12500 pods', undefined],
    [
      { pods: 10, isAssumed: false },
      7,
      'keeps 10, and deletes the first 7 in its next round',
      undefined,
    ],
  ])(
    'say what the threshold %j means where %d are beyond it',
    (threshold, excess, words, value) => {
      const [found] = failings('failed-pods', {
        pods: { ...pods(pod({})).pods, threshold, excess },
      })
      expect(found?.consequence).toContain(words)
      expect(found?.evidence.find(({ what }) => what === 'threshold of pod GC')?.value).toBe(value)
    },
  )
})

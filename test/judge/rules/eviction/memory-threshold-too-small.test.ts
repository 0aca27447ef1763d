import { describe, expect, it } from 'vitest'
import { mebibyte } from '#base/units.ts'
import { memoryThresholdTooSmall } from '#judge/rules/eviction/memory-threshold-too-small.ts'
import { hard, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(memoryThresholdTooSmall, {
  bad: { thresholds: [{ ...hard('memory.available', 1), value: '50Mi', resolved: 50 * mebibyte }] },
  good: {
    thresholds: [{ ...hard('memory.available', 1), value: '100Mi', resolved: 100 * mebibyte }],
  },
})

describe('memory-threshold-too-small', () => {
  const memory = (resolved: number | null) => ({
    ...hard('memory.available', 1),
    value: 'x',
    resolved,
  })

  it.each([
    ['the default', [memory(100 * mebibyte)], 'pass'],
    ['one byte less', [memory(100 * mebibyte - 1)], 'fail'],
    [
      'a larger one beside it',
      [memory(50 * mebibyte), soft('memory.available', 1, 60_000)],
      'pass',
    ],
    ['less left than suffices', [{ ...memory(100 * mebibyte), margin: 50 * mebibyte }], 'fail'],
    ['enough left', [{ ...memory(100 * mebibyte), margin: 200 * mebibyte }], 'pass'],
    ['off, which is another rule’s', [memory(0)], 'pass'],
    ['bytes not known', [memory(null)], 'unknown'],
    ['one known, one not', [memory(50 * mebibyte), memory(null)], 'unknown'],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(memoryThresholdTooSmall, { thresholds: [...thresholds] })).toBe(expected)
  })

  it.each([
    [
      'a threshold that is too small',
      100,
      'Memory is nearly used up, and eviction would begin too late',
    ],
    ['a sound one', 512, 'Memory is nearly used up'],
  ])('names the pod that has the memory, with %s', (_, mib, title) => {
    const [resolved, capacityBytes] = [mib * mebibyte, 16 * 1024 * mebibyte]
    const margin = 0.013 * capacityBytes
    const pod = { namespace: 'x', name: 'hog' }
    const failing = failingOf(memoryThresholdTooSmall, {
      thresholds: [{ ...memory(resolved), margin }],
      eviction: {
        signals: {
          'memory.available': { capacityBytes, availableBytes: margin + resolved, time: null },
        },
      } as never,
      pods: [{ metadata: pod, spec: { containers: [] }, status: { phase: 'Running' } }] as never,
      summary: {
        pods: [{ podRef: pod, memory: { workingSetBytes: 12 * 1024 * mebibyte } }],
      } as never,
    })
    expect(failing).toMatchObject({ title, severity: 'high' })
    expect(failing.steps).toContainEqual(
      expect.objectContaining({ id: 'set-memory', owner: expect.objectContaining({ pod: 'hog' }) }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { zeroMinReclaimThrash } from '#judge/rules/eviction/zero-min-reclaim-thrash.ts'
import type { EvaluatedThreshold } from '#model/prediction.ts'
import { hard, type NodeExample, ranked, unresolved } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state, state as stateOf } from '#test/rule-outcome.ts'

itJudgesExamples(zeroMinReclaimThrash, {
  bad: { thresholds: [hard('nodefs.available', 10, 9)] },
  good: { thresholds: [{ ...hard('nodefs.available', 10, 9), minReclaim: '5Gi' }] },
})

describe('zero-min-reclaim-thrash', () => {
  const met = hard('nodefs.available', 10, 9)

  it.each([
    ['met, no reclaim', [met], 'fail'],
    ['met, a reclaim of nothing', [{ ...met, minReclaim: '0Mi' }], 'fail'],
    ['met, a reclaim', [{ ...met, minReclaim: '1' }], 'pass'],
    ['met, a percentage', [{ ...met, minReclaim: '1%' }], 'pass'],
    ['exactly at the threshold', [hard('nodefs.available', 10, 10)], 'pass'],
    ['memory', [hard('memory.available', 10, 9)], 'pass'],
    ['not observed', [{ ...met, ...unresolved }], 'unknown'],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(zeroMinReclaimThrash, { thresholds: [...thresholds] })).toBe(expected)
  })
})

describe('zero-min-reclaim-thrash, of what evictions can free', () => {
  const missing = 3
  const freed = (gib: number | null, more: NodeExample = {}): NodeExample => ({
    held: { 'images-in-use': 1 },
    thresholds: [hard('nodefs.available', 10, 10 - missing)],
    ...more,
    eviction: {
      rankings: [
        {
          signal: 'nodefs.available',
          pods: [ranked('web', 0, gib === null ? null : gib * gibibyte), ranked('api', 1, 0)],
        },
      ],
      signals: {
        'nodefs.available': {
          ...{ availableBytes: 7 * gibibyte, capacityBytes: 100 * gibibyte, time: null },
        },
      },
      ...more.eviction,
    },
  })
  const protectedPods = ['web', 'api'].map(name => ({
    ...{ namespace: 'shop', name, reason: 'static' as const },
  }))
  it.each<[string, NodeExample, string]>([
    ['what is missing, and the reclaim', freed(missing + 5), 'fail'],
    // The pressure would not end.
    ['less', freed(missing + 4.9), 'pass'],
    ['less, and unused images', freed(1, { held: { 'images-unused': 7 } }), 'fail'],
    ['a pod without statistics', freed(null), 'fail'],
    ['no pod may be evicted', freed(4, { eviction: { protected: protectedPods } }), 'pass'],
    [
      'no pod may be evicted, and unused images',
      freed(4, { held: { 'images-unused': 9 }, eviction: { protected: protectedPods } }),
      'pass',
    ],
  ])('%s: %s', (_, node, expected) => {
    expect(stateOf(zeroMinReclaimThrash, node)).toBe(expected)
  })
})

describe('zero-min-reclaim-thrash, in the transition period', () => {
  const pressure = { DiskPressure: 'True' }
  const left = (gib: number, more: Partial<EvaluatedThreshold> = {}): NodeExample => ({
    conditions: pressure,
    thresholds: [{ ...hard('nodefs.available', 10, 10 + gib), ...more }],
    eviction: {
      signals: {
        'nodefs.available': {
          availableBytes: (10 + gib) * gibibyte,
          capacityBytes: 100 * gibibyte,
          time: null,
        },
      },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['less than the growth of one period', left(1.99), 'fail'],
    ['as much', left(2), 'pass'],
    [
      'twice the period',
      { ...left(3.99), configuration: { evictionPressureTransitionPeriod: '10m' } },
      'fail',
    ],
    ['a minimum reclaim', left(1, { minReclaim: '5Gi' }), 'pass'],
    ['no pressure', { ...left(1), conditions: {} }, 'pass'],
    ['pressure that is not known', { ...left(1), conditions: { DiskPressure: 'Unknown' } }, 'pass'],
    ['no capacity', { ...left(1), eviction: { signals: {} } }, 'unknown'],
    [
      'no duration',
      { ...left(1), configuration: { evictionPressureTransitionPeriod: 'soon' } },
      'unknown',
    ],
    [
      'pressure of another one that is met',
      {
        ...left(1),
        thresholds: [
          hard('nodefs.available', 10, 11),
          { ...hard('imagefs.available', 15, 11), minReclaim: '1Gi' },
        ],
      },
      'pass',
    ],
  ])('%s: %s', (_, node, expected) => {
    expect(stateOf(zeroMinReclaimThrash, node)).toBe(expected)
  })

  it('counts inodes by the same share', () => {
    const inodes = (margin: number): NodeExample => ({
      conditions: pressure,
      thresholds: [
        { ...hard('nodefs.inodesFree', 0), value: '5%', resolved: 50, margin, met: false },
      ],
      eviction: {
        signals: {
          'nodefs.inodesFree': { availableBytes: 50 + margin, capacityBytes: 1_000, time: null },
        },
      },
    })
    expect(failingOf(zeroMinReclaimThrash, inodes(19)).fix?.config).toEqual({
      evictionMinimumReclaim: { 'nodefs.inodesFree': '5%' },
    })
    expect(stateOf(zeroMinReclaimThrash, inodes(20))).toBe('pass')
  })
})

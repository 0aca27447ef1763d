import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { amountOf } from '#judge/help/thresholds.ts'
import { unreachableMinReclaim } from '#judge/rules/eviction/unreachable-min-reclaim.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const reclaim = (value: string) => ({
  configuration: { evictionMinimumReclaim: { 'nodefs.available': value } },
  thresholds: [{ ...hard('nodefs.available', 10), minReclaim: value }],
  eviction: {
    signals: {
      'nodefs.available': {
        availableBytes: 60 * gibibyte,
        capacityBytes: 100 * gibibyte,
        time: null,
      },
    },
  },
})

itJudgesExamples(unreachableMinReclaim, { bad: reclaim('90Gi'), good: reclaim('5Gi') })

describe('unreachable-min-reclaim', () => {
  const percentages = (value: string, minReclaim: string): NodeExample => ({
    ...example(minReclaim),
    thresholds: [
      {
        ...hard('nodefs.available', 10),
        value,
        resolved: amountOf(value, 100 * gibibyte),
        minReclaim,
      },
    ],
  })
  const example = (minReclaim: string, capacity: number | null = 100): NodeExample => ({
    configuration: { evictionMinimumReclaim: { 'nodefs.available': minReclaim } },
    thresholds: [{ ...hard('nodefs.available', 10), minReclaim }],
    eviction: {
      signals:
        capacity === null
          ? {}
          : {
              'nodefs.available': {
                availableBytes: 1,
                capacityBytes: capacity * gibibyte,
                time: null,
              },
            },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['all of it', example('90Gi'), 'fail'],
    ['one byte less', example(String(90 * gibibyte - 1)), 'pass'],
    ['a percentage', example('95%'), 'fail'],
    ['a small one', example('5%'), 'pass'],
    [
      'all of it, in two percentages that float32 makes a little less',
      percentages('10%', '90%'),
      'fail',
    ],
    ['one percent less', percentages('10%', '89%'), 'pass'],
    ['capacity not known', example('5Gi', null), 'unknown'],
    ['nothing set', {}, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(unreachableMinReclaim, node)).toBe(expected)
  })
})

describe('unreachable-min-reclaim, under DiskPressure', () => {
  const pressed = (free: number, minReclaim: string, DiskPressure = 'True'): NodeExample => ({
    conditions: { DiskPressure },
    configuration: { evictionMinimumReclaim: { 'nodefs.available': minReclaim } },
    thresholds: [{ ...hard('nodefs.available', 10, free), minReclaim }],
    eviction: {
      signals: {
        'nodefs.available': {
          availableBytes: free * gibibyte,
          capacityBytes: 100 * gibibyte,
          time: null,
        },
      },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['between the threshold and its sum with the reclaim', pressed(15, '10%'), 'fail'],
    ['at the sum', pressed(20, '10Gi'), 'pass'],
    ['below the threshold, which eviction-due reports', pressed(9, '10%'), 'pass'],
    ['less than 1 % above the threshold: the disk is short', pressed(10.5, '10%'), 'fail'],
    ['without the condition', pressed(15, '10%', 'False'), 'pass'],
    ['no reclaim', pressed(15, '0'), 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(unreachableMinReclaim, node)).toBe(expected)
  })

  it('asks for room where no percentage is as small as what is free', () => {
    const fixed = failingOf(unreachableMinReclaim, pressed(15, '10%'))
    expect(fixed.fix?.config).toEqual({ evictionMinimumReclaim: { 'nodefs.available': '5%' } })
    expect(failingOf(unreachableMinReclaim, pressed(10.5, '10%')).fix).toBeUndefined()
    expect(fixed.seen).toBe(
      'nodefs.available is 15.0 GiB, above the threshold of 10.0 GiB. The kubelet ends DiskPressure only at 20.0 GiB.',
    )
  })
})

import { describe, expect, it } from 'vitest'
import { amountOf } from '#judge/help/values.ts'
import { unreachableMinReclaim } from '#judge/rules/eviction/unreachable-min-reclaim.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { gibibyte, state } from '#test/rules/eviction-settings.ts'

const exampleGibibyte = 1024 ** 3

const reclaim = (value: string) => ({
  configuration: { evictionMinimumReclaim: { 'nodefs.available': value } },
  thresholds: [{ ...hard('nodefs.available', 10), minReclaim: value }],
  eviction: {
    signals: {
      'nodefs.available': {
        availableBytes: 60 * exampleGibibyte,
        capacityBytes: 100 * exampleGibibyte,
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

import { describe, expect, it } from 'vitest'
import { zeroMinReclaimThrash } from '#judge/rules/eviction/zero-min-reclaim-thrash.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state, unresolved } from '#test/rules/eviction-settings.ts'

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

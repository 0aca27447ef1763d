import { describe, expect, it } from 'vitest'
import { imageGcDisabled } from '#judge/rules/image-gc/image-gc-disabled.ts'
import { gc, hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(imageGcDisabled, {
  bad: { imageGC: { enabled: false, highThresholdPercent: 100, lowThresholdPercent: 80 } },
  good: { imageGC: { highThresholdPercent: 99, lowThresholdPercent: 80 } },
})

describe('image-gc-disabled', () => {
  it('asks whether the loop runs, which a maximum age can see to', () => {
    expect(state(imageGcDisabled, { imageGC: gc(100, 80) })).toBe('fail')
    expect(state(imageGcDisabled, { imageGC: { ...gc(100, 80), enabled: true } })).toBe('pass')
    expect(state(imageGcDisabled, { imageGC: gc(99, 80) })).toBe('pass')
  })

  it('proposes percentages that come before eviction', () => {
    const thresholds = [hard('nodefs.available', 30)]
    expect(failingOf(imageGcDisabled, { imageGC: gc(100, 80), thresholds }).fix?.config).toEqual({
      imageGCHighThresholdPercent: 66,
      imageGCLowThresholdPercent: 56,
    })
  })
})

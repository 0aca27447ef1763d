import { describe, expect, it } from 'vitest'
import { narrowGcBand } from '#judge/rules/image-gc/narrow-gc-band.ts'
import { gc } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(narrowGcBand, {
  bad: { imageGC: { highThresholdPercent: 80, lowThresholdPercent: 79 } },
  good: { imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80 } },
})

describe('narrow-gc-band', () => {
  it.each([
    [85, 80, 'pass'],
    [85, 81, 'fail'],
    [70, 70, 'fail'],
    [3, 0, 'fail'],
    [100, 99, 'notApplicable'],
  ] as const)('%i to %i: %s', (high, low, expected) => {
    expect(state(narrowGcBand, { imageGC: gc(high, low) })).toBe(expected)
  })

  it('says what a round asks for', () => {
    expect(failingOf(narrowGcBand, { imageGC: gc(80, 79) }).consequence).toMatchSnapshot()
    expect(failingOf(narrowGcBand, { imageGC: gc(80, 77) }).consequence).toMatchSnapshot()
    expect(failingOf(narrowGcBand, { imageGC: gc(80, 77) }).fix?.config).toEqual({
      imageGCHighThresholdPercent: 80,
      imageGCLowThresholdPercent: 70,
    })
  })
})

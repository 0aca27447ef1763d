import { describe, expect, it } from 'vitest'
import { imageAgeGcChurn } from '#judge/rules/image-gc/image-age-gc-churn.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'

itJudgesExamples(imageAgeGcChurn, {
  bad: { configuration: { imageMaximumGCAge: '1h0m0s' } },
  good: { configuration: { imageMaximumGCAge: '168h0m0s' } },
})

describe('image-age-gc-churn', () => {
  it.each([
    ['0s', 'pass'],
    ['24h', 'pass'],
    ['23h59m59s', 'fail'],
    ['soon', 'unknown'],
    [undefined, 'pass'],
  ] as const)('%s: %s', (imageMaximumGCAge, expected) => {
    expect(state(imageAgeGcChurn, { configuration: { imageMaximumGCAge } })).toBe(expected)
  })
})

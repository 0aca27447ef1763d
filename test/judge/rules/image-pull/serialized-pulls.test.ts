import { describe, expect, it } from 'vitest'
import { serializedPulls } from '#judge/rules/image-pull/serialized-pulls.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(serializedPulls, {
  bad: { configuration: { serializeImagePulls: true } },
  good: { configuration: { serializeImagePulls: false } },
})

describe('serialized-pulls', () => {
  it('is unknown where configz does not tell', () => {
    const parallel = (maxParallelImagePulls: number) => ({
      configuration: { serializeImagePulls: false, maxParallelImagePulls },
    })
    expect(failingOf(serializedPulls, parallel(1)).evidence).toContainEqual({
      kind: 'configz',
      what: 'maxParallelImagePulls',
      value: '1',
    })
    expect(state(serializedPulls, parallel(2))).toBe('pass')
    expect(state(serializedPulls, {})).toBe('unknown')
    expect(state(serializedPulls, { identity: { operatingSystem: 'windows' } })).toBe(
      'notApplicable',
    )
  })
})

import { describe, expect, it } from 'vitest'
import { softThresholdWithoutGrace } from '#judge/rules/eviction/soft-threshold-without-grace.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const bad = {
  evictionSoft: { 'nodefs.available': '15Gi' },
  evictionSoftGracePeriod: { 'nodefs.available': '0s' },
}

itJudgesExamples(softThresholdWithoutGrace, {
  bad: { configuration: bad, thresholds: [hard('nodefs.available', 15)] },
  good: { configuration: { ...bad, evictionSoftGracePeriod: { 'nodefs.available': '90s' } } },
})

describe('soft-threshold-without-grace', () => {
  const example = (grace: string): NodeExample => ({
    configuration: {
      evictionSoft: { 'nodefs.available': '15Gi' },
      evictionSoftGracePeriod: { 'nodefs.available': grace, other: '1m' },
    },
    thresholds: [
      hard('nodefs.available', 10),
      grace === '1ms' ? soft('nodefs.available', 15, 1) : hard('nodefs.available', 15),
    ],
  })

  it('fails at exactly 0, however written', () => {
    expect(state(softThresholdWithoutGrace, example('0s'))).toBe('fail')
    expect(state(softThresholdWithoutGrace, example('0'))).toBe('fail')
    expect(state(softThresholdWithoutGrace, example('1ms'))).toBe('pass')
  })

  it('says so once, and keeps the other grace periods', () => {
    const failing = failingOf(softThresholdWithoutGrace, example('0s'))
    expect(failing.evidence).toHaveLength(2)
    expect(failing.fix?.config).toEqual({
      evictionSoftGracePeriod: { 'nodefs.available': '90s', other: '1m' },
    })
  })
})

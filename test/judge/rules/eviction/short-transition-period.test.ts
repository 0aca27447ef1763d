import { describe, expect, it } from 'vitest'
import { shortTransitionPeriod } from '#judge/rules/eviction/short-transition-period.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor } from '#test/rule-outcome.ts'

itJudgesExamples(shortTransitionPeriod, {
  bad: { configuration: { evictionPressureTransitionPeriod: '30s' } },
  good: { configuration: { evictionPressureTransitionPeriod: '5m0s' } },
})

describe('short-transition-period', () => {
  it.each([
    [undefined, 'pass', ''],
    ['5m0s', 'pass', ''],
    ['4m59s', 'fail', 'low'],
    ['1m', 'fail', 'low'],
    ['59s', 'fail', 'medium'],
    ['10s', 'fail', 'high'],
    ['0s', 'fail', 'high'],
    ['soon', 'unknown', ''],
  ] as const)('%s: %s %s', (evictionPressureTransitionPeriod, expected, severity) => {
    const outcome = outcomeFor(shortTransitionPeriod, {
      configuration: { evictionPressureTransitionPeriod },
    })
    expect(outcome.state).toBe(expected)
    if (outcome.state === 'fail') expect(outcome.failing.severity).toBe(severity)
  })

  it('says that without a period nothing is reported at all', () => {
    const { consequence } = failingOf(shortTransitionPeriod, {
      configuration: { evictionPressureTransitionPeriod: '0s' },
    })
    expect(consequence).toContain('without ever reporting')
  })
})

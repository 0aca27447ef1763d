import { describe, expect, it } from 'vitest'
import { invalidLogSize } from '#judge/rules/logs/invalid-log-size.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeFor, state } from '#test/rule-outcome.ts'

itJudgesExamples(invalidLogSize, {
  bad: { configuration: { containerLogMaxSize: '1.5Gi' } },
  good: { configuration: { containerLogMaxSize: '1536Mi', containerLogMaxFiles: 2 } },
})

describe('invalid-log-size', () => {
  it.each([
    ['10Mi', 5, 'pass', undefined],
    ['0', 2, 'pass', undefined],
    ['1.5Gi', 5, 'fail', { containerLogMaxSize: '1536Mi' }],
    ['1536Mi', 5, 'pass', undefined],
    ['0.5', 5, 'fail', { containerLogMaxSize: '10Mi' }],
    ['ten', 5, 'fail', { containerLogMaxSize: '10Mi' }],
    ['-1', 5, 'fail', { containerLogMaxSize: '10Mi' }],
    ['10Mi', 1, 'fail', { containerLogMaxFiles: 5 }],
    ['10Mi', 2, 'pass', undefined],
  ] as const)('%s × %d: %s', (containerLogMaxSize, containerLogMaxFiles, expected, fix) => {
    const outcome = outcomeFor(invalidLogSize, {
      configuration: { containerLogMaxSize, containerLogMaxFiles },
    })
    expect(outcome.state).toBe(expected)
    if (outcome.state === 'fail') expect(outcome.failing.fix?.config).toEqual(fix)
  })

  it('passes the defaults that configz does not show', () => {
    expect(state(invalidLogSize, {})).toBe('pass')
  })
})

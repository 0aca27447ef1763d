import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { unreachableSoftThreshold } from '#judge/rules/eviction/unreachable-soft-threshold.ts'
import { hard, soft, unresolved } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

itJudgesExamples(unreachableSoftThreshold, {
  bad: { thresholds: [hard('nodefs.available', 15), soft('nodefs.available', 10, 90_000)] },
  good: { thresholds: [hard('nodefs.available', 10), soft('nodefs.available', 15, 90_000)] },
})

describe('unreachable-soft-threshold', () => {
  const signal = 'nodefs.available'

  it.each([
    ['soft below hard', [hard(signal, 15), soft(signal, 10, 60_000)], 'fail'],
    ['equal', [hard(signal, 10), soft(signal, 10, 60_000)], 'fail'],
    [
      'one byte above',
      [
        hard(signal, 10),
        { ...soft(signal, 10, 60_000), value: '11Gi', resolved: 10 * gibibyte + 1 },
      ],
      'pass',
    ],
    ['another signal', [hard('imagefs.available', 15), soft(signal, 10, 60_000)], 'pass'],
    ['a hard one that is off', [hard(signal, 0), soft(signal, 10, 60_000)], 'pass'],
    [
      'bytes not known',
      [hard(signal, 15), { ...soft(signal, 10, 60_000), ...unresolved }],
      'unknown',
    ],
    [
      'bytes not known, but written alike',
      [
        { ...hard(signal, 10), ...unresolved },
        { ...soft(signal, 10, 1), ...unresolved },
      ],
      'fail',
    ],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(unreachableSoftThreshold, { thresholds: [...thresholds] })).toBe(expected)
  })

  it.each([
    [{ ...hard(signal, 15), value: '15%' }, '30%'],
    [hard(signal, 15), '30720Mi'],
  ])('sets twice the hard threshold: $value', (one, expected) => {
    const failing = failingOf(unreachableSoftThreshold, {
      thresholds: [one, soft(signal, 10, 60_000)],
    })
    expect(failing.fix?.config).toEqual({ evictionSoft: { [signal]: expected } })
  })

  it('does not speak of containerfs, which follows another', () => {
    const thresholds = [
      hard(signal, 10),
      soft(signal, 5, 60_000),
      hard('containerfs.available', 10),
      soft('containerfs.available', 5, 60_000),
    ]
    const { consequence } = failingOf(unreachableSoftThreshold, { thresholds })
    expect(consequence).toContain('nodefs.available')
    expect(consequence).not.toContain('containerfs')
  })
})

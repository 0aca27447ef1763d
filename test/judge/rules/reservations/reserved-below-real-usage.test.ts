import { describe, expect, it } from 'vitest'
import { mebibyte } from '#base/units.ts'
import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { reservedBelowRealUsage } from '#judge/rules/reservations/reserved-below-real-usage.ts'
import { calmEviction } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'
import { both, reserving } from '#test/rules/reservations.ts'

const using = (mib: number) => ({
  node: {
    systemContainers: ['kubelet', 'runtime'].map(name => ({
      name,
      memory: { workingSetBytes: (mib / 2) * mebibyte },
    })),
  },
})

itJudgesExamples(reservedBelowRealUsage, {
  bad: {
    configuration: { kubeReserved: { memory: '400Mi' }, systemReserved: { memory: '100Mi' } },
    summary: using(600),
  },
  good: {
    configuration: { kubeReserved: { memory: '400Mi' }, systemReserved: { memory: '100Mi' } },
    summary: using(300),
  },
})

describe('reserved-below-real-usage', () => {
  it.each([
    [reserving('256Mi', '144Mi'), 400 * mebibyte, 'pass'],
    [reserving('256Mi', '144Mi'), 400 * mebibyte + 1, 'fail'],
    [reserving(undefined), 400 * mebibyte, 'notApplicable'],
  ] as const)('%j, %d bytes used: %s', (example, used, expected) => {
    expect(state(reservedBelowRealUsage, { ...example, summary: both(used) })).toBe(expected)
  })

  it('is unknown without statistics', () => {
    expect(state(reservedBelowRealUsage, reserving('256Mi', '144Mi'))).toBe('unknown')
  })

  it('leaves a node that reserves nothing for the system to missing-system-reserved', () => {
    const node = { ...reserving('256Mi'), summary: both(2 ** 30) }
    expect(state(reservedBelowRealUsage, node)).toBe('notApplicable')
    expect(state(missingSystemReserved, node)).toBe('fail')
  })

  it('takes no memory of the daemons as a measure where process ids run short', () => {
    const example = { ...reserving('400Mi', '1Mi'), summary: both(9 * 2 ** 30) }
    const left = (availableBytes: number) => ({
      ...calmEviction,
      signals: { 'pid.available': { availableBytes, capacityBytes: 65_536, time: null } },
    })
    expect(state(reservedBelowRealUsage, { ...example, eviction: left(60_000) })).toBe('fail')
    expect(state(reservedBelowRealUsage, { ...example, eviction: left(346) })).toBe('unknown')
  })
})

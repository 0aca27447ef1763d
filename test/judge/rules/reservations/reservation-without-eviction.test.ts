import { describe, expect, it } from 'vitest'
import { gibibyte, mebibyte } from '#base/units.ts'
import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { reservationWithoutEviction } from '#judge/rules/reservations/reservation-without-eviction.ts'
import { reservedBelowRealUsage } from '#judge/rules/reservations/reserved-below-real-usage.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { both, daemons, reserving } from '#test/rules/reservations.ts'

const oneGib = {
  node: {
    systemContainers: ['kubelet', 'runtime'].map(name => ({
      name,
      memory: { workingSetBytes: gibibyte / 2 },
    })),
  },
}

const half = hard('memory.available', 0.5)

itJudgesExamples(reservationWithoutEviction, {
  bad: {
    configuration: { systemReserved: { memory: '1Gi' } },
    thresholds: [half],
    summary: oneGib,
  },
  good: {
    configuration: { systemReserved: { memory: '1536Mi' } },
    thresholds: [half],
    summary: oneGib,
  },
})

describe('reservation-without-eviction: the example of the Kubernetes documentation', () => {
  const thresholds = [hard('memory.available', 500 / 1024)]
  const sized = (system: string, extra: NodeExample = {}): NodeExample => ({
    ...reserving(undefined, system),
    thresholds,
    summary: both(1024 * mebibyte),
    ...extra,
  })

  it.each([
    ['1Gi', {}, 'fail'],
    ['1523Mi', {}, 'fail'],
    ['1524Mi', {}, 'pass'],
    ['1.5Gi', {}, 'pass'],
    ['1.5Gi', { summary: daemons({ kubelet: 1 }) }, 'unknown'],
    ['1Gi', { thresholds: [{ ...thresholds[0]!, resolved: null }] }, 'unknown'],
    ['1Gi', { thresholds: [] }, 'pass'],
    ['0', {}, 'notApplicable'],
  ] as const)('%s reserved, %j: %s', (system, extra, expected) => {
    expect(state(reservationWithoutEviction, sized(system, extra as NodeExample))).toBe(expected)
  })

  it('leaves daemons that use more than is reserved to the rules that say it, with the same fix', () => {
    const node = sized('1023Mi')
    expect(state(reservedBelowRealUsage, node)).toBe('fail')
    // Else it would tell of negative bytes that stay available.
    expect(state(reservationWithoutEviction, node)).toBe('notApplicable')
    const none = sized('0', { configuration: { kubeReserved: { memory: '1023Mi' } } })
    expect(state(missingSystemReserved, none)).toBe('fail')
    expect(state(reservationWithoutEviction, none)).toBe('notApplicable')
  })

  it('proposes the sum, and tells how far eviction is', () => {
    const { fix, consequence, severity } = failingOf(reservationWithoutEviction, sized('1Gi'))
    expect(fix?.config).toEqual({ systemReserved: { memory: '1524Mi' } })
    expect(consequence).toContain('500.0 MiB stay available')
    expect(consequence).toMatchSnapshot()
    expect(severity).toBe('low')
  })

  it('is worse where pods are evicted although all stay within what they were promised: soft thresholds are not reserved', () => {
    const example = sized('1Gi', {
      thresholds: [...thresholds, soft('memory.available', 1, 60_000)],
    })
    expect(failingOf(reservationWithoutEviction, example)).toMatchObject({
      severity: 'medium',
      fix: { config: { systemReserved: { memory: '2048Mi' } } },
    })
  })
})

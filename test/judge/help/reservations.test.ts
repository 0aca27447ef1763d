import { describe, expect, it } from 'vitest'
import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { failingOf } from '#test/rule-outcome.ts'

describe('a reservation that would leave pods less than half of the memory', () => {
  const node = (memory: string) => ({ status: { capacity: { memory, cpu: '2' } } })

  it.each([
    ['2930Mi', { kubeReserved: { memory: '1465Mi' } }],
    ['2929Mi', undefined],
  ])('is not proposed: of %s', (memory, config) => {
    expect(
      failingOf(missingSystemReserved, {
        configuration: { maxPods: 110 },
        node: node(memory),
        thresholds: [],
      }).fix?.config,
    ).toEqual(config)
  })
})

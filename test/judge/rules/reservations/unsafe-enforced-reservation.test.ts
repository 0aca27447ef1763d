import { describe, expect, it } from 'vitest'
import { missingEnforcedCgroup } from '#judge/rules/reservations/missing-enforced-cgroup.ts'
import { unsafeEnforcedReservation } from '#judge/rules/reservations/unsafe-enforced-reservation.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { state } from '#test/rule-outcome.ts'

itJudgesExamples(unsafeEnforcedReservation, {
  bad: {
    configuration: {
      enforceNodeAllocatable: ['pods', 'system-reserved'],
      systemReserved: { memory: '512Mi' },
      systemReservedCgroup: '/system.slice',
    },
  },
  good: {
    configuration: {
      enforceNodeAllocatable: ['pods'],
      systemReserved: { memory: '512Mi' },
      systemReservedCgroup: '/system.slice',
    },
  },
})

describe('missing-enforced-cgroup and unsafe-enforced-reservation', () => {
  it.each([
    [['pods'], {}, 'pass', 'pass'],
    [['system-reserved'], { systemReserved: { memory: '1Gi' } }, 'fail', 'fail'],
    [
      ['system-reserved'],
      { systemReserved: { memory: '1Gi' }, systemReservedCgroup: '/system' },
      'pass',
      'fail',
    ],
    [
      ['system-reserved'],
      { systemReserved: { cpu: '1' }, systemReservedCgroup: '/system' },
      'pass',
      'pass',
    ],
    [
      ['kube-reserved'],
      { kubeReserved: { pid: '1000' }, kubeReservedCgroup: '/runtime' },
      'pass',
      'fail',
    ],
    [['kube-reserved-compressible'], { kubeReserved: { memory: '1Gi' } }, 'fail', 'pass'],
    [
      ['kube-reserved'],
      { kubeReserved: { memory: '1Gi' }, kubeReservedCgroup: '' },
      'fail',
      'fail',
    ],
  ] as const)('%j with %j: %s, %s', (enforceNodeAllocatable, more, missing, unsafe) => {
    const example: NodeExample = {
      configuration: { ...more, enforceNodeAllocatable: [...enforceNodeAllocatable] },
    }
    expect(state(missingEnforcedCgroup, example)).toBe(missing)
    expect(state(unsafeEnforcedReservation, example)).toBe(unsafe)
  })
})

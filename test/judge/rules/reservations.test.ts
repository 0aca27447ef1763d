import { describe, expect, it } from 'vitest'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { missingEnforcedCgroup } from '#judge/rules/reservations/missing-enforced-cgroup.ts'
import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { oomBeforeEviction } from '#judge/rules/reservations/oom-before-eviction.ts'
import { unsafeEnforcedReservation } from '#judge/rules/reservations/unsafe-enforced-reservation.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { failingOf, state } from '#test/rules/reservations.ts'

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

describe('oom-before-eviction', () => {
  it.each([
    ['none', [], 'fail'],
    ['hard', [hard('memory.available', 1)], 'pass'],
    ['hard, but 0', [hard('memory.available', 0)], 'fail'],
    ['soft, over by the next pass', [soft('memory.available', 1, 10_000)], 'pass'],
    ['soft, over after it', [soft('memory.available', 1, 10_001)], 'fail'],
    ["the pods' own", [hard('allocatableMemory.available', 1)], 'fail'],
  ] as const)('%s: %3$s', (_, thresholds, expected) => {
    expect(state(oomBeforeEviction, { thresholds: [...thresholds] })).toBe(expected)
  })

  it('proposes the default beside what is there', () => {
    const example = {
      thresholds: [],
      configuration: { evictionHard: { 'nodefs.available': '10%', 'memory.available': '0%' } },
    }
    expect(failingOf(oomBeforeEviction, example).fix?.config).toEqual({
      evictionHard: { 'nodefs.available': '10%', 'memory.available': '100Mi' },
    })
  })

  it('leaves a default that the map took away to lost-default-threshold, unless a soft one hides it there', () => {
    const configuration = { evictionHard: { 'nodefs.available': '10%' } }
    const lost = { configuration, thresholds: [hard('nodefs.available', 10)] }
    expect(state(oomBeforeEviction, lost)).toBe('pass')
    expect(state(lostDefaultThreshold, lost)).toBe('fail')
    const waiting = {
      configuration,
      thresholds: [hard('nodefs.available', 10), soft('memory.available', 1, 90_000)],
    }
    expect(state(oomBeforeEviction, waiting)).toBe('fail')
  })
})

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

import { describe, expect, it } from 'vitest'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import type { ContextRule, NodeRule } from '#judge/rule.ts'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { allocatableMismatch } from '#judge/rules/reservations/allocatable-mismatch.ts'
import { missingEnforcedCgroup } from '#judge/rules/reservations/missing-enforced-cgroup.ts'
import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { oomBeforeEviction } from '#judge/rules/reservations/oom-before-eviction.ts'
import { reservationWithoutEviction } from '#judge/rules/reservations/reservation-without-eviction.ts'
import { reservedBelowEksFormula } from '#judge/rules/reservations/reserved-below-eks-formula.ts'
import { reservedBelowRealUsage } from '#judge/rules/reservations/reserved-below-real-usage.ts'
import { unsafeEnforcedReservation } from '#judge/rules/reservations/unsafe-enforced-reservation.ts'
import { summaryOf } from '#test/at-the-door.ts'
import { hard, type NodeExample, soft } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const judge = (rule: NodeRule | ContextRule, example: NodeExample) => outcomeFor(rule, example)
const state = (rule: NodeRule | ContextRule, example: NodeExample) => judge(rule, example).state
const failingOf = (rule: NodeRule | ContextRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}

const MiB = 1024 ** 2
/** Working sets of the daemons in bytes. */
const daemons = (used: Record<string, unknown>) =>
  summaryOf({
    node: {
      systemContainers: Object.entries(used).map(([name, workingSetBytes]) => ({
        name,
        memory: { workingSetBytes },
      })),
    },
  })
const both = (bytes: number) => daemons({ kubelet: bytes - 1, runtime: 1, pods: 2 ** 40 })
const reserving = (kube: string | undefined, system?: string): NodeExample => ({
  configuration: {
    ...(kube !== undefined && { kubeReserved: { memory: kube } }),
    ...(system !== undefined && { systemReserved: { memory: system } }),
  },
})

describe('missing-system-reserved', () => {
  it.each([
    ['nothing', reserving(undefined), 'fail'],
    ['0', reserving('0', '0Gi'), 'fail'],
    ['for the system', reserving(undefined, '1Mi'), 'pass'],
    ['for both', reserving('1Mi', '1Mi'), 'pass'],
    [
      'for Kubernetes as much as the daemons use',
      { ...reserving('400Mi'), summary: both(400 * MiB) },
      'pass',
    ],
    [
      'for Kubernetes, a byte less than the daemons use',
      { ...reserving('400Mi'), summary: both(400 * MiB + 1) },
      'fail',
    ],
    ['for Kubernetes, no statistics', reserving('400Mi'), 'unknown'],
    [
      'for Kubernetes, half the statistics',
      { ...reserving('400Mi'), summary: daemons({ kubelet: 1 }) },
      'unknown',
    ],
    [
      'less than the one daemon with statistics',
      { ...reserving('400Mi'), summary: daemons({ kubelet: 401 * MiB }) },
      'fail',
    ],
    [
      'a statistic that is none',
      { ...reserving('400Mi'), summary: daemons({ kubelet: 1, runtime: '1' }) },
      'unknown',
    ],
    ['no quantity', reserving('much'), 'unknown'],
    ['nothing, on Windows', { identity: { operatingSystem: 'windows' } }, 'notApplicable'],
  ] as const)('%s: %3$s', (_, example, expected) => {
    expect(state(missingSystemReserved, example)).toBe(expected)
  })

  it("proposes the image's own reservation where there is none, and what is missing where there is some", () => {
    expect(
      failingOf(missingSystemReserved, {
        configuration: { maxPods: 58, kubeReserved: { cpu: '80m' } },
      }).fix?.config,
    ).toEqual({ kubeReserved: { cpu: '80m', memory: '893Mi' } })
    const thresholds = [hard('memory.available', 0.5)]
    expect(
      failingOf(missingSystemReserved, {
        ...reserving('400Mi'),
        thresholds,
        summary: both(500 * MiB),
      }).fix?.config,
    ).toEqual({ systemReserved: { memory: '612Mi' } })
  })
})

describe('allocatable-mismatch', () => {
  const example = (
    matchesNode: boolean | null,
    allocatable: Record<string, string>,
  ): NodeExample => ({
    allocatable: { cpu: '1930m', memory: '23993908Ki', matchesNode },
    node: { status: { allocatable } },
  })

  it('says what differs, and only that', () => {
    const { evidence } = failingOf(
      allocatableMismatch,
      example(false, { cpu: '1.93', memory: '24Gi' }),
    )
    expect(evidence).toEqual([
      { kind: 'node', what: 'node allocatable memory', value: '24Gi' },
      { kind: 'computed', what: 'allocatable memory by configuration', value: '23993908Ki' },
    ])
  })

  it('is unknown where the node does not tell, or nothing was computed', () => {
    expect(state(allocatableMismatch, example(null, {}))).toBe('unknown')
    expect(state(allocatableMismatch, {})).toBe('unknown')
  })
})

describe('reservation-without-eviction: the example of the Kubernetes documentation', () => {
  const thresholds = [hard('memory.available', 500 / 1024)]
  const sized = (system: string, extra: NodeExample = {}): NodeExample => ({
    ...reserving(undefined, system),
    thresholds,
    summary: both(1024 * MiB),
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

describe('reserved-below-real-usage', () => {
  it.each([
    [reserving('256Mi', '144Mi'), 400 * MiB, 'pass'],
    [reserving('256Mi', '144Mi'), 400 * MiB + 1, 'fail'],
    [reserving(undefined), 400 * MiB, 'notApplicable'],
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
})

describe('reserved-below-eks-formula', () => {
  it.each([
    [1, 60],
    [2, 70],
    [4, 80],
    [5, 82],
    [8, 90],
    [16, 110],
    [32, 150],
    [48, 190],
    [64, 230],
    [96, 310],
  ])('%d cores: %d m', (cores, millis) => {
    expect(eksReservedCpuMillis(cores)).toBe(millis)
  })

  it.each([
    [17, 442],
    [29, 574],
    [58, 893],
    [110, 1465],
    [234, 2829],
    [250, 3005],
  ])('%d pods: %d Mi', (pods, mebibytes) => {
    expect(eksReservedMemoryMiB(pods)).toBe(mebibytes)
  })

  const node = { status: { capacity: { cpu: '4' } } }
  const reserved = (
    kubeReserved: Record<string, string>,
    more: NodeExample['configuration'] = {},
  ): NodeExample => ({ configuration: { maxPods: 58, kubeReserved, ...more }, node })

  it.each([
    ['the formula', reserved({ cpu: '80m', memory: '893Mi' }), 'pass'],
    ['a mebibyte less', reserved({ cpu: '80m', memory: '892Mi' }), 'fail'],
    ['a milli-core less', reserved({ cpu: '79m', memory: '893Mi' }), 'fail'],
    [
      'the rest for the system',
      reserved({ cpu: '40m', memory: '800Mi' }, { systemReserved: { cpu: '40m', memory: '93Mi' } }),
      'pass',
    ],
    ['whole cores', reserved({ memory: '893Mi' }, { reservedSystemCPUs: '0' }), 'pass'],
    ['fewer pods by cores', reserved({ cpu: '80m', memory: '343Mi' }, { podsPerCore: 2 }), 'pass'],
    ['no number of cores', { ...reserved({ cpu: '1', memory: '893Mi' }), node: {} }, 'unknown'],
    ['no memory at all', reserved({ cpu: '80m' }), 'notApplicable'],
  ] as const)('%s: %3$s', (_, example, expected) => {
    expect(state(reservedBelowEksFormula, example)).toBe(expected)
  })

  it('proposes what is missing, and keeps the rest', () => {
    expect(
      failingOf(reservedBelowEksFormula, reserved({ memory: '1Mi', 'ephemeral-storage': '1Gi' }))
        .fix?.config,
    ).toEqual({ kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' } })
  })
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

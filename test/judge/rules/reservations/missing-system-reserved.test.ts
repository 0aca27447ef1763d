import { describe, expect, it } from 'vitest'
import { mebibyte } from '#base/units.ts'
import { missingSystemReserved } from '#judge/rules/reservations/missing-system-reserved.ts'
import { calmEviction, exampleTime, hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { both, daemons, reserving } from '#test/rules/reservations.ts'

itJudgesExamples(missingSystemReserved, {
  bad: { configuration: { maxPods: 58 } },
  good: {
    configuration: { kubeReserved: { memory: '893Mi' }, systemReserved: { memory: '256Mi' } },
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
      { ...reserving('400Mi'), summary: both(400 * mebibyte) },
      'pass',
    ],
    [
      'for Kubernetes, a byte less than the daemons use',
      { ...reserving('400Mi'), summary: both(400 * mebibyte + 1) },
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
      { ...reserving('400Mi'), summary: daemons({ kubelet: 401 * mebibyte }) },
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

  it('derives no reservation from a daemon that is not in order', () => {
    const summary = daemons({ kubelet: 300 * mebibyte, runtime: 9 * 1024 * mebibyte })
    const failing = failingOf(missingSystemReserved, { ...reserving('893Mi'), summary })
    expect(failing).toMatchObject({
      cause: { kind: 'world', event: 'memory-outside-pods', subject: 'containerd' },
      steps: [{ id: 'restart-daemon', place: 'containerd' }, { id: 'reboot' }],
    })
    expect(failing.fix).toBeUndefined()
  })

  it.each([
    ['48458972Ki', 'medium'],
    ['16Gi', undefined],
  ])('is medium where a pod alone used more than is reserved: %s', (used, severity) => {
    const message = `The node was low on resource: memory. Container app was using ${used}, request is 15616Mi, has larger consumption of memory. `
    const status = { phase: 'Failed', reason: 'Evicted', message, startTime: exampleTime }
    const pods = [{ metadata: { name: 'a' }, status }]
    const example = { configuration: { maxPods: 58 }, pods }
    expect(failingOf(missingSystemReserved, example).severity).toBe(severity)
  })

  it.each([
    [50, 'False', 'medium'],
    [49, 'False', undefined],
    [50, 'True', undefined],
  ])(
    'with %i %% of the memory available and MemoryPressure %s: %s',
    (percent, pressure, severity) => {
      const example = {
        configuration: { maxPods: 58 },
        conditions: { MemoryPressure: pressure },
        eviction: {
          ...calmEviction,
          signals: { 'memory.available': { capacityBytes: 100, availableBytes: percent } },
        },
      }
      expect(failingOf(missingSystemReserved, example as never).severity).toBe(severity)
    },
  )
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
        summary: both(500 * mebibyte),
      }).fix?.config,
    ).toEqual({ systemReserved: { memory: '612Mi' } })
  })

  it('takes no memory of the daemons as a measure where process ids run short', () => {
    const example = { ...reserving('400Mi'), summary: both(9 * 2 ** 30) }
    const left = (availableBytes: number) => ({
      ...calmEviction,
      signals: { 'pid.available': { availableBytes, capacityBytes: 65_536, time: null } },
    })
    expect(state(missingSystemReserved, { ...example, eviction: left(60_000) })).toBe('fail')
    expect(state(missingSystemReserved, { ...example, eviction: left(346) })).toBe('unknown')
  })
})

import { describe, expect, it } from 'vitest'
import { evictionMonitoringPeriodMs } from '#facts/kubelet/periods.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Signal } from '#model/prediction.ts'
import { type ObservedPass, passBounds } from '#replay/eviction/bounds.ts'
import { parseEvictionConfig, parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import type { Pod } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf, podStatsOf } from '#test/at-the-door.ts'

const kubelet = kubeletOf('v1.34.1')
const now = Date.parse('2026-11-21T00:00:00Z')
const minute = 60_000
const layouts = {
  shared: { dedicatedImageFs: false, splitContainerImageFs: false },
  imagefs: { dedicatedImageFs: true, splitContainerImageFs: false },
  split: { dedicatedImageFs: true, splitContainerImageFs: true },
}

const started = (agoMs: number) => ({ earliestMs: now - agoMs, latestMs: now - agoMs })

function pod(name: string, spec: object = {}): Pod {
  const parsed = podOf({ metadata: { name, namespace: 'default', uid: name }, spec })
  if (parsed === null) throw new Error('no pod')
  return parsed
}

/** Pods without statistics go by priority. */
const first = pod('first')
const second = pod('second', { priority: 1 })
const statsOf = (name: string, stats: object = {}) => ({
  podRef: { name, namespace: 'default', uid: name },
  ...stats,
})

interface PassOptions extends Partial<Omit<ObservedPass, 'observations'>> {
  configuration: KubeletConfiguration
  /** Available of a capacity of 1,000. */
  available: Partial<Record<Signal, number>>
  transitionPeriodMs?: number
}

function passOf({
  configuration,
  available,
  transitionPeriodMs = 5 * minute,
  ...options
}: PassOptions) {
  const observations = Object.fromEntries(
    Object.entries(available).map(([signal, count]) => [
      signal,
      { available: count, capacity: 1000, time: null },
    ]),
  )
  return passBounds({
    nowMs: now,
    readMs: now,
    kubeletStart: started(600 * minute),
    reported: {},
    config: {
      ...parseEvictionConfig({}),
      thresholds: parseThresholdConfig(configuration),
      pressureTransitionPeriodMs: transitionPeriodMs,
    },
    observations,
    unobserved: new Set(),
    statusUpdateMs: 10_000,
    layout: layouts.imagefs,
    isLayoutSure: true,
    canSplit: false,
    pods: [first, second],
    podStats: podStatsOf({ pods: [] }),
    kubelet,
    isCollectable: () => true,
    ...options,
  })
}

const hard = (signals: Record<string, string>): KubeletConfiguration => ({ evictionHard: signals })
const soft = (signal: Signal, gracePeriod: string): KubeletConfiguration => ({
  evictionSoft: { [signal]: '100' },
  evictionSoftGracePeriod: { [signal]: gracePeriod },
})

describe('passBounds', () => {
  it('does nothing while nothing is met', () => {
    expect(
      passOf({
        configuration: hard({ 'nodefs.available': '100' }),
        available: { 'nodefs.available': 100 },
      }),
    ).toEqual({
      conditions: [],
      actsOn: [],
      nodeReclaim: [],
      reclaims: 'certain',
      victims: [],
      unknowns: [],
    })
  })

  it('evicts the first in the order for certain where nothing is collected before', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100' }),
      available: { 'nodefs.available': 99 },
    })
    expect(outcome).toMatchObject({
      conditions: ['DiskPressure'],
      actsOn: ['nodefs.available'],
      nodeReclaim: [],
      victims: [{ namespace: 'default', name: 'first', certainty: 'certain' }],
    })
  })

  it('trap 23: has no order among disk signals: all of them, and whom each would evict', () => {
    const outcome = passOf({
      configuration: hard({
        'nodefs.available': '100',
        'nodefs.inodesFree': '100',
        'pid.available': '100',
      }),
      available: { 'nodefs.available': 1, 'nodefs.inodesFree': 1, 'pid.available': 1 },
      // Without statistics a pod comes first for disks, and within its priority for processes.
      pods: [pod('first', { priority: 1 }), pod('second')],
      podStats: podStatsOf({ pods: [statsOf('second')] }),
    })
    expect(outcome.actsOn.toSorted()).toEqual([
      'nodefs.available',
      'nodefs.inodesFree',
      'pid.available',
    ])
    expect(outcome.victims).toEqual([
      { namespace: 'default', name: 'first', certainty: 'possible' },
      { namespace: 'default', name: 'second', certainty: 'possible' },
    ])
  })

  it('puts memory before the rest', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100', 'memory.available': '100' }),
      available: { 'nodefs.available': 1, 'memory.available': 1 },
    })
    expect(outcome.actsOn).toEqual(['memory.available'])
    expect(outcome.conditions).toEqual(['DiskPressure', 'MemoryPressure'])
    expect(outcome.victims).toMatchObject([{ name: 'first', certainty: 'certain' }])
  })

  it('says possibly of pods that rank alike', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100' }),
      available: { 'nodefs.available': 1 },
      pods: [first, pod('second')],
    })
    expect(outcome.victims.map(({ certainty }) => certainty)).toEqual(['possible', 'possible'])
  })

  it('passes over protected pods, also among equals', () => {
    const critical = pod('critical', { priority: 2_000_000_000 })
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100' }),
      available: { 'nodefs.available': 1 },
      pods: [critical, first, second],
      podStats: podStatsOf({ pods: [statsOf('first'), statsOf('second')] }),
    })
    expect(outcome.victims).toEqual([{ namespace: 'default', name: 'first', certainty: 'certain' }])
  })

  it('evicts no pod if there is none', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100' }),
      available: { 'nodefs.available': 1 },
      pods: [],
    })
    expect(outcome).toMatchObject({ actsOn: ['nodefs.available'], victims: [] })
  })
})

describe('limits of local storage', () => {
  it('trap 29: come first, all at once, and leave the thresholds for the next pass', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100' }),
      available: { 'nodefs.available': 1 },
      pods: ['first', 'second'].map(name =>
        pod(name, {
          containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': '1' } } }],
        }),
      ),
      podStats: podStatsOf({
        pods: ['first', 'second'].map(name =>
          statsOf(name, { 'ephemeral-storage': { usedBytes: 2 } }),
        ),
      }),
    })
    expect(outcome).toMatchObject({
      conditions: ['DiskPressure'],
      actsOn: [],
      victims: [
        { name: 'first', certainty: 'certain' },
        { name: 'second', certainty: 'certain' },
      ],
    })
  })
})

describe('what is collected first', () => {
  const full = {
    configuration: hard({ 'nodefs.available': '100' }),
    available: { 'nodefs.available': 1 } as const,
    layout: layouts.shared,
  }

  it('may be enough, so that an eviction is only possible', () => {
    const outcome = passOf(full)
    expect(outcome).toMatchObject({
      nodeReclaim: ['containers', 'images'],
      reclaims: 'certain',
      victims: [{ certainty: 'possible' }],
    })
  })

  it('is surely not enough where there surely is nothing', () => {
    const asked: unknown[] = []
    const outcome = passOf({
      ...full,
      isCollectable: kinds => {
        asked.push(kinds)
        return false
      },
    })
    expect(outcome.victims).toMatchObject([{ name: 'first', certainty: 'certain' }])
    expect(asked).toEqual([['containers', 'images']])
  })

  it.each([
    {
      what: 'memory, soft and in its grace',
      signal: 'memory.available',
      available: 99,
      certainty: 'certain',
    },
    {
      what: 'memory at its threshold',
      signal: 'memory.available',
      available: 100,
      certainty: 'possible',
    },
    { what: 'processes', signal: 'pid.available', available: 99, certainty: 'certain' },
    {
      what: 'inodes, which images give back',
      signal: 'nodefs.inodesFree',
      available: 99,
      certainty: 'possible',
    },
  ] as const)(
    'trap 21: is not enough while anything else is met: $what',
    ({ signal, available, certainty }) => {
      const configuration = {
        evictionHard: { 'nodefs.available': '100' },
        evictionSoft: { [signal]: '100' },
        evictionSoftGracePeriod: { [signal]: '100h' },
      }
      const outcome = passOf({
        ...full,
        configuration,
        available: { 'nodefs.available': 1, [signal]: available },
      })
      expect(outcome.victims).toMatchObject([{ certainty }])
    },
  )

  it('is not enough while the minimum reclaim of memory is not reached', () => {
    const configuration = {
      evictionHard: { 'nodefs.available': '100', 'memory.available': '100' },
      evictionMinimumReclaim: { 'memory.available': '50' },
    }
    const victims = (available: number) =>
      passOf({
        ...full,
        configuration,
        available: { 'nodefs.available': 1, 'memory.available': available },
        reported: { MemoryPressure: { isTrue: false, sinceMs: null } },
      }).victims
    expect(victims(149)).toMatchObject([{ certainty: 'certain' }])
    expect(victims(150)).toMatchObject([{ certainty: 'possible' }])
  })

  it('differs between the signals that may be picked, and is then only possible', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100', 'imagefs.available': '100' }),
      available: { 'nodefs.available': 1, 'imagefs.available': 1 },
    })
    expect(outcome).toMatchObject({ nodeReclaim: ['containers', 'images'], reclaims: 'possible' })
  })

  it('is only possible on a layout that is not known', () => {
    const outcome = passOf({ ...full, layout: null, isCollectable: () => false })
    expect(outcome).toMatchObject({
      nodeReclaim: ['containers', 'images'],
      reclaims: 'possible',
      victims: [{ certainty: 'certain' }],
    })
    const memory = passOf({
      ...full,
      configuration: hard({ 'memory.available': '100' }),
      available: { 'memory.available': 1 },
      layout: null,
    })
    expect(memory.victims).toMatchObject([{ certainty: 'certain' }])
  })

  it('is nothing, without any eviction, on a split disk that the kubelet may not use', () => {
    const outcome = passOf({ ...full, layout: layouts.split, kubelet: kubeletOf('v1.30.0') })
    expect(outcome).toMatchObject({ actsOn: ['nodefs.available'], nodeReclaim: [], victims: [] })
  })
})

describe('a soft threshold', () => {
  const met = {
    configuration: soft('memory.available', '10m'),
    available: { 'memory.available': 1 } as const,
  }
  const graceMs = 10 * minute

  it('trap 19: raises its condition at once, before its grace period', () => {
    expect(
      passOf({
        ...met,
        reported: { MemoryPressure: { isTrue: false, sinceMs: now - 99 * minute } },
      }),
    ).toMatchObject({ conditions: ['MemoryPressure'], actsOn: [], unknowns: [] })
  })

  it('surely acts where what was read has held for its grace period and one pass', () => {
    const readMs = now - graceMs - evictionMonitoringPeriodMs
    expect(passOf({ ...met, readMs })).toMatchObject({ actsOn: ['memory.available'], unknowns: [] })
    expect(passOf({ ...met, readMs: readMs + 1 })).toMatchObject({ actsOn: ['memory.available'] })
  })

  it('may act if it may have been met since the condition, the start, or an unknown time', () => {
    const since = (agoMs: number) => ({
      reported: { MemoryPressure: { isTrue: true, sinceMs: now - agoMs } },
    })
    const actsOn = (options: Partial<PassOptions>) => passOf({ ...met, ...options }).actsOn
    expect(actsOn({})).toEqual(['memory.available'])
    expect(actsOn(since(graceMs - 2 * evictionMonitoringPeriodMs))).toEqual(['memory.available'])
    expect(actsOn(since(graceMs - 2 * evictionMonitoringPeriodMs - 1))).toEqual([])
    expect(actsOn({ kubeletStart: { earliestMs: now - graceMs, latestMs: now } })).toEqual([
      'memory.available',
    ])
    expect(actsOn({ kubeletStart: { earliestMs: now - graceMs + 1, latestMs: now } })).toEqual([])
    expect(
      actsOn({ kubeletStart: null, reported: { MemoryPressure: { isTrue: true, sinceMs: null } } }),
    ).toEqual(['memory.available'])
  })

  it('cannot act where the node just said that it had no pressure', () => {
    const reported = { MemoryPressure: { isTrue: false, sinceMs: null } }
    const readMs = now - graceMs + 2 * evictionMonitoringPeriodMs
    expect(passOf({ ...met, reported, readMs }).actsOn).toEqual(['memory.available'])
    expect(passOf({ ...met, reported, readMs: readMs + 1 }).actsOn).toEqual([])
  })

  it('is not bounded by a condition that is reported late, or never', () => {
    const reported = { MemoryPressure: { isTrue: false, sinceMs: null } }
    const readMs = now - graceMs + 60_000
    const actsOn = (options: Partial<PassOptions>) =>
      passOf({ ...met, reported, readMs, ...options }).actsOn
    expect(actsOn({})).toEqual([])
    expect(actsOn({ statusUpdateMs: 50_000 })).toEqual(['memory.available'])
    expect(actsOn({ statusUpdateMs: 49_999 })).toEqual([])
    expect(actsOn({ transitionPeriodMs: 0 })).toEqual(['memory.available'])
  })

  it('makes victims possible at most, and names what is not known', () => {
    const outcome = passOf(met)
    expect(outcome.victims).toMatchObject([{ name: 'first', certainty: 'possible' }])
    expect(outcome.unknowns.map(({ what }) => what)).toEqual(['eviction.memory.available'])
  })

  it('beside a disk that surely acts may still be the one that is picked', () => {
    const configuration = {
      ...soft('memory.available', '10m'),
      evictionHard: { 'nodefs.available': '100' },
    }
    const outcome = passOf({
      configuration,
      available: { 'memory.available': 1, 'nodefs.available': 1 },
    })
    expect(outcome.actsOn.toSorted()).toEqual(['memory.available', 'nodefs.available'])
  })
})

describe('what the pass before may have left', () => {
  const configuration = {
    evictionHard: { 'nodefs.available': '100' },
    evictionMinimumReclaim: { 'nodefs.available': '50' },
  }
  const actsOn = (available: number, reported: ObservedPass['reported']) =>
    passOf({ configuration, available: { 'nodefs.available': available }, reported }).actsOn

  it('trap 20: may hold a threshold to its minimum reclaim, whatever the node reported', () => {
    expect(actsOn(149, { DiskPressure: { isTrue: true, sinceMs: now } })).toEqual([
      'nodefs.available',
    ])
    expect(actsOn(149, {})).toEqual(['nodefs.available'])
    // The previous pass may have acted before the node reported it.
    expect(actsOn(149, { DiskPressure: { isTrue: false, sinceMs: now } })).toEqual([
      'nodefs.available',
    ])
    expect(actsOn(150, { DiskPressure: { isTrue: true, sinceMs: now } })).toEqual([])
  })

  it('does not know whether to act on a signal that it cannot see', () => {
    const outcome = passOf({
      configuration: hard({ 'pid.available': '100' }),
      available: {},
      unobserved: new Set(['pid.available']),
    })
    expect(outcome).toMatchObject({ actsOn: [], conditions: [] })
    expect(
      passOf({ configuration: hard({ 'pid.available': '100' }), available: {} }).actsOn,
    ).toEqual([])
  })
})

describe('a condition that no threshold raises any more', () => {
  const calm = {
    configuration: hard({ 'nodefs.available': '100' }),
    available: { 'nodefs.available': 500 } as const,
  }
  const since = (agoMs: number | null) => ({
    DiskPressure: { isTrue: true, sinceMs: agoMs === null ? null : now - agoMs },
  })
  const answer = (options: Partial<PassOptions>) => {
    const { conditions, unknowns } = passOf({ ...calm, ...options })
    return [conditions, unknowns.map(({ what }) => what)]
  }

  it('surely stands within its transition period', () => {
    expect(answer({ reported: since(5 * minute - 1) })).toEqual([['DiskPressure'], []])
    expect(answer({ reported: since(5 * minute) })).toEqual([
      [],
      ['eviction.conditions: DiskPressure'],
    ])
  })

  it('is open if its start is unknown, or a restart may have cleared it', () => {
    const open = [[], ['eviction.conditions: DiskPressure']]
    expect(answer({ reported: since(null) })).toEqual(open)
    expect(answer({ reported: since(1), kubeletStart: null })).toEqual(open)
    expect(
      answer({ reported: since(1), kubeletStart: { earliestMs: now - 9, latestMs: now } }),
    ).toEqual(open)
    expect(
      answer({ reported: since(1), kubeletStart: { earliestMs: now - 9, latestMs: now - 1 } }),
    ).toEqual([['DiskPressure'], []])
  })

  it('is gone a transition period after the node was read', () => {
    expect(answer({ reported: since(6 * minute), readMs: now - 5 * minute })).toEqual([[], []])
    expect(answer({ reported: since(6 * minute), readMs: now - 5 * minute + 1 })).toEqual([
      [],
      ['eviction.conditions: DiskPressure'],
    ])
  })

  it('is not made of a False one', () => {
    expect(answer({ reported: { DiskPressure: { isTrue: false, sinceMs: now } } })).toEqual([
      [],
      [],
    ])
  })

  it('is never reported with a transition period of 0', () => {
    const outcome = passOf({
      configuration: hard({ 'nodefs.available': '100' }),
      available: { 'nodefs.available': 1 },
      transitionPeriodMs: 0,
    })
    expect(outcome).toMatchObject({ conditions: [], actsOn: ['nodefs.available'] })
  })
})

describe('what is not certain', () => {
  const full = (signal: Signal) => ({
    configuration: hard({ [signal]: '100' }),
    available: { [signal]: 1 },
    layout: layouts.shared,
  })

  it('is what follows from a layout that is only likely', () => {
    const passed = (signal: Signal, isLayoutSure: boolean) =>
      passOf({ ...full(signal), isLayoutSure, isCollectable: () => false })
    const outcome = (signal: Signal, isLayoutSure: boolean) => {
      const { reclaims, victims } = passed(signal, isLayoutSure)
      return [reclaims, victims[0]?.certainty]
    }
    expect(outcome('nodefs.available', true)).toEqual(['certain', 'certain'])
    // Both layouts evict the same pod.
    expect(outcome('nodefs.available', false)).toEqual(['possible', 'certain'])
    // Both layouts collect the same for imagefs, and neither collects anything for memory.
    expect(outcome('imagefs.available', false)).toEqual(['certain', 'certain'])
    expect(outcome('memory.available', false)).toEqual(['certain', 'certain'])
  })

  it('is the victim if another layout ranks pods otherwise, or lets the kubelet evict none', () => {
    const disk = (rootfs: number, logs: number) => ({
      containers: [{ name: 'c', rootfs: { usedBytes: rootfs }, logs: { usedBytes: logs } }],
    })
    const podStats = podStatsOf({
      pods: [statsOf('first', disk(100, 1)), statsOf('second', disk(1, 50))],
    })
    const likely = { ...full('nodefs.available'), isLayoutSure: false, isCollectable: () => false }
    const pods = [pod('first'), pod('second')]
    const { victims, unknowns } = passOf({ ...likely, pods, podStats })
    expect(victims.map(({ name, certainty }) => [name, certainty])).toEqual([
      ['first', 'possible'],
      ['second', 'possible'],
    ])
    expect(unknowns).toMatchObject([{ what: 'filesystems.layout', part: 'victims' }])
    const split = passOf({ ...likely, canSplit: true, kubelet: kubeletOf('v1.30.0') })
    expect(split.victims).toMatchObject([{ name: 'first', certainty: 'possible' }])
  })

  it('is the victim while a pod of unknown place may come first', () => {
    const malformed = { memory: { workingSetBytes: -1 } }
    const podStats = podStatsOf({ pods: [statsOf('second', malformed)] })
    const { victims } = passOf({ ...full('memory.available'), podStats })
    expect(victims.map(({ name, certainty }) => [name, certainty])).toEqual([
      ['first', 'possible'],
      ['second', 'possible'],
    ])
  })
})

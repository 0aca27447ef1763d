import { describe, expect, it } from 'vitest'
import type { Signal } from '#model/prediction.ts'
import {
  nodeConditions,
  nodeConditionsLastObservedAt,
  nodeConditionsObservedSince,
} from '#replay/eviction/synchronize.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { resourceOf } from '#replay/eviction/victims.ts'

const hard = (...signals: Signal[]) =>
  parseThresholdConfig({ evictionHard: Object.fromEntries(signals.map(signal => [signal, '10%'])) })

describe('what a signal stands for', () => {
  it.each([
    { signal: 'memory.available', condition: 'MemoryPressure', resource: 'memory' },
    { signal: 'allocatableMemory.available', condition: 'MemoryPressure', resource: 'memory' },
    { signal: 'nodefs.available', condition: 'DiskPressure', resource: 'ephemeral-storage' },
    { signal: 'nodefs.inodesFree', condition: 'DiskPressure', resource: 'inodes' },
    { signal: 'imagefs.available', condition: 'DiskPressure', resource: 'ephemeral-storage' },
    { signal: 'imagefs.inodesFree', condition: 'DiskPressure', resource: 'inodes' },
    { signal: 'containerfs.available', condition: 'DiskPressure', resource: 'ephemeral-storage' },
    { signal: 'containerfs.inodesFree', condition: 'DiskPressure', resource: 'inodes' },
    { signal: 'pid.available', condition: 'PIDPressure', resource: 'pids' },
  ] as const)('$signal: $condition, $resource', ({ signal, condition, resource }) => {
    expect([nodeConditions(hard(signal)), resourceOf(signal)]).toEqual([[condition], resource])
  })

  it('names each condition once, sorted', () => {
    expect(
      nodeConditions(
        hard('pid.available', 'nodefs.available', 'imagefs.available', 'memory.available'),
      ),
    ).toEqual(['DiskPressure', 'MemoryPressure', 'PIDPressure'])
    expect(nodeConditions([])).toEqual([])
  })
})

describe('how long a condition stays', () => {
  it.each([
    { sinceMs: 0, periodMs: 300_000, is: true },
    { sinceMs: 299_999, periodMs: 300_000, is: true },
    { sinceMs: 300_000, periodMs: 300_000, is: false }, // exactly the period
    { sinceMs: 0, periodMs: 0, is: false }, // never reported
  ])(
    '$sinceMs ms after it was met last, with a period of $periodMs: $is',
    ({ sinceMs, periodMs, is }) => {
      const reported = nodeConditionsObservedSince({ PIDPressure: 1000 }, periodMs, 1000 + sinceMs)
      expect(reported).toEqual(is ? ['PIDPressure'] : [])
    },
  )

  it('is counted anew by every pass that meets one of its thresholds, and kept by every other', () => {
    expect(
      nodeConditionsLastObservedAt(['DiskPressure'], { DiskPressure: 1, MemoryPressure: 2 }, 9),
    ).toEqual({ DiskPressure: 9, MemoryPressure: 2 })
    const before = { MemoryPressure: 2 }
    expect(nodeConditionsLastObservedAt([], before, 9)).toBe(before)
  })
})

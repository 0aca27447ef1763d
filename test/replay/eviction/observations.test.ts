import { describe, expect, it } from 'vitest'
import {
  isUnobservedUpstream,
  isUpdated,
  makeSignalObservations as makeObservations,
} from '#replay/eviction/thresholds.ts'
import { summaryOf } from '#test/at-the-door.ts'

const time = '2026-11-21T00:00:00Z'
const filesystem = { time, availableBytes: 60, capacityBytes: 100, inodesFree: 6, inodes: 10 }
const summary = {
  node: {
    memory: { time, availableBytes: 700, workingSetBytes: 300 },
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
    rlimit: { time, maxpid: 100, curproc: 30 },
    systemContainers: [
      { name: 'kubelet' },
      { name: 'pods', memory: { time, availableBytes: 400, workingSetBytes: 100 } },
    ],
  },
}

const makeSignalObservations = (raw: object) => makeObservations(summaryOf(raw))

describe('makeSignalObservations', () => {
  it('sees every signal of a whole summary', () => {
    expect(makeSignalObservations(summary)).toEqual({
      'memory.available': { available: 700, capacity: 1000, time },
      'allocatableMemory.available': { available: 400, capacity: 500, time },
      'nodefs.available': { available: 60, capacity: 100, time },
      'nodefs.inodesFree': { available: 6, capacity: 10, time },
      'imagefs.available': { available: 60, capacity: 100, time },
      'imagefs.inodesFree': { available: 6, capacity: 10, time },
      'containerfs.available': { available: 60, capacity: 100, time },
      'containerfs.inodesFree': { available: 6, capacity: 10, time },
      'pid.available': { available: 70, capacity: 100, time },
    })
  })

  it('without the bytes of imagefs sees its inodes', () => {
    const { inodes, inodesFree } = filesystem
    expect(
      Object.keys(
        makeSignalObservations({ node: { runtime: { imageFs: { inodes, inodesFree } } } }),
      ),
    ).toEqual(['imagefs.inodesFree'])
  })

  it.each([
    { what: 'more than a uint64 holds', availableBytes: 2 ** 65 },
    { what: 'negative', availableBytes: -1 },
    { what: 'a fraction', availableBytes: 1.5 },
    { what: 'a string', availableBytes: '60' },
    { what: 'null', availableBytes: null },
  ])('sees nothing where available is $what', ({ availableBytes }) => {
    expect(
      makeSignalObservations({
        node: {
          memory: { availableBytes, workingSetBytes: 1 },
          fs: { ...filesystem, availableBytes },
        },
      }),
    ).toEqual({ 'nodefs.inodesFree': { available: 6, capacity: 10, time } })
  })

  it.each([
    { what: 'wrapped', availableBytes: 2 ** 64 - 4096, available: -4096 },
    {
      what: 'rounded to 2^64 by the parser of JSON',
      availableBytes: JSON.parse('18446744073709551600'),
      available: -1,
    },
    {
      what: 'the first number that an int64 does not hold',
      availableBytes: 2 ** 63,
      available: -(2 ** 63),
    },
  ])(
    'takes what is available for negative where it is $what, and a wrapped capacity for none',
    ({ availableBytes, available }) => {
      const memory = { availableBytes, workingSetBytes: 2 ** 33 }
      const fs = {
        availableBytes,
        capacityBytes: 100,
        inodesFree: availableBytes,
        inodes: availableBytes,
      }
      expect(
        makeSignalObservations({
          node: { memory, fs, rlimit: { maxpid: availableBytes, curproc: 1 } },
        }),
      ).toEqual({
        'memory.available': { available, capacity: Math.max(0, available + 2 ** 33), time: null },
        'nodefs.available': { available, capacity: 100, time: null },
      })
    },
  )

  it('keeps a time only if it is one', () => {
    const times = [
      'now',
      time,
      '2026-11-21T00:00:00.123456789+01:00',
      5,
      '2026-13-21T00:00:00Z',
      ` ${time}`,
      `${time}.`,
    ]
    expect(
      times.map(
        given =>
          makeSignalObservations({ node: { fs: { ...filesystem, time: given } } })[
            'nodefs.available'
          ]?.time,
      ),
    ).toEqual([null, time, '2026-11-21T00:00:00.123456789+01:00', null, null, null, null])
  })

  it('trap 13: memory has what is available and what works for its capacity, the pods of their cgroup', () => {
    const observed = makeSignalObservations(summary)
    expect([
      observed['memory.available']?.capacity,
      observed['allocatableMemory.available']?.capacity,
    ]).toEqual([1000, 500])
  })

  it('takes for memory on Windows what is committed, not what lies in RAM', () => {
    const windows = (memory: object | null) => ({
      node: {
        ...summary.node,
        systemContainers: [
          ...summary.node.systemContainers,
          { name: 'windows-global-commit-memory', memory },
        ],
      },
    })
    const observed = makeSignalObservations(windows({ time, availableBytes: 700, usageBytes: 900 }))
    expect(observed['memory.available']).toEqual({ available: 700, capacity: 1600, time })
    expect(makeSignalObservations(windows(null))).not.toHaveProperty(['memory.available'])
  })

  it('trap 46: PSI and swap play no part', () => {
    const psi = { full: { avg10: 99 }, some: { avg10: 99 } }
    const pressed = {
      ...summary.node,
      memory: { ...summary.node.memory, psi },
      swap: { time, swapUsageBytes: 10 },
    }
    expect(makeSignalObservations({ node: pressed })).toEqual(makeSignalObservations(summary))
  })

  it('trap 45: takes the running threads from the limit of process ids', () => {
    expect(makeSignalObservations(summary)['pid.available']).toEqual({
      available: 70,
      capacity: 100,
      time,
    })
  })

  it('lets threads pass the limit', () => {
    expect(
      makeSignalObservations({ node: { rlimit: { maxpid: 10, curproc: 12 } } })['pid.available']
        ?.available,
    ).toBe(-2)
  })
})

describe('isUpdated', () => {
  const at = (time: string | null) => ({ available: 1, capacity: 1, time })

  it.each([
    { observed: time, last: time, is: false },
    { observed: '2026-11-21T00:00:01Z', last: time, is: true },
    { observed: time, last: '2026-11-21T00:00:01Z', is: false },
    { observed: '2026-11-21T00:00:00.000000001Z', last: time, is: true },
    { observed: time, last: '2026-11-21T00:00:00.000000001Z', is: false },
    { observed: '2026-11-21T00:00:00.5Z', last: '2026-11-21T00:00:00.50Z', is: false },
    { observed: '2026-11-21T00:00:01Z', last: '2026-11-21T00:00:00.9Z', is: true },
    { observed: '2026-11-21T00:00:00.9Z', last: '2026-11-21T00:00:01Z', is: false },
    { observed: '2026-11-21T02:00:00+01:00', last: '2026-11-21T01:00:00Z', is: false },
    { observed: '2026-11-21T02:00:00-01:00', last: '2026-11-21T02:00:00Z', is: true },
    { observed: null, last: null, is: true },
    { observed: null, last: time, is: true },
    { observed: '0001-01-01T00:00:00Z', last: '0001-01-01T00:00:00Z', is: true },
    { observed: '0001-01-01T00:00:00Z', last: time, is: true },
    { observed: time, last: null, is: true },
    { observed: time, last: '0001-01-01T00:00:00Z', is: true },
  ])('$observed after $last: $is', ({ observed, last, is }) => {
    expect(isUpdated(at(observed), at(last))).toBe(is)
  })

  it('takes a signal that was not seen before for new', () => {
    expect(isUpdated(at(time), undefined)).toBe(true)
  })
})

describe('isUnobservedUpstream', () => {
  const podsWith = (memory: object | null) => ({
    node: { systemContainers: [{ name: 'pods', memory }] },
  })
  const runtime = (given: object) => ({ node: { runtime: given } })

  it.each([
    { signal: 'allocatableMemory.available', summary: podsWith({ workingSetBytes: 1 }), is: true },
    {
      signal: 'allocatableMemory.available',
      summary: podsWith({ workingSetBytes: 1, availableBytes: null }),
      is: true,
    },
    {
      signal: 'allocatableMemory.available',
      summary: podsWith({ workingSetBytes: 1, availableBytes: 'much' }),
      is: false,
    },
    { signal: 'allocatableMemory.available', summary: podsWith({}), is: false },
    { signal: 'allocatableMemory.available', summary: podsWith(null), is: false },
    { signal: 'allocatableMemory.available', summary: { node: {} }, is: false },
    { signal: 'containerfs.available', summary: runtime({ imageFs: {} }), is: true },
    {
      signal: 'containerfs.inodesFree',
      summary: runtime({ imageFs: {}, containerFs: null }),
      is: true,
    },
    {
      signal: 'containerfs.available',
      summary: runtime({ imageFs: {}, containerFs: {} }),
      is: false,
    },
    { signal: 'containerfs.available', summary: runtime({}), is: false },
    {
      signal: 'memory.available',
      summary: { node: { memory: { workingSetBytes: 1 } } },
      is: false,
    },
  ] as const)('$signal in $summary: $is', ({ signal, summary, is }) => {
    expect(isUnobservedUpstream(signal, summaryOf(summary))).toBe(is)
  })
})

import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { makeSignalObservations } from '#replay/eviction/observations.ts'

const newest = featuresOf('v1.37.0')
const time = '2026-11-21T00:00:00Z'
const filesystem = { time, availableBytes: 60, capacityBytes: 100, inodesFree: 6, inodes: 10 }
const summary = {
  node: {
    memory: { time, availableBytes: 700, workingSetBytes: 300 },
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
    rlimit: { time, maxpid: 100, curproc: 30 },
    systemContainers: [{ name: 'kubelet' }, { name: 'pods', memory: { time, availableBytes: 400, workingSetBytes: 100 } }],
  },
}

describe('makeSignalObservations', () => {
  it('sees every signal of a whole summary', () => {
    expect(makeSignalObservations(summary, newest)).toEqual({
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

  it('knows no containerfs before 1.29', () => {
    expect(Object.keys(makeSignalObservations(summary, featuresOf('v1.28.15')))).not.toContain('containerfs.available')
  })

  it.each([
    { version: 'v1.28.15', seen: [] },
    { version: 'v1.29.0', seen: ['imagefs.inodesFree'] },
  ])('without the bytes of imagefs $version sees $seen of it', ({ version, seen }) => {
    const { inodes, inodesFree } = filesystem
    expect(Object.keys(makeSignalObservations({ node: { runtime: { imageFs: { inodes, inodesFree } } } }, featuresOf(version)))).toEqual(
      seen,
    )
  })

  it.each([
    { what: 'wrapped below zero', availableBytes: 2 ** 64 - 4096 },
    { what: 'at the first number that an int64 does not hold', availableBytes: 2 ** 63 },
    { what: 'negative', availableBytes: -1 },
    { what: 'a fraction', availableBytes: 1.5 },
    { what: 'a string', availableBytes: '60' },
    { what: 'null', availableBytes: null },
  ])('sees nothing where available is $what', ({ availableBytes }) => {
    expect(
      makeSignalObservations({ node: { memory: { availableBytes, workingSetBytes: 1 }, fs: { ...filesystem, availableBytes } } }, newest),
    ).toEqual({
      'nodefs.inodesFree': { available: 6, capacity: 10, time },
    })
  })

  it('keeps a time only if it is one', () => {
    const times = ['now', time, '2026-11-21T00:00:00.123456789+01:00', 5]
    expect(
      times.map(given => makeSignalObservations({ node: { fs: { ...filesystem, time: given } } }, newest)['nodefs.available']?.time),
    ).toEqual([null, time, '2026-11-21T00:00:00.123456789+01:00', null])
  })

  it('lets threads pass the limit', () => {
    expect(makeSignalObservations({ node: { rlimit: { maxpid: 10, curproc: 12 } } }, newest)['pid.available']?.available).toBe(-2)
  })
})

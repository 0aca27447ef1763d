import { describe, expect, it } from 'vitest'
import type { Signal } from '#model/prediction.ts'
import { nodeReclaim } from '#replay/eviction/synchronize.ts'
import { diskLayoutOf, isRefusedLayout, placementOf } from '#replay/eviction/thresholds.ts'
import { kubeletOf } from '#replay/times.ts'
import { dedicated, newest, shared, split } from '#test/eviction-builder.ts'

const both = ['containers', 'images']

describe('nodeReclaim', () => {
  it.each([
    { layout: shared, nodefs: both, imagefs: both, containerfs: both },
    { layout: dedicated, nodefs: [], imagefs: both, containerfs: both },
    { layout: split, nodefs: ['containers'], imagefs: ['images'], containerfs: ['containers'] },
    {
      layout: { dedicatedImageFs: false, splitContainerImageFs: true },
      nodefs: both,
      imagefs: both,
      containerfs: both,
    },
  ])('collects where it helps: $layout', ({ layout, ...kinds }) => {
    for (const [filesystem, expected] of Object.entries(kinds)) {
      for (const measure of ['available', 'inodesFree']) {
        expect(nodeReclaim(`${filesystem}.${measure}` as Signal, layout, newest)).toEqual(expected)
      }
    }
  })

  it.each(['memory.available', 'allocatableMemory.available', 'pid.available'] as const)(
    'collects nothing for %s',
    signal => {
      expect(nodeReclaim(signal, shared, newest)).toEqual([])
    },
  )

  it.each([
    { version: 'v1.29.0', kinds: [] },
    { version: 'v1.31.14', kinds: [] },
    { version: 'v1.32.0', kinds: both },
  ])('trap 44: $version collects $kinds for containerfs', ({ version, kinds }) => {
    expect(nodeReclaim('containerfs.available', dedicated, kubeletOf(version))).toEqual(kinds)
    expect(nodeReclaim('containerfs.inodesFree', shared, kubeletOf(version))).toEqual(kinds)
  })

  it.each([
    { version: 'v1.29.15', gates: null, placement: 'split', isRefused: true, kinds: [] },
    {
      version: 'v1.30.14',
      gates: { KubeletSeparateDiskGC: true },
      placement: 'split',
      isRefused: false,
      kinds: ['images'],
    },
    { version: 'v1.31.14', gates: null, placement: 'split', isRefused: false, kinds: ['images'] },
    {
      version: 'v1.34.4',
      gates: { KubeletSeparateDiskGC: false },
      placement: 'split',
      isRefused: true,
      kinds: [],
    },
  ])(
    'of a split, $version with $gates: refused is $isRefused',
    ({ version, gates, placement, isRefused, kinds }) => {
      const kubelet = kubeletOf(version, gates)
      expect(placementOf(split)).toBe(placement)
      expect(isRefusedLayout(split, kubelet)).toBe(isRefused)
      expect(nodeReclaim('imagefs.available', split, kubelet)).toEqual(kinds)
    },
  )

  it('refuses nothing but a split', () => {
    expect(
      [shared, dedicated].map(layout => isRefusedLayout(layout, kubeletOf('v1.29.0'))),
    ).toEqual([false, false])
  })

  it('reads the layout of a prediction', () => {
    expect(['shared', 'imagefs', 'split'].map(layout => diskLayoutOf(layout as 'shared'))).toEqual([
      { dedicatedImageFs: false, splitContainerImageFs: false },
      { dedicatedImageFs: true, splitContainerImageFs: false },
      { dedicatedImageFs: true, splitContainerImageFs: true },
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import {
  largerVolume,
  volumeForRequests,
  volumeOf,
  volumeToWrite,
  withAmounts,
} from '#judge/help/disk-size.ts'
import type { FilesystemLedger, HolderPart, LedgerLine } from '#model/prediction.ts'

const lineOf = (holder: LedgerLine['holder'], gib: number): LedgerLine => ({
  ...{ holder, bytes: gib * gibibyte, lowBytes: gib * gibibyte, highBytes: gib * gibibyte },
  ...{ inodes: null, source: 'du' },
})

const disk = (capacityGib: number, lines: LedgerLine[]): FilesystemLedger => ({
  ...{ filesystem: 'nodefs', capacityBytes: capacityGib * gibibyte, usedInodes: null, lines },
  usedBytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
})

const image = (gib: number): HolderPart => ({
  ...{ holder: 'images-in-use', filesystem: 'nodefs', inodes: null, place: null },
  ...{ lowBytes: gib * gibibyte, highBytes: gib * gibibyte },
  owner: { kind: 'image', reference: 'app:1', workloads: [], isInUse: true },
})

type Ledger = Parameters<typeof volumeToWrite>[1]
const sizeOf = (
  used: FilesystemLedger,
  ledger: Partial<Ledger>,
  amiFamily: 'AL2023' | 'Bottlerocket' = 'AL2023',
  lowPercent = 80,
) => {
  const whole = { parts: [], namespaces: [], volumes: null, ...ledger }
  return volumeToWrite(used, whole, amiFamily, lowPercent)
}

describe('volumeOf', () => {
  const images = { ...disk(100, []), filesystem: 'imagefs' as const }
  const volumes = ['/dev/xvda', '/dev/xvdb'].map(device => ({
    ...{ device, sizeBytes: 100 * gibibyte, volumeId: null, type: null, iops: null },
  }))

  it.each([
    ['/var/lib/containerd', '/dev/xvdb'],
    ['/', '/dev/xvda'],
    [undefined, undefined],
  ])('of two volumes of one size, by the mount of the images: %s is %s', (mount, device) => {
    expect(volumeOf(images, volumes, { amiFamily: 'AL2023' }, mount)).toBe(device)
  })
})

it('is written by kops for an InstanceGroup', () => {
  const group = { kind: 'InstanceGroup', namespace: null, name: 'nodes' } as const
  const kops = { owner: 'self-managed', instanceId: 'i-0a', group } as const
  expect(largerVolume(kops, { bytes: 40 * gibibyte, place: '/dev/xvda' })).toEqual({
    ...{ id: 'larger-disk', bytes: 40 * gibibyte, place: '/dev/xvda' },
    source: 'kops edit instancegroup nodes (spec.rootVolume.size)',
  })
  const images = largerVolume(kops, { bytes: 40 * gibibyte, place: '/dev/xvdb' })
  expect(images.source).toBe('kops edit instancegroup nodes (spec.volumes)')
})

describe('volumeForRequests', () => {
  it.each([
    // 0.9 × 110 - 1 = 98 GiB.
    { wanted: 93.1, share: 0.1, capacity: 20, allocatable: 17, volume: 110 },
    // A threshold in bytes is a constant.
    { wanted: 93.1, share: 0, capacity: 20, allocatable: 17, volume: 100 },
    { wanted: 30, share: 0.15, capacity: 20, allocatable: 12, volume: 50 },
  ])('of $wanted GiB is $volume GiB', ({ wanted, share, capacity, allocatable, volume }) => {
    const disk = {
      ...{ capacityBytes: capacity * gibibyte, allocatableBytes: allocatable * gibibyte },
      evictionShare: share,
    }
    expect(volumeForRequests(wanted * gibibyte, disk)).toBe(volume * gibibyte)
    const reserved = (1 - share) * capacity - allocatable
    expect((1 - share) * volume - reserved).toBeGreaterThanOrEqual(wanted)
  })
})

describe('volumeToWrite', () => {
  const full = disk(20, [lineOf('images-in-use', 15), lineOf('system', 3)])

  it('has room for what stays and one more pull, below the low threshold', () => {
    // (18 + 4) / 0.7 is 31.4 GiB.
    expect(sizeOf(full, { parts: [image(4)] })).toEqual({
      ...{ bytes: 40 * gibibyte, place: '/dev/xvda' },
      usdPerMonth: expect.closeTo(1.6),
    })
  })

  it('counts no unused image: image GC frees them', () => {
    const half = disk(20, [lineOf('images-unused', 12), lineOf('system', 3)])
    expect(sizeOf(half, { parts: [image(2)] })).toEqual({})
  })

  it('is none where the volume, which is a little larger than its filesystem, has that size', () => {
    const present = disk(39.9, [lineOf('images-in-use', 20), lineOf('images-unused', 14)])
    expect(sizeOf(present, { parts: [image(7)] })).toEqual({})
  })

  it('has room for what pods request and do not use yet', () => {
    const group = { namespace: 'shop', owner: null, pods: 2, layerBytes: gibibyte, logBytes: 0 }
    const use = { ...group, bytes: gibibyte, volumeBytes: 0, limitBytes: null }
    const namespaces = [
      { ...use, requestBytes: 8 * gibibyte },
      { ...use, requestBytes: null },
    ]
    // (18 + 4 + 7) / 0.7 is 41.4 GiB.
    expect(sizeOf(full, { parts: [image(4)], namespaces })).toMatchObject({ bytes: 50 * gibibyte })
  })

  it.each([
    ['the volume of the size of the disk', 20, { place: '/dev/xvdb' }],
    ['no step for an instance store', 220, {}],
  ])('names %s', (_, capacityGib, wanted) => {
    const volume = (device: string, gib: number) => ({
      ...{ device, sizeBytes: gib * gibibyte, volumeId: null, type: null, iops: null },
    })
    const volumes = [volume('/dev/xvda', 8), volume('/dev/xvdb', 20)]
    const used = disk(capacityGib, [lineOf('images-in-use', 0.9 * capacityGib)])
    const { place } = sizeOf(used, { parts: [image(4)], volumes })
    expect(place === undefined ? {} : { place }).toEqual(wanted)
  })

  it('is for the data volume of Bottlerocket, with its own low threshold', () => {
    expect(sizeOf(full, {}, 'Bottlerocket', 50)).toMatchObject({
      ...{ bytes: 40 * gibibyte, place: '/dev/xvdb' },
    })
  })
})

it('joins the sizes of several nodes, also of those that are joined already', () => {
  const size = (gib: number) => ({ bytes: gib * gibibyte, usdPerMonth: gib })
  const joined = withAmounts([
    { id: 'larger-disk', ...size(60) },
    { id: 'larger-disk', ...size(50), most: size(90) },
    { id: 'larger-disk' },
  ])
  expect(joined).toEqual({ id: 'larger-disk', ...size(50), most: size(90) })
  expect(withAmounts([{ id: 'larger-disk', ...size(60) }])).toEqual({
    ...{ id: 'larger-disk', ...size(60) },
  })
})

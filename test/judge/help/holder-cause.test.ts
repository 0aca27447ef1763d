import { expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { heldBySignal } from '#judge/help/holder-cause.ts'
import type { DiskHolder, HolderPart } from '#model/prediction.ts'
import { exampleSubject } from '#test/example.ts'

const part = (holder: DiskHolder, name: string, gib: number) =>
  ({
    ...{ holder, filesystem: 'nodefs', place: null, inodes: null },
    ...{ lowBytes: gib * gibibyte, highBytes: gib * gibibyte },
    owner: { kind: 'pod', namespace: 'shop', pod: name, workload: name, volume: null },
  }) as HolderPart

const alsoOf = (held: Partial<Record<DiskHolder, number>>, parts: HolderPart[] = []) => {
  const { ledger } = exampleSubject({ held })
  const [first] = heldBySignal({ ...ledger!, parts }, 'nodefs.available')
  return first?.also && [first.also.holder, first.also.amount.low / gibibyte]
}

it.each([
  ['as much', { 'host-logs': 30, journal: 24 }, ['journal', 24]],
  ['less', { 'host-logs': 30, journal: 23 }, undefined],
  ['what was not read', { 'host-logs': 40, unread: 39 }, undefined],
  ['the usual system', { 'host-logs': 30, system: 30 }, undefined],
] as const)('names another holder of about as much: %s', (_, held, also) => {
  expect(alsoOf(held)).toEqual(also)
})

it.each([
  ['as much', [22, 18], ['pod-volumes', 18]],
  ['half', [22, 11], ['pod-volumes', 11]],
  ['less', [22, 10], undefined],
  ['one of many', [15, 15, 15], undefined],
] as const)('names another owner of about as much: %s', (_, sizes, also) => {
  const parts = sizes.map((gib, index) => part('pod-volumes', `Job load-${index}`, gib))
  const all = sizes.reduce((sum, gib) => sum + gib, 0)
  expect(alsoOf({ 'pod-volumes': all }, parts)).toEqual(also)
})

it.each([
  ['one owner', [30], 'writable-layers'],
  ['three owners', [10, 10, 10], 'images-in-use'],
] as const)('needs room that %s alone can make before images that pods need', (_, sizes, first) => {
  const parts = sizes.map((gib, index) => part('writable-layers', `Job load-${index}`, gib))
  const { ledger } = exampleSubject({ held: { 'images-in-use': 55, 'writable-layers': 30 } })
  expect(heldBySignal({ ...ledger!, parts }, 'nodefs.available')[0]?.holder).toBe(first)
})

it.each([
  ['one folder', [28], 'unknown-folder'],
  ['two folders', [14, 14], 'images-in-use'],
] as const)(
  'compares images with the largest unknown folder, not with a sum: %s',
  (_, sizes, first) => {
    const parts = sizes.map((gib, index) => ({
      ...part('unknown-folder', '', gib),
      ...{ owner: null, place: `/data/${index}` },
    }))
    const held = { 'images-in-use': 32, 'unknown-folder': 28, 'image-content': 20, system: 18 }
    const { ledger } = exampleSubject({ held })
    expect(heldBySignal({ ...ledger!, parts }, 'nodefs.available')[0]?.holder).toBe(first)
  },
)

it('does not name one owner twice', () => {
  const own = part('pod-volumes', 'Job load', 20)
  expect(alsoOf({ 'pod-volumes': 40 }, [own, own])).toBeUndefined()
})

it('has the bytes of the folder that it names, of several of one owner', () => {
  const folder = (place: string, gib: number) => {
    const { owner, ...one } = part('host-path', 'DaemonSet a', gib)
    return { ...one, place, owner: { ...owner, volume: 'data' } } as HolderPart
  }
  const parts = [folder('/data/a', 25), folder('/data/b', 20)]
  const { ledger } = exampleSubject({ held: { 'host-path': 45 } })
  const [first] = heldBySignal({ ...ledger!, parts }, 'nodefs.available')
  const named = first?.volumeBytes ?? first?.largestBytes
  expect([first?.place, named]).toEqual(['/data/a', 25 * gibibyte])
})

it('has the bytes of the volume that it names', () => {
  const volume = (name: string, gib: number) => {
    const { owner, ...one } = part('pod-volumes', 'Runner a', gib)
    return { ...one, owner: { ...owner, volume: name } } as HolderPart
  }
  const parts = [volume('docker', 14), volume('work', 6), part('pod-volumes', 'Runner b', 13)]
  const { ledger } = exampleSubject({ held: { 'pod-volumes': 33 } })
  const [first] = heldBySignal({ ...ledger!, parts }, 'nodefs.available')
  expect(first).toMatchObject({
    owner: { volume: 'docker' },
    largestBytes: 20 * gibibyte,
    volumeBytes: 14 * gibibyte,
  })
})

it('compares no owners whose least is nothing', () => {
  const vague = (name: string, highBytes: number) => ({
    ...part('writable-layers', name, 0),
    highBytes,
  })
  const parts = [vague('Job a', 50 * gibibyte), vague('Job b', 1)]
  expect(alsoOf({ 'writable-layers': 0 }, parts)).toBeUndefined()
})

it('leaves the usual system out of what was not read, as far as the disk is no smaller', () => {
  const firstOf = (held: Partial<Record<DiskHolder, number>>, capacity: number) => {
    const { ledger } = exampleSubject({ held })
    const filesystems = ledger!.filesystems.map(disk => ({
      ...disk,
      capacityBytes: capacity * gibibyte,
    }))
    return heldBySignal({ ...ledger!, filesystems }, 'nodefs.available')[0]?.holder
  }
  expect(firstOf({ 'images-unused': 3, unread: 3.2 }, 20)).toBe('images-unused')
  expect(firstOf({ 'images-in-use': 3, unread: 7 }, 11)).toBe('unread')
  expect(firstOf({ 'images-in-use': 0.8, unread: 3.3 }, 4.3)).toBe('unread')
})

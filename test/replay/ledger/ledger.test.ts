import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { scenarios } from '#lab/scenarios/index.ts'
import type { NodeRecord } from '#model/input/record.ts'
import type { DiskHolder, NodeLedger } from '#model/prediction.ts'
import { measuredHolders } from '#replay/ledger/folder-space.ts'
import { replayOf as replay } from '#test/at-the-door.ts'
import type { Recording } from '#test/real-kubelet/recording.ts'

const takenAt = '2026-11-21T00:00:00Z'
const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../../fixtures/real/${name}.json`, import.meta.url), 'utf8'),
  ) as RawObject
const real = (disk: string): NodeRecord => ({
  kind: 'Node',
  cluster: 'prod',
  node: recorded(`${disk}-node`),
  configz: recorded(`${disk}-configz`),
  summary: recorded(`${disk}-stats-summary`),
  pods: recorded(`${disk}-pods`).items as NodeRecord['pods'],
  runtime: { images: recorded(`${disk}-cri-images`).images },
})

/** Every node of the lab's scenarios, a fleet by its first twenty. */
const labNodes: [string, NodeRecord][] = scenarios.flatMap(({ clusters }) =>
  clusters.flatMap(({ name: cluster, nodes }) =>
    nodes
      .names()
      .slice(0, 20)
      .map((name): [string, NodeRecord] => {
        const node = nodes.node(name)!
        return [
          `${cluster}/${name}`,
          {
            kind: 'Node',
            cluster,
            node: node.node(takenAt),
            configz: node.configz(takenAt),
            summary: node.summary(takenAt),
            pods: node.podKeys().map((_, index) => node.pod(index, takenAt)),
          } as NodeRecord,
        ]
      }),
  ),
)

const unusedImages = (sizes: number[]) => ({
  images: sizes.map((size, index) => ({
    ...{ id: `sha256:${index}`, repoTags: [`r.io/unused:${index}`], size: String(size) },
  })),
  ...{ containers: [], sandboxes: [] },
})

function ledgerOf(record: NodeRecord, at = takenAt): NodeLedger {
  const { ledger } = replay(record, at)
  if (ledger === null) throw new Error('no ledger')
  return ledger
}

/** The one promise: whatever was read, the lines come to the used bytes and inodes. */
function expectBalanced({ filesystems, parts, freeable }: NodeLedger): void {
  for (const { filesystem, usedBytes, usedInodes, capacityBytes, lines } of filesystems) {
    const sum = lines.reduce((total, { bytes }) => total + bytes, 0)
    expect(sum).toBe(usedBytes)
    expect(usedBytes).toBeLessThanOrEqual(capacityBytes)
    if (usedInodes !== null)
      expect(lines.reduce((total, { inodes }) => total + (inodes ?? 0), 0)).toBe(usedInodes)
    expect(new Set(lines.map(({ holder }) => holder)).size).toBe(lines.length)
    for (const { bytes, lowBytes, highBytes } of lines) {
      expect(lowBytes).toBeGreaterThanOrEqual(0)
      expect(lowBytes).toBeLessThanOrEqual(bytes)
      expect(highBytes).toBeGreaterThanOrEqual(bytes)
    }
    for (const { holder, owner, highBytes } of parts.filter(one => one.filesystem === filesystem)) {
      if (owner?.kind !== 'image') continue
      const ofAll = holder === 'images-unused' ? freeable.unusedImageBytes : null
      expect(highBytes).toBeLessThanOrEqual(ofAll ?? usedBytes)
    }
  }
}

const linesOf = ({ filesystems }: NodeLedger, filesystem: 'nodefs' | 'imagefs') =>
  Object.fromEntries(
    (filesystems.find(one => one.filesystem === filesystem)?.lines ?? []).map(
      ({ holder, bytes }) => [holder, bytes],
    ),
  ) as Partial<Record<DiskHolder, number>>

const fixtures = new URL('../../fixtures/', import.meta.url)
const recordings = readdirSync(new URL('recordings/', fixtures)).map(
  file => JSON.parse(readFileSync(new URL(`recordings/${file}`, fixtures), 'utf8')) as Recording,
)
const realNodes = readdirSync(new URL('real/', fixtures)).flatMap(
  file => /^(.*)-node\.json$/.exec(file)?.[1] ?? [],
)

describe('the sum of the lines', () => {
  it.each(realNodes)('is the used bytes of the recorded node %s', disk => {
    expectBalanced(ledgerOf(real(disk)))
  })

  it.each(recordings)('is the used bytes of the recording $name', ({ record, takenAt: at }) => {
    const ledger = ledgerOf(record, at)
    const { nodefs } = replay(record, at).filesystems
    expectBalanced(ledger)
    expect(ledger.filesystems[0]?.usedBytes).toBe(nodefs!.capacityBytes! - nodefs!.availableBytes!)
  })

  it.each(labNodes)('is the used bytes of %s', (_, record) => {
    const { ledger } = replay(record, takenAt)
    if (ledger !== null) expectBalanced(ledger)
  })

  const odd: [string, (disk: RawObject, images: RawObject, record: NodeRecord) => void][] = [
    ['a full disk', disk => Object.assign(disk, { availableBytes: -5 })],
    ['more available than there is', disk => Object.assign(disk, { availableBytes: 9e15 })],
    ['more used than there is', disk => Object.assign(disk, { usedBytes: 9e15 })],
    ['images larger than the disk', (_, images) => Object.assign(images, { usedBytes: 9e15 })],
    ['images without a size', (_, images) => Reflect.deleteProperty(images, 'usedBytes')],
    ['images on a disk without numbers', (_, images) => clear(images)],
    ['no inodes', disk => Object.assign(disk, { inodes: undefined, inodesFree: undefined })],
    ['no images', (_, _images, record) => Object.assign(record, { runtime: { images: [] } })],
    [
      'pods without statistics',
      (_, _images, { summary }) => Reflect.deleteProperty(summary!, 'pods'),
    ],
    ['no runtime', (_, _images, record) => Object.assign(record, { runtime: null })],
  ]
  const clear = (object: RawObject) => {
    for (const key of Object.keys(object)) Reflect.deleteProperty(object, key)
  }
  it.each(odd)('is the used bytes with %s', (_, change) => {
    for (const disk of ['single-disk', 'split-disk']) {
      const record = structuredClone(real(disk))
      const { fs, runtime } = (
        record.summary as { node: { fs: RawObject; runtime: { imageFs: RawObject } } }
      ).node
      change(fs, runtime.imageFs, record)
      const ledger = ledgerOf(record)
      expectBalanced(ledger)
      // Nothing was measured on these nodes.
      const { debrisBytes, deadContainerBytes, unusedImageBytes } = ledger.freeable
      expect([debrisBytes, deadContainerBytes, unusedImageBytes]).toEqual([null, null, null])
    }
  })

  it('is the used bytes of whatever a node answers', () => {
    const bytes = fc.oneof(fc.integer({ min: 0, max: 2 ** 41 }), fc.constant(0))
    const on = fc.constantFrom('nodefs', 'imagefs', undefined)
    const space = { bytes, inodes: fc.integer({ min: 0, max: 1_000_000 }) }
    const use = fc.constantFrom('inUse', 'pinned', 'unused', 'running', 'dead', 'leftover')
    const folder = fc.record({
      holder: fc.constantFrom(...measuredHolders, 'strange'),
      path: fc.constantFrom('/var/log', '/var/log/pods', '/var/lib/kubelet', '/', '/tmp'),
      on,
      ...space,
    })
    const diskUse = fc.option(
      fc.record({
        folders: fc.array(folder, { maxLength: 8 }),
        snapshots: fc.array(fc.record({ use, count: fc.nat(), ...space }), { maxLength: 6 }),
        orphans: fc.array(fc.record({ path: fc.constant('/var/log/pods/a'), bytes })),
        missed: fc.nat(2),
      }),
      { nil: undefined },
    )
    const sizes = fc.option(fc.array(bytes, { maxLength: 6 }), { nil: undefined })
    fc.assert(
      fc.property(
        fc.constantFrom('single-disk', 'split-disk'),
        diskUse,
        bytes,
        bytes,
        sizes,
        (disk, found, available, imagesUsed, imageSizes) => {
          const record = real(disk)
          const { node, pods } = record.summary as { node: RawObject; pods: RawObject[] }
          const runtime = node.runtime as RawObject
          const changed = {
            ...record,
            host: found ? { diskUse: found } : null,
            ...(imageSizes && { runtime: unusedImages(imageSizes) }),
            summary: {
              pods,
              node: {
                ...node,
                fs: { ...(node.fs as object), availableBytes: available },
                runtime: {
                  ...runtime,
                  imageFs: { ...(runtime.imageFs as object), usedBytes: imagesUsed },
                },
              },
            },
          }
          expectBalanced(ledgerOf(changed as NodeRecord))
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('the lines', () => {
  it('are images, layers, logs and volumes, and one line of what only the node can tell', () => {
    const record = real('single-disk')
    const ledger = ledgerOf(record)
    expect(ledger.filesystems.map(({ filesystem }) => filesystem)).toEqual(['nodefs'])
    const { fs, runtime } = (record.summary as { node: { fs: RawObject; runtime: RawObject } }).node
    const lines = linesOf(ledger, 'nodefs')
    const images = (runtime.imageFs as { usedBytes: number }).usedBytes
    expect((lines.images ?? 0) + (lines['writable-layers'] ?? 0)).toBe(images)
    expect(lines['reserved-blocks'] ?? 0).toBe(
      Number(fs.capacityBytes) - Number(fs.availableBytes) - Number(fs.usedBytes),
    )
    expect(lines.unread).toBeGreaterThan(0)
    expect(lines['not-explained']).toBeUndefined()
  })

  const measured: RawObject = {
    folders: [
      { holder: 'kubelet', path: '/var/lib/kubelet', on: 'nodefs', bytes: 700, inodes: 70 },
      { holder: 'pods', path: '/var/lib/kubelet/pods', on: 'nodefs', bytes: 600, inodes: 60 },
      { holder: 'logs', path: '/var/log', on: 'nodefs', bytes: 5000, inodes: 50 },
      { holder: 'podLogs', path: '/var/log/pods', on: 'nodefs', bytes: 3000, inodes: 30 },
      { holder: 'journal', path: '/var/log/journal', on: 'nodefs', bytes: 1500, inodes: 5 },
      { holder: 'system', path: '/usr', bytes: 9, inodes: 9 },
    ],
    snapshots: [
      { use: 'inUse', count: 3, bytes: 40_000, inodes: 10 },
      { use: 'unused', count: 2, bytes: 20_000, inodes: 10 },
      { use: 'dead', count: 1, bytes: 300, inodes: 1 },
      { use: 'leftover', count: 1, bytes: 200, inodes: 1 },
    ],
    orphans: [
      { path: '/var/lib/kubelet/pods/gone', bytes: 100 },
      { path: '/var/log/pods/ns_gone_uid', bytes: 2900 },
    ],
    deletedFiles: [{ on: 'nodefs', files: 1, bytes: 77 }],
    missed: 0,
  }
  const withHost = (diskUse: RawObject) =>
    ledgerOf({ ...real('single-disk'), host: { diskUse } } as NodeRecord)

  it('hold each folder once, without the folders below it', () => {
    const ledger = withHost(measured)
    expectBalanced(ledger)
    const lines = linesOf(ledger, 'nodefs')
    expect(lines).toMatchObject({
      kubelet: 100,
      'pod-volumes': 500,
      'orphaned-pods': 100,
      'log-debris': 2900,
      journal: 1500,
      'host-logs': 500,
      'deleted-open-files': 77,
      'images-in-use': 40_000,
      'images-unused': 20_000,
      'leftover-snapshots': 200,
    })
    expect(lines.system).toBeUndefined()
    expect(lines.unread).toBeUndefined()
    expect(lines['not-explained']).toBeGreaterThan(0)
    expect(ledger.freeable).toMatchObject({ debrisBytes: 3000, unusedImageBytes: 20_000 })
  })

  it('call layers that no listed image explains left over, not unused images', () => {
    const image = (name: string, size: number) => ({
      ...{ id: `sha256:${name}`, repoTags: [`registry/${name}:1`], repoDigests: [] },
      ...{ size: String(size), pinned: false },
    })
    const linesWith = (...images: RawObject[]) =>
      linesOf(
        ledgerOf({
          ...real('single-disk'),
          runtime: { images, containers: [], sandboxes: [] },
          host: { diskUse: measured },
        } as NodeRecord),
        'nodefs',
      )
    expect(linesWith()).toMatchObject({ 'leftover-snapshots': 20_200 })
    expect(linesWith()['images-unused']).toBeUndefined()
    // An image unpacks to nine tenths of its listed size at least, and all of them to 3.5 times as much at most.
    expect(linesWith(image('a', 10_000))).toMatchObject({
      ...{ 'images-unused': 9000, 'leftover-snapshots': 11_200 },
    })
    expect(linesWith(image('a', 16_000))).toMatchObject({
      ...{ 'images-unused': 16_000, 'leftover-snapshots': 4200 },
    })
    expect(linesWith(image('a', 18_000))).toMatchObject({
      ...{ 'images-unused': 20_000, 'leftover-snapshots': 200 },
    })
  })

  it('name the rest unread while a measurement is missing, and debris a lower bound', () => {
    const ledger = withHost({ ...measured, missed: 1 })
    const unread = [{ what: 'other folders', why: 'not all of them were measured' }]
    const slow = { ...real('single-disk'), host: { diskUse: measured, unread } } as NodeRecord
    expect(linesOf(ledgerOf(slow), 'nodefs')['not-explained']).toBeUndefined()
    const lines = linesOf(ledger, 'nodefs')
    expect(lines.unread).toBeGreaterThan(0)
    expect(lines['not-explained']).toBeUndefined()
    const { deadContainerBytes, debrisBytes } = ledger.freeable
    expect({ deadContainerBytes, debrisBytes }).toEqual({
      deadContainerBytes: null,
      debrisBytes: null,
    })
  })

  it('might hold a folder inside them whose measurement failed', () => {
    const folders = (measured.folders as RawObject[]).filter(({ holder }) => holder !== 'podLogs')
    const ledger = withHost({ ...measured, folders, missed: 1 })
    expectBalanced(ledger)
    const bounds = ledger.filesystems[0]?.lines.find(({ holder }) => holder === 'host-logs')
    expect(bounds).toMatchObject({ bytes: 3500, lowBytes: 0, highBytes: 3500 })
  })

  it('have no inodes if the node did not count them', () => {
    const without = (one: RawObject) => ({ ...one, inodes: undefined })
    const ledger = withHost({
      ...measured,
      folders: (measured.folders as RawObject[]).map(without),
      snapshots: (measured.snapshots as RawObject[]).map(without),
    })
    expectBalanced(ledger)
    const counted = ledger.filesystems[0]?.lines.filter(({ inodes }) => inodes !== null)
    expect(counted?.map(({ holder }) => holder)).toEqual(['deleted-open-files', 'not-explained'])
  })
})

describe('what was not read', () => {
  const without = (disk: string, change: (summary: RawObject & { node: RawObject }) => void) => {
    const record = structuredClone(real(disk))
    change(record.summary as RawObject & { node: RawObject })
    const ledger = ledgerOf(record)
    expectBalanced(ledger)
    return ledger
  }

  it('is a line between nothing and the whole disk', () => {
    const { filesystems } = without('single-disk', ({ pods }) => {
      for (const { containers } of pods as { containers: RawObject[] }[])
        for (const container of containers) {
          Reflect.deleteProperty(container, 'logs')
          Reflect.deleteProperty(container, 'rootfs')
        }
    })
    const [disk] = filesystems
    for (const holder of ['container-logs', 'writable-layers'])
      expect(disk?.lines.find(line => line.holder === holder)).toMatchObject({
        ...{ bytes: 0, lowBytes: 0, highBytes: disk?.usedBytes, inodes: null },
      })
    expect(disk?.lines.find(({ holder }) => holder === 'unread')?.lowBytes).toBe(0)
  })

  const unread = (images: object[], stats: 'kept' | 'removed') => {
    const record = structuredClone(real('single-disk'))
    const node = record.node as { status: RawObject }
    node.status.images = images
    Reflect.deleteProperty(record, 'runtime')
    const summary = record.summary as { pods: object[] }
    if (stats === 'removed') summary.pods = []
    return ledgerOf(record, '2027-01-01T00:00:00Z').filesystems[0]?.lines.map(
      ({ holder }) => holder,
    )
  }
  const status = recorded('single-disk-node').status as { images: { sizeBytes: number }[] }
  const tiny = status.images.map(image => ({ ...image, sizeBytes: 1000 }))

  it.each([
    ['sizes of images, and statistics of pods', tiny, 'kept', true],
    ['no statistics of running pods', tiny, 'removed', false],
    ['no list of images', [], 'kept', false],
  ] as const)('is not called anything but images: %s', (_, images, stats, isInferred) => {
    expect(unread([...images], stats)?.includes('not-images')).toBe(isInferred)
    expect(unread([...images], stats)).toContain('unread')
  })

  it.each(['fs', 'runtime'])('is no amount that can be freed or used without node.%s', part => {
    const { freeable } = without('split-disk', ({ node }) => Reflect.deleteProperty(node, part))
    expect(new Set(Object.values(freeable))).toEqual(new Set([null]))
  })
})

it('keeps the reason why EC2 did not list the volumes', () => {
  const errors = [{ what: 'volumes' as const, message: 'ec2:DescribeVolumes is denied' }]
  const { volumes, volumesUnread } = ledgerOf({ ...real('single-disk'), errors })
  expect({ volumes, volumesUnread }).toEqual({ volumes: null, volumesUnread: errors[0]?.message })
})

describe('who', () => {
  it('is the largest pods with what they use it for, and their requests', () => {
    const record = real('single-disk')
    const { pods } = ledgerOf(record)
    expect(pods.length).toBeGreaterThan(0)
    expect(pods.length).toBeLessThanOrEqual(5)
    for (const { bytes, layerBytes, logBytes, volumeBytes } of pods)
      expect(bytes).toBe(layerBytes + logBytes + volumeBytes)
    expect(pods.map(({ bytes }) => bytes)).toEqual(
      pods.map(({ bytes }) => bytes).toSorted((a, b) => b - a),
    )
  })
})

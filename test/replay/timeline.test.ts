import { describe, expect, it } from 'vitest'
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { TimelineEvent } from '#model/prediction.ts'
import { parseEvictionConfig } from '#replay/eviction/config.ts'
import { kubeletOf } from '#replay/kubelet.ts'
import type { Pod } from '#replay/pods/pod.ts'
import {
  deadUser,
  type TimelineImage,
  type TimelineInput,
  timelineMs,
  timelineOf,
} from '#replay/timeline.ts'
import { podOf, podStatsOf } from '#test/at-the-door.ts'

const kubelet = kubeletOf('v1.34.1')
const MiB = 2 ** 20
const GiB = 2 ** 30
const startMs = Date.parse('2026-11-21T00:00:00Z')
const minute = 60_000

function pod(name: string, spec: object = {}): Pod {
  const parsed = podOf({
    metadata: { name, namespace: 'default', uid: name },
    spec: { containers: [{ name: 'c' }], ...spec },
  })
  if (parsed === null) throw new Error('no pod')
  return parsed
}

const statsOf = (used: Record<string, { rootfsBytes?: number; logsBytes?: number }>) =>
  podStatsOf({
    pods: Object.entries(used).map(([name, { rootfsBytes = 0, logsBytes = 0 }]) => ({
      podRef: { name, namespace: 'default', uid: name },
      containers: [
        { name: 'c', rootfs: { usedBytes: rootfsBytes }, logs: { usedBytes: logsBytes } },
      ],
    })),
  })

const image = (
  id: string,
  sizeBytes: number,
  options: Partial<TimelineImage> = {},
): TimelineImage => ({
  id,
  sizeBytes,
  isPinned: false,
  isHeld: false,
  pods: [],
  firstDetectedMs: startMs - 60 * minute,
  lastUsedMs: Number.NEGATIVE_INFINITY,
  ...options,
})

const defaults: KubeletConfiguration = { evictionHard: { 'nodefs.available': '10%' } }
const policy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAgeMs: 2 * minute,
  maximumAgeMs: 0,
}

interface Options extends Partial<TimelineInput> {
  configuration?: KubeletConfiguration
  /** Of 100 GiB. */
  availableGib?: number
  imagefsGib?: number
}

function timeline({
  configuration = defaults,
  availableGib = 50,
  imagefsGib = availableGib,
  ...options
}: Options = {}): TimelineEvent[] {
  const observed = (gib: number) => ({
    available: gib * GiB,
    capacity: 100 * GiB,
    time: '2026-11-20T23:59:50Z',
  })
  const events = timelineOf({
    startMs,
    kubelet,
    eviction: parseEvictionConfig(configuration, kubelet.features),
    imageGc: policy,
    evictionImageGc: policy,
    layout: { dedicatedImageFs: false, splitContainerImageFs: false },
    observations: {
      'nodefs.available': observed(availableGib),
      'imagefs.available': observed(imagefsGib),
      'containerfs.available': observed(imagefsGib),
    },
    fills: [],
    pods: [],
    podStats: statsOf({}),
    images: [],
    deadContainers: 0,
    beganGcMs: Number.NEGATIVE_INFINITY,
    conditions: [],
    ...options,
  })
  if (events === null) throw new Error('no timeline')
  return events
}

const brief = (events: TimelineEvent[]) =>
  events.map(({ atMs, event, detail }) => `${atMs / 1000} ${event} ${JSON.stringify(detail)}`)
const fill = (
  bytesPerSecond: number,
  filesystem: 'nodefs' | 'imagefs' | 'containerfs' = 'nodefs',
) => [{ filesystem, bytesPerSecond }]

describe('timelineOf', () => {
  it('has no events where nothing fills and nothing is due', () => {
    expect(timeline()).toEqual([])
  })

  it('knows nothing of a disk that is not observed', () => {
    const input = { observations: {}, fills: fill(1) }
    expect(
      timelineOf({
        ...({} as TimelineInput),
        ...input,
        layout: { dedicatedImageFs: false, splitContainerImageFs: false },
        kubelet,
      }),
    ).toBe(null)
  })

  it('tells a filling disk: image GC at its 5 minutes, DiskPressure at the next 10 seconds, eviction, and the end', () => {
    const events = timeline({
      availableGib: 45,
      fills: fill(100 * MiB),
      pods: [pod('big'), pod('small')],
      podStats: statsOf({
        big: { rootfsBytes: 2 * GiB, logsBytes: GiB },
        small: { logsBytes: GiB },
      }),
      images: [
        image('old', GiB),
        image('used', GiB, { pods: ['default/big'] }),
        image('pinned', GiB, { isPinned: true }),
      ],
      deadContainers: 3,
    })
    // 15.7 GiB are left after 300 s; 10 % of the disk are reached at 368.6 s, again at 399.4 s, and so on; the last 10.6 GiB last for 108.24 s.
    const tooLittle =
      'Failed to garbage collect required amount of images. Attempted to free 4613734400 bytes, but only found 1073741824 bytes eligible to free.'
    expect(brief(events)).toEqual([
      `300 imageGC {"images":["old"],"bytesToFree":4613734400,"freedBytes":1073741824,"error":"${tooLittle}"}`,
      '370 condition {"condition":"DiskPressure","status":true}',
      '370 reclaim {"signal":"nodefs.available","images":[],"containers":3,"isEnough":false}',
      '370 evict {"namespace":"default","name":"big","signal":"nodefs.available","freedBytes":3221225472}',
      '372 recovered {"availableBytes":13606322176}',
      '402 reclaim {"signal":"nodefs.available","images":["used"],"containers":0,"isEnough":true}',
      '412 evict {"namespace":"default","name":"small","signal":"nodefs.available","freedBytes":1073741824}',
      '414 recovered {"availableBytes":11349786624}',
      '522.24 full {"filesystem":"nodefs"}',
    ])
  })

  it('lets image GC free space at its own clock, down to the low threshold, and again when it is due', () => {
    const images = Array.from({ length: 10 }, (_, index) => image(`i${index}`, 3 * GiB))
    const events = timeline({ availableGib: 15, images, fills: fill(MiB), configuration: {} })
    const gc = events.filter(({ event }) => event === 'imageGC')
    expect(gc[0]).toEqual({
      atMs: 0,
      event: 'imageGC',
      detail: { images: ['i0', 'i1'], bytesToFree: 5 * GiB, freedBytes: 6 * GiB, error: null },
    })
    // 21 GiB, and above 84 % again once 5 GiB are written: 5,120 s, so in the round after 5,100 s.
    expect(gc[1]).toMatchObject({ atMs: 5_400_000, detail: { images: ['i2', 'i3'] } })
  })

  it('tells a failing image GC once, until it succeeds', () => {
    const events = timeline({ availableGib: 5, fills: fill(1), configuration: {} })
    expect(events).toEqual([
      expect.objectContaining({
        atMs: 0,
        event: 'imageGC',
        detail: expect.objectContaining({ images: [], freedBytes: 0 }),
      }),
    ])
  })

  it('does not run image GC where its loop is stopped', () => {
    expect(
      timeline({ availableGib: 1, imageGc: null, configuration: {}, images: [image('old', GiB)] }),
    ).toEqual([])
  })

  it('keeps a condition for its transition period, by passes of 10 s', () => {
    const events = timeline({
      availableGib: 9,
      images: [image('old', 5 * GiB)],
      configuration: { ...defaults, evictionPressureTransitionPeriod: '95s' },
      imageGc: null,
    })
    expect(brief(events)).toEqual([
      '0 condition {"condition":"DiskPressure","status":true}',
      '0 reclaim {"signal":"nodefs.available","images":["old"],"containers":0,"isEnough":true}',
      `10 recovered {"availableBytes":${14 * GiB}}`,
      '100 condition {"condition":"DiskPressure","status":false}',
    ])
  })

  it('passes again as soon as an evicted pod is gone, one pod a pass', () => {
    const names = ['a', 'b', 'c']
    const podStats = statsOf({ a: { logsBytes: 3 }, b: { logsBytes: 2 }, c: { logsBytes: 1 } })
    const evictions = (version: string) =>
      timeline({
        availableGib: 1,
        pods: names.map(name => pod(name)),
        podStats,
        kubelet: kubeletOf(version),
        imageGc: null,
      })
        .filter(({ event }) => event === 'evict')
        .map(({ atMs, detail }) => [atMs, 'name' in detail ? detail.name : ''])
    expect(evictions('v1.34.0')).toEqual([
      [0, 'a'],
      [2000, 'b'],
      [4000, 'c'],
    ])
  })

  it('trap 28: waits below 1.31 for as long as the pods themselves want', () => {
    const pods = [
      pod('a', { terminationGracePeriodSeconds: 30 }),
      pod('b', { terminationGracePeriodSeconds: 30 }),
    ]
    const podStats = statsOf({ a: { logsBytes: 2 }, b: { logsBytes: 1 } })
    const events = timeline({
      availableGib: 1,
      pods,
      podStats,
      kubelet: kubeletOf('v1.30.0'),
      imageGc: null,
    })
    expect(events.filter(({ event }) => event === 'evict').map(({ atMs }) => atMs)).toEqual([
      0, 31_000,
    ])
  })

  it('deletes the image of an evicted pod when it is collected next', () => {
    const events = timeline({
      availableGib: 1,
      pods: [pod('a')],
      podStats: statsOf({ a: { logsBytes: GiB } }),
      images: [image('of-a', 20 * GiB, { pods: ['default/a'] })],
      imageGc: null,
    })
    expect(events.map(({ event }) => event)).toEqual([
      'condition',
      'evict',
      'reclaim',
      'recovered',
      'condition',
    ])
    expect(events[2]).toMatchObject({ atMs: 2000, detail: { images: ['of-a'], isEnough: true } })
  })

  it('keeps what something else holds, and what is pinned', () => {
    const images = [
      image('held', GiB, { isHeld: true }),
      image('pinned', GiB, { isPinned: true }),
      image('shared', GiB, { pods: ['default/a', 'default/b'] }),
    ]
    const events = timeline({
      availableGib: 1,
      pods: [pod('a')],
      podStats: statsOf({ a: {} }),
      images,
      imageGc: null,
    })
    expect(events.filter(({ event }) => event === 'reclaim')).toEqual([])
  })

  it('collects a dead container first, and then its image', () => {
    const events = timeline({
      availableGib: 9,
      pods: [pod('a')],
      podStats: statsOf({ a: {} }),
      images: [image('dead', 5 * GiB, { pods: [deadUser] })],
      deadContainers: 1,
      imageGc: null,
    })
    expect(events[1]).toMatchObject({
      event: 'reclaim',
      detail: { containers: 1, images: ['dead'], isEnough: true },
    })
    expect(events.some(({ event }) => event === 'evict')).toBe(false)
  })

  it('deletes nothing by age before the kubelet has run so long', () => {
    const ages = (agoMs: number) =>
      timeline({
        configuration: {},
        imageGc: { ...policy, maximumAgeMs: 60 * minute },
        images: [image('old', 1)],
        beganGcMs: startMs - agoMs,
      })[0]?.atMs
    expect(ages(10 * minute)).toBe(55 * minute)
    expect(ages(61 * minute)).toBe(0)
  })

  it('ends a condition that the node reports already, after its transition period', () => {
    expect(brief(timeline({ conditions: ['DiskPressure'] }))).toEqual([
      '300 condition {"condition":"DiskPressure","status":false}',
    ])
  })

  it('says when a disk is full, to the moment, once', () => {
    const events = timeline({
      configuration: {},
      availableGib: 1,
      fills: fill(3 * MiB),
      imageGc: null,
    })
    expect(events).toEqual([
      { atMs: Math.floor((1024 / 3) * 1000), event: 'full', detail: { filesystem: 'nodefs' } },
    ])
  })

  it('goes on for a day and no longer', () => {
    const rate = Math.ceil((50 * GiB) / (timelineMs / 1000))
    expect(
      timeline({ configuration: {}, fills: fill(rate), imageGc: null }).map(({ event }) => event),
    ).toEqual(['full'])
    expect(timeline({ configuration: {}, fills: fill(rate - 10), imageGc: null })).toEqual([])
  })

  it('lets each filesystem fill by itself where images have their own', () => {
    const layout = { dedicatedImageFs: true, splitContainerImageFs: false }
    const options = {
      layout,
      configuration: { evictionHard: { 'nodefs.available': '10Gi', 'imagefs.available': '10Gi' } },
      imageGc: null,
    }
    const conditionAt = (fills: TimelineInput['fills']) =>
      timeline({ ...options, availableGib: 20, imagefsGib: 30, fills }).find(
        ({ event }) => event === 'condition',
      )?.atMs
    expect(conditionAt(fill(GiB, 'nodefs'))).toBe(20_000)
    expect(conditionAt(fill(GiB, 'imagefs'))).toBe(30_000)
    expect(conditionAt(fill(GiB, 'containerfs'))).toBe(30_000)
    expect(conditionAt([...fill(GiB, 'imagefs'), ...fill(GiB, 'containerfs')])).toBe(20_000)
  })

  it('has what a pod wrote beside its images on nodefs, where images have their own', () => {
    const layout = { dedicatedImageFs: true, splitContainerImageFs: false }
    const [, evict] = timeline({
      layout,
      availableGib: 1,
      imagefsGib: 50,
      pods: [pod('a')],
      podStats: statsOf({ a: { rootfsBytes: 5, logsBytes: 7 } }),
      imageGc: null,
    })
    expect(evict).toMatchObject({ event: 'evict', detail: { freedBytes: 12 } })
  })
})

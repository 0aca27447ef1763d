import { describe, expect, it } from 'vitest'
import { timelineSteps } from '#base/limits.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { FillTarget } from '#model/plan.ts'
import type { TimelineEvent } from '#model/prediction.ts'
import { parseEvictionConfig } from '#replay/eviction/thresholds.ts'
import type { Pod } from '#replay/pods.ts'
import { type Timeline, timelineOf } from '#replay/predict-timeline.ts'
import {
  deadUser,
  expiringUser,
  type TimelineImage,
  type TimelineInput,
} from '#replay/timeline/resources.ts'
import { timelineMs } from '#replay/timeline/story.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf, podStatsOf } from '#test/at-the-door.ts'

const kubelet = kubeletOf('v1.34.1')
const MiB = 2 ** 20
const GiB = 2 ** 30
const startMs = Date.parse('2026-11-21T00:00:00Z')
const minute = 60_000

function pod(name: string, spec: object = {}, annotations: object = {}): Pod {
  const parsed = podOf({
    metadata: { name, namespace: 'default', uid: name, annotations },
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
  firstDetectedLatestMs: startMs - 60 * minute,
  lastUsedMs: Number.NEGATIVE_INFINITY,
  ...options,
})

/** Deletions that free exactly what the kubelet counts. */
const listedSizes =
  (images: readonly TimelineImage[]): TimelineInput['freedBy'] =>
  ids => {
    const bytes = images
      .filter(({ id }) => ids.includes(id))
      .reduce((total, { sizeBytes }) => total + sizeBytes, 0)
    return {
      bytes: { least: bytes, likely: bytes, most: bytes },
      inodes: { least: 0, likely: 0, most: 0 },
    }
  }

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

const observed = (gib: number) => ({
  available: gib * GiB,
  capacity: 100 * GiB,
  time: '2026-11-20T23:59:50Z',
})
const disksOf = (gib: number, imagefsGib = gib) => ({
  'nodefs.available': observed(gib),
  'imagefs.available': observed(imagefsGib),
  'containerfs.available': observed(imagefsGib),
})

const timeline = (options?: Options): TimelineEvent[] => wholeTimeline(options).events

function wholeTimeline({
  configuration = defaults,
  availableGib = 50,
  imagefsGib = availableGib,
  ...options
}: Options = {}): Timeline {
  const found = timelineOf({
    startMs,
    kubelet,
    eviction: parseEvictionConfig(configuration),
    imageGc: policy,
    evictionImageGc: policy,
    layout: { dedicatedImageFs: false, splitContainerImageFs: false },
    observations: disksOf(availableGib, imagefsGib),
    fills: [],
    isLikelyCourse: false,
    pods: [],
    podStats: statsOf({}),
    images: [],
    deadContainers: 0,
    freedBy: listedSizes(options.images ?? []),
    beganGcMs: Number.NEGATIVE_INFINITY,
    gcLoopStart: { earliestMs: startMs, latestMs: startMs },
    conditions: [],
    ...options,
  })
  if (found === null) throw new Error('no timeline')
  return found
}

/** Without what is freed beside bytes. */
const shownKeys = /^(?!frees$|freed(Inodes|MemoryBytes|Processes)$)/
const brief = (events: TimelineEvent[]) =>
  events.map(({ atMs, event, certainty, detail }) => {
    const shown = Object.entries(detail).filter(([key]) => shownKeys.test(key))
    const perhaps = certainty === 'possible' ? 'possibly ' : ''
    return `${perhaps}${atMs / 1000} ${event} ${JSON.stringify(Object.fromEntries(shown))}`
  })
const fill = (perSecond: number, target: FillTarget = 'nodefs') => [{ target, perSecond }]

describe('timelineOf', () => {
  it('has no events where nothing fills and nothing is due', () => {
    expect(timeline()).toEqual([])
  })

  it('knows nothing of a disk that is not observed', () => {
    const input = { observations: {}, fills: fill(1), images: [], pods: [], gcLoopStart: null }
    expect(
      timelineOf({
        ...({} as TimelineInput),
        ...input,
        layout: { dedicatedImageFs: false, splitContainerImageFs: false },
        kubelet,
      }),
    ).toBe(null)
  })

  it.each([
    // eviction_manager.go: immediateEvictionGracePeriodSeconds 1, podCleanupPollFreq 1 s, podCleanupTimeout 30 s;
    // pod_workers.go killPodNow: a timeout of at least 10 s.
    { name: 'hard', configuration: defaults, firstMs: 0, likelyMs: 2_000, longestMs: 40_000 },
    // killPodNow: one and a half times the grace period, here `evictionMaxPodGracePeriod`.
    {
      name: 'soft',
      configuration: {
        evictionSoft: { 'nodefs.available': '10%' },
        evictionSoftGracePeriod: { 'nodefs.available': '1s' },
        evictionMaxPodGracePeriod: 60,
      },
      firstMs: 1_000,
      likelyMs: 61_000,
      longestMs: 120_000,
    },
  ])('waits for the end of an evicted pod, $name: from 1 s to the timeouts', given => {
    const { configuration, firstMs, likelyMs, longestMs } = given
    const pods = ['first', 'second'].map(name => pod(name, { terminationGracePeriodSeconds: 600 }))
    const used = { first: { logsBytes: 2 * GiB }, second: { logsBytes: GiB } }
    const podStats = statsOf(used)
    const events = timeline({ configuration, availableGib: 1, fills: fill(1), pods, podStats })
    const [first, second] = events.filter(({ event }) => event === 'evict')
    expect(second!.atMs - first!.atMs).toBe(likelyMs)
    expect(second!.earliestMs).toBe(firstMs)
    expect(second!.latestMs - first!.latestMs).toBe(longestMs)
  })

  it('lets a disk fill up while an evicted pod ends, before it frees anything', () => {
    // eviction_manager.go Start: no pass runs while waitForPodsCleanup waits.
    const events = timeline({
      availableGib: 11,
      fills: fill(500 * MiB),
      imageGc: null,
      pods: [pod('only')],
      podStats: statsOf({ only: { logsBytes: 60 * GiB } }),
    })
    const evicted = events.find(({ event }) => event === 'evict')
    const full = events.find(({ event }) => event === 'full')
    expect(full).toMatchObject({ certainty: 'certain' })
    expect(full!.earliestMs).toBeLessThan(evicted!.latestMs + 20_000)
    expect(full!.atMs).toBeGreaterThan(evicted!.atMs + 100_000)
  })

  const evictedOf = (events: TimelineEvent[]) =>
    events.flatMap(({ event, detail }) => (event === 'evict' ? [detail.name] : []))
  const usesOf = (pods: Pod[], gib: number) =>
    statsOf(Object.fromEntries(pods.map(({ name }) => [name, { logsBytes: gib * GiB }])))

  it('ends where hundreds of pods would take seconds, and says when', () => {
    const evicting = (count: number) => {
      const pods = Array.from({ length: count }, (_, index) => pod(`p${index}`))
      const podStats = usesOf(pods, 0)
      return wholeTimeline({
        availableGib: 1,
        fills: fill(1),
        pods,
        podStats,
        isLikelyCourse: true,
      })
    }
    expect(evicting(200).untilMs).toBe(timelineMs)
    expect(evictedOf(evicting(200).events).length).toBe(200)
    const { events, untilMs } = evicting(400)
    expect(evictedOf(events).length).toBeLessThan(200)
    expect(events.at(-1)?.atMs).toBeLessThanOrEqual(untilMs)
    expect(untilMs).toBeLessThan(timelineMs)
  })

  const pods = (count: number) => Array.from({ length: count }, (_, index) => pod(`p${index}`))
  const images = (count: number) =>
    Array.from({ length: count }, (_, index) => image(`i${index}`, MiB, { lastUsedMs: startMs }))
  const day = 24 * 60 * minute
  it.each<[what: string, input: Options]>([
    ['pods that are evicted one by one', { availableGib: 1, pods: pods(316) }],
    ['more pods than a node can have', { availableGib: 1, pods: pods(12_500) }],
    [
      'images that each round looks at',
      { images: images(3_000), imageGc: { ...policy, maximumAgeMs: 10 * day } },
    ],
    ['more images than a course can begin with', { images: images(10_000) }],
    [
      'a soft threshold that is met for a day',
      {
        availableGib: 20,
        configuration: {
          evictionSoft: { 'nodefs.available': '30%' },
          evictionSoftGracePeriod: { 'nodefs.available': '24h' },
        },
      },
    ],
    [
      'a start whose rounds are known badly',
      {
        availableGib: 1,
        pods: pods(316),
        gcLoopStart: { earliestMs: startMs - 30 * day, latestMs: startMs - 30 * day + 1_000 },
      },
    ],
  ])('takes the steps of one node at most: %s', (_, input) => {
    const { steps, untilMs } = wholeTimeline({ fills: fill(0.001), ...input })
    expect(steps).toBeLessThan(1.2 * timelineSteps.ofOneNode)
    expect(untilMs).toBeLessThan(timelineMs)
  })

  it('never evicts static, mirror and critical pods', () => {
    // pkg/kubelet/types/pod_update.go IsCriticalPod; system-cluster-critical is 2000000000.
    const pods = [
      pod('static', {}, { 'kubernetes.io/config.source': 'file' }),
      pod('mirror', {}, { 'kubernetes.io/config.mirror': 'x' }),
      pod('critical', { priority: 2_000_000_000 }),
      pod('almost', { priority: 1_999_999_999 }),
    ]
    const podStats = usesOf(pods, 1)
    expect(evictedOf(timeline({ availableGib: 5, fills: fill(1), pods, podStats }))).toEqual([
      'almost',
    ])
  })

  it('evicts every pod above its limit of ephemeral storage in the first pass, without pressure', () => {
    // eviction_manager.go synchronize: localStorageEviction comes before the thresholds, and takes all of them at once.
    const limited = (name: string, limit: string) =>
      pod(name, {
        containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': limit } } }],
      })
    const pods = [limited('over', '1Gi'), limited('too', '2Gi'), limited('at', '3Gi')]
    const events = timeline({ fills: fill(1), pods, podStats: usesOf(pods, 3) })
    expect(brief(events)).toMatchObject([
      expect.stringContaining('0 evict {"namespace":"default","name":"over"'),
      expect.stringContaining('0 evict {"namespace":"default","name":"too"'),
    ])
  })

  it('evicts until the minimum reclaim is reached', () => {
    // helpers.go thresholdsMet with enforceMinReclaim: 10 GiB + 5 GiB.
    const pods = ['a', 'b', 'c'].map(name => pod(name))
    const configuration = { ...defaults, evictionMinimumReclaim: { 'nodefs.available': '5Gi' } }
    const given = {
      configuration,
      imageGc: null,
      fills: fill(1),
      pods,
      podStats: statsOf({
        a: { logsBytes: 3.75 * GiB },
        b: { logsBytes: 3.5 * GiB },
        c: { logsBytes: 3.25 * GiB },
      }),
    }
    expect(evictedOf(timeline({ ...given, availableGib: 9 }))).toEqual(['a', 'b'])
    expect(evictedOf(timeline({ ...given, availableGib: 9, configuration: defaults }))).toEqual([
      'a',
    ])
  })

  it('takes an image of unknown age for too young, too: only a detection after the reading may list it', () => {
    const events = timeline({
      availableGib: 9,
      fills: fill(1),
      pods: [pod('only')],
      podStats: statsOf({ only: { logsBytes: 20 * GiB } }),
      imageGc: null,
      images: [image('unlisted', 5 * GiB, { firstDetectedLatestMs: startMs })],
    })
    const kinds = events.slice(0, 3).map(({ event, certainty }) => `${event} ${certainty}`)
    expect(kinds).toEqual(['condition certain', 'reclaim possible', 'evict possible'])
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
      // 40 s of waiting for the end of the pod fill what it freed.
      'possibly 372 recovered {"availableBytes":13606322176}',
      '402 reclaim {"signal":"nodefs.available","images":["used"],"containers":0,"isEnough":true}',
      'possibly 407.824 recovered {"availableBytes":10762584066}',
      '412 evict {"namespace":"default","name":"small","signal":"nodefs.available","freedBytes":1073741824}',
      'possibly 414 recovered {"availableBytes":11349786624}',
      '522.24 full {"filesystem":"nodefs"}',
    ])
  })

  it('lets image GC free space at its own clock, down to the low threshold, and again when it is due', () => {
    const images = Array.from({ length: 10 }, (_, index) => image(`i${index}`, 3 * GiB))
    const events = timeline({ availableGib: 15, images, fills: fill(MiB), configuration: {} })
    const gc = events.filter(({ event }) => event === 'imageGC')
    expect(gc[0]).toEqual({
      atMs: 0,
      earliestMs: 0,
      latestMs: 2000,
      certainty: 'certain',
      event: 'imageGC',
      detail: {
        images: ['i0', 'i1'],
        bytesToFree: 5 * GiB,
        freedBytes: 6 * GiB,
        frees: { least: 6 * GiB, likely: 6 * GiB, most: 6 * GiB },
        error: null,
      },
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
    expect(ages(10.5 * minute)).toBe(50 * minute)
    expect(ages(61 * minute)).toBe(0)
  })

  it('reads the disk after deletions by age: what they free is not wanted of others', () => {
    const old = image('old', 5 * GiB, { lastUsedMs: startMs - 100 * minute })
    const [first] = timeline({
      availableGib: 15,
      imageGc: { ...policy, maximumAgeMs: 60 * minute },
      images: [old, image('young', 5 * GiB, { lastUsedMs: startMs - 30 * minute })],
      beganGcMs: startMs - 61 * minute,
    })
    expect(first).toMatchObject({ event: 'imageGC', detail: { images: ['old'], freedBytes: 0 } })
  })

  it('ends a condition that the node reports already, after its transition period', () => {
    expect(brief(timeline({ conditions: ['DiskPressure'] }))).toMatchSnapshot()
  })

  it('says when a disk is full, to the moment, once', () => {
    const events = timeline({
      configuration: {},
      availableGib: 1,
      fills: fill(3 * MiB),
      imageGc: null,
    })
    expect(events).toEqual([
      {
        atMs: Math.floor((1024 / 3) * 1000),
        earliestMs: Math.floor((1024 / 3) * 1000) - 1000,
        latestMs: Math.floor((1024 / 3) * 1000) + 2000,
        certainty: 'certain',
        event: 'full',
        detail: { filesystem: 'nodefs' },
      },
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

  const minutes = (events: TimelineEvent[], name: TimelineEvent['event']) =>
    events
      .filter(({ event }) => event === name)
      .map(({ earliestMs, latestMs, certainty }) => ({ earliestMs, latestMs, certainty }))

  it('runs image GC at the phase of the kubelet, within its startup', () => {
    const gcLoopStart = {
      earliestMs: startMs - 7 * minute,
      latestMs: startMs - 7 * minute + 20_000,
    }
    const events = timeline({ availableGib: 15, images: [image('a', GiB)], gcLoopStart })
    // The second round: 3 min from now.
    expect(minutes(events, 'imageGC')[0]).toEqual({
      earliestMs: 3 * minute - 1000,
      latestMs: 3 * minute + 20_000 + 2 * 20 + 2000,
      certainty: 'certain',
    })
  })

  it.each([1, 24])(
    'bounds image GC to 30 s in the first hour, %i h after a start within 20 s',
    hours => {
      const earliestMs = startMs - hours * 60 * minute
      const events = timeline({
        availableGib: 20,
        fills: fill(20 * MiB),
        images: Array.from({ length: 8 }, (_, index) => image(`i${index}`, 6 * GiB)),
        gcLoopStart: { earliestMs, latestMs: earliestMs + 20_000 },
      })
      const rounds = events.filter(({ event, atMs }) => event === 'imageGC' && atMs <= 60 * minute)
      expect(rounds.length).toBeGreaterThan(1)
      for (const { earliestMs: from, latestMs: until } of rounds)
        expect(until - from).toBeLessThanOrEqual(30_000)
    },
  )

  it('leaves five minutes to image GC where the start of the kubelet is unknown', () => {
    const events = timeline({ availableGib: 15, images: [image('a', GiB)], gcLoopStart: null })
    expect(minutes(events, 'imageGC')[0]).toEqual({
      earliestMs: 0,
      latestMs: 5 * minute + 2000,
      certainty: 'certain',
    })
  })

  it('bounds eviction by both ends of an unknown phase of image GC', () => {
    // The trigger is passed after 26 s, the eviction threshold after 180 s, unless image GC has run.
    const [condition] = timeline({
      availableGib: 17,
      fills: fill(40 * MiB),
      images: Array.from({ length: 3 }, (_, index) => image(`i${index}`, 3 * GiB)),
      pods: [pod('a')],
      gcLoopStart: null,
    }).filter(({ event }) => event === 'condition')
    expect(condition?.earliestMs).toBeLessThan(180_000)
    expect(condition?.latestMs).toBeGreaterThan(5 * minute)
  })

  it('evicts pod by pod while memory is below its threshold, and frees what each used', () => {
    const names = ['a', 'b', 'c']
    const events = timeline({
      configuration: { evictionHard: { 'memory.available': '100Mi' } },
      imageGc: null,
      observations: {
        ...disksOf(50),
        'memory.available': { available: 90 * MiB, capacity: GiB, time: '2026-11-20T23:59:50Z' },
      },
      pods: names.map(name => pod(name)),
      podStats: podStatsOf({
        pods: names.map((name, index) => ({
          podRef: { name, namespace: 'default', uid: name },
          memory: { workingSetBytes: (9 - index) * MiB },
          containers: [{ name: 'c' }],
        })),
      }),
      fills: fill(MiB, 'memory'),
    })
    // 9 MiB do not reach the threshold, 17 do. 1 MiB/s takes them again within 10 s.
    expect(brief(events).filter(text => text.includes('evict'))).toEqual([
      expect.stringContaining('0 evict {"namespace":"default","name":"a"'),
      expect.stringContaining('2 evict {"namespace":"default","name":"b"'),
      expect.stringContaining('14 evict {"namespace":"default","name":"c"'),
    ])
  })

  it.each([
    { target: 'nodefs.inodes' as const, signal: 'nodefs.inodesFree' },
    { target: 'pids' as const, signal: 'pid.available' },
  ])('lets $target run out', ({ target, signal }) => {
    const events = timeline({
      configuration: { evictionHard: { [signal]: '50' } },
      imageGc: null,
      observations: { ...disksOf(50), [signal]: { available: 100, capacity: 1000, time: null } },
      pods: [pod('a')],
      podStats: statsOf({ a: {} }),
      fills: fill(5, target),
    })
    expect(brief(events)).toEqual([
      `20 full {"filesystem":"${target}"}`,
      expect.stringMatching(/^20 condition/),
      expect.stringMatching(/^20 evict/),
    ])
  })

  it('frees an image whose dead container the next container GC removes', () => {
    const options = { availableGib: 15, configuration: {}, imageGc: policy }
    const images = [image('dead', GiB, { pods: [expiringUser] })]
    const rounds = timeline({ ...options, images }).map(({ atMs, event, detail }) => ({
      atMs,
      event,
      images: 'images' in detail && detail.images,
    }))
    expect(rounds).toEqual([
      { atMs: 0, event: 'imageGC', images: [] },
      { atMs: 5 * minute, event: 'imageGC', images: ['dead'] },
    ])
  })

  it('does not let eviction delete an image that the kubelet listed less than the minimum age ago', () => {
    const young = image('young', 5 * GiB, { firstDetectedMs: null })
    const events = timeline({ availableGib: 9, images: [young], pods: [pod('a')], imageGc: null })
    expect(events.find(({ event }) => event === 'evict')?.atMs).toBe(0)
    // Its first detection is the first pass, and the minimum age is 2 min.
    expect(minutes(events, 'reclaim')[0]?.earliestMs).toBeGreaterThanOrEqual(2 * minute - 1000)
  })
})

import { describe, expect, it } from 'vitest'
import type { Signal } from '#model/prediction.ts'
import { rankPods } from '#replay/eviction/victims.ts'
import type { Pod } from '#replay/pods.ts'
import { rankReason } from '#replay/prepare.ts'
import { kubeletOf } from '#replay/times.ts'
import {
  dedicated,
  diskStats,
  GiB,
  MiB,
  memoryStats,
  newest,
  pod,
  requesting,
  shared,
  split,
  statsOf,
} from '#test/eviction-builder.ts'

const order = (
  signal: Signal,
  pods: Pod[],
  stats: Record<string, object>,
  { layout = shared, kubelet = newest } = {},
) =>
  rankPods(signal, pods, statsOf(stats), layout, kubelet).map(
    ({ pod: { name }, rank }) => `${rank} ${name}`,
  )

const ranked = (
  signal: Signal,
  one: Pod,
  stats: object | null,
  { layout = shared, kubelet = newest } = {},
) => rankPods(signal, [one], statsOf(stats ? { [one.name]: stats } : {}), layout, kubelet)[0]

describe('rankPods under memory pressure', () => {
  const pods = [
    pod('within', { ...requesting({ memory: '1Gi' }), priority: -10 }),
    pod('over-and-important', { ...requesting({ memory: '100Mi' }), priority: 1000 }),
    pod('over-a-little', requesting({ memory: '100Mi' })),
    pod('over-much', requesting({ memory: '100Mi' })),
    pod('not-running', { ...requesting({ memory: '4Gi' }), priority: 5000 }),
  ]
  const stats = {
    within: memoryStats(GiB),
    'over-and-important': memoryStats(8 * GiB),
    'over-a-little': memoryStats(100 * MiB + 1),
    'over-much': memoryStats(200 * MiB),
  }

  it.each(['memory.available', 'allocatableMemory.available'] as const)(
    'trap 24: under %s a pod without statistics goes first, and trap 27: whoever exceeds before priority, priority before the amount',
    signal => {
      expect(order(signal, pods, stats)).toEqual([
        '0 not-running',
        '1 over-much',
        '2 over-a-little',
        '3 over-and-important',
        '4 within',
      ])
    },
  )

  it.each([
    { workingSetBytes: 100 * MiB - 1, exceeds: false },
    { workingSetBytes: 100 * MiB, exceeds: false },
    { workingSetBytes: 100 * MiB + 1, exceeds: true },
  ])(
    'trap 26: $workingSetBytes of 100Mi requested exceeds: $exceeds',
    ({ workingSetBytes, exceeds }) => {
      const stats = { memory: { workingSetBytes, rssBytes: 200 * MiB, usageBytes: 200 * MiB } }
      expect(
        ranked('memory.available', pod('a', requesting({ memory: '100Mi' })), stats),
      ).toMatchObject({ usage: workingSetBytes, request: 100 * MiB, exceedsRequest: exceeds })
    },
  )

  it('trap 26: best effort is no rank, it requests nothing', () => {
    const pods = [pod('best-effort'), pod('burstable', requesting({ memory: '1Mi' }))]
    expect(
      order('memory.available', pods, {
        'best-effort': memoryStats(MiB),
        burstable: memoryStats(3 * MiB),
      }),
    ).toEqual(['0 burstable', '1 best-effort'])
    // Using nothing exceeds nothing, without any request, too.
    expect(
      order('memory.available', pods, { 'best-effort': {}, burstable: memoryStats(MiB + 1) }),
    ).toEqual(['0 burstable', '1 best-effort'])
  })

  it('trap 23: leaves equal ones equal, in the order given', () => {
    const pods = [
      pod('c', { priority: 1 }),
      pod('b'),
      pod('a'),
      pod('e'),
      pod('d', { priority: 1 }),
    ]
    expect(order('memory.available', pods, {})).toEqual(['0 b', '0 a', '0 e', '3 c', '3 d'])
    expect(
      order('memory.available', pods, {
        c: memoryStats(5),
        d: memoryStats(5),
        a: memoryStats(4),
        b: memoryStats(4),
      }),
    ).toEqual(['0 e', '1 b', '1 a', '3 c', '3 d'])
  })

  it('compares what no double holds exactly', () => {
    const pods = [
      pod('a', requesting({ memory: '1500m' })),
      pod('b', requesting({ memory: '1250m' })),
      pod('c', requesting({ memory: '9Ei' })),
    ]
    const stats = { a: memoryStats(2), b: memoryStats(2), c: memoryStats(2 ** 60) }
    expect(order('memory.available', pods, stats)).toEqual(['0 b', '1 a', '2 c'])
    expect(
      rankPods('memory.available', pods, statsOf(stats), shared, newest).map(
        ({ exceedsRequest }) => exceedsRequest,
      ),
    ).toEqual([true, true, false])
  })

  it('compares such a one with one that a double holds', () => {
    const [half, whole, less] = [
      pod('half', requesting({ memory: '1500m' })),
      pod('whole', requesting({ memory: '2' })),
      pod('less', requesting({ memory: '1' })),
    ]
    const stats = { half: memoryStats(5), whole: memoryStats(5), less: memoryStats(5) }
    expect(order('memory.available', [whole, half], stats)).toEqual(['0 half', '1 whole'])
    expect(order('memory.available', [half, less], stats)).toEqual(['0 less', '1 half'])
  })

  it('is exact where usage is just what is requested', () => {
    expect(
      ranked(
        'memory.available',
        pod('a', requesting({ memory: '9007199254740992' })),
        memoryStats(2 ** 53),
      ),
    ).toMatchObject({ exceedsRequest: false })
  })

  it('asks in every pass for the statistics and the pods of that pass', () => {
    const stats = statsOf({ a: memoryStats(1) })
    const [a, b] = [pod('a'), pod('b')]
    const names = (pods: Pod[]) =>
      rankPods('memory.available', pods, stats, shared, newest).map(({ pod: { name } }) => name)
    expect([names([a, b]), names([a]), names([b])]).toEqual([['b', 'a'], ['a'], ['b']])
    const both = [a, b]
    expect(rankPods('memory.available', both, stats, shared, newest)).toBe(
      rankPods('memory.available', both, stats, shared, newest),
    )
  })
})

describe('rankPods under pressure on processes', () => {
  it('trap 27: priority comes first, then a pod without statistics, then the number of processes', () => {
    const pods = [
      pod('important', { priority: 10 }),
      pod('few'),
      pod('many'),
      pod('not-running'),
      pod('important-and-not-running', { priority: 10 }),
      pod('none'),
    ]
    const count = (process_count: number) => ({ process_stats: { process_count } })
    const stats = { important: count(9000), few: count(2), many: count(100), none: {} }
    expect(order('pid.available', pods, stats)).toEqual([
      '0 not-running',
      '1 many',
      '2 few',
      '3 none',
      '4 important-and-not-running',
      '5 important',
    ])
  })

  it('takes a missing count for none', () => {
    expect(ranked('pid.available', pod('a'), {})?.usage).toBe(0)
  })

  it('asks for no request', () => {
    expect(
      ranked('pid.available', pod('a', requesting({ memory: '1Gi' })), {
        process_stats: { process_count: 3 },
      }),
    ).toMatchObject({ usage: 3, request: 0, exceedsRequest: null })
  })
})

describe('rankPods under disk pressure', () => {
  const one = pod('a', {
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'tmpfs', emptyDir: { medium: 'Memory' } },
      { name: 'config', configMap: { name: 'x' } },
      { name: 'host', hostPath: { path: '/' } },
      { name: 'git', gitRepo: { repository: 'x' } },
      { name: 'claim', persistentVolumeClaim: { claimName: 'x' } },
      { name: 'not-measured', emptyDir: {} },
    ],
  })
  const sized = (name: string, usedBytes: number) => ({
    name,
    usedBytes,
    inodesUsed: usedBytes * 10,
  })
  const stats = {
    containers: [
      {
        name: 'c',
        rootfs: { usedBytes: 1, inodesUsed: 10 },
        logs: { usedBytes: 2, inodesUsed: 20 },
      },
      {
        name: 'd',
        rootfs: { usedBytes: 4, inodesUsed: 40 },
        logs: { usedBytes: 8, inodesUsed: 80 },
      },
    ],
    volume: [
      sized('scratch', 16),
      sized('tmpfs', 10_000),
      sized('config', 32),
      sized('host', 64),
      sized('git', 128),
      sized('claim', 20_000),
      sized('scratch', 30_000),
    ],
    'ephemeral-storage': { usedBytes: 99_999 },
  }
  const rootfs = 1 + 4
  const logsAndVolumes = 2 + 8 + 16 + 32 + 64 + 128

  it.each([
    {
      layout: shared,
      nodefs: rootfs + logsAndVolumes,
      imagefs: rootfs + logsAndVolumes,
      containerfs: rootfs + logsAndVolumes,
    },
    { layout: dedicated, nodefs: logsAndVolumes, imagefs: rootfs, containerfs: rootfs },
    {
      layout: split,
      nodefs: rootfs + logsAndVolumes,
      imagefs: 0,
      containerfs: rootfs + logsAndVolumes,
    },
    {
      layout: { dedicatedImageFs: false, splitContainerImageFs: true },
      nodefs: rootfs + logsAndVolumes,
      imagefs: rootfs + logsAndVolumes,
      containerfs: rootfs + logsAndVolumes,
    },
  ])('measures what lies on the filesystem: $layout', ({ layout, ...used }) => {
    for (const [filesystem, bytes] of Object.entries(used)) {
      expect(ranked(`${filesystem}.available` as Signal, one, stats, { layout })?.usage).toBe(bytes)
      expect(ranked(`${filesystem}.inodesFree` as Signal, one, stats, { layout })?.usage).toBe(
        bytes * 10,
      )
    }
  })

  it('trap 24: a pod without statistics goes first, and trap 27: whoever exceeds goes before lower priority', () => {
    const pods = [
      pod('within', { ...requesting({ 'ephemeral-storage': '1Gi' }), priority: -5 }),
      pod('over', { ...requesting({ 'ephemeral-storage': '1Mi' }), priority: 5 }),
      pod('not-running', { ...requesting({ 'ephemeral-storage': '9Gi' }), priority: 9 }),
    ]
    expect(
      order('nodefs.available', pods, { within: diskStats(GiB), over: diskStats(MiB, 1) }),
    ).toEqual(['0 not-running', '1 over', '2 within'])
  })

  it('trap 25: takes bytes of requested storage from the count of inodes', () => {
    const inodes = (inodesUsed: number) => ({ containers: [{ name: 'c', rootfs: { inodesUsed } }] })
    const pods = [
      pod('many-and-requesting', requesting({ 'ephemeral-storage': '1Gi' })),
      pod('few'),
      pod('none'),
    ]
    expect(
      order('nodefs.inodesFree', pods, {
        'many-and-requesting': inodes(1_000_000),
        few: inodes(1),
        none: inodes(0),
      }),
    ).toEqual(['0 few', '1 many-and-requesting', '2 none'])
    expect(ranked('nodefs.inodesFree', pods[0]!, inodes(1_000_000))).toMatchObject({
      exceedsRequest: true,
      request: GiB,
    })
  })

  it('holds inodes to a request of that name', () => {
    const inodes = { containers: [{ name: 'c', rootfs: { inodesUsed: 10 } }] }
    expect(
      ranked('nodefs.inodesFree', pod('a', requesting({ inodes: '10' })), inodes),
    ).toMatchObject({ exceedsRequest: false, request: 0 })
    expect(
      ranked('nodefs.inodesFree', pod('a', requesting({ inodes: '9' })), inodes),
    ).toMatchObject({ exceedsRequest: true })
  })

  it('ranks by priority where nothing of a pod lies on the filesystem', () => {
    const pods = [pod('important', { priority: 1 }), pod('huge')]
    expect(
      order(
        'imagefs.available',
        pods,
        { important: diskStats(1), huge: diskStats(GiB) },
        { layout: split },
      ),
    ).toEqual(['0 huge', '1 important'])
  })

  it.each([
    { version: 'v1.33.13', first: 'over', request: 2 * MiB },
    { version: 'v1.34.0', first: 'pod-level', request: 0 },
  ])(
    'trap 38: with pod-level resources $version counts $request bytes of the container',
    ({ version, first, request }) => {
      const kubelet = kubeletOf(version)
      const podLevel = pod('pod-level', {
        ...requesting({ 'ephemeral-storage': '2Mi' }),
        resources: { requests: { memory: '1Gi' } },
      })
      const over = pod('over', requesting({ 'ephemeral-storage': '1Mi' }))
      expect(ranked('nodefs.available', podLevel, diskStats(MiB), { kubelet })?.request).toBe(
        request,
      )
      expect(
        order(
          'nodefs.available',
          [podLevel, over],
          { 'pod-level': diskStats(2 * MiB), over: diskStats(2 * MiB) },
          { kubelet },
        )[0],
      ).toBe(`0 ${first}`)
    },
  )
})

describe('the reason of a rank', () => {
  const reason = (signal: Signal, spec: object, stats: object | null) => {
    const rank = ranked(signal, pod('a', spec), stats)
    return rank && rankReason(signal, rank)
  }

  it.each([
    {
      signal: 'memory.available',
      spec: requesting({ memory: '100Mi' }),
      stats: memoryStats(150 * MiB),
      text: 'priority 0, uses 150 MiB of memory above its request of 100 MiB',
    },
    {
      signal: 'memory.available',
      spec: { ...requesting({ memory: '200Mi' }), priority: 7 },
      stats: memoryStats(150 * MiB),
      text: 'priority 7, uses 150 MiB of memory within its request of 200 MiB',
    },
    {
      signal: 'nodefs.available',
      spec: {},
      stats: diskStats(3 * MiB),
      text: 'priority 0, uses 3 MiB of disk and requests none',
    },
    {
      signal: 'nodefs.available',
      spec: {},
      stats: null,
      text: 'no statistics, because none of its containers runs: such pods go first',
    },
    {
      signal: 'nodefs.inodesFree',
      spec: {},
      stats: { containers: [{ name: 'c', rootfs: { inodesUsed: 5 } }] },
      text: 'priority 0, 5 inodes',
    },
    {
      signal: 'nodefs.inodesFree',
      spec: requesting({ 'ephemeral-storage': '1k' }),
      stats: {},
      text: 'priority 0, 0 inodes, less 1000 bytes of storage that it requests',
    },
    {
      signal: 'pid.available',
      spec: {},
      stats: { process_stats: { process_count: 12 } },
      text: 'priority 0, 12 processes',
    },
    {
      signal: 'pid.available',
      spec: {},
      stats: null,
      text: 'priority 0, no statistics: none of its containers runs',
    },
  ] as const)('$signal: $text', ({ signal, spec, stats, text }) => {
    expect(reason(signal, spec, stats)).toBe(text)
  })

  it('stays a number where a request is beyond any', () => {
    expect(
      ranked('memory.available', pod('a', requesting({ memory: '1e500' })), memoryStats(1))
        ?.request,
    ).toBe(Number.MAX_VALUE)
  })
})

import { describe, expect, it } from 'vitest'
import { localStorageEviction } from '#replay/eviction/victims.ts'
import type { Pod } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import {
  dedicated,
  diskStats,
  GiB,
  limitedTo,
  newest,
  pod,
  shared,
  statsOf,
} from '#test/eviction-builder.ts'

const exceeded = (
  given: Pod | Pod[],
  stats: Record<string, object>,
  { layout = shared, kubelet = newest } = {},
) =>
  localStorageEviction([given].flat(), statsOf(stats), layout, kubelet).map(
    ({ pod: { name }, limit, what, usedBytes, limitBytes }) => ({
      name,
      limit,
      what,
      usedBytes,
      limitBytes,
    }),
  )
const limits = (given: Pod | Pod[], stats: Record<string, object>, options = {}) =>
  exceeded(given, stats, options).map(({ name, limit, what }) => `${name} ${limit} ${what}`)

const scratch = (sizeLimit: string, rest: object = {}) => ({
  volumes: [{ name: 'scratch', emptyDir: { sizeLimit, ...rest } }],
})
const using = (usedBytes: number) => ({ volume: [{ name: 'scratch', usedBytes }] })
const storing = (usedBytes: number) => ({ 'ephemeral-storage': { usedBytes } })

describe('the limit of an emptyDir', () => {
  it.each([
    { usedBytes: GiB - 1, is: false },
    { usedBytes: GiB, is: false },
    { usedBytes: GiB + 1, is: true },
  ])('of 1Gi is exceeded by $usedBytes bytes: $is', ({ usedBytes, is }) => {
    expect(exceeded(pod('a', scratch('1Gi')), { a: using(usedBytes) })).toEqual(
      is ? [{ name: 'a', limit: 'emptyDir', what: 'scratch', usedBytes, limitBytes: GiB }] : [],
    )
  })

  it.each([
    {
      what: 'memory-backed',
      spec: scratch('1Mi', { medium: 'Memory' }),
      stats: using(GiB),
      is: true,
    },
    { what: 'of no size', spec: scratch('0'), stats: using(GiB), is: false },
    {
      what: 'without limit',
      spec: { volumes: [{ name: 'scratch', emptyDir: {} }] },
      stats: using(GiB),
      is: false,
    },
    { what: 'not measured', spec: scratch('1Mi'), stats: {}, is: false },
    {
      what: 'measured twice, the last time lower',
      spec: scratch('1Mi'),
      stats: { volume: [...using(GiB).volume, ...using(1).volume] },
      is: false,
    },
    { what: 'of a fraction', spec: scratch('1500m'), stats: using(2), is: true },
    { what: 'of a fraction and not above it', spec: scratch('1500m'), stats: using(1), is: false },
    {
      what: 'that is no emptyDir',
      spec: { volumes: [{ name: 'scratch', hostPath: { path: '/' } }] },
      stats: using(GiB),
      is: false,
    },
  ])('$what: exceeded is $is', ({ spec, stats, is }) => {
    expect(limits(pod('a', spec), { a: stats })).toEqual(is ? ['a emptyDir scratch'] : [])
  })

  it.each([
    { gates: null, version: 'v1.37.0', is: true },
    {
      gates: { InPlacePodVerticalScalingMemoryBackedVolumes: true },
      version: 'v1.37.0',
      is: false,
    },
  ])('of memory with $gates: exceeded is $is', ({ gates, version, is }) => {
    const kubelet = kubeletOf(version, gates)
    expect(
      limits(pod('a', scratch('1Mi', { medium: 'Memory' })), { a: using(GiB) }, { kubelet }),
    ).toHaveLength(is ? 1 : 0)
    expect(limits(pod('a', scratch('1Mi')), { a: using(GiB) }, { kubelet })).toHaveLength(1)
  })

  it('names the first of several in the order of the manifest', () => {
    const volumes = [
      { name: 'small', emptyDir: { sizeLimit: '10Gi' } },
      { name: 'second', emptyDir: { sizeLimit: '1Mi' } },
      { name: 'first', emptyDir: { sizeLimit: '1Mi' } },
    ]
    const volume = ['first', 'second', 'small'].map(name => ({ name, usedBytes: GiB }))
    expect(limits(pod('a', { volumes }), { a: { volume } })).toEqual(['a emptyDir second'])
  })
})

describe('the limit of a pod', () => {
  it.each([
    { usedBytes: 3 * GiB, is: false },
    { usedBytes: 3 * GiB + 1, is: true },
  ])(
    'trap 30: is the sum of those containers that have one, 3Gi against $usedBytes: $is',
    ({ usedBytes, is }) => {
      const spec = {
        containers: [
          { name: 'c', resources: { limits: { 'ephemeral-storage': '1Gi' } } },
          { name: 'd', resources: { limits: { 'ephemeral-storage': '2Gi' } } },
          { name: 'unlimited' },
        ],
      }
      expect(exceeded(pod('a', spec), { a: storing(usedBytes) })).toEqual(
        is ? [{ name: 'a', limit: 'pod', what: 'a', usedBytes, limitBytes: 3 * GiB }] : [],
      )
    },
  )

  it('is not there without a limited container', () => {
    expect(limits(pod('a'), { a: storing(100 * GiB) })).toEqual([])
  })

  it('of 0 is exceeded by anything', () => {
    const one = pod('a', limitedTo({ 'ephemeral-storage': '0' }))
    expect([
      limits(one, { a: storing(1) }),
      limits(one, { a: storing(0) }),
      limits(one, { a: {} }),
    ]).toEqual([['a pod a'], [], []])
  })

  it.each([
    { version: 'v1.29.0', usedBytes: 2 * GiB, is: false },
    { version: 'v1.29.0', usedBytes: 2 * GiB + 1, is: true },
  ])(
    'of $version counts restartable init containers, so that $usedBytes exceed it: $is',
    ({ version, usedBytes, is }) => {
      const spec = {
        ...limitedTo({ 'ephemeral-storage': '1Gi' }),
        initContainers: [
          {
            name: 's',
            restartPolicy: 'Always',
            resources: { limits: { 'ephemeral-storage': '1Gi' } },
          },
        ],
      }
      expect(
        limits(pod('a', spec), { a: storing(usedBytes) }, { kubelet: kubeletOf(version) }),
      ).toEqual(is ? ['a pod a'] : [])
    },
  )
})

describe('the limit of a container', () => {
  const one = pod('a', limitedTo({ 'ephemeral-storage': '1Gi' }))

  it.each([
    { layout: shared, rootfs: GiB - 1, logs: 1, is: false },
    { layout: shared, rootfs: GiB, logs: 1, is: true },
    { layout: dedicated, rootfs: 10 * GiB, logs: GiB, is: false },
    { layout: dedicated, rootfs: 0, logs: GiB + 1, is: true },
  ])(
    'trap 31: with $layout is exceeded by $rootfs of rootfs and $logs of logs: $is',
    ({ layout, rootfs, logs, is }) => {
      const usedBytes = layout.dedicatedImageFs ? logs : rootfs + logs
      expect(exceeded(one, { a: diskStats(rootfs, logs) }, { layout })).toEqual(
        is ? [{ name: 'a', limit: 'container', what: 'c', usedBytes, limitBytes: GiB }] : [],
      )
    },
  )

  it('is not exceeded by what is not measured', () => {
    const containers = [{ name: 'c', logs: { usedBytes: GiB } }]
    expect(limits(one, { a: { containers } })).toEqual([])
    expect(limits(one, { a: { containers: [{ name: 'c', rootfs: { usedBytes: GiB } }] } })).toEqual(
      [],
    )
  })

  it('of 0 is none', () => {
    expect(
      limits(pod('a', limitedTo({ 'ephemeral-storage': '0' })), { a: diskStats(GiB) }),
    ).toEqual([])
  })

  it('names the first container in the order of the statistics', () => {
    const limited = (name: string) => ({
      name,
      resources: { limits: { 'ephemeral-storage': '1Mi' } },
    })
    const spec = { containers: [limited('c'), limited('d'), { name: 'e' }] }
    const containers = ['e', 'd', 'c'].map(name => ({ name, rootfs: { usedBytes: GiB } }))
    expect(limits(pod('a', spec), { a: { containers } })).toEqual(['a container d'])
  })

  it.each([
    { version: 'v1.36.3', limits: [] },
    { version: 'v1.37.0', limits: ['a container s'] },
  ])(
    'of $version holds restartable init containers to theirs: $limits',
    ({ version, limits: expected }) => {
      const limited = { resources: { limits: { 'ephemeral-storage': '1Gi' } } }
      const spec = {
        initContainers: [
          { name: 's', restartPolicy: 'Always', ...limited },
          { name: 'i', ...limited },
        ],
      }
      const containers = ['i', 's'].map(name => ({ name, rootfs: { usedBytes: 2 * GiB } }))
      expect(
        limits(pod('a', spec), { a: { containers } }, { kubelet: kubeletOf(version) }),
      ).toEqual(expected)
    },
  )
})

describe('localStorageEviction', () => {
  const over = (name: string, spec: object = {}, rest = {}) =>
    pod(name, { ...scratch('1Mi'), ...spec }, rest)

  it('trap 29: evicts all offenders in one pass, in their order, but no critical ones', () => {
    const pods = [
      over('z'),
      pod('calm'),
      over('critical', { priority: 2_000_000_000 }),
      over('mirror', {}, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
      over('a'),
      over('not-running'),
    ]
    const stats = Object.fromEntries(
      ['z', 'calm', 'critical', 'mirror', 'a'].map(name => [name, using(GiB)]),
    )
    expect(limits(pods, stats)).toEqual(['z emptyDir scratch', 'a emptyDir scratch'])
  })

  it('goes by the emptyDir before the pod, and by the pod before the container', () => {
    const limited = { ...limitedTo({ 'ephemeral-storage': '1Mi' }), ...scratch('1Mi') }
    const both = { ...diskStats(GiB), ...storing(GiB) }
    expect(limits(pod('a', limited), { a: { ...both, ...using(GiB) } })).toEqual([
      'a emptyDir scratch',
    ])
    expect(limits(pod('a', limited), { a: { ...both, ...using(1) } })).toEqual(['a pod a'])
    expect(limits(pod('a', limited), { a: { ...both, ...using(1), ...storing(1) } })).toEqual([
      'a container c',
    ])
  })

  it('remembers the answer to the very same question only', () => {
    const stats = statsOf({ a: diskStats(GiB, 1) })
    const pods = [pod('a', limitedTo({ 'ephemeral-storage': '1Gi' }))]
    const first = localStorageEviction(pods, stats, shared, newest)
    expect(localStorageEviction(pods, stats, { ...shared }, newest)).toBe(first)
    expect(localStorageEviction(pods, stats, dedicated, newest)).toEqual([])
    expect(localStorageEviction([...pods], stats, shared, newest)).not.toBe(first)
    expect(localStorageEviction(pods, stats, shared, kubeletOf('v1.36.0'))).not.toBe(first)
  })

  it('tells a limit beyond any number as a number', () => {
    expect(exceeded(pod('a', scratch('0.5')), { a: using(1) })[0]?.limitBytes).toBe(1)
    expect(exceeded(pod('a', scratch('1e500')), { a: using(1) })).toEqual([])
  })
})

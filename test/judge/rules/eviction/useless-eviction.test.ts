import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { uselessEviction } from '#judge/rules/eviction/useless-eviction.ts'
import type { HolderPart, RankedPod, Ranking, Signal } from '#model/prediction.ts'
import { hard, type NodeExample, ranked, unresolved } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, shownValue, state } from '#test/rule-outcome.ts'

const pod: RankedPod = {
  namespace: 'shop',
  name: 'web-0',
  rank: 0,
  qos: 'BestEffort',
  priority: 0,
  usage: gibibyte / 2,
  request: 0,
  reason: 'uses more than it requests',
}

const full = (imageGib: number) => ({
  thresholds: [hard('nodefs.available', 10, 5)],
  eviction: {
    signals: {
      'nodefs.available': {
        availableBytes: 5 * gibibyte,
        capacityBytes: 100 * gibibyte,
        time: null,
      },
    },
    rankings: [{ signal: 'nodefs.available' as const, pods: [pod] }],
  },
  summary: { node: { runtime: { imageFs: { usedBytes: imageGib * gibibyte } } } },
})

itJudgesExamples(uselessEviction, { bad: full(1), good: full(30) })

describe('useless-eviction', () => {
  interface Held {
    /** Of 100 GiB. */
    availableGib?: number
    imageGib?: number | null
    podGib?: (number | null)[]
    minReclaim?: string
    signal?: Signal
    more?: NodeExample
  }
  const node = ({
    availableGib = 4,
    imageGib = 1,
    podGib = [1],
    minReclaim = '0',
    signal = 'nodefs.available',
    more = {},
  }: Held) => ({
    thresholds: [{ ...hard(signal, 10, availableGib), minReclaim }],
    eviction: {
      signals: {
        [signal]: {
          availableBytes: availableGib * gibibyte,
          capacityBytes: 100 * gibibyte,
          time: null,
        },
      },
      rankings: [
        {
          signal,
          pods: podGib.map((gib, rank) =>
            ranked(`p${rank}`, rank, gib === null ? null : gib * gibibyte),
          ),
        },
      ],
    },
    summary: {
      node: { runtime: imageGib === null ? {} : { imageFs: { usedBytes: imageGib * gibibyte } } },
    },
    ...more,
  })
  const sized = (gib: number) => ({
    runtime: { images: [{ id: 'sha256:1', size: String(gib * gibibyte) }] },
  })
  const dead = {
    pods: [
      {
        status: {
          containerStatuses: [
            { name: 'job', image: 'job:1', state: { terminated: { exitCode: 0 } } },
          ],
        },
      },
    ],
    configuration: { containerLogMaxSize: '1Gi', containerLogMaxFiles: 2 },
  }
  const own = { filesystems: { layout: 'imagefs' as const } }

  it.each<[string, Held, string]>([
    // Images count twice: unpacked and packed.
    ['6 GiB missing, 3 to be had', {}, 'fail'],
    ['as much as is missing', { podGib: [1, 3] }, 'pass'],
    ['a little less', { podGib: [1, 2.9] }, 'fail'],
    ['packed images of less', { imageGib: 3, podGib: [], more: sized(2.9) }, 'fail'],
    ['packed images of as much', { imageGib: 3, podGib: [], more: sized(3) }, 'pass'],
    [
      'more than the threshold, by the minimum reclaim',
      { podGib: [1, 3], minReclaim: '1Gi' },
      'fail',
    ],
    [
      'a minimum reclaim of the whole disk is said elsewhere',
      { podGib: [1, 3], minReclaim: '95Gi' },
      'pass',
    ],
    ['a pod without statistics', { podGib: [1, null] }, 'unknown'],
    ['no statistics of images', { imageGib: null }, 'unknown'],
    ['no layout', { more: { filesystems: { layout: null } } }, 'unknown'],
    ['logs of dead containers', { podGib: [1, 1.9], more: dead }, 'pass'],
    [
      'logs of dead containers without a limit',
      { more: { ...dead, configuration: { containerLogMaxSize: '-1' } } },
      'unknown',
    ],
    ['not met, and nothing to free beyond', { availableGib: 10 }, 'pass'],
    ['not met, but it could not be ended', { availableGib: 12, minReclaim: '10Gi' }, 'fail'],
    ['not met, and it could', { availableGib: 12, minReclaim: '5Gi' }, 'pass'],
    [
      'not met, a pod without statistics',
      { availableGib: 12, minReclaim: '10Gi', podGib: [null] },
      'pass',
    ],
    ['nodefs of its own: images do not help', { imageGib: 50, more: own }, 'fail'],
    [
      'the disk of images: they do',
      { imageGib: 50, signal: 'imagefs.available', more: own },
      'pass',
    ],
    ['memory', { signal: 'memory.available' }, 'pass'],
  ])('%s: %3$s', (_, held, expected) => {
    expect(state(uselessEviction, node(held))).toBe(expected)
  })

  it('is unknown where nothing is observed, or pods are not known', () => {
    expect(
      state(uselessEviction, { thresholds: [{ ...hard('nodefs.available', 10), ...unresolved }] }),
    ).toBe('unknown')
    const { eviction, ...rest } = node({})
    expect(state(uselessEviction, { ...rest, eviction: { ...eviction, rankings: null } })).toBe(
      'unknown',
    )
  })

  it('does not count pods that are never evicted, and says what something else holds', () => {
    const { eviction, ...rest } = node({ podGib: [1, 9] })
    const spared = {
      ...rest,
      eviction: {
        ...eviction,
        protected: [{ namespace: 'shop', name: 'p1', reason: 'static' as const }],
      },
    }
    expect(failingOf(uselessEviction, spared)).toMatchObject({
      severity: 'high',
      confidence: 'likely',
    })
    expect(failingOf(uselessEviction, { ...spared, held: {} }).confidence).toBe('certain')
    // 100 − 4 available − 2 of images − 1 of the pod.
    expect(shownValue(uselessEviction, spared, 'held by something else, at least')).toBe('93.0 GiB')
    expect(
      failingOf(uselessEviction, node({ availableGib: 12, minReclaim: '10Gi' })).severity,
    ).toBe('medium')
  })

  const openBy = (pod: string | null, gib: number): HolderPart => ({
    ...{ holder: 'deleted-open-files', filesystem: 'nodefs', inodes: null, place: null },
    ...{ lowBytes: gib * gibibyte, highBytes: gib * gibibyte },
    owner: { kind: 'process', command: 'dockerd', pid: 9, namespace: pod && 'shop', pod },
  })
  it.each([
    ['a pod that may be evicted', [openBy('p0', 20)], 'pass'],
    ['a process of the host', [openBy(null, 20)], 'fail'],
    ['a pod that stays', [openBy('other', 20)], 'fail'],
    ['processes that are not listed', [openBy(null, 10)], 'pass'],
  ] as const)('counts deleted files that %s holds open: %3$s', (_, parts, expected) => {
    const held = { 'deleted-open-files': 20 }
    const ofPods = { parts: [...parts], namespaces: [] }
    expect(state(uselessEviction, { ...node({}), held, ofPods })).toBe(expected)
  })

  it('does not call deleted files zero that nothing read', () => {
    const open = 'deleted files that these pods hold open, at most'
    expect(shownValue(uselessEviction, node({}), open)).toBe('unknown')
    expect(shownValue(uselessEviction, { ...node({}), held: {} }, open)).toBe('0 bytes')
  })

  it('says one disk once', () => {
    const { thresholds, eviction, ...rest } = node({})
    const signals = {
      ...eviction.signals,
      'imagefs.available': {
        availableBytes: 4 * gibibyte,
        capacityBytes: 100 * gibibyte,
        time: null,
      },
    }
    const rankings: Ranking[] = [
      ...(eviction.rankings ?? []),
      { signal: 'imagefs.available' as const, pods: [] },
    ]
    const twice = {
      ...rest,
      thresholds: [...thresholds, hard('imagefs.available', 15, 4)],
      eviction: { signals, rankings },
    }
    const named = failingOf(uselessEviction, twice).evidence.filter(
      ({ what }) => what === 'capacity',
    )
    expect(named).toHaveLength(1)
    expect(failingOf(uselessEviction, twice).consequence).toMatchSnapshot()
  })
})

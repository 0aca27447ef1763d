/** Boundaries of the rules about a disk that fills, and of what could still be given back. */
import { describe, expect, it } from 'vitest'
import { outcomeOf } from '#judge/outcome.ts'
import type { NodeRule } from '#judge/rule.ts'
import { graceLongerThanFillTime } from '#judge/rules/eviction/grace-longer-than-fill-time.ts'
import { uselessEviction } from '#judge/rules/eviction/useless-eviction.ts'
import { zeroMinReclaimThrash } from '#judge/rules/eviction/zero-min-reclaim-thrash.ts'
import { imageGcNeverFirst } from '#judge/rules/image-gc/image-gc-never-first.ts'
import { defaultPolicy } from '#model/policy.ts'
import type {
  EvaluatedThreshold,
  FilesystemState,
  RankedPod,
  Ranking,
  Signal,
} from '#model/prediction.ts'
import { exampleSubject, hard, type NodeExample, soft } from '#test/example.ts'

const GiB = 1024 ** 3
const judge = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeOf(rule, exampleSubject(example), policy)
const state = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state
const failingOf = (rule: NodeRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}
const shownValue = (rule: NodeRule, example: NodeExample, what: string) =>
  failingOf(rule, example).evidence.find(entry => entry.what === what)?.value

const ranked = (name: string, rank: number, usage: number | null): RankedPod => ({
  namespace: 'shop',
  name,
  rank,
  qos: 'BestEffort',
  priority: 0,
  usage,
  request: 0,
  reason: 'uses more than it requests',
})
const unobserved = { resolved: null, margin: null, met: null }

describe('image-gc-never-first', () => {
  const filesystem = (availableGib: number, inodesFree = 900): FilesystemState => ({
    capacityBytes: 100 * GiB,
    availableBytes: availableGib * GiB,
    usedPercent: 100 - availableGib,
    inodes: 1_000,
    inodesFree,
  })
  const inodes = (signal: Signal, free: number): EvaluatedThreshold => ({
    ...hard(signal, 0),
    value: '5%',
    resolved: 50,
    margin: free - 50,
    met: free < 50,
  })
  const own = (availableGib: number, ...thresholds: EvaluatedThreshold[]): NodeExample => ({
    filesystems: { layout: 'imagefs', nodefs: filesystem(availableGib) },
    thresholds: thresholds.length > 0 ? thresholds : [hard('nodefs.available', 10, availableGib)],
  })
  const oneDisk = (free: number, imageGC: NodeExample['imageGC'] = {}): NodeExample => ({
    filesystems: { layout: 'shared', nodefs: filesystem(60, free), imagefs: filesystem(60, free) },
    thresholds: [inodes('nodefs.inodesFree', free)],
    imageGC,
  })

  it.each<[string, NodeExample, string]>([
    ['nodefs of its own at the alert', own(20), 'fail'],
    ['just below it', own(20.1), 'pass'],
    ['split', { ...own(20), filesystems: { layout: 'split', nodefs: filesystem(20) } }, 'fail'],
    [
      'one disk: image GC looks at it',
      { ...own(20), filesystems: { layout: 'shared', nodefs: filesystem(20) } },
      'pass',
    ],
    [
      'no layout known',
      { ...own(20), filesystems: { layout: null, nodefs: filesystem(20) } },
      'unknown',
    ],
    [
      'no layout known, half empty',
      { ...own(50), filesystems: { layout: null, nodefs: filesystem(50) } },
      'pass',
    ],
    ['met: eviction is due', own(9), 'pass'],
    ['at the threshold', own(10), 'fail'],
    ['nothing watches', own(20, hard('memory.available', 1)), 'pass'],
    [
      'a soft one met, the hard one not yet',
      own(12, hard('nodefs.available', 10, 12), soft('nodefs.available', 15, 60_000, 12)),
      'pass',
    ],
    ['not observed', { ...own(20, { ...hard('nodefs.available', 10), ...unobserved }) }, 'unknown'],
    ['inodes of one disk', oneDisk(200), 'fail'],
    ['one inode more', oneDisk(201), 'pass'],
    [
      'inodes of one disk, where image GC is due for bytes',
      oneDisk(200, { triggered: true }),
      'pass',
    ],
    [
      'inodes of images',
      {
        filesystems: { layout: 'imagefs', imagefs: filesystem(60, 100) },
        thresholds: [inodes('imagefs.inodesFree', 100)],
      },
      'fail',
    ],
    [
      'a filesystem that counts none',
      {
        ...own(60, inodes('nodefs.inodesFree', 500)),
        filesystems: { nodefs: { ...filesystem(60), inodes: 0 } },
      },
      'pass',
    ],
    ['Amazon Linux', {}, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(imageGcNeverFirst, node)).toBe(expected)
  })

  it('says how far and how long it is, and whom eviction takes', () => {
    const pods = [
      ranked('dns', 0, 5),
      ranked('web-0', 1, 4),
      ranked('web-1', 2, 3),
      ranked('web-2', 3, 2),
      ranked('web-3', 4, 1),
    ]
    const node: NodeExample = {
      ...own(20),
      eviction: {
        rankings: [{ signal: 'nodefs.available', pods }],
        protected: [{ namespace: 'shop', name: 'dns', reason: 'critical' }],
      },
    }
    expect(failingOf(imageGcNeverFirst, node).consequence).toMatchSnapshot()
    expect(shownValue(imageGcNeverFirst, oneDisk(200), 'nodefs.inodesFree margin')).toBe('150')
    expect(shownValue(imageGcNeverFirst, oneDisk(200), 'met at the assumed growth in')).toBe(
      '37.5 min',
    )
    expect(shownValue(imageGcNeverFirst, oneDisk(200), 'collected before pods are evicted')).toBe(
      'containers, images',
    )
  })

  it('takes the alert from the policy, and does without a growth', () => {
    expect(state(imageGcNeverFirst, own(30), { ...defaultPolicy, alertPercent: 70 })).toBe('fail')
    expect(state(imageGcNeverFirst, own(20), { ...defaultPolicy, assumedGrowthPercent: 0 })).toBe(
      'fail',
    )
  })
})

describe('grace-longer-than-fill-time', () => {
  /** 2 % in 5 min: 2 GiB of 100 in 300 s. */
  const graced = (seconds: number, ...others: EvaluatedThreshold[]): NodeExample => ({
    thresholds: [soft('nodefs.available', 12, seconds * 1000), ...others],
  })
  const hardOne = hard('nodefs.available', 10)

  it.each<[string, NodeExample, string]>([
    ['exactly as long', graced(300, hardOne), 'pass'],
    ['longer', graced(301, hardOne), 'fail'],
    ['without a hard one it may fill the disk', graced(1800), 'pass'],
    ['longer than that', graced(1801), 'fail'],
    ['the hard one of images on the same disk', graced(301, hard('imagefs.available', 10)), 'fail'],
    [
      'on another disk',
      { ...graced(301, hard('imagefs.available', 10)), filesystems: { layout: 'imagefs' } },
      'pass',
    ],
    [
      'on a disk of which it is not known',
      { ...graced(301, hard('imagefs.available', 10)), filesystems: { layout: null } },
      'unknown',
    ],
    ['a hard one that is off', graced(1800, hard('nodefs.available', 0)), 'pass'],
    ['below the hard one: never reached', graced(9999, hard('nodefs.available', 12)), 'pass'],
    ['the hard one not known', graced(301, { ...hardOne, resolved: null }), 'unknown'],
    [
      'memory',
      { thresholds: [soft('memory.available', 2, 9_999_000), hard('memory.available', 1)] },
      'pass',
    ],
    ['hard only', { thresholds: [hardOne] }, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(graceLongerThanFillTime, node)).toBe(expected)
  })

  it('takes no byte that float32 makes of a percentage for a second', () => {
    const between =
      Math.trunc(100 * GiB * Math.fround(Math.fround(15) / 100)) -
      Math.trunc(100 * GiB * Math.fround(Math.fround(10) / 100))
    expect(between).not.toBe(5 * GiB)
    const written = (threshold: EvaluatedThreshold, percentage: number) => ({
      ...threshold,
      value: `${percentage}%`,
      resolved: Math.trunc(100 * GiB * Math.fround(Math.fround(percentage) / 100)),
    })
    const node = (ms: number) => ({
      thresholds: [written(soft('nodefs.available', 15, ms), 15), written(hardOne, 10)],
    })
    expect(state(graceLongerThanFillTime, node(750_000))).toBe('pass')
    expect(state(graceLongerThanFillTime, node(750_100))).toBe('fail')
  })

  it('proposes at most half of the time, beside what is there', () => {
    const configuration = {
      evictionSoftGracePeriod: { 'memory.available': '1m', 'nodefs.available': '10m' },
      evictionMaxPodGracePeriod: 45,
    }
    const failing = failingOf(graceLongerThanFillTime, { ...graced(600, hardOne), configuration })
    expect(failing.fix?.config).toEqual({
      evictionSoftGracePeriod: { 'memory.available': '1m', 'nodefs.available': '120s' },
    })
    expect(failing.consequence).toMatchSnapshot()
    const narrow = { thresholds: [soft('nodefs.available', 10.1, 60_000), hardOne] }
    expect(failingOf(graceLongerThanFillTime, narrow).fix).toBeUndefined()
  })

  it('never fires where nothing is taken to grow', () => {
    expect(
      state(graceLongerThanFillTime, graced(99_999, hardOne), {
        ...defaultPolicy,
        assumedGrowthPercent: 0,
      }),
    ).toBe('pass')
  })
})

describe('zero-min-reclaim-thrash, in the transition period', () => {
  const pressure = { DiskPressure: 'True' }
  const left = (gib: number, more: Partial<EvaluatedThreshold> = {}): NodeExample => ({
    conditions: pressure,
    thresholds: [{ ...hard('nodefs.available', 10, 10 + gib), ...more }],
    eviction: {
      signals: {
        'nodefs.available': {
          availableBytes: (10 + gib) * GiB,
          capacityBytes: 100 * GiB,
          time: null,
        },
      },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['less than the growth of one period', left(1.99), 'fail'],
    ['as much', left(2), 'pass'],
    [
      'twice the period',
      { ...left(3.99), configuration: { evictionPressureTransitionPeriod: '10m' } },
      'fail',
    ],
    ['a minimum reclaim', left(1, { minReclaim: '5Gi' }), 'pass'],
    ['no pressure', { ...left(1), conditions: {} }, 'pass'],
    ['pressure that is not known', { ...left(1), conditions: { DiskPressure: 'Unknown' } }, 'pass'],
    ['no capacity', { ...left(1), eviction: { signals: {} } }, 'unknown'],
    [
      'no duration',
      { ...left(1), configuration: { evictionPressureTransitionPeriod: 'soon' } },
      'unknown',
    ],
    [
      'pressure of another one that is met',
      {
        ...left(1),
        thresholds: [
          hard('nodefs.available', 10, 11),
          { ...hard('imagefs.available', 15, 11), minReclaim: '1Gi' },
        ],
      },
      'pass',
    ],
  ])('%s: %s', (_, node, expected) => {
    expect(state(zeroMinReclaimThrash, node)).toBe(expected)
  })

  it('counts inodes by the same share', () => {
    const inodes = (margin: number): NodeExample => ({
      conditions: pressure,
      thresholds: [
        { ...hard('nodefs.inodesFree', 0), value: '5%', resolved: 50, margin, met: false },
      ],
      eviction: {
        signals: {
          'nodefs.inodesFree': { availableBytes: 50 + margin, capacityBytes: 1_000, time: null },
        },
      },
    })
    expect(failingOf(zeroMinReclaimThrash, inodes(19)).fix?.config).toEqual({
      evictionMinimumReclaim: { 'nodefs.inodesFree': '5%' },
    })
    expect(state(zeroMinReclaimThrash, inodes(20))).toBe('pass')
  })
})

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
        [signal]: { availableBytes: availableGib * GiB, capacityBytes: 100 * GiB, time: null },
      },
      rankings: [
        {
          signal,
          pods: podGib.map((gib, rank) =>
            ranked(`p${rank}`, rank, gib === null ? null : gib * GiB),
          ),
        },
      ],
    },
    summary: {
      node: { runtime: imageGib === null ? {} : { imageFs: { usedBytes: imageGib * GiB } } },
    },
    ...more,
  })
  const sized = (gib: number) => ({
    runtime: { images: [{ id: 'sha256:1', size: String(gib * GiB) }] },
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
      state(uselessEviction, { thresholds: [{ ...hard('nodefs.available', 10), ...unobserved }] }),
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
      confidence: 'certain',
    })
    // 100 − 4 available − 2 of images − 1 of the pod.
    expect(shownValue(uselessEviction, spared, 'held by something else, at least')).toBe(
      `${93 * GiB} bytes (93.0 GiB)`,
    )
    expect(
      failingOf(uselessEviction, node({ availableGib: 12, minReclaim: '10Gi' })).severity,
    ).toBe('medium')
  })

  it('says one disk once', () => {
    const { thresholds, eviction, ...rest } = node({})
    const signals = {
      ...eviction.signals,
      'imagefs.available': { availableBytes: 4 * GiB, capacityBytes: 100 * GiB, time: null },
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

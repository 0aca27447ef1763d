/** Boundaries of the rules about how eviction is set, and whom it meets. */
import { describe, expect, it } from 'vitest'
import { Cohorts } from '#judge/cohorts.ts'
import { outcomeOf } from '#judge/outcome.ts'
import type { CohortRule, NodeRule } from '#judge/rule.ts'
import { absoluteThresholdOnMixedDisks } from '#judge/rules/eviction/absolute-threshold-on-mixed-disks.ts'
import { criticalPodAmongFirstVictims } from '#judge/rules/eviction/critical-pod-among-first-victims.ts'
import { localStorageLimitExceeded } from '#judge/rules/eviction/local-storage-limit-exceeded.ts'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { memoryThresholdTooSmall } from '#judge/rules/eviction/memory-threshold-too-small.ts'
import { podsWithoutEphemeralRequestsFirst } from '#judge/rules/eviction/pods-without-ephemeral-requests-first.ts'
import { shortTransitionPeriod } from '#judge/rules/eviction/short-transition-period.ts'
import { softThresholdWithoutGrace } from '#judge/rules/eviction/soft-threshold-without-grace.ts'
import { unreachableMinReclaim } from '#judge/rules/eviction/unreachable-min-reclaim.ts'
import { unreachableSoftThreshold } from '#judge/rules/eviction/unreachable-soft-threshold.ts'
import { unwatchedInodes } from '#judge/rules/eviction/unwatched-inodes.ts'
import { unwatchedPids } from '#judge/rules/eviction/unwatched-pids.ts'
import { zeroMinReclaimThrash } from '#judge/rules/eviction/zero-min-reclaim-thrash.ts'
import { amountOf } from '#judge/values.ts'
import { defaultPolicy } from '#model/policy.ts'
import type { Signal } from '#model/prediction.ts'
import { exampleSubject, hard, type NodeExample, soft } from '#test/example.ts'

const gibibyte = 1024 ** 3
const judge = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  outcomeOf(rule, exampleSubject(example), policy)
const state = (rule: NodeRule, example: NodeExample, policy = defaultPolicy) =>
  judge(rule, example, policy).state
const failingOf = (rule: NodeRule, example: NodeExample) => {
  const outcome = judge(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${outcome.state}`)
  return outcome.failing
}
const unresolved = { resolved: null, met: null, margin: null }

describe('what a hard eviction leaves a pod', () => {
  const noGrace = {
    evictionSoft: { 'nodefs.available': '15Gi' },
    evictionSoftGracePeriod: { 'nodefs.available': '0s' },
  }
  const acting: [NodeRule, NodeExample][] = [
    [
      softThresholdWithoutGrace,
      { configuration: noGrace, thresholds: [hard('nodefs.available', 15)] },
    ],
    [
      unreachableSoftThreshold,
      { thresholds: [hard('nodefs.available', 15), soft('nodefs.available', 10, 60_000)] },
    ],
  ]

  it.each(acting.map(([rule, example]) => ({ id: rule.id, rule, example })))(
    'is its own grace period before 1.31: $id',
    ({ rule, example }) => {
      const on = (kubeletVersion: string) =>
        failingOf(rule, { ...example, identity: { kubeletVersion } }).consequence
      expect(on('v1.30.14')).toContain('with its own terminationGracePeriodSeconds')
      expect(on('v1.30.14')).not.toContain('at once')
      expect(on('v1.31.0')).toContain('at once')
      expect(on('v1.31.0')).not.toContain('terminationGracePeriodSeconds')
    },
  )
})

describe('unreachable-soft-threshold', () => {
  const signal = 'nodefs.available'

  it.each([
    ['soft below hard', [hard(signal, 15), soft(signal, 10, 60_000)], 'fail'],
    ['equal', [hard(signal, 10), soft(signal, 10, 60_000)], 'fail'],
    [
      'one byte above',
      [
        hard(signal, 10),
        { ...soft(signal, 10, 60_000), value: '11Gi', resolved: 10 * gibibyte + 1 },
      ],
      'pass',
    ],
    ['another signal', [hard('imagefs.available', 15), soft(signal, 10, 60_000)], 'pass'],
    ['a hard one that is off', [hard(signal, 0), soft(signal, 10, 60_000)], 'pass'],
    [
      'bytes not known',
      [hard(signal, 15), { ...soft(signal, 10, 60_000), ...unresolved }],
      'unknown',
    ],
    [
      'bytes not known, but written alike',
      [
        { ...hard(signal, 10), ...unresolved },
        { ...soft(signal, 10, 1), ...unresolved },
      ],
      'fail',
    ],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(unreachableSoftThreshold, { thresholds: [...thresholds] })).toBe(expected)
  })

  it('does not speak of containerfs, which follows another', () => {
    const thresholds = [
      hard(signal, 10),
      soft(signal, 5, 60_000),
      hard('containerfs.available', 10),
      soft('containerfs.available', 5, 60_000),
    ]
    const { consequence } = failingOf(unreachableSoftThreshold, { thresholds })
    expect(consequence).toContain('nodefs.available')
    expect(consequence).not.toContain('containerfs')
  })
})

describe('soft-threshold-without-grace', () => {
  const example = (grace: string): NodeExample => ({
    configuration: {
      evictionSoft: { 'nodefs.available': '15Gi' },
      evictionSoftGracePeriod: { 'nodefs.available': grace, other: '1m' },
    },
    thresholds: [
      hard('nodefs.available', 10),
      grace === '1ms' ? soft('nodefs.available', 15, 1) : hard('nodefs.available', 15),
    ],
  })

  it('fails at exactly 0, however written', () => {
    expect(state(softThresholdWithoutGrace, example('0s'))).toBe('fail')
    expect(state(softThresholdWithoutGrace, example('0'))).toBe('fail')
    expect(state(softThresholdWithoutGrace, example('1ms'))).toBe('pass')
  })

  it('says so once, and keeps the other grace periods', () => {
    const failing = failingOf(softThresholdWithoutGrace, example('0s'))
    expect(failing.evidence).toHaveLength(2)
    expect(failing.fix?.config).toEqual({
      evictionSoftGracePeriod: { 'nodefs.available': '90s', other: '1m' },
    })
  })
})

describe('short-transition-period', () => {
  it.each([
    [undefined, 'pass', ''],
    ['5m0s', 'pass', ''],
    ['4m59s', 'fail', 'low'],
    ['1m', 'fail', 'low'],
    ['59s', 'fail', 'medium'],
    ['10s', 'fail', 'high'],
    ['0s', 'fail', 'high'],
    ['soon', 'unknown', ''],
  ] as const)('%s: %s %s', (evictionPressureTransitionPeriod, expected, severity) => {
    const outcome = judge(shortTransitionPeriod, {
      configuration: { evictionPressureTransitionPeriod },
    })
    expect(outcome.state).toBe(expected)
    if (outcome.state === 'fail') expect(outcome.failing.severity).toBe(severity)
  })

  it('says that without a period nothing is reported at all', () => {
    const { consequence } = failingOf(shortTransitionPeriod, {
      configuration: { evictionPressureTransitionPeriod: '0s' },
    })
    expect(consequence).toContain('without ever reporting')
  })
})

describe('unwatched-inodes', () => {
  const nodefs = hard('nodefs.inodesFree', 5)
  const imagefs = hard('imagefs.inodesFree', 5)
  const off = (signal: string) => ({ configuration: { evictionHard: { [signal]: '0%' } } })
  const uncounted = {
    capacityBytes: 1,
    availableBytes: 1,
    usedPercent: 0,
    inodes: 0,
    inodesFree: 0,
  }

  it.each<[string, NodeExample, string]>([
    ['one disk, nodefs watched', { thresholds: [nodefs] }, 'pass'],
    ['one disk, imagefs watched', { thresholds: [imagefs] }, 'pass'],
    ['switched off', { thresholds: [hard('nodefs.inodesFree', 0)] }, 'fail'],
    [
      'two disks, both watched',
      { thresholds: [nodefs, imagefs], filesystems: { layout: 'imagefs' } },
      'pass',
    ],
    [
      'two disks, one watched by default: a lost one is said elsewhere',
      { thresholds: [nodefs], filesystems: { layout: 'split' } },
      'pass',
    ],
    [
      'two disks, one switched off',
      { ...off('imagefs.inodesFree'), thresholds: [nodefs], filesystems: { layout: 'split' } },
      'fail',
    ],
    [
      'two disks, no default in that version',
      {
        identity: { kubeletVersion: 'v1.28.15' },
        thresholds: [nodefs],
        filesystems: { layout: 'split' },
      },
      'fail',
    ],
    ['no layout known', { thresholds: [nodefs], filesystems: { layout: null } }, 'unknown'],
    ['no layout and nothing watched', { thresholds: [], filesystems: { layout: null } }, 'fail'],
    [
      'a filesystem that counts none',
      { thresholds: [], filesystems: { nodefs: uncounted } },
      'pass',
    ],
    ['inodes not known', { thresholds: [], filesystems: { nodefs: null } }, 'unknown'],
  ])('%s: %s', (_, example, expected) => {
    expect(state(unwatchedInodes, example)).toBe(expected)
  })
})

describe('one disk of which one signal was switched off', () => {
  const off: NodeExample = {
    configuration: {
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '0%',
      },
    },
    thresholds: [hard('memory.available', 1), hard('nodefs.available', 10)],
  }

  it('is one cause, said once, with one fix', () => {
    expect(state(unwatchedInodes, off)).toBe('fail')
    expect(state(lostDefaultThreshold, off)).toBe('pass')
    expect(state(lostDefaultThreshold, { ...off, filesystems: { layout: 'imagefs' } })).toBe('fail')
  })
})

describe('unwatched-pids', () => {
  const left = (available: number): NodeExample => ({
    eviction: {
      signals: { 'pid.available': { availableBytes: available, capacityBytes: 1000, time: null } },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['a fifth left', left(200), 'pass'],
    ['less', left(199), 'fail'],
    ['less, but watched', { ...left(199), thresholds: [hard('pid.available', 1)] }, 'pass'],
    ['not observed', {}, 'unknown'],
  ])('%s: %s', (_, example, expected) => {
    expect(state(unwatchedPids, example)).toBe(expected)
  })
})

describe('zero-min-reclaim-thrash', () => {
  const met = hard('nodefs.available', 10, 9)

  it.each([
    ['met, no reclaim', [met], 'fail'],
    ['met, a reclaim of nothing', [{ ...met, minReclaim: '0Mi' }], 'fail'],
    ['met, a reclaim', [{ ...met, minReclaim: '1' }], 'pass'],
    ['met, a percentage', [{ ...met, minReclaim: '1%' }], 'pass'],
    ['exactly at the threshold', [hard('nodefs.available', 10, 10)], 'pass'],
    ['memory', [hard('memory.available', 10, 9)], 'pass'],
    ['not observed', [{ ...met, ...unresolved }], 'unknown'],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(zeroMinReclaimThrash, { thresholds: [...thresholds] })).toBe(expected)
  })
})

describe('unreachable-min-reclaim', () => {
  const percentages = (value: string, minReclaim: string): NodeExample => ({
    ...example(minReclaim),
    thresholds: [
      {
        ...hard('nodefs.available', 10),
        value,
        resolved: amountOf(value, 100 * gibibyte),
        minReclaim,
      },
    ],
  })
  const example = (minReclaim: string, capacity: number | null = 100): NodeExample => ({
    configuration: { evictionMinimumReclaim: { 'nodefs.available': minReclaim } },
    thresholds: [{ ...hard('nodefs.available', 10), minReclaim }],
    eviction: {
      signals:
        capacity === null
          ? {}
          : {
              'nodefs.available': {
                availableBytes: 1,
                capacityBytes: capacity * gibibyte,
                time: null,
              },
            },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['all of it', example('90Gi'), 'fail'],
    ['one byte less', example(String(90 * gibibyte - 1)), 'pass'],
    ['a percentage', example('95%'), 'fail'],
    ['a small one', example('5%'), 'pass'],
    [
      'all of it, in two percentages that float32 makes a little less',
      percentages('10%', '90%'),
      'fail',
    ],
    ['one percent less', percentages('10%', '89%'), 'pass'],
    ['capacity not known', example('5Gi', null), 'unknown'],
    ['nothing set', {}, 'pass'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(unreachableMinReclaim, node)).toBe(expected)
  })
})

describe('local-storage-limit-exceeded', () => {
  const over = (name: string) =>
    ({ namespace: 'shop', name, limit: 'pod', what: name, usedBytes: 3, limitBytes: 2 }) as const

  it('counts the others, and shows no more than ten', () => {
    const failing = failingOf(localStorageLimitExceeded, {
      localStorageEvictions: Array.from({ length: 12 }, (_, at) => over(`cart-${at}`)),
    })
    expect(failing.consequence).toMatchSnapshot()
    expect(failing.evidence).toHaveLength(10)
  })
})

describe('critical-pod-among-first-victims', () => {
  const pod = (namespace: string, name: string, kind: string) => ({
    metadata: { namespace, name, ownerReferences: [{ kind, name: 'owner' }] },
  })
  const place = (namespace: string, name: string, rank: number) =>
    ({
      namespace,
      name,
      rank,
      qos: 'BestEffort',
      priority: 0,
      usage: 1,
      request: 0,
      reason: 'uses more than it requests',
    }) as const
  const example = (rank: number, others: readonly number[], kind = 'DaemonSet'): NodeExample => ({
    pods: [pod('kube-system', 'cni', kind)],
    eviction: {
      rankings: [
        {
          signal: 'memory.available',
          pods: [
            ...others.map((at, index) => place('shop', `p${index}`, at)),
            place('kube-system', 'cni', rank),
          ],
        },
      ],
    },
  })

  it.each<[string, NodeExample, string]>([
    ['third', example(2, [0, 1]), 'fail'],
    ['fourth', example(3, [0, 1, 2]), 'pass'],
    ['of a Deployment', example(0, [], 'ReplicaSet'), 'pass'],
    ['no statistics', { ...example(5, []), eviction: { victims: null } }, 'unknown'],
  ])('%s: %s', (_, node, expected) => {
    expect(state(criticalPodAmongFirstVictims, node)).toBe(expected)
  })

  it('is only possible where it can come out later among equals', () => {
    expect(failingOf(criticalPodAmongFirstVictims, example(0, [0, 0])).confidence).toBe('certain')
    expect(failingOf(criticalPodAmongFirstVictims, example(0, [0, 0, 0])).confidence).toBe(
      'possible',
    )
  })

  it('says a pod once for all signals that rank alike, and derived ones not at all', () => {
    const pods = example(0, []).eviction?.rankings?.[0]?.pods ?? []
    const rankings = (...signals: Signal[]) => signals.map(signal => ({ signal, pods: [...pods] }))
    const told = (...signals: Signal[]) =>
      failingOf(criticalPodAmongFirstVictims, {
        ...example(0, []),
        eviction: { rankings: rankings(...signals) },
      })
    const derived = [
      'allocatableMemory.available',
      'containerfs.available',
      'containerfs.inodesFree',
    ] as const
    const { consequence, evidence } = told(
      'memory.available',
      'nodefs.available',
      'nodefs.inodesFree',
      ...derived,
    )
    expect(consequence).toMatchSnapshot()
    expect(evidence).toHaveLength(2)
    expect(told('containerfs.available').consequence).toContain('containerfs.available')
    expect(told('nodefs.available', 'imagefs.available').consequence).toContain(
      'of nodefs.available pod',
    )
  })

  it('gives no place to one among equals', () => {
    const told = (...others: number[]) =>
      failingOf(criticalPodAmongFirstVictims, example(0, others)).consequence
    expect(told()).toMatchSnapshot()
    expect(told(0, 0)).toMatchSnapshot()
    expect(told(0, 0, 0)).toMatchSnapshot()
  })

  it('does not count those whom upstream spares', () => {
    const node = example(3, [0, 1, 2])
    const spared = [{ namespace: 'shop', name: 'p0', reason: 'static' }] as const
    expect(
      state(criticalPodAmongFirstVictims, {
        ...node,
        eviction: { ...node.eviction, protected: [...spared] },
      }),
    ).toBe('fail')
  })

  it('asks the policy for more names', () => {
    const policy = { ...defaultPolicy, criticalPods: ['kube-system/cn*'] }
    expect(state(criticalPodAmongFirstVictims, example(0, [], 'ReplicaSet'), policy)).toBe('fail')
  })

  it('needs no order of eviction where every pod that matters is safe', () => {
    const node = example(0, [])
    const safe = [
      {
        namespace: 'kube-system',
        name: node.pods?.[0]?.metadata?.name ?? '',
        reason: 'critical' as const,
      },
    ]
    const unranked = { rankings: null, victims: null }
    expect(state(criticalPodAmongFirstVictims, { ...node, eviction: unranked })).toBe('unknown')
    expect(
      state(criticalPodAmongFirstVictims, { ...node, eviction: { ...unranked, protected: safe } }),
    ).toBe('pass')
  })
})

describe('memory-threshold-too-small', () => {
  const memory = (resolved: number | null) => ({
    ...hard('memory.available', 1),
    value: 'x',
    resolved,
  })
  const mebibyte = 1024 ** 2

  it.each([
    ['the default', [memory(100 * mebibyte)], 'pass'],
    ['one byte less', [memory(100 * mebibyte - 1)], 'fail'],
    [
      'a larger one beside it',
      [memory(50 * mebibyte), soft('memory.available', 1, 60_000)],
      'pass',
    ],
    ['off, which is another rule’s', [memory(0)], 'pass'],
    ['bytes not known', [memory(null)], 'unknown'],
    ['one known, one not', [memory(50 * mebibyte), memory(null)], 'unknown'],
  ] as const)('%s: %s', (_, thresholds, expected) => {
    expect(state(memoryThresholdTooSmall, { thresholds: [...thresholds] })).toBe(expected)
  })
})

describe('absolute-threshold-on-mixed-disks', () => {
  const node = (bytes: number, value = '10Gi'): NodeExample => ({
    configuration: { evictionHard: { 'nodefs.available': value } },
    filesystems: {
      nodefs: { capacityBytes: bytes, availableBytes: 0, usedPercent: 0, inodes: 1, inodesFree: 1 },
    },
  })
  const states = (rule: CohortRule, ...examples: NodeExample[]) => {
    const cohorts = new Cohorts(rule)
    examples.forEach((example, index) => {
      cohorts.take(exampleSubject(example, `node-${index}`))
    })
    return [...cohorts.outcomes(defaultPolicy)].map(({ outcome }) => outcome.state)
  }
  const rule = absoluteThresholdOnMixedDisks as CohortRule

  it('counts from twice the size on', () => {
    expect(states(rule, node(50 * gibibyte), node(100 * gibibyte))).toEqual(['fail', 'fail'])
    expect(states(rule, node(50 * gibibyte + 1), node(100 * gibibyte))).toEqual(['pass', 'pass'])
  })

  it('tells of hard and soft thresholds, both', () => {
    const both = (bytes: number): NodeExample => ({
      ...node(bytes, '5Gi'),
      configuration: {
        evictionHard: { 'nodefs.available': '5Gi' },
        evictionSoft: { 'nodefs.available': '8Gi' },
      },
    })
    const cohorts = new Cohorts(rule)
    ;[20, 100].forEach((gib, index) => {
      cohorts.take(exampleSubject(both(gib * gibibyte), `node-${index}`))
    })
    for (const { outcome } of cohorts.outcomes(defaultPolicy)) {
      if (outcome.state !== 'fail') throw new Error(outcome.state)
      expect(outcome.failing.consequence).toContain('5Gi is 25 %')
      expect(outcome.failing.consequence).toContain('8Gi is 40 %')
      expect(outcome.failing.evidence).toHaveLength(6)
    }
  })

  it('leaves percentages alone, and quantities that follow the size', () => {
    expect(states(rule, node(20 * gibibyte, '10%'), node(100 * gibibyte, '10%'))).toEqual([
      'pass',
      'pass',
    ])
    expect(states(rule, node(20 * gibibyte, '2Gi'), node(100 * gibibyte, '10Gi'))).toEqual([
      'pass',
      'pass',
    ])
  })
})

describe('pods-without-ephemeral-requests-first', () => {
  const place = (name: string, rank: number, usage: number | null, request: number, priority = 0) =>
    ({
      namespace: 'shop',
      name,
      rank,
      qos: 'Burstable',
      priority,
      usage,
      request,
      reason: '',
    }) as const
  const ranked = (...pods: ReturnType<typeof place>[]): NodeExample => ({
    eviction: { rankings: [{ signal: 'nodefs.available', pods }] },
  })

  it.each<[string, NodeExample, string]>([
    ['one GiB more stays', ranked(place('a', 0, 1, 0), place('b', 1, gibibyte + 1, 1)), 'fail'],
    ['one byte less', ranked(place('a', 0, 1, 0), place('b', 1, gibibyte, 1)), 'pass'],
    [
      'the other requests nothing either',
      ranked(place('a', 0, 1, 0), place('b', 1, 9 * gibibyte, 0)),
      'pass',
    ],
    ['the first requests', ranked(place('a', 0, 1, 1), place('b', 1, 9 * gibibyte, 1)), 'pass'],
    ['priorities decide', ranked(place('a', 0, 1, 0), place('b', 1, 9 * gibibyte, 1, 1)), 'pass'],
    ['no order among them', ranked(place('a', 0, 1, 0), place('b', 0, 9 * gibibyte, 1)), 'pass'],
    [
      'no statistics of the first',
      ranked(place('a', 0, null, 0), place('b', 1, 9 * gibibyte, 1)),
      'pass',
    ],
    ['not known', { eviction: { victims: null } }, 'unknown'],
    [
      'one of the first equals requests',
      ranked(place('a', 0, 1, 0), place('c', 0, 2, 1), place('b', 1, 9 * gibibyte, 9)),
      'pass',
    ],
  ])('%s: %s', (_, example, expected) => {
    expect(state(podsWithoutEphemeralRequestsFirst, example)).toBe(expected)
  })

  it('names all that may be first, the same whatever their order', () => {
    const [a, b, c] = [
      place('a', 0, 5, 0),
      place('b', 0, 5, 0),
      place('c', 2, 9 * gibibyte, 10 * gibibyte),
    ]
    const failing = failingOf(podsWithoutEphemeralRequestsFirst, ranked(a, b, c))
    expect(failing.consequence).toMatchSnapshot()
    expect(failingOf(podsWithoutEphemeralRequestsFirst, ranked(b, a, c))).toEqual(failing)
  })
})

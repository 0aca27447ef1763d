import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type EvictionState,
  type Outcome,
  type Pass,
  startEviction,
  synchronize,
  synchronizeAlternatives,
} from '#replay/eviction/synchronize.ts'
import {
  diskLayoutOf,
  type EvictionConfiguration,
  makeSignalObservations,
  type Observations,
  parseEvictionConfig,
} from '#replay/eviction/thresholds.ts'
import { resourceOf } from '#replay/eviction/victims.ts'
import { kubeletOf } from '#replay/times.ts'
import { podOf, podStatsOf, summaryOf } from '#test/at-the-door.ts'
import {
  dedicated,
  diskStats,
  disksAt,
  GiB,
  limitedTo,
  MiB,
  manager,
  memoryAt,
  memoryStats,
  pod,
  requesting,
  second,
  shared,
  split,
  statsOf,
} from '#test/eviction-builder.ts'

const names = (outcome: Outcome) => outcome.evictions.map(eviction => eviction.pod.name)
const signals = (thresholds: Outcome['thresholdsMet']) => thresholds.map(({ signal }) => signal)

/** Pass after pass; each is told at which second, what it sees, and what else is special. */
function run(
  configuration: EvictionConfiguration,
  steps: [atSecond: number, observations: Observations | null, rest?: Partial<Pass>][],
  common: Partial<Pass> = {},
  version?: string,
): { outcomes: Outcome[]; state: EvictionState } {
  const begun = manager(configuration, version)
  let state = begun.state
  const outcomes = steps.map(([atSecond, observations, rest]) => {
    const result = synchronize(state, {
      ...begun.pass,
      ...common,
      nowMs: atSecond * 1000,
      observations,
      ...rest,
    })
    state = result.state
    return result.outcome
  })
  return { outcomes, state }
}

const enough = () => ({})
const pods = [pod('calm', requesting({ memory: '8Gi' })), pod('greedy')]
const podStats = statsOf({ calm: memoryStats(GiB), greedy: memoryStats(2 * GiB) })
const withPods = { pods, podStats }

const soft = (text: string, gracePeriod: string): EvictionConfiguration => ({
  evictionSoft: { 'memory.available': text },
  evictionSoftGracePeriod: { 'memory.available': gracePeriod },
})

describe('a pass', () => {
  it('that meets nothing does nothing', () => {
    const { outcomes, state } = run(
      { evictionHard: { 'memory.available': '1Gi' } },
      [[0, memoryAt(GiB, 0)]],
      withPods,
    )
    expect(outcomes).toEqual([
      {
        conditions: [],
        thresholdsMet: [],
        candidates: [],
        picked: null,
        reclaimed: [],
        isEnough: false,
        victims: [],
        evictions: [],
        error: null,
      },
    ])
    expect(state).toMatchObject({
      layout: shared,
      firstObserved: [],
      thresholdsMet: [],
      conditions: [],
      lastObservations: memoryAt(GiB, 0),
    })
  })

  it('evicts at once where a hard threshold is met', () => {
    const { outcomes } = run(
      { evictionHard: { 'memory.available': '1Gi' } },
      [[0, memoryAt(GiB - 1, 0)]],
      withPods,
    )
    expect(outcomes).toMatchObject([
      {
        conditions: ['MemoryPressure'],
        picked: { signal: 'memory.available' },
        reclaimed: [],
        isEnough: false,
        victims: [{ name: 'greedy' }],
        evictions: [
          {
            pod: { name: 'greedy' },
            signal: 'memory.available',
            exceeded: null,
            gracePeriodOverrideSeconds: 1,
            gracePeriodSeconds: 1,
            killTimeoutMs: 10_000,
          },
        ],
      },
    ])
  })

  it('without thresholds is over before it began, unless limits of storage are to be looked after', () => {
    const layout = null
    expect(
      run({ localStorageCapacityIsolation: false }, [[0, {}]], { layout }).outcomes[0]?.error,
    ).toBeNull()
    expect(run({}, [[0, {}]], { layout }).outcomes[0]?.error).toMatchSnapshot()
    expect(
      run(
        { evictionHard: { 'memory.available': '1' }, localStorageCapacityIsolation: false },
        [[0, {}]],
        { layout },
      ).outcomes[0]?.error,
    ).not.toBeNull()
  })

  it('evicts no pod where there is none, or only critical ones', () => {
    const critical = [
      pod('critical', { priority: 2_000_000_000 }),
      pod('static', {}, { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } }),
    ]
    const hard = { evictionHard: { 'memory.available': '1Gi' } }
    expect(run(hard, [[0, memoryAt(0, 0)]], { pods: [] }).outcomes[0]).toMatchObject({
      picked: { signal: 'memory.available' },
      evictions: [],
    })
    expect(run(hard, [[0, memoryAt(0, 0)]], { pods: critical }).outcomes[0]).toMatchObject({
      victims: [],
      evictions: [],
    })
    expect(
      names(
        run(hard, [[0, memoryAt(0, 0)]], { pods: [...critical, ...pods], podStats }).outcomes[0]!,
      ),
    ).toEqual(['greedy'])
  })

  it('trap 29: evicts one pod, and leaves the others to the next', () => {
    const { outcomes } = run(
      { evictionHard: { 'memory.available': '1Gi' } },
      [
        [0, memoryAt(0, 0)],
        [2, memoryAt(0, 2), { pods: pods.slice(0, 1) }],
      ],
      withPods,
    )
    expect(outcomes.map(names)).toEqual([['greedy'], ['calm']])
  })

  it('trap 23: names every pod that ranks like the first that may go', () => {
    const alike = [
      pod('critical', { priority: 2_000_000_000 }),
      pod('b'),
      pod('a'),
      pod('important', { priority: 1 }),
    ]
    const { outcomes } = run(
      { evictionHard: { 'memory.available': '1Gi' } },
      [[0, memoryAt(0, 0)]],
      { pods: alike },
    )
    expect(outcomes[0]?.victims.map(({ name }) => name)).toEqual(['b', 'a'])
    expect(names(outcomes[0]!)).toEqual(['b'])
  })

  it('of which the summary could not be had changes nothing', () => {
    const { outcomes, state } = run(
      { evictionHard: { 'memory.available': '1Gi' } },
      [
        [0, memoryAt(0, 0)],
        [10, null],
      ],
      withPods,
    )
    expect(outcomes[1]).toMatchObject({
      conditions: ['MemoryPressure'],
      evictions: [],
      candidates: [],
      error: null,
    })
    expect(signals(outcomes[1]!.thresholdsMet)).toEqual(['memory.available'])
    expect(state.lastObservations).toEqual(memoryAt(0, 0))
  })
})

describe('grace periods', () => {
  it('trap 19: hold an eviction back, but not the condition', () => {
    const { outcomes } = run(
      soft('1Gi', '30s'),
      [
        [0, memoryAt(0, 0)],
        [29, memoryAt(0, 29)],
        [30, memoryAt(0, 30)],
      ],
      withPods,
    )
    expect(outcomes.map(({ conditions }) => conditions)).toEqual([
      ['MemoryPressure'],
      ['MemoryPressure'],
      ['MemoryPressure'],
    ])
    expect(outcomes.map(names)).toEqual([[], [], ['greedy']])
    expect(outcomes.map(({ thresholdsMet }) => signals(thresholdsMet))).toEqual([
      [],
      [],
      ['memory.available'],
    ])
  })

  it('trap 19: of 0s make a soft threshold hard', () => {
    const { outcomes } = run(
      { ...soft('1Gi', '0s'), evictionMaxPodGracePeriod: 600 },
      [[0, memoryAt(0, 0)]],
      withPods,
    )
    expect(outcomes[0]?.evictions[0]?.gracePeriodOverrideSeconds).toBe(1)
  })

  it('begin anew after a single pass without the threshold', () => {
    const { outcomes } = run(
      soft('1Gi', '30s'),
      [
        [0, memoryAt(0, 0)],
        [20, memoryAt(2 * GiB, 20)],
        [30, memoryAt(0, 30)],
        [59, memoryAt(0, 59)],
        [60, memoryAt(0, 60)],
      ],
      withPods,
    )
    expect(outcomes.map(names)).toEqual([[], [], [], [], ['greedy']])
  })

  it('give the pod what `evictionMaxPodGracePeriod` allows', () => {
    const own = pod('own', { terminationGracePeriodSeconds: 20 })
    const grace = (version: string) =>
      run(
        { ...soft('1Gi', '1s'), evictionMaxPodGracePeriod: 60 },
        [
          [0, memoryAt(0, 0)],
          [9, memoryAt(0, 9)],
        ],
        { pods: [own] },
        version,
      ).outcomes[1]?.evictions[0]
    expect(grace('v1.31.14')).toMatchObject({
      gracePeriodOverrideSeconds: 60,
      gracePeriodSeconds: 60,
      killTimeoutMs: 90_000,
    })
    expect(grace('v1.32.0')).toMatchObject({
      gracePeriodOverrideSeconds: 20,
      gracePeriodSeconds: 20,
      killTimeoutMs: 30_000,
    })
  })
})

describe('conditions', () => {
  it('stay for the transition period after the last pass that met a threshold', () => {
    const { outcomes } = run(
      { evictionHard: { 'memory.available': '1Gi' }, evictionPressureTransitionPeriod: '1m' },
      [
        [0, memoryAt(0, 0)],
        [10, memoryAt(0, 10)],
        [69, memoryAt(2 * GiB, 69)],
        [70, memoryAt(2 * GiB, 70)],
      ],
    )
    expect(outcomes.map(({ conditions }) => conditions)).toEqual([
      ['MemoryPressure'],
      ['MemoryPressure'],
      ['MemoryPressure'],
      [],
    ])
  })

  it('are never reported with a period of 0, and pods go all the same', () => {
    const { outcomes } = run(
      { evictionHard: { 'memory.available': '1Gi' }, evictionPressureTransitionPeriod: '0s' },
      [[0, memoryAt(0, 0)]],
      withPods,
    )
    expect(outcomes[0]?.conditions).toEqual([])
    expect(names(outcomes[0]!)).toEqual(['greedy'])
  })

  it('stay for 5 minutes where nothing else is said', () => {
    const { outcomes } = run({ evictionHard: { 'memory.available': '1Gi' } }, [
      [0, memoryAt(0, 0)],
      [299, memoryAt(2 * GiB, 299)],
      [300, memoryAt(2 * GiB, 300)],
    ])
    expect(outcomes.map(({ conditions }) => conditions.length)).toEqual([1, 1, 0])
  })
})

describe('statistics that do not advance', () => {
  it('trap 22: hold back the eviction, but neither the condition nor the grace period', () => {
    const { outcomes } = run(
      soft('1Gi', '10s'),
      [
        [0, memoryAt(0, 0)],
        [10, memoryAt(0, 0)],
        [11, memoryAt(0, 1)],
      ],
      withPods,
    )
    expect(outcomes.map(names)).toEqual([[], [], ['greedy']])
    expect(outcomes.map(({ conditions }) => conditions.length)).toEqual([1, 1, 1])
    expect(outcomes.map(({ thresholdsMet }) => thresholdsMet.length)).toEqual([0, 1, 1])
  })

  it('trap 22: do not matter where they carry no time, or where the signal was not seen before', () => {
    const timeless: Observations = {
      'memory.available': { available: 0, capacity: GiB, time: null },
    }
    const hard = { evictionHard: { 'memory.available': '1Gi' } }
    expect(
      run(
        hard,
        [
          [0, timeless],
          [1, timeless],
        ],
        withPods,
      ).outcomes.map(names),
    ).toEqual([['greedy'], ['greedy']])
    expect(
      run(
        hard,
        [
          [0, {}],
          [1, memoryAt(0, 0)],
        ],
        withPods,
      ).outcomes.map(names),
    ).toEqual([[], ['greedy']])
  })
})

describe('minimum reclaim', () => {
  const hard = {
    evictionHard: { 'memory.available': '1Gi' },
    evictionMinimumReclaim: { 'memory.available': '1Gi' },
  }

  it('trap 20: keeps a threshold met that was acted on in the pass before, and no other', () => {
    const { outcomes } = run(
      hard,
      [
        [0, memoryAt(GiB, 0)],
        [1, memoryAt(GiB - 1, 1)],
        [2, memoryAt(2 * GiB - 1, 2)],
        [3, memoryAt(2 * GiB, 3)],
        [4, memoryAt(2 * GiB - 1, 4)],
      ],
      withPods,
    )
    expect(outcomes.map(({ thresholdsMet }) => thresholdsMet.length)).toEqual([0, 1, 1, 0, 0])
    expect(outcomes.map(names)).toEqual([[], ['greedy'], ['greedy'], [], []])
  })

  it('trap 20: does not keep a soft threshold met during its grace period', () => {
    const { outcomes } = run(
      { ...soft('1Gi', '30s'), evictionMinimumReclaim: { 'memory.available': '1Gi' } },
      [
        [0, memoryAt(0, 0)],
        [30, memoryAt(GiB, 30)],
        [40, memoryAt(0, 40)],
        [69, memoryAt(0, 69)],
        [70, memoryAt(0, 70)],
        [80, memoryAt(GiB, 80)],
      ],
    )
    expect(outcomes.map(({ thresholdsMet }) => thresholdsMet.length)).toEqual([0, 0, 0, 0, 1, 1])
  })

  it('reclaims in the field’s example until 500Mi, 1.5Gi and 102Gi are available', () => {
    const example = {
      evictionHard: {
        'memory.available': '500Mi',
        'nodefs.available': '1Gi',
        'imagefs.available': '100Gi',
      },
      evictionMinimumReclaim: {
        'memory.available': '0Mi',
        'nodefs.available': '500Mi',
        'imagefs.available': '2Gi',
      },
    }
    const lasts = (
      signal: 'memory.available' | 'nodefs.available' | 'imagefs.available',
      available: number,
      index: number,
    ) =>
      run(
        example,
        [
          [0, { [signal]: { available: 0, capacity: 200 * GiB, time: second(0) } }],
          [index, { [signal]: { available, capacity: 200 * GiB, time: second(index) } }],
        ],
        { reclaim: enough, layout: dedicated },
      ).outcomes[1]!.thresholdsMet.length > 0
    const until = {
      'memory.available': 500 * MiB,
      'nodefs.available': 1524 * MiB,
      'imagefs.available': 102 * GiB,
    }
    for (const [signal, bytes] of Object.entries(until)) {
      expect([
        lasts(signal as 'memory.available', bytes - 1, 10),
        lasts(signal as 'memory.available', bytes, 10),
      ]).toEqual([true, false])
    }
  })
})

describe('node-level reclaim', () => {
  const disks = { evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '20%' } }
  const writers = { pods: [pod('writer')], podStats: statsOf({ writer: diskStats(GiB) }) }

  it('that leaves nothing met spares the pods', () => {
    const asked: unknown[] = []
    const reclaim = (...question: unknown[]) => {
      asked.push(question)
      return disksAt(10.1, 20.1, 1)
    }
    const { outcomes } = run(disks, [[0, disksAt(50, 5, 0)]], {
      ...writers,
      layout: dedicated,
      reclaim,
    })
    expect(asked).toEqual([[['containers', 'images'], 'imagefs.available']])
    expect(outcomes[0]).toMatchObject({
      reclaimed: ['containers', 'images'],
      isEnough: true,
      evictions: [],
    })
  })

  it.each([
    { what: 'the threshold itself', after: disksAt(50, 19, 1) },
    { what: 'another signal', after: disksAt(5, 50, 1) },
    { what: 'nothing known', after: null },
  ])('trap 21: that leaves $what costs a pod', ({ after }) => {
    const { outcomes } = run(disks, [[0, disksAt(50, 5, 0)]], {
      ...writers,
      layout: dedicated,
      reclaim: () => after,
    })
    expect(outcomes[0]).toMatchObject({ isEnough: false, evictions: [{ pod: { name: 'writer' } }] })
  })

  it('trap 21: that leaves an unrelated soft threshold in its grace period costs a pod, an unmet minimum reclaim too', () => {
    const softMemory = { ...disks, ...soft('1Gi', '1h') }
    const reclaim = () => ({ ...disksAt(50, 50, 1), ...memoryAt(GiB - 1, 1) })
    expect(
      names(run(softMemory, [[0, disksAt(50, 5, 0)]], { ...writers, reclaim }).outcomes[0]!),
    ).toEqual(['writer'])
    const minimum = { ...disks, evictionMinimumReclaim: { 'nodefs.available': '5%' } }
    expect(
      names(
        run(minimum, [[0, disksAt(50, 5, 0)]], { ...writers, reclaim: () => disksAt(14, 50, 1) })
          .outcomes[0]!,
      ),
    ).toEqual(['writer'])
    expect(
      names(
        run(minimum, [[0, disksAt(50, 5, 0)]], { ...writers, reclaim: () => disksAt(16, 50, 1) })
          .outcomes[0]!,
      ),
    ).toEqual([])
  })

  it('is not asked for nodefs where images have a disk of their own', () => {
    const { outcomes } = run(disks, [[0, disksAt(5, 50, 0)]], { ...writers, layout: dedicated })
    expect(outcomes[0]).toMatchObject({ reclaimed: [], isEnough: false, evictions: [{}] })
  })
})

describe('several thresholds at once', () => {
  const everything = {
    evictionHard: {
      'memory.available': '1Gi',
      'nodefs.available': '10%',
      'imagefs.available': '15%',
    },
  }
  const alternatives = (
    observations: Observations,
    configuration: EvictionConfiguration = everything,
    rest: Partial<Pass> = {},
  ) => {
    const { state, pass } = manager(configuration)
    return synchronizeAlternatives(state, {
      ...pass,
      ...withPods,
      reclaim: () => observations,
      observations,
      ...rest,
    })
  }

  it('put memory first', () => {
    const { outcomes } = alternatives({ ...disksAt(1, 1, 0), ...memoryAt(0, 0) })
    expect(outcomes).toHaveLength(1)
    expect(signals(outcomes[0]!.candidates)).toEqual(['memory.available'])
    expect(signals(outcomes[0]!.thresholdsMet)).toEqual([
      'imagefs.available',
      'memory.available',
      'nodefs.available',
    ])
  })

  it('trap 18: on one disk evict at 15 % of imagefs, where that default stands, and at 10 % where it does not, as on EKS images', () => {
    const picked = (percent: number, configuration?: EvictionConfiguration) =>
      alternatives(disksAt(percent, percent, 0), configuration).outcomes.map(
        outcome => outcome.picked?.signal,
      )
    const ofEks = { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' } }
    expect(picked(14)).toEqual(['imagefs.available'])
    expect(picked(14, ofEks)).toEqual([undefined])
    expect(picked(9, ofEks)).toEqual(['nodefs.available'])
  })

  it('trap 23: leave the choice among the rest open, on one disk, too', () => {
    const { outcomes } = alternatives(disksAt(9, 9, 0))
    expect(outcomes.map(({ picked }) => picked?.signal)).toEqual([
      'imagefs.available',
      'nodefs.available',
    ])
    expect(outcomes.map(({ candidates }) => signals(candidates))).toEqual(
      outcomes.map(() => ['imagefs.available', 'nodefs.available']),
    )
    expect(alternatives(disksAt(14, 14, 0)).outcomes.map(({ picked }) => picked?.signal)).toEqual([
      'imagefs.available',
    ])
  })

  it('leave the choice between hard and soft memory open', () => {
    const configuration = {
      evictionHard: { 'memory.available': '1Gi' },
      ...soft('2Gi', '1s'),
      evictionMaxPodGracePeriod: 45,
    }
    const { state, pass } = manager(configuration)
    const first = synchronize(state, { ...pass, ...withPods, observations: memoryAt(GiB, 0) })
    const { outcomes } = synchronizeAlternatives(first.state, {
      ...pass,
      ...withPods,
      nowMs: 1000,
      observations: memoryAt(0, 1),
    })
    expect(outcomes.map(({ evictions }) => evictions[0]?.gracePeriodOverrideSeconds)).toEqual([
      1, 45,
    ])
  })

  it('leave the same memory behind, whichever was picked, and as `synchronize` does', () => {
    const observations = disksAt(9, 9, 0)
    const { state, pass } = manager(everything)
    const given = { ...pass, ...withPods, reclaim: () => observations, observations }
    const one = synchronize(state, given)
    const all = synchronizeAlternatives(state, given)
    expect(all.state).toEqual(one.state)
    expect(all.outcomes[0]).toEqual(one.outcome)
  })

  it('are one outcome where nothing is to be done', () => {
    expect(alternatives(disksAt(50, 50, 0)).outcomes).toHaveLength(1)
  })
})

describe('limits of local storage', () => {
  const offenders = [
    pod('a', limitedTo({ 'ephemeral-storage': '1Mi' })),
    pod('greedy'),
    pod('b', limitedTo({ 'ephemeral-storage': '1Mi' })),
  ]
  const stats = statsOf({ a: diskStats(GiB), b: diskStats(GiB), greedy: memoryStats(GiB) })
  const hard = { evictionHard: { 'memory.available': '1Gi' } }

  it('trap 29: come before pressure, all offenders in one pass', () => {
    const { outcomes } = run(
      hard,
      [
        [0, memoryAt(0, 0)],
        [2, memoryAt(0, 2), { pods: offenders.slice(1, 2) }],
      ],
      { pods: offenders, podStats: stats },
    )
    expect(outcomes.map(names)).toEqual([['a', 'b'], ['greedy']])
    expect(outcomes[0]).toMatchObject({
      candidates: [],
      picked: null,
      conditions: ['MemoryPressure'],
    })
    expect(outcomes[0]?.evictions[0]).toEqual({
      pod: offenders[0],
      signal: null,
      exceeded: expect.objectContaining({ limit: 'container', what: 'c' }),
      gracePeriodOverrideSeconds: 1,
      gracePeriodSeconds: 1,
      killTimeoutMs: 10_000,
    })
  })

  it('count without any threshold, but not where the configuration switches them off', () => {
    const calm: [number, Observations][] = [[0, memoryAt(2 * GiB, 0)]]
    expect(names(run({}, calm, { pods: offenders, podStats: stats }).outcomes[0]!)).toEqual([
      'a',
      'b',
    ])
    expect(
      names(
        run({ ...hard, localStorageCapacityIsolation: false }, calm, {
          pods: offenders,
          podStats: stats,
        }).outcomes[0]!,
      ),
    ).toEqual([])
  })

  it('are not looked at while the layout is not known', () => {
    const { outcomes } = run(hard, [[0, memoryAt(0, 0)]], {
      pods: offenders,
      podStats: stats,
      layout: null,
    })
    expect(outcomes[0]).toMatchObject({ evictions: [], conditions: [], thresholdsMet: [] })
  })
})

describe('the layout', () => {
  const disks = { evictionHard: { 'nodefs.available': '10%' } }
  const containerfs = (available: number, index: number): Observations => ({
    'containerfs.available': {
      available: available * GiB,
      capacity: 100 * GiB,
      time: second(index),
    },
  })

  it('is asked for until there is an answer, and then never again', () => {
    const { outcomes, state } = run(disks, [
      [0, {}, { layout: null }],
      [10, {}, { layout: dedicated }],
      [20, {}, { layout: shared }],
    ])
    expect(outcomes.map(({ error }) => error)).toMatchSnapshot()
    expect(state.layout).toEqual(dedicated)
  })

  it('brings thresholds of containerfs, which act from the second pass on', () => {
    const { outcomes, state } = run(disks, [
      [0, containerfs(5, 0)],
      [10, containerfs(5, 10), { reclaim: enough }],
    ])
    expect(outcomes.map(({ thresholdsMet }) => signals(thresholdsMet))).toEqual([
      [],
      ['containerfs.available'],
    ])
    expect(signals(state.thresholds)).toEqual(['nodefs.available', 'containerfs.available'])
  })

  it('overwrites configured ones at once', () => {
    const configured = {
      evictionHard: { 'nodefs.available': '10%', 'containerfs.available': '50%' },
    }
    const { outcomes } = run(configured, [
      [0, containerfs(20, 0)],
      [10, containerfs(5, 10), { reclaim: enough }],
    ])
    expect(
      outcomes.map(({ thresholdsMet }) => thresholdsMet.map(({ value }) => value.text)),
    ).toEqual([[], ['10%']])
  })

  it('lets an added threshold decide already in the first pass whether enough was reclaimed', () => {
    const reclaim = () => ({ ...disksAt(50, 50, 1), ...containerfs(5, 1) })
    const { outcomes } = run(disks, [[0, disksAt(5, 50, 0)]], { pods: [pod('a')], reclaim })
    expect(names(outcomes[0]!)).toEqual(['a'])
  })

  it('that is split where that is not allowed is reported once, and stops all eviction under pressure, but not that by limits', () => {
    const limited = pod('a', limitedTo({ 'ephemeral-storage': '1Mi' }))
    const { outcomes, state } = run(
      { evictionHard: { 'nodefs.available': '10%', 'memory.available': '1Gi' } },
      [
        [0, disksAt(5, 5, 0)],
        [10, disksAt(5, 5, 10)],
        [20, { ...disksAt(5, 5, 20), ...memoryAt(0, 20) }],
        [30, {}, { pods: [limited], podStats: statsOf({ a: diskStats(0, GiB) }) }],
      ],
      { pods, podStats, layout: split },
      'v1.30.14',
    )
    const error = 'KubeletSeparateDiskGC is turned off but we still have a split filesystem'
    expect(outcomes.map(outcome => outcome.error)).toEqual([error, null, null, null])
    expect(outcomes.map(({ picked }) => picked && resourceOf(picked.signal))).toEqual([
      null,
      'ephemeral-storage',
      'memory',
      null,
    ])
    expect(outcomes.map(names)).toEqual([[], [], [], ['a']])
    expect(state.thresholds).toHaveLength(2)
  })

  it.each([
    { version: 'v1.29.15', reclaimed: [] },
    { version: 'v1.31.14', reclaimed: [] },
    { version: 'v1.32.0', reclaimed: ['containers', 'images'] },
  ])(
    'trap 44: of $version collects $reclaimed where it picks containerfs',
    ({ version, reclaimed }) => {
      const { outcomes } = run(
        disks,
        [
          [0, containerfs(5, 0)],
          [10, containerfs(5, 10), { reclaim: () => containerfs(5, 11), pods: [pod('a')] }],
        ],
        {},
        version,
      )
      expect(outcomes[1]).toMatchObject({ reclaimed, evictions: [{ pod: { name: 'a' } }] })
    },
  )
})

describe('one key for two thresholds', () => {
  it('are two quantities, as upstream holds them by pointer, but one percentage', () => {
    const twice = (text: string): EvictionConfiguration => ({
      evictionHard: { 'memory.available': text },
      ...soft(text, '0s'),
    })
    expect(run(twice('1Gi'), [[0, memoryAt(0, 0)]]).outcomes[0]?.thresholdsMet).toHaveLength(2)
    expect(run(twice('10%'), [[0, memoryAt(0, 0)]]).outcomes[0]?.thresholdsMet).toHaveLength(1)
  })
})

describe('parseEvictionConfig', () => {
  it('reads what is configured', () => {
    expect(
      parseEvictionConfig({
        evictionPressureTransitionPeriod: '1m30s',
        evictionMaxPodGracePeriod: 7,
        localStorageCapacityIsolation: false,
      }),
    ).toEqual({
      thresholds: [],
      pressureTransitionPeriodMs: 90_000,
      maxPodGracePeriodSeconds: 7,
      localStorageCapacityIsolation: false,
    })
  })

  it('has upstream’s defaults', () => {
    expect(parseEvictionConfig({})).toEqual({
      thresholds: [],
      pressureTransitionPeriodMs: 300_000,
      maxPodGracePeriodSeconds: 0,
      localStorageCapacityIsolation: true,
    })
  })

  it('hands the flag on', () => {
    const configuration = {
      enforceNodeAllocatable: ['pods'],
      evictionHard: { 'memory.available': '1Gi' },
    }
    const count = (ignoresAllocatable: boolean) =>
      parseEvictionConfig(configuration, { ignoresAllocatable }).thresholds.length
    expect([count(false), count(true)]).toEqual([2, 1])
  })
})

describe('anything at all', () => {
  const quantity = fc.oneof(
    fc.integer(),
    fc.maxSafeNat(),
    fc.constantFrom(2 ** 63, 2 ** 64 - 4096, 2 ** 64, 1.5, null, '5'),
  )
  const fs = fc.record(
    {
      time: fc.oneof(fc.constant(second(0)), fc.jsonValue()),
      availableBytes: quantity,
      capacityBytes: quantity,
      inodesFree: quantity,
      inodes: quantity,
    },
    { requiredKeys: [] },
  )
  const memory = fc.record(
    { availableBytes: quantity, workingSetBytes: quantity, time: fc.string() },
    { requiredKeys: [] },
  )
  const node = fc.record(
    {
      memory,
      fs,
      runtime: fc.record({ imageFs: fs, containerFs: fs }, { requiredKeys: [] }),
      rlimit: fc.record({ maxpid: quantity, curproc: quantity }),
    },
    { requiredKeys: [] },
  )
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('1Gi', '5%', '1e500', '0', '-1', '1500m', '9Ei'),
  )
  const resources = fc.record(
    {
      requests: fc.dictionary(fc.constantFrom('memory', 'ephemeral-storage', 'inodes'), text),
      limits: fc.dictionary(fc.constantFrom('memory', 'ephemeral-storage'), text),
    },
    { requiredKeys: [] },
  )
  const container = fc.record(
    { name: fc.constantFrom('c', 'd'), resources, restartPolicy: fc.constant('Always') },
    { requiredKeys: ['name'] },
  )
  const manifest = fc.record({
    metadata: fc.record({ name: fc.constantFrom('a', 'b'), uid: fc.constantFrom('u', 'v') }),
    spec: fc.record(
      {
        priority: fc.oneof(fc.integer(), fc.jsonValue()),
        containers: fc.array(container),
        initContainers: fc.array(container),
        resources,
        volumes: fc.array(
          fc.record({ name: fc.constant('v'), emptyDir: fc.record({ sizeLimit: text }) }),
        ),
        terminationGracePeriodSeconds: fc.oneof(fc.integer(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
  })
  const used = fc.record({ usedBytes: quantity, inodesUsed: quantity }, { requiredKeys: [] })
  const podStat = fc.record(
    {
      podRef: fc.record({ uid: fc.constantFrom('u', 'v') }),
      memory,
      containers: fc.array(
        fc.record(
          { name: fc.constantFrom('c', 'd'), rootfs: used, logs: used, memory },
          { requiredKeys: [] },
        ),
      ),
      volume: fc.array(
        fc.record({ name: fc.constant('v'), usedBytes: quantity }, { requiredKeys: [] }),
      ),
      process_stats: fc.record({ process_count: quantity }),
    },
    { requiredKeys: ['podRef'] },
  )

  it('is passed over without a throw, and without a number that is none', () => {
    const configuration: EvictionConfiguration = {
      enforceNodeAllocatable: ['pods'],
      evictionHard: {
        'memory.available': '10%',
        'nodefs.available': '99.9%',
        'nodefs.inodesFree': '5%',
        'pid.available': '1k',
      },
      evictionMinimumReclaim: { 'memory.available': '50%', 'nodefs.available': '8Ei' },
    }
    const layouts = fc
      .constantFrom('shared', 'imagefs', 'split')
      .map(layout => diskLayoutOf(layout as 'shared'))
    fc.assert(
      fc.property(
        node,
        node,
        fc.array(manifest),
        fc.array(podStat),
        layouts,
        fc.constantFrom('v1.29.0', 'v1.31.0', 'v1.37.0'),
        (before, after, manifests, stats, layout, version) => {
          const kubelet = kubeletOf(version)
          const config = parseEvictionConfig(configuration)
          const observed = (of: unknown) => makeSignalObservations(summaryOf({ node: of }))
          const pass: Pass = {
            nowMs: 0,
            observations: observed(before),
            pods: manifests.map(podOf).filter(parsed => parsed !== null),
            podStats: podStatsOf({ pods: stats }),
            layout,
            config,
            kubelet,
            reclaim: () => observed(after),
          }
          const first = synchronizeAlternatives(startEviction(config), pass)
          const next = synchronizeAlternatives(first.state, {
            ...pass,
            nowMs: 10_000,
            observations: observed(after),
          })
          return [...first.outcomes, ...next.outcomes].every(hasOnlyNumbers)
        },
      ),
    )
  })

  function hasOnlyNumbers(outcome: Outcome): boolean {
    let isSound = true
    JSON.stringify(outcome, (_, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) isSound = false
      return typeof value === 'bigint' ? String(value) : value
    })
    return isSound
  }
})

describe('a day of passes', () => {
  it('costs next to nothing where nothing is met', () => {
    const { state: begun, pass } = manager({
      enforceNodeAllocatable: ['pods'],
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
        'imagefs.available': '15%',
      },
    })
    const many = Array.from({ length: 100 }, (_, index) =>
      pod(`p${index}`, limitedTo({ 'ephemeral-storage': '1Gi' })),
    )
    const given: Pass = {
      ...pass,
      pods: many,
      podStats: statsOf({ p0: diskStats(1) }),
      observations: { ...disksAt(50, 50, 0), ...memoryAt(GiB, 0) },
    }
    const state = synchronize(begun, given).state
    let last = state
    for (let tick = 0; tick < 8640; tick++)
      last = synchronize(last, { ...given, nowMs: tick * 10_000 }).state
    expect(last).toEqual(state)
  })
})

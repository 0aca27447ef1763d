import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ContainerGcInput,
  type ContainerGcPolicy,
  evictContainers,
  garbageCollect,
  type PodState,
  type RuntimeContainer,
  type RuntimeSandbox,
} from '#replay/container-gc/garbage-collect.ts'

const nowNs = 1_000_000n

const container = (
  id: string,
  createdAtNs: bigint | number,
  more: Partial<RuntimeContainer> = {},
): RuntimeContainer => ({
  id,
  podUid: 'a',
  name: 'app',
  sandboxId: 'box',
  state: 'exited',
  createdAtNs: BigInt(createdAtNs),
  ...more,
})

const sandbox = (
  id: string,
  createdAtNs: number,
  more: Partial<RuntimeSandbox> = {},
): RuntimeSandbox => ({
  id,
  podUid: 'a',
  isReady: false,
  createdAtNs: BigInt(createdAtNs),
  ...more,
})

const defaults: ContainerGcPolicy = { minAgeNs: 0n, maxPerPodContainer: 1, maxContainers: -1 }

interface Given extends Partial<Omit<ContainerGcInput, 'policy' | 'podState'>> {
  policy?: Partial<ContainerGcPolicy>
  states?: Record<string, PodState>
}

function collected({
  policy,
  states = { a: 'running', b: 'running', c: 'running' },
  ...given
}: Given) {
  const input: ContainerGcInput = {
    policy: { ...defaults, ...policy },
    nowNs,
    allSourcesReady: true,
    evictNonDeletedPods: false,
    podState: uid => states[uid] ?? 'deleted',
    containers: [],
    sandboxes: [],
    podLogDirs: [],
    ...given,
  }
  const pass = garbageCollect(input)
  const ids = (removed: { id: string }[]) => removed.map(({ id }) => id)
  return {
    containers: ids(pass.removedContainers),
    stopped: ids(evictContainers(input).stopped),
    sandboxes: ids(pass.removedSandboxes),
    directories: pass.removedPodLogDirs,
    undecided: [...pass.undecided].sort(),
  }
}

const three = [container('mid', 20), container('new', 30), container('old', 10)]

describe('dead containers', () => {
  it('keep the newest of each name in a pod, and the oldest goes first', () => {
    expect(collected({ containers: three }).containers).toEqual(['old', 'mid'])
    const others = [
      ...three,
      container('other', 5, { name: 'other' }),
      container('b', 5, { podUid: 'b' }),
    ]
    expect(collected({ containers: others }).containers).toEqual(['old', 'mid'])
  })

  it.each([
    [0, ['old', 'new', 'mid']],
    [1, ['old', 'mid']],
    [2, ['old']],
    [3, []],
    [-1, []],
  ])('%i of a name may stay', (maxPerPodContainer, removed) => {
    expect(collected({ policy: { maxPerPodContainer }, containers: three }).containers).toEqual(
      removed,
    )
  })

  it.each([
    { state: 'exited', goes: true },
    { state: 'created', goes: true },
    { state: 'unknown', goes: true },
    { state: 'running', goes: false },
  ] as const)('trap 12: a container that is $state is dead: $goes', ({ state, goes }) => {
    expect(
      collected({ policy: { maxPerPodContainer: 0 }, containers: [container('x', 1, { state })] })
        .containers,
    ).toEqual(goes ? ['x'] : [])
  })

  it('a running one takes no place of a dead one', () => {
    expect(
      collected({ containers: [container('run', 40, { state: 'running' }), ...three] }).containers,
    ).toEqual(['old', 'mid'])
  })

  it.each([
    [999_900n, ['x']],
    [999_901n, []],
  ])('trap 12: an age of 100 ns counts from the creation at %s', (createdAtNs, removed) => {
    const policy = { minAgeNs: 100n, maxPerPodContainer: 0 }
    expect(collected({ policy, containers: [container('x', createdAtNs)] }).containers).toEqual(
      removed,
    )
  })

  it('one that is too young does not count either', () => {
    const policy = { minAgeNs: 100n }
    expect(
      collected({
        policy,
        containers: [container('young', 999_999), container('old', 1), container('older', 0)],
      }).containers,
    ).toEqual(['older'])
  })

  it.each<{ state: PodState; sourcesReady: boolean; eviction: boolean; removed: string[] }>([
    { state: 'running', sourcesReady: true, eviction: true, removed: ['old', 'mid'] },
    { state: 'terminated', sourcesReady: true, eviction: false, removed: ['old', 'mid'] },
    { state: 'terminated', sourcesReady: true, eviction: true, removed: ['old', 'new', 'mid'] },
    { state: 'terminated', sourcesReady: false, eviction: true, removed: ['old', 'mid'] },
    { state: 'deleted', sourcesReady: true, eviction: false, removed: ['old', 'new', 'mid'] },
    { state: 'deleted', sourcesReady: false, eviction: false, removed: ['old', 'mid'] },
  ])(
    'trap 3: of a pod that is $state (sources ready: $sourcesReady, eviction: $eviction): $removed',
    ({ state, sourcesReady, eviction, removed }) => {
      const given = {
        states: { a: state },
        allSourcesReady: sourcesReady,
        evictNonDeletedPods: eviction,
        containers: three,
      }
      expect(collected(given).containers).toEqual(removed)
    },
  )

  it('those of pods that are gone do not count for the limit in all', () => {
    const gone = [container('z1', 1, { podUid: 'z' }), container('z2', 2, { podUid: 'z' })]
    const policy = { maxPerPodContainer: -1, maxContainers: 3 }
    expect(collected({ policy, containers: [...gone, ...three] }).containers).toEqual(['z2', 'z1'])
  })
})

describe('the limit of dead containers in all', () => {
  const nine = ['a', 'b', 'c'].flatMap((podUid, pod) =>
    [0, 1, 2].map(n => container(`${podUid}${n}`, 100 - 30 * n - pod, { podUid })),
  )
  it.each([
    { maxContainers: 9, removed: [] },
    { maxContainers: 8, removed: ['a2', 'b2', 'c2'] },
    { maxContainers: 6, removed: ['a2', 'b2', 'c2'] },
    { maxContainers: 5, removed: ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'] },
    { maxContainers: 3, removed: ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'] },
    { maxContainers: 2, removed: ['a1', 'a2', 'b1', 'b2', 'c0', 'c1', 'c2'] },
    { maxContainers: 1, removed: ['a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2'] },
    { maxContainers: 0, removed: ['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2'] },
    { maxContainers: -1, removed: [] },
  ])('of $maxContainers is shared among three names: $removed go', ({ maxContainers, removed }) => {
    const { containers, undecided } = collected({
      policy: { maxPerPodContainer: -1, maxContainers },
      containers: nine,
    })
    expect(containers.toSorted()).toEqual(removed)
    expect(undecided).toEqual([])
  })

  it('takes the oldest of all where the shares are too many', () => {
    const { containers } = collected({
      policy: { maxPerPodContainer: -1, maxContainers: 1 },
      containers: nine,
    })
    expect(containers.slice(-2)).toEqual(['c0', 'b0'])
  })

  it('leaves unequal names alone while all together are not too many', () => {
    const unequal = [...three, container('b', 1, { podUid: 'b' })]
    expect(
      collected({ policy: { maxPerPodContainer: -1, maxContainers: 4 }, containers: unequal })
        .containers,
    ).toEqual([])
    expect(
      collected({ policy: { maxPerPodContainer: -1, maxContainers: 3 }, containers: unequal })
        .containers,
    ).toEqual(['old', 'mid'])
  })

  it('comes after the limit of each name, whose empty units still share', () => {
    expect(
      collected({ policy: { maxPerPodContainer: 0, maxContainers: 0 }, containers: three })
        .containers,
    ).toHaveLength(3)
    expect(
      collected({
        policy: { maxPerPodContainer: 2, maxContainers: 6 },
        containers: nine,
      }).containers.toSorted(),
    ).toEqual(['a2', 'b2', 'c2'])
  })
})

describe('what fails', () => {
  it('stops one of unknown state first; where that fails it is not removed', () => {
    const containers = [
      container('x', 1, { state: 'unknown' }),
      container('y', 2, { state: 'unknown' }),
      container('z', 3),
    ]
    const policy = { maxPerPodContainer: 0 }
    expect(collected({ policy, containers })).toMatchObject({
      containers: ['z', 'y', 'x'],
      stopped: ['y', 'x'],
    })
    expect(
      collected({ policy, containers, failures: { stopContainer: ['x', 'z'] } }),
    ).toMatchObject({ containers: ['z', 'y'], stopped: ['y'] })
  })

  it('counts as removed: no younger one goes in its place', () => {
    expect(
      collected({ containers: three, failures: { removeContainer: ['old'] } }).containers,
    ).toEqual(['mid'])
  })

  it('leaves a container that keeps its sandbox', () => {
    const given = { states: {}, containers: [container('x', 1)], sandboxes: [sandbox('box', 1)] }
    expect(collected(given).sandboxes).toEqual(['box'])
    expect(collected({ ...given, failures: { removeContainer: ['x'] } }).sandboxes).toEqual([])
    expect(collected({ ...given, failures: { stopSandbox: ['box'] } }).sandboxes).toEqual([])
  })
})

describe('dead sandboxes', () => {
  const boxes = [sandbox('mid', 20), sandbox('new', 30), sandbox('old', 10)]

  it.each<{ state: PodState; sourcesReady: boolean; eviction: boolean; removed: string[] }>([
    { state: 'running', sourcesReady: true, eviction: true, removed: ['old', 'mid'] },
    { state: 'terminated', sourcesReady: true, eviction: false, removed: ['old', 'mid'] },
    { state: 'terminated', sourcesReady: false, eviction: true, removed: ['old', 'new', 'mid'] },
    { state: 'deleted', sourcesReady: false, eviction: false, removed: ['old', 'new', 'mid'] },
  ])(
    'of a pod that is $state (sources ready: $sourcesReady, eviction: $eviction): $removed',
    ({ state, sourcesReady, eviction, removed }) => {
      const given = {
        states: { a: state },
        allSourcesReady: sourcesReady,
        evictNonDeletedPods: eviction,
        sandboxes: boxes,
      }
      expect(collected(given).sandboxes).toEqual(removed)
    },
  )

  it('stay while they are ready or own a container, and the newest stays beside them', () => {
    expect(
      collected({ sandboxes: [...boxes, sandbox('ready', 5, { isReady: true })] }).sandboxes,
    ).toEqual(['old', 'mid'])
    const containers = [container('x', 1, { sandboxId: 'old' })]
    expect(collected({ sandboxes: boxes, containers }).sandboxes).toEqual(['mid'])
    expect(
      collected({
        states: {},
        sandboxes: [sandbox('ready', 5, { isReady: true }), sandbox('dead', 6)],
      }).sandboxes,
    ).toEqual(['dead'])
  })

  it('are counted by pod', () => {
    expect(
      collected({ sandboxes: [...boxes, sandbox('b', 1, { podUid: 'b' })] }).sandboxes,
    ).toEqual(['old', 'mid'])
  })
})

describe('log directories', () => {
  const podLogDirs = ['ns_pod-a_a', 'ns_pod-b_b', 'ns_pod-c_c', 'ns_pod_with_z', 'z', '']
  const states: Record<string, PodState> = { a: 'running', b: 'terminated', c: 'deleted' }

  it.each([true, false])(
    'go with the content of a pod, even where eviction asks (%s) for terminated ones',
    evictNonDeletedPods => {
      expect(collected({ states, podLogDirs, evictNonDeletedPods }).directories).toEqual([
        'ns_pod-c_c',
        'ns_pod_with_z',
        'z',
        '',
      ])
    },
  )

  it('wait for all sources', () => {
    expect(collected({ states, podLogDirs, allSourcesReady: false }).directories).toEqual([])
  })
})

describe('containers of the same moment', () => {
  it('have no order: any of them may be the one that a unit keeps', () => {
    expect(
      collected({ containers: [container('x', 5), container('y', 5), container('z', 1)] }),
    ).toMatchObject({ containers: ['z', 'y'], undecided: ['x', 'y'] })
  })

  it('are decided where all of them stay or all go', () => {
    const same = [container('x', 5), container('y', 5), container('z', 1)]
    expect(collected({ policy: { maxPerPodContainer: 2 }, containers: same })).toMatchObject({
      containers: ['z'],
      undecided: [],
    })
    expect(collected({ policy: { maxPerPodContainer: 0 }, containers: same }).undecided).toEqual([])
    expect(collected({ states: {}, containers: same }).undecided).toEqual([])
    expect(collected({ containers: [container('v', 9), ...same] }).undecided).toEqual([])
  })

  it('have no order across names either', () => {
    const across = [
      container('x', 5),
      container('y', 5, { name: 'other' }),
      container('z', 9, { podUid: 'b' }),
    ]
    const policy = { maxPerPodContainer: -1, maxContainers: 2 }
    expect(collected({ policy, containers: across })).toMatchObject({
      containers: ['y'],
      undecided: ['x', 'y'],
    })
    expect(
      collected({ policy: { ...policy, maxContainers: 1 }, containers: across }).undecided,
    ).toEqual([])
  })

  it('is undecided by any limit: a name’s own limit could have taken either container', () => {
    const containers = [
      container('x1', 5),
      container('x2', 5),
      container('y', 5, { name: 'other' }),
    ]
    expect(collected({ policy: { maxContainers: 1 }, containers }).undecided).toEqual([
      'x1',
      'x2',
      'y',
    ])
    expect(collected({ policy: { maxContainers: 2 }, containers }).undecided).toEqual(['x1', 'x2'])
    expect(collected({ policy: { maxContainers: 0 }, containers }).undecided).toEqual([])
    expect(
      collected({ policy: { maxPerPodContainer: -1, maxContainers: 2 }, containers }).undecided,
    ).toEqual(['x1', 'x2'])
  })

  it('leave open whether their sandboxes go', () => {
    const sandboxes = [sandbox('s1', 1), sandbox('s2', 2), sandbox('s3', 3)]
    const containers = [
      container('x', 5, { sandboxId: 's1' }),
      container('y', 5, { sandboxId: 's2' }),
    ]
    expect(collected({ containers, sandboxes })).toMatchObject({
      sandboxes: ['s2'],
      undecided: ['s1', 's2', 'x', 'y'],
    })
  })

  it('leave it open too where fewer stay than lie elsewhere', () => {
    const sandboxes = [sandbox('s1', 1), sandbox('s2', 2), sandbox('s3', 3)]
    const containers = [
      container('x', 5, { sandboxId: 's1' }),
      container('y', 5, { sandboxId: 's1' }),
      container('z', 5, { sandboxId: 's2' }),
    ]
    expect(collected({ containers, sandboxes }).undecided).toEqual(['s1', 's2', 'x', 'y', 'z'])
    expect(
      collected({ policy: { maxPerPodContainer: 2 }, containers, sandboxes }).undecided,
    ).toEqual(['s2', 'x', 'y', 'z'])
  })

  it('leave it open in their own sandboxes only', () => {
    const sandboxes = [sandbox('s1', 1), sandbox('s2', 2), sandbox('s3', 3), sandbox('s4', 4)]
    const inS1 = [container('x', 5, { sandboxId: 's1' }), container('y', 5, { sandboxId: 's1' })]
    const apart = [
      container('p', 5, { name: 'p', sandboxId: 's2' }),
      container('q', 5, { name: 'p', sandboxId: 's3' }),
    ]
    expect(collected({ containers: [...inS1, ...apart], sandboxes }).undecided).toEqual([
      'p',
      'q',
      's2',
      's3',
      'x',
      'y',
    ])
  })

  it('do not where one of them stays in the sandbox in any case', () => {
    const sandboxes = [sandbox('s1', 1), sandbox('s2', 2)]
    const containers = [
      container('x', 5, { sandboxId: 's1' }),
      container('y', 5, { sandboxId: 's1' }),
    ]
    expect(collected({ containers, sandboxes })).toMatchObject({
      sandboxes: [],
      undecided: ['x', 'y'],
    })
    const kept = [
      container('x', 5, { sandboxId: 's1' }),
      container('y', 5, { sandboxId: 's1' }),
      container('w', 1, { sandboxId: 's1', name: 'w' }),
    ]
    expect(collected({ containers: kept, sandboxes })).toMatchObject({
      sandboxes: [],
      undecided: ['x', 'y'],
    })
  })
})

describe('sandboxes of the same moment', () => {
  it('have no order: any of the newest may stay', () => {
    expect(
      collected({ sandboxes: [sandbox('x', 5), sandbox('y', 5), sandbox('z', 1)] }),
    ).toMatchObject({ sandboxes: ['z', 'y'], undecided: ['x', 'y'] })
  })

  it('are decided where they stay or go anyway', () => {
    expect(
      collected({ sandboxes: [sandbox('x', 5), sandbox('y', 1), sandbox('z', 1)] }).undecided,
    ).toEqual([])
    expect(
      collected({ states: {}, sandboxes: [sandbox('x', 5), sandbox('y', 5)] }).undecided,
    ).toEqual([])
    const ready = [sandbox('x', 5, { isReady: true }), sandbox('y', 5)]
    expect(collected({ sandboxes: ready }).undecided).toEqual(['y'])
    expect(
      collected({
        sandboxes: [sandbox('box', 5), sandbox('y', 5)],
        containers: [container('c', 1)],
      }).undecided,
    ).toEqual(['y'])
  })
})

// Whatever order the runtime lists in: what is reported as decided does not depend on it.
it('reports as decided only what no order of listing changes', () => {
  const containers = fc.array(
    fc.record({
      createdAtNs: fc.bigInt({ min: 1n, max: 4n }),
      name: fc.constantFrom('x', 'y'),
      podUid: fc.constantFrom('a', 'b', 'z'),
      sandboxId: fc.constantFrom('s0', 's1', 's2'),
    }),
    { maxLength: 8 },
  )
  const sandboxes = fc.array(
    fc.record({
      createdAtNs: fc.bigInt({ min: 1n, max: 3n }),
      podUid: fc.constantFrom('a', 'z'),
      isReady: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  const policy = fc.record({
    maxPerPodContainer: fc.integer({ min: -1, max: 2 }),
    maxContainers: fc.integer({ min: -1, max: 4 }),
  })
  const run = fc.tuple(
    containers,
    sandboxes,
    policy,
    fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
  )
  fc.assert(
    fc.property(run, ([someContainers, someSandboxes, limits, keys]) => {
      const listed = someContainers.map((given, index) => ({
        ...given,
        id: `c${index}`,
        state: 'exited' as const,
      }))
      const boxes = someSandboxes.map((given, index) => ({ ...given, id: `s${index}` }))
      const shuffled = <Item>(items: Item[]) =>
        items
          .map((item, index) => ({ item, key: keys[index] ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ item }) => item)
      const one = collected({ policy: limits, containers: listed, sandboxes: boxes })
      const other = collected({
        policy: limits,
        containers: shuffled(listed),
        sandboxes: shuffled(boxes),
      })
      const decided = ({ containers: gone, sandboxes: goneBoxes, undecided }: typeof one) =>
        [...gone, ...goneBoxes].filter(id => !undecided.includes(id)).toSorted()
      expect(one.undecided).toEqual(other.undecided)
      expect(decided(one)).toEqual(decided(other))
    }),
    { numRuns: 500 },
  )
})

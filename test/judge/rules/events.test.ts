/** What rules make of events: texts as upstream writes them, and the boundaries between trouble and noise. */
import { describe, expect, it } from 'vitest'
import { versionSkew } from '#facts/kubernetes/version-skew.ts'
import type { NodeEvent } from '#judge/cluster-facts.ts'
import { agoMs, eventTimes, timesOf } from '#judge/events/events.ts'
import { readEvictionMessage } from '#judge/events/evictions.ts'
import { shortfallBytes } from '#judge/events/gc-events.ts'
import { canonicalName } from '#judge/events/images.ts'
import { causeOf } from '#judge/events/pulls.ts'
import type { ContextRule } from '#judge/rule.ts'
import { evictionLoop } from '#judge/rules/eviction/eviction-loop.ts'
import { imageGcDead } from '#judge/rules/image-gc/image-gc-dead.ts'
import { unreachableGcLowThreshold } from '#judge/rules/image-gc/unreachable-gc-low-threshold.ts'
import { pullFailingNow } from '#judge/rules/image-pull/pull-failing-now.ts'
import { rateLimitedRegistry } from '#judge/rules/image-pull/rate-limited-registry.ts'
import { memoryCgroupLeak } from '#judge/rules/kernel/memory-cgroup-leak.ts'
import { unsupportedVersion } from '#judge/rules/kernel/unsupported-version.ts'
import { oomBeforeEviction } from '#judge/rules/reservations/oom-before-eviction.ts'
import type { KubernetesPod } from '#model/kubernetes.ts'
import { evictionMessage } from '#replay/eviction/messages.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { kubeletOf } from '#replay/kubelet.ts'
import { podStatsOf } from '#replay/pods/pod-stats.ts'
import { manifestOf, podOf, podStatsOf as statsOf } from '#test/at-the-door.ts'
import { type ContextExample, calmEviction, exampleTime } from '#test/example.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const minutesAgo = (minutes: number): string =>
  new Date(Date.parse(exampleTime) - minutes * 60_000).toISOString()

interface Saying extends Partial<Omit<NodeEvent, 'pod'>> {
  reason: string
  /** `namespace/name` */
  of?: string
  uid?: string
  /** Minutes before; the first, then the last. */
  ago?: number | [number, number]
}

function event({ of, uid, ago = 5, message = '', count = 1, ...rest }: Saying): NodeEvent {
  const [first, last] = typeof ago === 'number' ? [ago, ago] : ago
  const [namespace = '', name = ''] = of?.split('/') ?? []
  const pod = of === undefined ? null : { namespace, name, ...(uid !== undefined && { uid }) }
  return { pod, message, count, firstTime: minutesAgo(first), lastTime: minutesAgo(last), ...rest }
}

const state = (rule: ContextRule, example: ContextExample) => outcomeFor(rule, example).state
function failingOf(rule: ContextRule, example: ContextExample) {
  const outcome = outcomeFor(rule, example)
  if (outcome.state !== 'fail') throw new Error(`not a failing but ${JSON.stringify(outcome)}`)
  return outcome.failing
}
const told = (rule: ContextRule, example: ContextExample) =>
  JSON.stringify(failingOf(rule, example).evidence)

describe('times of events', () => {
  it.each([
    [minutesAgo(10), 600_000],
    [minutesAgo(-10), 0],
    [minutesAgo(-61), null],
    [null, null],
    ['yesterday', null],
  ])('%s: %s ms ago', (time, expected) => {
    expect(agoMs(time, exampleTime)).toBe(expected)
  })

  it('are counted, and a count without sense is not believed', () => {
    const times = (...counts: number[]) =>
      timesOf(
        eventTimes(
          counts.map(count => event({ reason: 'a', count })),
          exampleTime,
        ),
      )
    expect(times(1)).toBe(`once at ${minutesAgo(5)}`)
    expect(times(2, 3)).toBe(`5 times since ${minutesAgo(5)}, last at ${minutesAgo(5)}`)
    expect(times(Number.MAX_SAFE_INTEGER, 1)).toContain('1000000 times or more')
    expect(
      timesOf(
        eventTimes(
          [event({ reason: 'a', count: 2, firstTime: null, lastTime: null })],
          exampleTime,
        ),
      ),
    ).toBe('2 times')
  })
})

/** What the kubelet of a version writes of a container with 5 GiB on a disk of 20 GiB. */
function upstreamMessage(version: string): string {
  const kubelet = kubeletOf(version)
  const [threshold] = parseThresholdConfig(
    { evictionHard: { 'nodefs.available': '10%' } },
    kubelet.features,
  )
  const pod = podOf({
    metadata: { namespace: 'logging', name: 'shipper-4bcdf', uid: 'u' },
    spec: { containers: [{ name: 'shipper' }] },
  })
  if (!threshold || !pod) throw new Error('no threshold or no pod')
  const stats = statsOf({
    pods: [
      {
        podRef: { namespace: 'logging', name: 'shipper-4bcdf', uid: 'u' },
        containers: [
          { name: 'shipper', rootfs: { usedBytes: 5 * 1024 ** 3 }, logs: { usedBytes: 0 } },
        ],
      },
    ],
  })
  return evictionMessage(
    threshold,
    { available: 2 ** 30, capacity: 20 * 2 ** 30, time: null },
    pod,
    podStatsOf(stats, pod),
    kubelet,
  ).message
}

describe('an eviction message', () => {
  const container = { name: 'shipper', used: '5Gi', request: '0' }

  it.each([
    ['v1.25.16', null],
    ['v1.26.0', { quantity: '2147483680', available: '1Gi' }],
    ['v1.37.0', { quantity: '2147483680', available: '1Gi' }],
  ])('of %s tells the resource, the threshold, and who used what', (version, threshold) => {
    const message = upstreamMessage(version)
    expect(readEvictionMessage(message)).toEqual({
      resource: 'ephemeral-storage',
      isRefused: false,
      threshold,
      containers: [container],
    })
    expect(readEvictionMessage(message.trimEnd()).containers).toEqual([container])
  })

  it.each([
    ['Pod was rejected: The node had condition: [DiskPressure]. ', 'ephemeral-storage', true],
    ['Pod The node had condition: [MemoryPressure]. ', 'memory', true],
    ['The node had condition: [PIDPressure MemoryPressure]. ', 'pids', true],
    ['Usage of EmptyDir volume "v" exceeds the limit "1Gi". ', null, false],
    ['Container c exceeded its local ephemeral storage limit "1Gi". ', null, false],
    ['The node was low on resource: constructor. ', null, false],
    ['', null, false],
  ])('%s: %s', (message, resource, isRefused) => {
    expect(readEvictionMessage(message)).toEqual({
      resource,
      isRefused,
      threshold: null,
      containers: [],
    })
  })
})

describe('eviction-loop', () => {
  const low = upstreamMessage('v1.34.1')
  const gone = (suffix: string, ago: number, more: Partial<Saying> = {}) =>
    event({ reason: 'Evicted', of: `logging/shipper-${suffix}`, message: low, ago, ...more })
  const owned = (
    name: string,
    kind: string,
    owner: string,
    more: { spec?: KubernetesPod['spec']; status?: KubernetesPod['status'] } = {},
  ) => ({
    metadata: {
      namespace: 'logging',
      name,
      uid: `uid-${name}`,
      ownerReferences: [{ kind, name: owner, controller: true }],
    },
    ...more,
  })
  const everywhere = [{ operator: 'Exists' }]
  const living = (tolerations: unknown = everywhere, kind = 'DaemonSet') =>
    owned('shipper-9bcdf', kind, 'shipper', {
      spec: { tolerations } as KubernetesPod['spec'],
      status: { phase: 'Running' },
    })
  const failed = (suffix: string, ago: number) =>
    owned(`shipper-${suffix}`, 'DaemonSet', 'shipper', {
      status: {
        phase: 'Failed',
        reason: 'Evicted',
        message: low,
        conditions: [
          { type: 'DisruptionTarget', status: 'True', lastTransitionTime: minutesAgo(ago) },
        ],
      },
    })

  it.each([
    ['two, of an owner that is not here', [gone('4bcdf', 30), gone('5bcdf', 20)], [], 'pass'],
    ['three', [gone('4bcdf', 30), gone('5bcdf', 20), gone('6bcdf', 10)], [], 'fail'],
    [
      'three, one more than an hour ago',
      [gone('4bcdf', 61), gone('5bcdf', 20), gone('6bcdf', 10)],
      [],
      'pass',
    ],
    [
      'three of three owners',
      [
        gone('4bcdf', 30),
        gone('5bcdf', 20, { of: 'logging/other-4bcdf' }),
        gone('6bcdf', 9, { of: 'shop/shipper-4bcdf' }),
      ],
      [],
      'pass',
    ],
    [
      'two, and the next one came straight back',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [living()],
      'fail',
    ],
    ['one, and the next one came back', [gone('4bcdf', 30)], [living()], 'pass'],
    [
      'two, and the next one tolerates another taint',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [living([{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }])],
      'pass',
    ],
    [
      'two, and the next one tolerates this one',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [living([{ key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }])],
      'fail',
    ],
    [
      'two, and the next one tolerates it for another effect',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [living([{ operator: 'Exists', effect: 'NoExecute' }])],
      'pass',
    ],
    [
      'two over a limit of their own, which no taint follows',
      [gone('4bcdf', 30), gone('5bcdf', 20)].map(each => ({
        ...each,
        message: 'Container c exceeded its local ephemeral storage limit "1Gi". ',
      })),
      [living()],
      'pass',
    ],
    [
      'one pod that dies slowly, evicted by three passes',
      [9, 8, 7].map(ago => gone('4bcdf', ago, { uid: 'u', message: `${low}${ago}` })),
      [],
      'pass',
    ],
    [
      'three pods of a StatefulSet, which has one name for all',
      [9, 8, 7].map(ago => gone('0', ago, { uid: `u${ago}`, message: `${low}${ago}` })),
      [],
      'fail',
    ],
    ['one, told a thousand times', [gone('4bcdf', 30, { count: 1000 })], [living()], 'pass'],
    [
      'tolerations of any shape',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [living([null, 7, 'all', { key: 7 }])],
      'pass',
    ],
    [
      'two, and a toleration of a taint with a value, which this one has not',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [living([{ key: 'node.kubernetes.io/disk-pressure', operator: 'Equal', value: 'true' }])],
      'pass',
    ],
    [
      'two, and the next one has failed for another cause',
      [gone('4bcdf', 30), gone('5bcdf', 20)],
      [{ ...living(), status: { phase: 'Failed', reason: 'OutOfpods' } }],
      'pass',
    ],
    [
      'two, and an owner of that name in another namespace came back',
      [gone('', 30, { of: 'shop/shipper-4bcdf' }), gone('', 20, { of: 'shop/shipper-5bcdf' })],
      [living()],
      'pass',
    ],
    ['no list of tolerations', [gone('4bcdf', 30), gone('5bcdf', 20)], [living('all')], 'pass'],
  ] as const)('%s: %4$s', (_, events, pods, expected) => {
    expect(state(evictionLoop, { events: [...events], pods: pods.map(manifestOf) })).toBe(expected)
  })

  it('counts a pod that both its record and an event tell of once', () => {
    const pods = [failed('4bcdf', 30), failed('5bcdf', 20)]
    const events = [gone('4bcdf', 30), gone('5bcdf', 20, { uid: 'uid-shipper-5bcdf' })]
    expect(state(evictionLoop, { pods, events })).toBe('pass')
    expect(failingOf(evictionLoop, { pods, events: [...events, gone('6bcdf', 10)] })).toMatchObject(
      {
        confidence: 'certain',
        consequence: expect.stringContaining('DaemonSet logging/shipper: 3 pods'),
      },
    )
  })

  it('takes recorded pods alone where no events were read, and does not pass without them', () => {
    const pods = [failed('4bcdf', 30), failed('5bcdf', 20), failed('6bcdf', 10)]
    expect(state(evictionLoop, { pods })).toBe('fail')
    expect(
      state(evictionLoop, {
        pods: [failed('4bcdf', 30), failed('5bcdf', 20), failed('6bcdf', 61)],
      }),
    ).toBe('unknown')
    expect(outcomeFor(evictionLoop, {})).toMatchSnapshot()
  })

  it('names the owner by what the pod is called, likely where no pod of it is here', () => {
    const events = [gone('4bcdf', 30), gone('5bcdf', 20), gone('6bcdf', 10)]
    expect(failingOf(evictionLoop, { events })).toMatchObject({
      confidence: 'likely',
      consequence: expect.stringContaining('pods logging/shipper-...: 3'),
    })
    expect(failingOf(evictionLoop, { events, pods: [living([])] })).toMatchObject({
      confidence: 'certain',
      consequence: expect.stringContaining('DaemonSet logging/shipper: 3'),
    })
    // A ReplicaSet leaves what was evicted in the API: that it has a pod here says nothing of those that are gone.
    expect(failingOf(evictionLoop, { events, pods: [living([], 'ReplicaSet')] }).confidence).toBe(
      'likely',
    )
    const left = {
      ...failed('7bcdf', 500),
      metadata: owned('shipper-7bcdf', 'ReplicaSet', 'shipper').metadata,
    }
    expect(failingOf(evictionLoop, { events, pods: [left] }).consequence).toContain(
      'ReplicaSet logging/shipper: 3',
    )
    // A StatefulSet gives ordinals: such a name is none of its pods.
    expect(failingOf(evictionLoop, { events, pods: [living([], 'StatefulSet')] }).confidence).toBe(
      'likely',
    )
  })

  it('knows an owner whose name is cut in those of its pods', () => {
    const owner = 'a'.repeat(60)
    const pods = [owned('x', 'DaemonSet', owner, { status: { phase: 'Running' } })]
    const events = ['4bcdf', '5bcdf', '6bcdf'].map((suffix, index) =>
      gone('', 9 - index, { of: `logging/${owner.slice(0, 58)}${suffix}` }),
    )
    expect(failingOf(evictionLoop, { events, pods }).consequence).toContain(
      `DaemonSet logging/${owner}`,
    )
  })

  it('says for what, who used what, since when, how many were refused, and who is next', () => {
    const refused = gone('5bcdf', 20, { message: 'The node had condition: [DiskPressure]. ' })
    const victim = (name: string) => ({
      ...calmEviction,
      rankings: [
        {
          signal: 'nodefs.available' as const,
          pods: [
            {
              namespace: 'logging',
              name,
              rank: 0,
              qos: 'BestEffort',
              priority: 0,
              usage: 1,
              request: 0,
              reason: '',
            },
          ],
        },
      ],
    })
    const example = {
      events: [gone('4bcdf', 30), refused],
      pods: [living(), owned('web-4bcdf', 'ReplicaSet', 'web')],
    }
    const failing = failingOf(evictionLoop, { ...example, eviction: victim('shipper-9bcdf') })
    expect(failing.consequence).toMatchSnapshot()
    expect(failing.evidence).toEqual([
      {
        kind: 'event',
        what: 'evictions of DaemonSet logging/shipper',
        value: `2 times since ${minutesAgo(30)}, last at ${minutesAgo(20)}`,
      },
      { kind: 'event', what: 'low on resource', value: 'ephemeral-storage' },
      { kind: 'event', what: 'the threshold, and what was available', value: '2147483680, 1Gi' },
      { kind: 'event', what: 'container shipper', value: 'used 5Gi, requests 0' },
      {
        kind: 'event',
        what: 'the kubelet said last',
        value: 'The node had condition: [DiskPressure]. ',
      },
      { kind: 'node', what: 'tolerated taint', value: 'node.kubernetes.io/disk-pressure' },
      {
        kind: 'computed',
        what: 'next to go under ephemeral-storage by replay',
        value: 'a pod of the same owner',
      },
    ])
    expect(
      failingOf(evictionLoop, { ...example, eviction: victim('web-4bcdf') }).evidence.at(-1)?.value,
    ).toBe('a pod of another')
  })

  it('shows the five owners that lose most', () => {
    const suffixes = ['4bcdf', '5bcdf', '6bcdf', '7bcdf']
    const events = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap(owner =>
      suffixes
        .slice(owner === 'f' ? 0 : 1)
        .map(suffix => gone('', 9, { of: `logging/${owner}-${suffix}`, message: '' })),
    )
    const shown = failingOf(evictionLoop, { events }).evidence.filter(({ what }) =>
      what.startsWith('evictions of'),
    )
    expect(shown.map(({ what }) => what.at('evictions of pods logging/'.length))).toEqual([
      'f',
      'a',
      'b',
      'c',
      'd',
    ])
  })
})

const noCapacity = 'invalid capacity 0 on image filesystem'
const shortBefore126 =
  'failed to garbage collect required amount of images. Wanted to free 3435469701 bytes, but freed 0 bytes'
const shortBefore135 =
  'Failed to garbage collect required amount of images. Attempted to free 3435469701 bytes, but only found 1024 bytes eligible to free.'
const shortSince135 =
  "Insufficient free disk space on the node's image filesystem (91% of 80.0 GiB used). Failed to free sufficient space by deleting unused images (freed 2048 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data."
const undeletable =
  'wanted to free 9 bytes, but freed 0 bytes space with errors in image deletion: rpc error: code = Unknown desc = busy'

describe('image-gc-dead', () => {
  const starting = (ago: number | [number, number], count = 1) =>
    event({ reason: 'Starting', message: 'Starting kubelet.', ago, count })
  const blind = (ago: number | [number, number], count: number) =>
    event({ reason: 'InvalidDiskCapacity', message: noCapacity, ago, count })
  const failed = (
    ago: number | [number, number],
    count = 1,
    message = 'rpc error: code = Unavailable desc = gone',
  ) => event({ reason: 'ImageGCFailed', ago, count, message })
  const containers = (ago: number | [number, number], count: number) =>
    event({ reason: 'ContainerGCFailed', ago, count, message: 'gone' })

  it.each([
    ['no events', [], 'pass'],
    ['no capacity, once', [blind(3, 1)], 'pass'],
    ['no capacity, twice', [blind([8, 3], 2)], 'fail'],
    ['no capacity, twice, long ago', [blind([50, 11], 8)], 'pass'],
    ['no capacity, twice, just after a start', [starting(9), blind([8, 3], 2)], 'pass'],
    [
      'no capacity, twice, a kubelet that was started 10 min before the last',
      [starting(13), blind([13, 3], 3)],
      'pass',
    ],
    ['no capacity, later than that after a start', [starting(14), blind([14, 3], 3)], 'fail'],
    [
      'no capacity, more rounds than fit in since its start',
      [starting(9), blind([50, 3], 9)],
      'fail',
    ],
    ['a kubelet that starts again and again', [starting([50, 2], 10), blind([50, 2], 10)], 'pass'],
    [
      "another component's start",
      [event({ reason: 'Starting', ago: 9 }), blind([8, 3], 2)],
      'fail',
    ],
    ['a start that came after', [starting(1), blind([8, 3], 2)], 'fail'],
    ['an error, told once: the second in a row', [failed(3)], 'fail'],
    ['the same after a start', [starting(8), failed(3)], 'pass'],
    ['images that cannot be deleted', [failed(3, 2, undeletable)], 'fail'],
    [
      'too little to free, which is another rule',
      [failed(3, 9, shortBefore126), failed(3, 9, shortBefore135), failed(3, 9, shortSince135)],
      'pass',
    ],
    ['containers, once', [containers(1, 1)], 'pass'],
    ['containers, twice', [containers([2, 1], 2)], 'fail'],
    ['containers, while it starts', [starting(6), containers([6, 1], 6)], 'pass'],
    ['no times, which is now', [{ ...failed(3, 2), firstTime: null, lastTime: null }], 'fail'],
    [
      'times far ahead, which is no time',
      [{ ...failed(3, 2), firstTime: '2099-01-01T00:00:00Z', lastTime: '2099-01-01T00:00:00Z' }],
      'fail',
    ],
  ] as const)('%s: %3$s', (_, events, expected) => {
    expect(state(imageGcDead, { events: [...events] })).toBe(expected)
  })

  it('is certain where it was told within the last round', () => {
    expect(failingOf(imageGcDead, { events: [failed(5)] }).confidence).toBe('certain')
    expect(failingOf(imageGcDead, { events: [failed(6)] }).confidence).toBe('likely')
    expect(failingOf(imageGcDead, { events: [{ ...failed(5), lastTime: null }] }).confidence).toBe(
      'certain',
    )
    expect(
      failingOf(imageGcDead, { events: [{ ...failed(5), firstTime: null, lastTime: null }] })
        .confidence,
    ).toBe('likely')
  })

  it('counts rounds, not what each tells', () => {
    const { consequence, evidence } = failingOf(imageGcDead, {
      events: [blind([50, 1], 11), failed([45, 1], 10, noCapacity)],
    })
    expect(consequence).toContain('said so 11 times since')
    expect(evidence).toHaveLength(2)
  })

  it('needs no events where the statistics show it, and then cites them', () => {
    const imageGC = { triggered: false, reachesLow: null, error: noCapacity }
    const plain = failingOf(imageGcDead, { imageGC })
    const events = [starting(2), blind(2, 1), failed([40, 1], 7, noCapacity)]
    expect(failingOf(imageGcDead, { imageGC, events })).toEqual({
      ...plain,
      evidence: [
        ...plain.evidence,
        {
          kind: 'event',
          what: `event InvalidDiskCapacity, once at ${minutesAgo(2)}`,
          value: noCapacity,
        },
      ],
    })
  })

  it('passes over images where their GC is off, not over containers', () => {
    const imageGC = { enabled: false, triggered: null }
    expect(state(imageGcDead, { imageGC, events: [failed(3), blind([8, 3], 2)] })).toBe(
      'notApplicable',
    )
    expect(
      failingOf(imageGcDead, { imageGC, events: [failed(3), containers([30, 1], 30)] }).title,
    ).toContain('Container')
  })
})

describe('unreachable-gc-low-threshold', () => {
  const short = (message: string, ago: number | [number, number] = [50, 3], count = 12) =>
    event({ reason: 'FreeDiskSpaceFailed', message, ago, count })
  const due = { triggered: true, reachesLow: null, freedBytes: null, shortfallBytes: null }

  it.each([
    [shortBefore126, { asked: 3_435_469_701, freed: 0 }],
    [shortBefore135, { asked: 3_435_469_701, freed: 1024 }],
    [shortSince135, { asked: null, freed: 2048 }],
    ['Attempted to free 99999999999999999999 bytes, but only found 1 bytes', null],
    ['full', null],
  ])('%s', (message, expected) => {
    expect(shortfallBytes(event({ reason: 'FreeDiskSpaceFailed', message }))).toEqual(expected)
  })

  it.each([
    ['not known by replay, but told', due, [short(shortSince135)], 'fail'],
    ['not known by replay', due, [], 'unknown'],
    ['told, but long ago', due, [short(shortBefore135, [50, 11])], 'unknown'],
    ['below the trigger again', { triggered: false }, [short(shortBefore135)], 'pass'],
    ['no statistics', { triggered: null, reachesLow: null }, [short(shortBefore126)], 'fail'],
    ['another text', due, [short('full')], 'unknown'],
    [
      'only the second witness of the same round',
      due,
      [event({ reason: 'ImageGCFailed', message: shortBefore135 })],
      'unknown',
    ],
  ] as const)('%s: %4$s', (_, imageGC, events, expected) => {
    expect(state(unreachableGcLowThreshold, { imageGC, events: [...events] })).toBe(expected)
  })

  it('is only likely where replay finds enough', () => {
    const imageGC = { ...due, reachesLow: true }
    expect(state(unreachableGcLowThreshold, { imageGC, events: [] })).toBe('pass')
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC, events: [short(shortBefore135, [8, 3], 2)] })
        .confidence,
    ).toBe('likely')
  })

  it('is only likely where nothing else shows that the disk is full', () => {
    const imageGC = { triggered: null, reachesLow: null }
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC, events: [short(shortBefore135)] }).confidence,
    ).toBe('likely')
    expect(
      failingOf(unreachableGcLowThreshold, { imageGC: due, events: [short(shortBefore135)] })
        .confidence,
    ).toBe('certain')
  })

  it('cites what was asked and freed, once, beside what replay says', () => {
    const imageGC = { ...due, bytesToFree: 9, reachesLow: false, freedBytes: 0, shortfallBytes: 9 }
    const plain = failingOf(unreachableGcLowThreshold, { imageGC })
    const cited = failingOf(unreachableGcLowThreshold, { imageGC, events: [short(shortBefore135)] })
    expect(cited.consequence).toBe(plain.consequence)
    expect(cited.evidence.slice(plain.evidence.length)).toEqual([
      {
        kind: 'event',
        what: `event FreeDiskSpaceFailed, 12 times since ${minutesAgo(50)}, last at ${minutesAgo(3)}`,
        value: 'asked for 3435469701 bytes (3.2 GiB), freed 1024 bytes (1.0 KiB)',
      },
    ])
  })
})

const hubLimit =
  'failed to pull and unpack image "docker.io/library/busybox:1.36": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/busybox/manifests/sha256:1: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit'

describe('why a pull failed', () => {
  it.each([
    [hubLimit, 'rate limit (429)'],
    ['toomanyrequests: Rate exceeded', 'rate limit (429)'],
    ['unexpected status code: 429', 'rate limit (429)'],
    ['failed to resolve reference "a/b:429": a/b:429: not found', 'not found'],
    ['manifest unknown: manifest unknown', 'not found'],
    ['Container image "a" is not present with pull policy of Never', 'not found'],
    [
      'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      'denied',
    ],
    ['unexpected status from HEAD request: 403 Forbidden', 'denied'],
    ['dial tcp 10.0.0.1:443: i/o timeout', 'timeout'],
    ['context deadline exceeded', 'timeout'],
    [
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
      'certificate (x509)',
    ],
    ['write /var/lib/containerd/ingest: no space left on device', 'no space left'],
    ['dial tcp: lookup registry on 10.0.0.2:53: no such host', 'out of reach'],
    ['Error: ErrImagePull', null],
  ])('%s: %s', (message, expected) => {
    expect(causeOf(message, null)).toBe(expected)
  })

  it("is not read out of the image's own name", () => {
    expect(
      causeOf('Failed to pull image "denied/not-found:1": EOF', 'denied/not-found:1'),
    ).toBeNull()
  })
})

const pullOf = (message: string, more: Partial<Saying> = {}) =>
  event({ reason: 'Failed', of: 'batch/import-x8k2p', message, ago: 20, ...more })

describe('pull-failing-now', () => {
  const image = 'docker.io/library/busybox:1.36'
  const failed = pullOf(`Failed to pull image "${image}": ${hubLimit}`, { ago: [34, 22], count: 4 })
  const backOff = pullOf(`Back-off pulling image "${image}"`, { reason: 'BackOff', count: 17 })
  const pod = (containerState: object) => ({
    metadata: { namespace: 'batch', name: 'import-x8k2p' },
    status: { containerStatuses: [{ name: 'a', image, state: containerState }] },
  })

  it.each([
    [
      'a pod that is gone',
      [failed, pullOf('Error: ErrImagePull', { count: 4 }), backOff],
      [],
      'fail',
    ],
    [
      'an image that is never pulled',
      [
        pullOf(`Container image "${image}" is not present with pull policy of Never`, {
          reason: 'ErrImageNeverPull',
        }),
      ],
      [],
      'fail',
    ],
    [
      'a name that is none',
      [
        pullOf('Failed to apply default image tag "A B": couldn\'t parse image name', {
          reason: 'InspectFailed',
        }),
      ],
      [],
      'fail',
    ],
    ['only the line without the image', [pullOf('Error: ImagePullBackOff')], [], 'fail'],
    ['more than an hour ago', [{ ...failed, lastTime: minutesAgo(61) }], [], 'pass'],
    [
      'pulled since',
      [
        failed,
        pullOf(
          `Successfully pulled image "${image}" in 2s (2s including waiting). Image size: 1 bytes.`,
          { reason: 'Pulled', ago: 21 },
        ),
      ],
      [],
      'pass',
    ],
    [
      'another pulled since',
      [failed, pullOf('Successfully pulled image "other:1" in 2s', { reason: 'Pulled', ago: 21 })],
      [],
      'fail',
    ],
    [
      'pulled before',
      [failed, pullOf(`Successfully pulled image "${image}" in 2s`, { reason: 'Pulled', ago: 22 })],
      [],
      'fail',
    ],
    [
      'a pod that has started since',
      [failed],
      [pod({ running: { startedAt: minutesAgo(20) } })],
      'pass',
    ],
    ['one that has not', [failed], [pod({ waiting: { reason: 'ContainerCreating' } })], 'fail'],
    [
      'a container that did not start',
      [pullOf('Error: failed to create containerd task: cannot allocate memory')],
      [],
      'pass',
    ],
    ['an event about no pod', [{ ...failed, pod: null }], [], 'pass'],
  ] as const)('%s: %4$s', (_, events, pods, expected) => {
    expect(state(pullFailingNow, { events: [...events], pods: pods.map(manifestOf) })).toBe(
      expected,
    )
  })

  it('says which registry, why, and how often, once for each pod and image', () => {
    const { severity, evidence } = failingOf(pullFailingNow, {
      events: [failed, pullOf('Error: ErrImagePull', { count: 4 }), backOff],
    })
    expect(severity).toBe('medium')
    expect(evidence).toEqual([
      {
        kind: 'event',
        what: `pod batch/import-x8k2p: rate limit (429), docker.io, 4 times since ${minutesAgo(34)}, last at ${minutesAgo(20)}`,
        value: expect.stringContaining('Failed to pull image'),
      },
    ])
  })

  it('leaves a pod that waits to its status', () => {
    const pods = [
      pod({
        waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` },
      }),
    ]
    expect(failingOf(pullFailingNow, { pods, events: [failed] })).toEqual(
      failingOf(pullFailingNow, { pods }),
    )
  })

  it('bounds and cleans what others wrote', () => {
    const { evidence } = failingOf(pullFailingNow, {
      events: [pullOf(`Failed to pull image "a\u202e": ${'x'.repeat(900)}`)],
    })
    expect(evidence[0]?.value).toHaveLength(400)
    expect(evidence[0]?.value).not.toContain('\u202e')
  })
})

describe('rate-limited-registry', () => {
  it('is certain and high where the registry has said so', () => {
    const events = [pullOf(`Failed to pull image "docker.io/library/busybox:1.36": ${hubLimit}`)]
    expect(failingOf(rateLimitedRegistry, { events })).toMatchObject({
      severity: 'high',
      title: expect.stringContaining('refuses pulls'),
    })
    expect(told(rateLimitedRegistry, { events })).toContain('refused once at')
    const waiting = { reason: 'ErrImagePull', message: 'toomanyrequests: Rate exceeded' }
    const pods = [
      {
        status: { containerStatuses: [{ name: 'a', image: 'quay.io/a/b:1', state: { waiting } }] },
      },
    ]
    expect(failingOf(rateLimitedRegistry, { pods }).consequence).toContain('quay.io answered 429')
    expect(
      state(rateLimitedRegistry, { events: [pullOf('Failed to pull image "a": not found')] }),
    ).toBe('pass')
  })

  it('says it even where mirrors are set, and of pulls that came through in the end', () => {
    const events = [
      pullOf(`Failed to pull image "busybox": ${hubLimit}`),
      pullOf('Successfully pulled image "busybox" in 2s', { reason: 'Pulled', ago: 1 }),
    ]
    const pods = [{ spec: { containers: [{ name: 'a', image: 'busybox' }] } }]
    expect(
      state(rateLimitedRegistry, { events, pods, host: { containerd: { mirrors: [{}] } } }),
    ).toBe('fail')
  })

  it('is lower, and not certain, where every pull that was refused came through since', () => {
    const refused = pullOf(`Failed to pull image "busybox": ${hubLimit}`, { of: 'a/p1', ago: 55 })
    const running = (name: string, ago: number) => ({
      metadata: { namespace: 'a', name },
      status: {
        containerStatuses: [
          { name: 'c', image: 'busybox', state: { running: { startedAt: minutesAgo(ago) } } },
        ],
      },
    })
    const pulled = pullOf('Successfully pulled image "busybox" in 2s', {
      of: 'a/p1',
      reason: 'Pulled',
      ago: 54,
    })
    const over = {
      severity: 'medium',
      confidence: 'likely',
      title: expect.stringContaining('refused pulls within the last hour'),
    }
    expect(failingOf(rateLimitedRegistry, { events: [refused, pulled] })).toMatchObject(over)
    expect(
      failingOf(rateLimitedRegistry, { events: [refused], pods: [running('p1', 54)] }),
    ).toMatchObject(over)
    expect(
      failingOf(rateLimitedRegistry, { events: [refused], pods: [running('p1', 54)] }).consequence,
    ).not.toContain('now')
    for (const pods of [[], [running('p2', 54)], [running('p1', 56)]])
      expect(failingOf(rateLimitedRegistry, { events: [refused], pods })).toMatchObject({
        severity: 'high',
      })
    const other = pullOf(`Failed to pull image "redis": ${hubLimit}`, { of: 'a/p3', ago: 3 })
    expect(failingOf(rateLimitedRegistry, { events: [refused, pulled, other] })).toMatchObject({
      severity: 'high',
    })
  })

  it('counts what GC deletes and pods of this node name', () => {
    const deletion = (name: string) => ({
      image: name,
      names: [name],
      sizeBytes: 1,
      rank: 0,
      reason: 'space' as const,
      certainty: 'certain' as const,
    })
    const imageGC = {
      deletions: [
        deletion('docker.io/library/nginx:1'),
        deletion('docker.io/library/redis:latest'),
      ],
    }
    const pods = [{ spec: { containers: [{ name: 'a', image: 'redis' }] } }]
    expect(failingOf(rateLimitedRegistry, { pods, imageGC }).consequence).toMatchSnapshot()
  })

  it.each([
    ['redis', 'docker.io/library/redis:latest'],
    ['docker.io/redis:7', 'docker.io/library/redis:7'],
    ['index.docker.io/a/b', 'docker.io/a/b:latest'],
    ['localhost:5000/a', 'localhost:5000/a:latest'],
    ['a/b@sha256:1', 'docker.io/a/b@sha256:1'],
  ])('%s is %s', (image, expected) => {
    expect(canonicalName(image)).toBe(expected)
  })
})

describe('memory-cgroup-leak', () => {
  const path = '/sys/fs/cgroup/memory/kubepods/burstable/pod1/2'
  const sandbox = (message: string, count = 3) =>
    event({ reason: 'FailedCreatePodSandBox', of: 'a/b', message, count })
  const on = (kernelVersion: string) => ({ node: { status: { nodeInfo: { kernelVersion } } } })
  const wrapped = `Failed to create pod sandbox: rpc error: code = Unknown desc = OCI runtime create failed: process_linux.go:279: applying cgroup configuration for process caused "mkdir ${path}: cannot allocate memory": unknown`

  it.each([
    ['no cgroup is made', sandbox(wrapped), 'fail'],
    ['no id is left', sandbox(`mkdir ${path}: no space left on device`), 'fail'],
    [
      'on cgroup v2',
      sandbox('mkdir /sys/fs/cgroup/kubepods.slice/a: cannot allocate memory'),
      'fail',
    ],
    [
      'of another controller',
      sandbox('mkdir /sys/fs/cgroup/cpuset/kubepods/a: no space left on device'),
      'pass',
    ],
    [
      'a process that found no memory',
      sandbox('Error: failed to create containerd task: exec: "(removed)": cannot allocate memory'),
      'pass',
    ],
    [
      'a disk that is full',
      sandbox('mkdir /var/lib/kubelet/pods/a: no space left on device'),
      'pass',
    ],
    ['the pod itself', { ...sandbox(wrapped), reason: 'FailedCreatePodContainer' }, 'fail'],
    ['another reason', { ...sandbox(wrapped), reason: 'FailedMount' }, 'pass'],
  ] as const)('%s: %3$s', (_, told, expected) => {
    expect(state(memoryCgroupLeak, { ...on('5.10.1'), events: [told] })).toBe(expected)
  })

  it.each([
    ['4.14.355', 'certain'],
    ['5.10.230', 'likely'],
  ])('on a kernel %s it is %s', (kernel, confidence) => {
    const failing = failingOf(memoryCgroupLeak, { ...on(kernel), events: [sandbox(wrapped)] })
    expect(failing).toMatchObject({
      severity: 'high',
      confidence,
      consequence: expect.stringContaining('3 times since'),
    })
  })
})

describe('unsupported-version', () => {
  it.each([
    ['v1.34.1', '1.34', 'supported'],
    ['v1.34.1', '1.33', 'newer'],
    ['v1.31.9', '1.34', 'supported'],
    ['v1.30.9', '1.34', 'tooOld'],
    ['v1.25.9', '1.28', 'supported'],
    ['v1.25.9', '1.27', 'supported'],
    ['v1.24.9', '1.27', 'tooOld'],
    ['v1.24.9', '1.26', 'supported'],
  ])('a kubelet %s under %s is %s', (kubeletVersion, version, expected) => {
    expect(versionSkew(kubeletVersion, version)?.state).toBe(expected)
    expect(state(unsupportedVersion, { identity: { kubeletVersion }, eks: { version } })).toBe(
      expected === 'supported' ? 'pass' : 'fail',
    )
  })

  it.each([undefined, {}, { version: 'latest' }])(
    'without a control plane version it says the same as before: %j',
    eks => {
      expect(state(unsupportedVersion, { identity: { kubeletVersion: 'v1.24.0' }, eks })).toBe(
        'pass',
      )
      expect(state(unsupportedVersion, { identity: { kubeletVersion: null }, eks })).toBe('unknown')
    },
  )

  it('says both where both are so', () => {
    const { title, consequence } = failingOf(unsupportedVersion, {
      identity: { kubeletVersion: 'v1.23.17' },
      eks: { version: '1.33' },
    })
    expect(title).toBeUndefined()
    expect(consequence).toMatchSnapshot()
  })
})

describe('oom-before-eviction', () => {
  const system = event({
    reason: 'SystemOOM',
    message: 'System OOM encountered, victim process: java, pid: 4242',
    count: 3,
    ago: [40, 4],
  })
  const inContainer = event({
    reason: 'OOMKilling',
    message: 'Memory cgroup out of memory: Killed process 7 (java)',
  })

  it('tells that it has happened, but not of containers at their own limits', () => {
    expect(told(oomBeforeEviction, { thresholds: [], events: [system, inContainer] })).toContain(
      'event SystemOOM, 3 times since',
    )
    expect(told(oomBeforeEviction, { thresholds: [], events: [inContainer] })).not.toContain(
      'OOMKilling',
    )
  })

  it('is a likely failing by itself, also where the configuration was not read', () => {
    const likely = {
      confidence: 'likely',
      consequence: expect.stringContaining(
        'The kernel killed processes of this node for memory 3 times',
      ),
    }
    expect(failingOf(oomBeforeEviction, { events: [system] })).toMatchObject(likely)
    expect(failingOf(oomBeforeEviction, { events: [system] }).evidence).toMatchObject([
      { what: expect.stringContaining('event SystemOOM') },
    ])
    expect(
      failingOf(oomBeforeEviction, { events: [{ ...system, reason: 'OOMKilling' }] }),
    ).toMatchObject(likely)
    expect(state(oomBeforeEviction, { events: [inContainer] })).toBe('pass')
    expect(failingOf(oomBeforeEviction, { events: [system], configuration: null })).toMatchObject(
      likely,
    )
    expect(state(oomBeforeEviction, { events: [], configuration: null })).toBe('unknown')
  })
})

describe('events that were not read', () => {
  const unread = { events: 'page 2: timeout' }
  const undecided = [
    evictionLoop,
    imageGcDead,
    rateLimitedRegistry,
    pullFailingNow,
    memoryCgroupLeak,
    oomBeforeEviction,
  ]
  const sound: ContextExample = { node: { status: { nodeInfo: { kernelVersion: '6.1.115' } } } }

  it.each(undecided)('leave $id open, also where the list only broke off', rule => {
    const unknown = { state: 'unknown', reason: 'events: page 2: timeout' }
    expect(outcomeFor(rule, { ...sound, errors: unread })).toEqual(unknown)
    expect(outcomeFor(rule, { ...sound, errors: unread, events: [] })).toEqual(unknown)
    expect(state(rule, { ...sound, events: [] })).toBe('pass')
  })

  it('leave a round that replay takes for enough open', () => {
    const imageGC = { triggered: true, reachesLow: true }
    expect(state(unreachableGcLowThreshold, { imageGC, errors: unread })).toBe('unknown')
    expect(state(unreachableGcLowThreshold, { imageGC })).toBe('pass')
    expect(state(unreachableGcLowThreshold, { errors: unread })).toBe('pass')
  })

  it('do not matter where what was read tells enough', () => {
    const events = [event({ reason: 'ContainerGCFailed', message: 'rpc error', count: 30 })]
    expect(state(imageGcDead, { events, errors: unread })).toBe('fail')
  })
})

describe('a control plane that was not read', () => {
  it('leaves open how far the kubelet is from it', () => {
    const errors = { cluster: 'AccessDenied' }
    expect(outcomeFor(unsupportedVersion, { errors })).toEqual({
      state: 'unknown',
      reason: 'cluster: AccessDenied',
    })
    expect(state(unsupportedVersion, { errors, eks: { version: '1.34' } })).toBe('pass')
    expect(state(unsupportedVersion, {})).toBe('pass')
  })
})

describe('a node of which little was read', () => {
  const short = event({
    reason: 'FreeDiskSpaceFailed',
    message: shortBefore135,
    ago: [50, 3],
    count: 12,
  })
  const dead = event({ reason: 'ContainerGCFailed', message: 'gone', ago: [30, 1], count: 30 })
  const evictions = ['4bcdf', '5bcdf', '6bcdf'].map(suffix =>
    event({ reason: 'Evicted', of: `logging/shipper-${suffix}` }),
  )
  const refused = event({
    reason: 'Failed',
    of: 'shop/web',
    message: 'Failed to pull image "redis:7": 429 Too Many Requests',
  })

  it.each([
    [unreachableGcLowThreshold.id, unreachableGcLowThreshold, { imageGC: null }, [short], 'likely'],
    [imageGcDead.id, imageGcDead, { imageGC: null }, [dead], 'certain'],
    [evictionLoop.id, evictionLoop, { pods: null }, evictions, 'likely'],
    [rateLimitedRegistry.id, rateLimitedRegistry, { pods: null }, [refused], 'likely'],
    [pullFailingNow.id, pullFailingNow, { pods: null }, [refused], 'likely'],
  ] as const)(
    '%s fails by what its kubelet said of itself, else it is unknown',
    (_, rule, unread, events, confidence) => {
      expect(failingOf(rule, { ...unread, events }).confidence).toBe(confidence)
      expect(told(rule, { ...unread, events })).toContain(
        events[0]?.reason === 'Failed' ? 'Too Many Requests' : 'times',
      )
      expect(outcomeFor(rule, { ...unread, events: [] })).toMatchObject({
        state: 'unknown',
        reason: expect.stringContaining('not read'),
      })
    },
  )
})

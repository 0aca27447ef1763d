import { describe, expect, it } from 'vitest'
import { evictionCause } from '#facts/kubelet/event-messages.ts'
import { evictionLoop } from '#judge/rules/eviction/eviction-loop.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { parseThresholdConfig } from '#replay/eviction/thresholds.ts'
import { podStatsOf } from '#replay/pods.ts'
import { kubeletOf } from '#replay/times.ts'
import { manifestOf, podOf, podStatsOf as statsOf } from '#test/at-the-door.ts'
import { evictionMessage } from '#test/eviction-messages.ts'
import { calmEviction, exampleCapacityBytes, hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'
import { type EventValues, event, minutesAgo } from '#test/rules/events.ts'

const evicted = (suffix: string, minute: number) => ({
  reason: 'Evicted',
  pod: { namespace: 'logging', name: `shipper-${suffix}` },
  message:
    'The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. Container shipper was using 5Gi, request is 0, has larger consumption of ephemeral-storage. ',
  count: 1,
  firstTime: `2026-11-20T23:${minute}:00Z`,
  lastTime: `2026-11-20T23:${minute}:00Z`,
})

itJudgesExamples(evictionLoop, {
  bad: { events: [evicted('4bcdf', 11), evicted('5bcdf', 27), evicted('6bcdf', 49)] },
  good: { events: [evicted('4bcdf', 11)] },
})

it.each([
  ['the one that evicted', 10, 'fail'],
  ['a lower one, which is not met by what was available', 5, 'pass'],
  ['another one, which is', 9.5, 'fail'],
])('judges evictions by the threshold of today: %s', (_, gib, wanted) => {
  const events = [evicted('4bcdf', 11), evicted('5bcdf', 27), evicted('6bcdf', 49)]
  const eviction = { ...calmEviction, thresholds: [hard('nodefs.available', gib, 20)] }
  expect(state(evictionLoop, { events, eviction })).toBe(wanted)
})

it('says nothing comes back of pods whose owner is not known', () => {
  const events = [evicted('4bcdf', 11), evicted('5bcdf', 27), evicted('6bcdf', 49)]
  const { title, consequence } = failingOf(evictionLoop, { events })
  expect(title).toContain('Pods of one name')
  expect(consequence).toContain('nothing in Kubernetes replaces')
})

/** What the kubelet of a version writes of a container with 5 GiB on a disk of 20 GiB. */
function upstreamMessage(version: string): string {
  const kubelet = kubeletOf(version)
  const [threshold] = parseThresholdConfig({ evictionHard: { 'nodefs.available': '10%' } })
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
    ['v1.29.0', { quantity: '2147483680', available: '1Gi' }],
    ['v1.37.0', { quantity: '2147483680', available: '1Gi' }],
  ])('of %s tells the resource, the threshold, and who used what', (version, threshold) => {
    const message = upstreamMessage(version)
    expect(evictionCause(message)).toEqual({
      resource: 'ephemeral-storage',
      isRefused: false,
      threshold,
      containers: [container],
    })
    expect(evictionCause(message.trimEnd()).containers).toEqual([container])
  })

  it.each([
    ['Pod was rejected: The node had condition: [DiskPressure]. ', 'ephemeral-storage', true],
    ['Pod The node had condition: [MemoryPressure]. ', 'memory', true],
    ['The node was low on resource: [DiskPressure]. ', 'ephemeral-storage', true],
    ['The node had condition: [PIDPressure MemoryPressure]. ', 'pids', true],
    ['Usage of EmptyDir volume "v" exceeds the limit "1Gi". ', null, false],
    ['Container c exceeded its local ephemeral storage limit "1Gi". ', null, false],
    ['The node was low on resource: constructor. ', null, false],
    ['', null, false],
  ])('%s: %s', (message, resource, isRefused) => {
    expect(evictionCause(message)).toEqual({ resource, isRefused, threshold: null, containers: [] })
  })
})

describe('eviction-loop', () => {
  const low = upstreamMessage('v1.34.1')
  const gone = (suffix: string, ago: number, more: Partial<EventValues> = {}) =>
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
    [
      '20Gi',
      /; container shipper used 5\.0 GiB of the disk, 3 pods of its owner about as much\.$/,
      'move-to-volume',
    ],
    ['200Gi', /container shipper used 5\.0 GiB of the disk without its volumes\.$/, 'look-on-node'],
  ])('of a container with 5 GiB, on a disk of %s', (disk, seen, step) => {
    const failing = failingOf(evictionLoop, {
      node: { status: { capacity: { 'ephemeral-storage': disk } } },
      pods: [failed('4bcdf', 30), failed('5bcdf', 20), failed('6bcdf', 10)],
      events: [],
    })
    expect(failing.seen).toMatch(seen)
    expect(failing.steps?.[0]?.id).toBe(step)
  })

  const loop = {
    node: { status: { capacity: { 'ephemeral-storage': '200Gi' } } },
    pods: [failed('4bcdf', 30), failed('5bcdf', 20), failed('6bcdf', 10)],
    events: [],
  }

  it.each([
    [{ 'images-in-use': 60, 'writable-layers': 20 }, 'images-in-use', 'larger-disk'],
    // What was written once is freed before a disk is bought.
    [{ 'images-in-use': 46, 'dead-containers': 30 }, 'dead-containers', 'prune-dead-containers'],
    [{ 'leftover-snapshots': 60, 'images-in-use': 20 }, 'leftover-snapshots', 'replace-node'],
    [{ 'images-in-use': 40, system: 10 }, undefined, 'look-on-node'],
  ])('names what holds the disk where no evicted container does: %o', (held, holder, step) => {
    const { cause, steps } = failingOf(evictionLoop, { ...loop, held })
    expect(cause?.kind === 'holder' ? cause.holder : undefined).toBe(holder)
    expect(steps?.[0]?.id).toBe(step)
  })

  it('says that what holds the disk is not known where nothing shows what evicted pods held', () => {
    const message = 'The node was low on resource: ephemeral-storage. '
    const silent = ['4bcdf', '5bcdf', '6bcdf'].map((suffix, index) => {
      const pod = failed(suffix, 30 - index)
      return { ...pod, status: { ...pod.status, message } }
    })
    const given = { ...loop, pods: silent }
    const { cause, steps } = failingOf(evictionLoop, { ...given, held: { unread: 90 } })
    expect(cause).toMatchObject({ kind: 'unread', source: 'disk use' })
    expect(steps?.[0]?.id).toBe('look-on-node')
    expect(failingOf(evictionLoop, given).steps?.[0]?.id).toBe('set-ephemeral-storage')
  })

  it('has the threshold as its cause where it alone is met', () => {
    const met = { ...hard('nodefs.available', 30, 27), value: '30%', met: true }
    const { cause, fix, steps } = failingOf(evictionLoop, {
      ...loop,
      held: { 'images-in-use': 60, 'writable-layers': 13 },
      eviction: {
        ...calmEviction,
        thresholds: [met],
        signals: {
          'nodefs.available': {
            capacityBytes: exampleCapacityBytes,
            availableBytes: 27 * 2 ** 30,
            time: null,
          },
        },
      },
    })
    expect(cause).toMatchObject({ fields: ['evictionHard.nodefs.available'] })
    expect(fix?.config).toMatchObject({ evictionHard: { 'nodefs.available': '10%' } })
    expect(steps).toEqual([{ id: 'set-fields' }])
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
    ['one, counted a thousand times', [gone('4bcdf', 30, { count: 1000 })], [living()], 'pass'],
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
      consequence: expect.stringContaining('pods logging/shipper-*: 3'),
    })
    expect(failingOf(evictionLoop, { events, pods: [living([])] })).toMatchObject({
      confidence: 'certain',
      consequence: expect.stringContaining('DaemonSet logging/shipper: 3'),
    })
    expect(failingOf(evictionLoop, { events, pods: [living([], 'ReplicaSet')] })).toMatchObject({
      confidence: 'certain',
      consequence: expect.stringContaining('ReplicaSet logging/shipper: 3'),
    })
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

  it.each([
    ['memory', { id: 'set-memory', bytes: 5 * 2 ** 30 }, 'resources.requests.memory'],
    [
      'ephemeral-storage',
      { id: 'move-to-volume', variant: 'needed' },
      'resources.requests.ephemeral-storage',
    ],
  ])('sets what is short: %s', (resource, step, field) => {
    const message = `The node was low on resource: ${resource}. Threshold quantity: 2Gi, available: 1Gi. Container shipper was using 5Gi, request is 0, has larger consumption of ${resource}. `
    const events = ['4bcdf', '5bcdf', '6bcdf'].map((one, index) =>
      gone(one, 9 - index, { message }),
    )
    expect(
      failingOf(evictionLoop, {
        node: { status: { capacity: { 'ephemeral-storage': '20Gi' } } },
        events,
      }),
    ).toMatchObject({
      cause: { fields: [field] },
      steps: [{ ...step, owner: { container: 'shipper', pod: 'shipper-4bcdf' } }],
    })
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
        value: '2 times since 2026-11-20 23:30 UTC, last at 2026-11-20 23:40 UTC',
      },
      { kind: 'event', what: 'low on resource', value: 'ephemeral-storage' },
      { kind: 'event', what: 'the threshold, and what was available', value: '2.0 GiB, 1.0 GiB' },
      { kind: 'event', what: 'container shipper', value: 'used 5.0 GiB, requests 0 bytes' },
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

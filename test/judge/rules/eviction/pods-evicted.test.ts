import { describe, expect, it } from 'vitest'
import { podsEvicted } from '#judge/rules/eviction/pods-evicted.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'
import { event, minutesAgo } from '#test/rules/events.ts'

const low = (resource: string, rest = '') =>
  `The node was low on resource: ${resource}. Threshold quantity: 2147483648, available: 1803240Ki. ${rest}`
const usedBy = (container: string, used: string, resource: string) =>
  low(
    resource,
    `Container ${container} was using ${used}, request is 0, has larger consumption of ${resource}. `,
  )
const gone = (message: string, name = 'web-5d9c8f7b6c-x2x4z') =>
  event({ reason: 'Evicted', of: `shop/${name}`, message, ago: 20 })
const disk = { status: { capacity: { 'ephemeral-storage': '20Gi' } } }
const nodefs = {
  ...{ capacityBytes: 20 * 2 ** 30, usedPercent: 55 },
  ...{ inodes: 1e7, inodesFree: 9e6 },
}
const full = usedBy('web', '9Gi', 'ephemeral-storage')
const owned = (name: string, kind: string, labels = {}) => ({
  metadata: {
    ...{ namespace: 'shop', name, labels },
    ownerReferences: [{ kind, name: name.split('-').slice(0, -1).join('-'), controller: true }],
  },
  status: { phase: 'Running' },
})

itJudgesExamples(podsEvicted, {
  bad: { node: disk, events: [gone(full)] },
  good: { node: disk, events: [] },
})

describe('pods-evicted', () => {
  it('names pod, owner, signal and threshold, and who used what', () => {
    const pods = [
      owned('web-7c9d8f6b5d-bbbb4', 'ReplicaSet', { 'pod-template-hash': '7c9d8f6b5d' }),
    ]
    const thresholds = [hard('imagefs.available', 3), hard('nodefs.available', 2)]
    expect(
      failingOf(podsEvicted, { node: disk, pods, thresholds, events: [gone(full)] }),
    ).toMatchObject({
      seen: 'shop/web-5d9c8f7b6c-x2x4z (Deployment shop/web) was evicted for ephemeral-storage at 2026-11-20 23:40 UTC: 1.7 GiB available, below nodefs.available 2Gi (2.0 GiB); container web used 9.0 GiB of the disk.',
      cause: { kind: 'setting', fields: ['resources.requests.ephemeral-storage'] },
      steps: [
        {
          id: 'move-to-volume',
          owner: { namespace: 'shop', workload: 'Deployment web', container: 'web' },
          variant: 'needed',
        },
      ],
    })
  })

  it.each([
    [full, 'move-to-volume', /below 2\.0 GiB, 10 % of its disk; container web/],
    [
      usedBy('web', '90Mi', 'ephemeral-storage'),
      'look-on-node',
      /90\.0 MiB of the disk without its volumes/,
    ],
    [low('ephemeral-storage'), 'set-ephemeral-storage', /1\.7 GiB available/],
    [usedBy('web', '3Gi', 'memory'), 'set-memory', /used 3\.0 GiB of memory/],
    [low('memory'), 'list-memory', /for memory/],
    [low('inodes'), 'look-on-node', /below 2,147,483,648 inodes/],
    [low('pids'), 'list-processes', /for pids/],
    ['The node had condition: [DiskPressure]. ', 'look-on-node', /was refused for/],
  ])('%s: %s', (message, step, seen) => {
    const filesystems = { nodefs: { ...nodefs, availableBytes: 3 * 2 ** 30 } }
    const failing = failingOf(podsEvicted, { node: disk, filesystems, events: [gone(message)] })
    expect(failing.steps?.[0]?.id).toBe(step)
    expect(failing.seen).toMatch(seen)
  })

  it.each([
    ['90Mi', 12, 'move-to-volume', '10.3 GiB came free since'],
    ['90Mi', 11, 'look-on-node', '90.0 MiB of the disk without its volumes'],
    // What it wrote itself is known.
    ['9Gi', 12, 'move-to-volume', 'container web used 9.0 GiB'],
  ])('a container used %s, and %s GiB are free now: %s', (used, gib, step, seen) => {
    const filesystems = { nodefs: { ...nodefs, availableBytes: gib * 2 ** 30 } }
    const events = [gone(usedBy('web', used, 'ephemeral-storage'))]
    const failing = failingOf(podsEvicted, { node: disk, filesystems, events })
    expect(failing.steps?.[0]?.id).toBe(step)
    expect(failing.seen).toContain(seen)
    const others = [...events, gone(usedBy('db', used, 'ephemeral-storage'), 'db-0')]
    expect(failingOf(podsEvicted, { node: disk, filesystems, events: others }).seen).not.toContain(
      'came free',
    )
    // A refused pod had written nothing.
    const message = 'The node had condition: [DiskPressure]. '
    const refused = event({ reason: 'Evicted', of: 'shop/db-0', message, ago: 30 })
    const beside = { node: disk, filesystems, events: [refused, ...events] }
    expect(failingOf(podsEvicted, beside).seen).toContain(seen)
  })

  it('names the container of another evicted pod with its pod', () => {
    const used = (container: string, bytes: string) => usedBy(container, bytes, 'ephemeral-storage')
    const events = [gone(used('db', '9Gi'), 'db-0'), gone(used('web', '90Mi'))]
    const node = { status: { capacity: { 'ephemeral-storage': '200Gi' } } }
    expect(failingOf(podsEvicted, { node, events }).seen).toContain(
      '; container db of shop/db-0, evicted too, used 9.0 GiB of the disk without its volumes.',
    )
  })

  it.each([
    ['23:39:30', 2 ** 31, 85, true],
    ['23:39:30', 2 ** 31, 70, false],
    ['23:39:30', 2 ** 29, 85, false],
    ['23:30:00', 2 ** 31, 85, false],
    ['23:41:00', 2 ** 31, 85, false],
  ])(
    'an image deleted at %s, of %s bytes, with image GC at %s %%: too late is %s',
    (time, size, high, isLate) => {
      const logLines = [
        `2026-11-20T${time}+0000 node kubelet[1]: I1120 "Removing image to free bytes" imageID="sha256:0a1b" size=${size} runtimeHandler=""`,
      ]
      const failing = failingOf(podsEvicted, {
        ...{
          node: disk,
          filesystems: { nodefs: { ...nodefs, availableBytes: 3 * 2 ** 30 } },
          host: { logLines },
          configuration: { imageGCHighThresholdPercent: high },
        },
        events: [gone(usedBy('web', '90Mi', 'ephemeral-storage'))],
      })
      expect(failing.steps?.[0]?.id).toBe(isLate ? 'set-fields' : 'look-on-node')
      expect(failing.fix?.config.imageGCHighThresholdPercent).toBe(isLate ? 70 : undefined)
      if (isLate)
        expect(failing.seen).toContain(
          'On this disk the kubelet deleted 1 unused image (2.0 GiB) at 2026-11-20 23:39 UTC, just before the first eviction',
        )
    },
  )

  it.each([
    ['False', true],
    ['Unknown', false],
  ])('says that it is over only where the kubelet says so: DiskPressure %s', (status, isOver) => {
    const conditions = { DiskPressure: status }
    const failing = failingOf(podsEvicted, { node: disk, events: [gone(full)], conditions })
    expect(failing.consequence?.includes('The node is no longer short of ephemeral-storage.')).toBe(
      isOver,
    )
    expect(failing.consequence).toContain('What used it can use as much again.')
  })

  it('leaves to other rules what is short now, loops, and limits of their own', () => {
    expect(state(podsEvicted, { events: [gone(full)], conditions: { DiskPressure: 'True' } })).toBe(
      'pass',
    )
    expect(
      state(podsEvicted, { events: [gone(full)], thresholds: [hard('nodefs.available', 70)] }),
    ).toBe('pass')
    const many = ['x2x4z', 'bbbb4', 'cccc4'].map(one => gone(full, `web-5d9c8f7b6c-${one}`))
    expect(state(podsEvicted, { events: many })).toBe('pass')
    expect(
      state(podsEvicted, {
        events: [gone('Container c exceeded its local ephemeral storage limit "1Gi". ')],
      }),
    ).toBe('pass')
  })

  it.each([
    [20, 'pass'],
    [90, 'fail'],
  ])('three refused pods of one owner are no loop %s min later: %s', (ago, expected) => {
    const pods = ['x2x4z', 'bbbb4', 'cccc4'].map(one => ({
      metadata: { namespace: 'shop', name: `web-5d9c8f7b6c-${one}`, uid: one },
      status: {
        ...{ phase: 'Failed', reason: 'Evicted' },
        message: 'Pod was rejected: The node had condition: [DiskPressure]. ',
        startTime: minutesAgo(ago),
      },
    }))
    expect(state(podsEvicted, { pods, events: [] })).toBe(expected)
  })

  const failed = (message: string, ago = 9) => ({
    metadata: { namespace: 'shop', name: 'db-0', uid: 'u' },
    status: {
      ...{ phase: 'Failed', reason: 'Evicted', message },
      conditions: [
        { type: 'DisruptionTarget', status: 'True', lastTransitionTime: minutesAgo(ago) },
      ],
    },
  })
  const ledger = { held: { 'images-in-use': 90 } }

  it.each<[string, Parameters<typeof state>[1], string]>([
    ['a full disk', { ...ledger, pods: [failed(low('ephemeral-storage'))] }, 'pass'],
    [
      'what the pod had written',
      { pods: [failed(usedBy('web', '30Gi', 'ephemeral-storage'))], held: { 'images-in-use': 1 } },
      'pass',
    ],
    ['nothing', { pods: [failed(full)] }, 'fail'],
    ['nothing for hours', { pods: [failed(full, 90)] }, 'fail'],
    ['a full disk, and memory was short', { ...ledger, pods: [failed(low('memory'))] }, 'fail'],
    ['nothing, and memory was short long ago', { pods: [failed(low('memory'), 90)] }, 'pass'],
  ])('leaves pods that are still there to disk-pressure-passed: %s explains it', (_, given, is) => {
    expect(state(podsEvicted, { ...given, events: [] })).toBe(is)
  })

  it('names pods that are gone, also if a full disk explains the others', () => {
    const given = { ...ledger, pods: [failed(full)], events: [gone(full)] }
    const { evidence } = failingOf(podsEvicted, given)
    expect(evidence.map(({ what }) => what)).toEqual(['pod shop/web-5d9c8f7b6c-x2x4z'])
  })

  const tiny = { ofPods: { isShared: true }, imageGC: { highThresholdPercent: 89 } }

  it.each<[string, string, object, boolean]>([
    ['bytes', 'ephemeral-storage', tiny, true],
    ['inodes, which no larger pull takes', 'inodes', tiny, false],
    ['a disk of pods alone', 'ephemeral-storage', { ...tiny, ofPods: { isShared: false } }, false],
    ['enough for a pull', 'ephemeral-storage', { imageGC: { highThresholdPercent: 87 } }, false],
  ])('says how narrow the disk is between image GC and eviction: %s', (_, resource, given, is) => {
    const { seen } = failingOf(podsEvicted, { ...given, events: [gone(low(resource))] })
    expect(seen?.includes('less than one large pull takes')).toBe(is)
  })
})

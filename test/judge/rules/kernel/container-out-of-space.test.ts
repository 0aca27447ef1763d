import { describe, expect, it } from 'vitest'
import { containerOutOfSpace } from '#judge/rules/kernel/container-out-of-space.ts'
import type { KubernetesPod } from '#model/input/record.ts'
import { type NodeExample, sharedFilesystems } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'
import { minutesAgo } from '#test/rules/events.ts'

type Volume = NonNullable<NonNullable<KubernetesPod['spec']>['volumes']>[number]

/** A container with a volume at /data, which ended. */
const ended = (
  message: string,
  volume: Omit<Volume, 'name'> = { emptyDir: {} },
  more: object = {},
): KubernetesPod => ({
  metadata: {
    ...{ namespace: 'shop', name: 'db-0' },
    ownerReferences: [{ kind: 'StatefulSet', name: 'db', controller: true }],
  },
  spec: {
    containers: [{ name: 'db', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', ...volume }],
  },
  status: {
    containerStatuses: [
      {
        ...{ name: 'db', state: { waiting: { reason: 'CrashLoopBackOff' } } },
        lastState: {
          terminated: { exitCode: 1, reason: 'Error', message, finishedAt: minutesAgo(9), ...more },
        },
      },
    ],
  },
})

const layer = 'write /srv/cache/a.bin: no space left on device'
const file = "OSError: [Errno 28] No space left on device: '/data/a'"

itJudgesExamples(containerOutOfSpace, {
  bad: { pods: [ended(layer)] },
  good: { pods: [ended('panic: index out of range')] },
})

const onFull: NodeExample = {
  filesystems: { nodefs: { ...sharedFilesystems.nodefs!, availableBytes: 2 ** 31 } },
  held: { 'container-logs': 70 },
}

describe('container-out-of-space', () => {
  it.each<[string, KubernetesPod, string, string | undefined, RegExp]>([
    [
      'its layer',
      ended(layer),
      'look-on-node',
      undefined,
      /\/srv\/cache\/a\.bin is in no volume, so it is on nodefs/,
    ],
    ['an emptyDir', ended(file), 'look-on-node', undefined, /Volume data is on nodefs/],
    [
      'a folder whose path ends like that of a volume',
      ended('write /srv/data/a: no space left on device'),
      ...(['look-on-node', undefined, /\/srv\/data\/a is in no volume/] as const),
    ],
    [
      'a folder of the node',
      ended(file, { hostPath: { path: '/mnt/raid' } }),
      ...(['look-on-node', '/mnt/raid', /on the node at \/mnt\/raid/] as const),
    ],
    [
      'a claim',
      ended(file, { persistentVolumeClaim: { claimName: 'data-db-0' } }),
      ...([
        'expand-claim',
        'data-db-0',
        /PersistentVolumeClaim data-db-0, no disk of the node/,
      ] as const),
    ],
    [
      'memory',
      ended(file, { emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } }),
      ...(['raise-memory-volume', undefined, /in memory, no disk/] as const),
    ],
    [
      'an unknown path',
      ended('java.io.IOException: No space left on device'),
      ...([
        'read-limits',
        undefined,
        /names no path; its layer is on nodefs; .* or it is a limit of the kernel/,
      ] as const),
    ],
  ])('names the disk of %s', (_, pod, id, place, seen) => {
    const failing = failingOf(containerOutOfSpace, { pods: [pod] })
    expect(failing.steps?.[0]).toMatchObject({ id })
    expect(failing.steps?.[0]?.place).toBe(place)
    expect(failing.seen).toMatch(/^1 pod ended, the first shop\/db-0 \(StatefulSet shop\/db\)\./)
    expect(failing.seen).toMatch(seen)
  })

  it('tells claims of one name in two namespaces apart', () => {
    const inShop = ended(file, { persistentVolumeClaim: { claimName: 'data-db-0' } })
    const inTest = { ...inShop, metadata: { ...inShop.metadata, namespace: 'test' } }
    const outcome = outcomeFor(containerOutOfSpace, { pods: [inShop, inTest] })
    expect(outcome).toMatchObject({ failing: { seen: expect.stringMatching(/^1 pod ended/) } })
  })

  it.each([
    [[], 'device', 'likely', ['/mnt/raid (StatefulSet shop/db)', '/srv/x (Pod shop/other)']],
    [['/mnt/raid'], 'world', undefined, undefined],
  ])('names a disk that was not measured, if the folder may be on it: measured %j', (...row) => {
    const [measured, kind, confidence, mounts] = row
    const devices = [{ name: 'nvme1n1', bytes: 349 * 2 ** 30, isUsed: true }]
    const folders = measured.map(path => ({ holder: 'other', path }))
    const other = {
      metadata: { namespace: 'shop', name: 'other' },
      spec: {
        volumes: [{ name: 'x', hostPath: { path: '/srv/x' } }],
        containers: [{ name: 'a', volumeMounts: [{ name: 'x', mountPath: '/x' }] }],
      },
    }
    const failing = failingOf(containerOutOfSpace, {
      pods: [ended(file, { hostPath: { path: '/mnt/raid' } }), other],
      host: {
        filesystems: [{ role: 'nodefs', device: '/dev/nvme0n1p1' }],
        diskUse: { devices, folders, snapshots: [], missed: 0 },
      },
    } as NodeExample)
    expect(failing.cause?.kind).toBe(kind)
    expect(failing.confidence).toBe(confidence)
    expect(failing.steps?.[0]?.mounts).toEqual(mounts)
    expect(failing.steps?.at(-1)).toEqual({ id: 'look-on-node', place: '/mnt/raid' })
  })

  it('has the cause of the disk that is full', () => {
    expect(failingOf(containerOutOfSpace, { ...onFull, pods: [ended(layer)] })).toMatchObject({
      severity: 'high',
      title: expect.stringContaining('the disk is full'),
      cause: { kind: 'holder', holder: 'container-logs' },
    })
  })

  it.each<[string, KubernetesPod]>([
    ['what the runtime could not start', ended(layer, {}, { reason: 'StartError' })],
    ['the day before', ended(layer, {}, { finishedAt: minutesAgo(1500) })],
    ['shared memory', ended('write /dev/shm/a: no space left on device')],
    ['watches', ended('inotify_add_watch: no space left on device')],
    ['a Secret', ended(file, { secret: { secretName: 'a' } })],
  ])('is not about %s', (_, pod) => {
    expect(state(containerOutOfSpace, { pods: [pod] })).toBe('pass')
  })

  it.each([
    ['names a path of the claim', file, 'pass'],
    [
      'names a file from its own folder',
      'write pg_wal/xlogtemp.31: No space left on device',
      'pass',
    ],
    ['names a path of its layer', layer, 'fail'],
  ])('a claim that is full now, and the message %s: %s', (_, message, expected) => {
    const used = { capacityBytes: 2 ** 30, availableBytes: 0 }
    const summary = {
      pods: [
        {
          podRef: { namespace: 'shop', name: 'db-0' },
          volume: [{ name: 'data', pvcRef: { name: 'data-db-0' }, ...used }],
        },
      ],
    }
    const pods = [ended(message, { persistentVolumeClaim: { claimName: 'data-db-0' } })]
    expect(state(containerOutOfSpace, { pods, summary } as never)).toBe(expected)
  })
})

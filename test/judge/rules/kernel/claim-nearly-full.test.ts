import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { claimNearlyFull } from '#judge/rules/kernel/claim-nearly-full.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const capacityBytes = 8 * gibibyte
const inodes = 1000

const mounted = (stats: object, readOnly?: true): NodeExample => ({
  pods: [
    {
      metadata: {
        ...{ namespace: 'shop', name: 'db-0' },
        ownerReferences: [{ kind: 'StatefulSet', name: 'db', uid: 'db', controller: true }],
      },
      spec: {
        containers: [
          { name: 'db', volumeMounts: [{ name: 'data', ...(readOnly && { readOnly }) }] },
        ],
      },
    },
  ],
  summary: {
    pods: [
      {
        podRef: { namespace: 'shop', name: 'db-0' },
        volume: [{ name: 'data', pvcRef: { namespace: 'shop', name: 'data-db-0' }, ...stats }],
      },
    ],
  },
})

const free = (share: number) => ({ capacityBytes, availableBytes: share * capacityBytes })

const disk = (share: number) => ({
  ...{ usedPercent: 100 * (1 - share), inodes: null, inodesFree: null },
  ...free(share),
})

itJudgesExamples(claimNearlyFull, { bad: mounted(free(0)), good: mounted(free(0.0625)) })

describe('claim-nearly-full', () => {
  it.each([
    ['without bytes', free(0), 'high'],
    ['with 3 % of its bytes', free(0.03125), 'medium'],
    ['without inodes', { ...free(0.5), inodes, inodesFree: 0 }, 'high'],
    ['with 4 % of its inodes', { ...free(0.5), inodes, inodesFree: 40 }, 'medium'],
  ])('%s: %s', (_, stats, severity) => {
    expect(failingOf(claimNearlyFull, mounted(stats)).severity).toBe(severity)
  })

  it.each([
    ['bytes', free(0), undefined, 'is full'],
    ['inodes', { ...free(0.5), inodes, inodesFree: 0 }, 'inodes', 'has no inodes left'],
  ])('looks into the volume of a container that runs first: %s', (_, stats, unit, title) => {
    const example = mounted(stats)
    const volumeMounts = [{ name: 'data', mountPath: '/pgdata' }]
    const pods = (example.pods as { spec: object }[]).map(pod => ({
      ...pod,
      spec: { ...pod.spec, containers: [{ name: 'db', volumeMounts }] },
      status: { containerStatuses: [{ name: 'db', state: { running: {} } }] },
    }))
    const failing = failingOf(claimNearlyFull, { ...example, pods })
    expect(failing.title).toContain(title)
    expect(failing.steps?.map(({ id }) => id)).toEqual(['look-in-volume', 'expand-claim'])
    const owner = { kind: 'container', namespace: 'shop', pod: 'db-0', container: 'db' }
    expect(failing.steps?.[0]).toMatchObject({ owner, place: '/pgdata', ...(unit && { unit }) })
  })

  it('expands the claim of a container that crashes first: no command runs in it', () => {
    const example = mounted(free(0))
    const volumeMounts = [{ name: 'data', mountPath: '/pgdata' }]
    const stepsWhile = (reason: string) => {
      const pods = (example.pods as { spec: object }[]).map(pod => ({
        ...pod,
        spec: { ...pod.spec, containers: [{ name: 'db', volumeMounts }] },
        status: { containerStatuses: [{ name: 'db', state: { waiting: { reason } } }] },
      }))
      const { steps } = failingOf(claimNearlyFull, { ...example, pods })
      return steps?.map(({ id, variant, place }) => [id, variant, place])
    }
    expect(stepsWhile('CrashLoopBackOff')).toEqual([
      ['expand-claim', 'crashing', 'data-db-0'],
      ['look-in-volume', 'crashing', 'data-db-0'],
    ])
    expect(stepsWhile('ImagePullBackOff')).toEqual([['expand-claim', undefined, 'data-db-0']])
  })

  it('names claim, pod and owner, and the size to expand to', () => {
    const failing = failingOf(claimNearlyFull, mounted(free(0)))
    expect(failing.seen).toBe(
      'PersistentVolumeClaim shop/data-db-0 of pod shop/db-0 (StatefulSet shop/db) has 0 bytes of 8.0 GiB free.',
    )
    expect(failing.steps).toEqual([
      {
        ...{ id: 'expand-claim', place: 'data-db-0', bytes: 12 * gibibyte },
        owner: {
          ...{ kind: 'pod', namespace: 'shop', pod: 'db-0' },
          ...{ workload: 'StatefulSet db', volume: 'data' },
        },
      },
    ])
  })

  it.each([
    ['a volume without statistics', mounted({})],
    ['one whose free bytes are unknown', mounted({ capacityBytes })],
    [
      'one of a filesystem without an inode table',
      mounted({ ...free(0.5), inodes: 0, inodesFree: 0 }),
    ],
    ['a volume that is no claim', mounted({ ...free(0), pvcRef: undefined })],
    ['one that is only read', mounted(free(0), true)],
    [
      "a folder on the node's disk",
      { ...mounted(free(1 / 128)), filesystems: { nodefs: disk(1 / 128) } },
    ],
  ])('does not judge %s', (_, example) => {
    expect(state(claimNearlyFull, example)).toBe('pass')
  })

  it("judges a claim that has the size of the node's disk and less room", () => {
    const example = { ...mounted(free(1 / 128)), filesystems: { nodefs: disk(0.5) } }
    expect(state(claimNearlyFull, example)).toBe('fail')
  })

  it('says that a claim is full, and how often its containers were started again', () => {
    const waiting = { waiting: { reason: 'CrashLoopBackOff' } }
    const crashing = (share: number): NodeExample => {
      const example = mounted(free(share))
      const containerStatuses = [{ name: 'db', restartCount: 339, state: waiting }]
      return {
        ...example,
        pods: example.pods!.map(pod => ({ ...pod, status: { containerStatuses } })),
      }
    }
    const failing = failingOf(claimNearlyFull, crashing(0))
    expect(failing.title).toContain('is full')
    expect(failing.seen).toContain('339 restarts')
    expect(failingOf(claimNearlyFull, crashing(0.03125)).seen).not.toContain('restarts')
  })
})

import { describe, expect, it } from 'vitest'
import { openClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { Packed } from '#replay/cluster-gc/section.ts'

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `job-${index}`,
    名: 'é',
    at: index % 7 ? index : null,
  }))

describe('packed rows', () => {
  it.each([0, 1, 499, 500, 501, 1700])(
    'come out as they went in, in their order, and a second time: %i of them',
    count => {
      const packed = new Packed<object>()
      for (const row of rows(count)) packed.push(row)
      expect([...packed]).toEqual(rows(count))
      expect([...packed]).toEqual(rows(count))
    },
  )

  it('take no later change of what was pushed, once their block is full', () => {
    const packed = new Packed<{ name: string }>()
    const pushed = rows(500)
    for (const row of pushed) packed.push(row)
    pushed[0]!.name = 'another'
    expect([...packed][0]).toMatchObject({ name: 'job-0' })
  })
})

describe('a cluster with more objects than a block holds', () => {
  const at = '2026-11-21T00:00:00Z'
  const job = (index: number) => ({
    metadata: {
      namespace: `team-${index % 3}`,
      name: `import-${index}`,
      uid: `uid-${index}`,
      creationTimestamp: '2026-11-01T00:00:00Z',
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          name: `nightly-${index}`,
          uid: `owner-${index}`,
          controller: true,
        },
      ],
      ...(index % 2 === 1 && {
        deletionTimestamp: '2026-11-02T00:00:00Z',
        finalizers: ['example.com/hold'],
      }),
    },
    spec: {},
    status: {
      conditions: [
        { type: 'Complete', status: 'True', lastTransitionTime: '2026-11-01T01:00:00Z' },
      ],
    },
  })
  const lists = {
    'cronjobs.batch': [],
    'jobs.batch': Array.from({ length: 1300 }, (_, index) => job(index)),
    'leases.coordination.k8s.io': Array.from({ length: 1300 }, (_, index) => ({
      metadata: { namespace: 'kube-node-lease', name: `gone-${index}` },
      spec: { leaseDurationSeconds: 40, renewTime: '2026-11-01T00:00:00Z' },
    })),
    pods: Array.from({ length: 1300 }, (_, index) => ({
      metadata: {
        namespace: 'shop',
        name: `cart-${index}`,
        uid: `pod-${index}`,
        ownerReferences: [{ kind: 'Job', name: 'cart', controller: true }],
      },
      status: { phase: 'Failed', reason: 'Evicted' },
    })),
    nodes: [],
  }
  const replay = openClusterReplay()
  for (const [resource, items] of Object.entries(lists))
    replay.takeObjects({ cluster: 'prod', resource, items })
  const [prediction] = replay.close(at)

  it('lists each finished Job in the order of the list', () => {
    expect(prediction?.jobs?.finished.map(({ name }) => name)).toEqual(
      lists['jobs.batch'].map(({ metadata }) => metadata.name),
    )
    expect(prediction?.jobs?.finished[1]).toEqual({
      namespace: 'team-1',
      name: 'import-1',
      controller: { kind: 'CronJob', name: 'nightly-1' },
      outcome: 'Complete',
      finishedMs: Date.parse('2026-11-01T01:00:00Z'),
      expiresMs: null,
      ttlSeconds: null,
      isBeingDeleted: true,
      finalizers: ['example.com/hold'],
    })
  })

  it('lists each object with a missing owner, and each one with finalizers', () => {
    expect(prediction?.owners?.dangling).toHaveLength(650)
    expect(prediction?.owners?.dangling.at(-1)).toMatchObject({
      names: ['import-1298'],
      owner: 'CronJob nightly-1298',
      count: 1,
    })
    expect(prediction?.finalizers?.held).toHaveLength(650)
    expect(prediction?.finalizers?.held.at(-1)).toMatchObject({
      kind: 'Job',
      name: 'import-1299',
      finalizers: [{ finalizer: 'example.com/hold' }],
    })
  })

  it('lists each failed pod with its controller, and each leftover lease', () => {
    expect(prediction?.pods?.terminated).toHaveLength(1300)
    expect(prediction?.pods?.terminated[0]).toMatchObject({
      controller: { kind: 'Job', name: 'cart' },
      reason: 'Evicted',
    })
    expect(prediction?.leases?.nodes).toHaveLength(1300)
  })
})

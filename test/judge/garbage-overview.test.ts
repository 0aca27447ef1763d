/** The overview of a cluster's garbage: it reads the same replay as the rules, so it must lead to every one of them. */
import { describe, expect, it } from 'vitest'
import { type ClusterExample, exampleCluster, hoursBefore } from '#judge/garbage/example-cluster.ts'
import { garbageOverview } from '#judge/garbage-overview/overview.ts'
import { rules } from '#judge/rules/index.ts'
import type {
  CertificateRequest,
  ClusterPrediction,
  FinishedJob,
  MisplacedFate,
  NodeLeaseGarbage,
  OwnerGarbage,
  ReleasedVolume,
} from '#model/cluster-garbage.ts'
import type { GarbageRow, GarbageRowKind } from '#model/garbage-overview.ts'
import { defaultPolicy } from '#model/policy.ts'

const GiB = 2 ** 30
const overview = (cluster: ClusterPrediction) => {
  const told = garbageOverview(cluster, defaultPolicy)
  if (told === null) throw new Error('the default policy looks for garbage')
  return told
}
const rowOf = (cluster: ClusterPrediction, kind: GarbageRowKind): GarbageRow | undefined =>
  overview(cluster).rows.find(row => row.kind === kind)

describe('the overview', () => {
  const ofGarbage = rules.filter(rule => rule.kind === 'cluster')

  it.each(ofGarbage.map(rule => [rule.id, rule] as const))(
    'has a row that leads to %s, where that finds something',
    (id, rule) => {
      const rows = overview(exampleCluster(rule.examples.bad)).rows.filter(row =>
        row.rules.includes(id),
      )
      expect(rows).not.toEqual([])
      for (const { count, young } of rows) expect(count).toBeGreaterThan(young)
    },
  )

  it('leads to no rule that there is not', () => {
    const known = new Set(ofGarbage.map(({ id }) => id))
    const led = ofGarbage.flatMap(rule =>
      overview(exampleCluster(rule.examples.bad)).rows.flatMap(row => row.rules),
    )
    expect(led.filter(id => !known.has(id))).toEqual([])
  })

  it('says of an empty cluster what was looked through, and nothing of what was not asked for', () => {
    const told = overview({
      ...exampleCluster({}),
      jobs: null,
      disks: null,
      missing: { jobs: 'jobs.batch: 403' },
    })
    expect(told.rows).toEqual([])
    expect(told.clean).toHaveLength(10)
    expect(told.clean).not.toContain('jobs')
    expect(told.clean).not.toContain('disks')
  })

  it('is none where nobody asked for it', () => {
    const clusterGarbage = { ...defaultPolicy.clusterGarbage, enabled: false }
    expect(garbageOverview(exampleCluster({}), { ...defaultPolicy, clusterGarbage })).toBeNull()
    const only = { ...defaultPolicy.clusterGarbage, kinds: ['jobs' as const] }
    expect(
      garbageOverview(exampleCluster({}), { ...defaultPolicy, clusterGarbage: only })?.clean,
    ).toEqual(['jobs'])
  })
})

describe('what was not read', () => {
  const gaps = (cluster: Partial<ClusterPrediction>) =>
    overview({ ...exampleCluster({}), ...cluster }).gaps

  it('is said once, by the list that was refused, with all that it leaves open', () => {
    const reason = 'jobs.batch: 403 Forbidden'
    expect(
      gaps({
        jobs: null,
        missing: { jobs: reason },
        doubts: { owners: `${reason}; secrets: 403`, finalizers: reason },
        resources: { 'jobs.batch': reason, 'leases.coordination.k8s.io': null },
      }),
    ).toEqual([{ resource: 'jobs.batch', reason, needs: ['jobs', 'owners', 'finalizers'] }])
  })

  it('is said where it is no list, too', () => {
    expect(
      gaps({
        leases: null,
        instances: null,
        missing: { leases: 'nodes: not known', instances: 'nodes: not known' },
      }),
    ).toEqual([{ resource: null, reason: 'nodes: not known', needs: ['leases', 'instances'] }])
  })

  it('keeps a kind from being called clean', () => {
    expect(
      overview({
        ...exampleCluster({}),
        doubts: { pods: 'the pods of 2 of its nodes could not be read' },
      }).clean,
    ).not.toContain('pods')
  })
})

describe('a row', () => {
  const job = (name: string, more: Partial<FinishedJob>): FinishedJob => ({
    ...{
      namespace: 'ci',
      name,
      controller: null,
      outcome: 'Complete',
      finishedMs: hoursBefore(30),
    },
    ...{ expiresMs: null, ttlSeconds: null, isBeingDeleted: false, finalizers: [] },
    ...more,
  })
  const withJobs = (finished: FinishedJob[]) => exampleCluster({ jobs: { finished, cronJobs: [] } })

  it('parts Jobs by what ends them', () => {
    const nightly = { namespace: 'ci', name: 'nightly' }
    const finished = [
      job('a', {}),
      job('b', { finishedMs: hoursBefore(2) }),
      job('c', { ttlSeconds: 60, expiresMs: hoursBefore(-5) }),
      job('d', { ttlSeconds: 60, expiresMs: hoursBefore(-9) }),
      job('e', { ttlSeconds: 60, expiresMs: hoursBefore(0) }),
      job('f', { controller: { kind: 'CronJob', name: 'nightly' } }),
      job('h', { controller: { kind: 'JobSet', name: 'train' } }),
      job('g', {
        controller: { kind: 'CronJob', name: 'nightly' },
        ttlSeconds: 60,
        expiresMs: hoursBefore(-5),
        finishedMs: hoursBefore(31),
      }),
    ]
    const count = { limit: 3, excess: 0 }
    const cronJobs = [
      { ...nightly, successful: { ...count, count: 2 }, failed: { ...count, count: 0 } },
    ]
    const cluster = exampleCluster({ jobs: { finished, cronJobs } })
    expect(rowOf(cluster, 'jobs-without-ttl')).toMatchObject({
      count: 2,
      young: 1,
      oldestMs: hoursBefore(30),
      fate: { is: 'never' },
    })
    expect(rowOf(cluster, 'owned-jobs')).toMatchObject({
      count: 1,
      fate: { is: 'with' },
      rules: [],
    })
    expect(rowOf(cluster, 'jobs-with-ttl')).toMatchObject({
      count: 2,
      fate: { is: 'itself', firstMs: hoursBefore(-5), lastMs: hoursBefore(-9) },
    })
    // At its end, not after it: the TTL controller takes it then.
    expect(rowOf(cluster, 'overdue-jobs')).toMatchObject({ count: 1, fate: { is: 'late' } })
    expect(rowOf(cluster, 'cronjob-history')).toMatchObject({
      ...{
        count: 2,
        oldestMs: hoursBefore(31),
        whose: [{ name: 'ci: CronJob nightly', count: 2 }],
        fate: { is: 'with' },
      },
    })
  })

  it('tells of finished pods by number, and of the others that they go with their owners', () => {
    const cluster = exampleCluster(
      rules.find(({ id }) => id === 'failed-pods')?.examples.bad as ClusterExample,
    )
    expect(rowOf(cluster, 'finished-pods')?.fate).toMatchObject({
      is: 'threshold',
      pods: 12_500,
      isAssumed: true,
      finished: 1,
      excess: 0,
    })
    expect(rowOf(cluster, 'failed-pods')).toMatchObject({ count: 1, fate: { is: 'with' } })
  })

  it('names the three largest owners, and counts the others', () => {
    const names = ['a', 'b', 'b', 'c', 'c', 'c', 'd', 'e']
    const { whose, whoseLeftOut } = rowOf(
      withJobs(names.map((namespace, index) => job(`${index}`, { namespace }))),
      'jobs-without-ttl',
    )!
    expect(whose).toEqual([
      { name: 'c', count: 3 },
      { name: 'b', count: 2 },
      { name: 'a', count: 1 },
    ])
    expect(whoseLeftOut).toBe(2)
  })

  it('has what volumes hold and cost, and stands first where nobody ends it', () => {
    const volume = (more: Partial<ReleasedVolume>): ReleasedVolume => ({
      ...{
        volume: 'pv',
        claim: 'shop/data',
        storageClass: 'gp3',
        reclaimPolicy: 'Retain',
        action: 'retain',
        capacityBytes: 100 * GiB,
      },
      ...{
        driver: 'ebs.csi.aws.com',
        handle: 'vol-1',
        volumeType: 'gp3',
        sinceMs: hoursBefore(100),
        createdMs: hoursBefore(2000),
      },
      isBeingDeleted: false,
      ...more,
    })
    const released = [
      volume({}),
      volume({ driver: 'efs.csi.aws.com' }),
      volume({ isBeingDeleted: true }),
      volume({ action: 'fail', capacityBytes: null }),
    ]
    const cluster = exampleCluster({
      volumes: { released, held: [], retainedEphemeral: [] },
      ...{ jobs: withJobs([job('a', {})]).jobs! },
    })
    expect(
      overview(cluster).rows.map(({ kind, bytes, monthlyUsd }) => [kind, bytes, monthlyUsd]),
    ).toEqual([
      ['released-volumes', 200 * GiB, 8],
      ['jobs-without-ttl', null, null],
      ['undeleted-volumes', null, null],
    ])
    expect(rowOf(cluster, 'undeleted-volumes')?.fate).toEqual({ is: 'never' })
  })

  it('parts leases whose node is gone by whether the garbage collector is late', () => {
    const lease = (
      state: NodeLeaseGarbage['state'],
      renewedHoursAgo: number,
    ): NodeLeaseGarbage => ({
      ...{
        node: `${state}-${renewedHoursAgo}`,
        state,
        renewedMs: hoursBefore(renewedHoursAgo),
        isExpired: true,
      },
    })
    const nodes = [2, 900].flatMap(hours => [
      lease('collectable', hours),
      lease('stale-owner', hours),
    ])
    const rows = overview(exampleCluster({ leases: { nodes } })).rows
    expect(rows.map(({ kind, count, fate }) => [kind, count, fate.is])).toEqual([
      ['overdue-leases', 1, 'late'],
      ['unrenewed-leases', 1, 'with'],
      ['collectable-leases', 2, 'itself'],
    ])
  })

  it('has size and cost of what is old enough alone, by the age that its rule has', () => {
    const disk = (hours: number) => ({
      volumeId: `vol-${hours}`,
      capacityBytes: 100 * GiB,
      volumeType: 'gp3',
      ...{ iops: null, throughputMiBps: null, volume: null, zone: null },
      createdMs: hoursBefore(hours),
    })
    const instance = (hours: number) => ({
      instanceId: `i-${hours}`,
      instanceType: null,
      state: 'running',
      launchedMs: hoursBefore(hours),
    })
    const taint = (hours: number, isAnnounced: boolean) => ({
      node: 'n',
      key: 'k',
      effect: '',
      isAnnounced,
      sinceMs: hoursBefore(hours),
    })
    const cluster = exampleCluster({
      disks: { unattached: [disk(24), disk(23)], areVolumesKnown: true },
      instances: { withoutNode: [instance(1), instance(0.1)], withoutInstance: [] },
      nodes: { notReady: [], leftTaints: [taint(2, false), taint(2, true)] },
    })
    expect(rowOf(cluster, 'unattached-disks')).toMatchObject({
      count: 2,
      young: 1,
      youngHours: 24,
      bytes: 100 * GiB,
      monthlyUsd: 8,
    })
    expect(rowOf(cluster, 'instances-without-node')).toMatchObject({
      count: 2,
      young: 1,
      youngHours: 1,
    })
    expect(rowOf(cluster, 'left-taints')).toMatchObject({ count: 2, young: 1, youngHours: 24 })
  })

  it('parts certificate requests by whether anybody still waits for them', () => {
    const request = (
      name: string,
      state: CertificateRequest['state'],
      hoursAgo: number,
    ): CertificateRequest => ({
      ...{
        name,
        signer: 'kubernetes.io/kubelet-serving',
        requestor: `system:node:${name[0]}`,
        state,
      },
      ...{
        createdMs: hoursBefore(hoursAgo),
        sinceMs: hoursBefore(hoursAgo),
        overdue: null,
        isNeverCollected: false,
      },
    })
    const requests = [
      request('a1', 'pending', 5),
      request('a2', 'issued', 0.5),
      request('b1', 'pending', 5),
    ]
    const { rows } = overview(exampleCluster({ certificates: { requests } }))
    expect(rows.map(({ kind, count, rules }) => [kind, count, rules])).toEqual([
      ['waiting-requests', 1, ['pending-certificate-request']],
      ['superseded-requests', 1, []],
      ['answered-requests', 1, []],
    ])
  })

  it('parts Jobs whose time is over by whether anybody has begun to delete them', () => {
    const overdue = { ttlSeconds: 60, expiresMs: hoursBefore(9) }
    const jobs = [
      job('a', overdue),
      job('b', overdue),
      job('c', { ...overdue, isBeingDeleted: true, finalizers: ['example.com/x'] }),
    ]
    expect(
      overview(withJobs(jobs)).rows.map(({ kind, count, fate }) => [kind, count, fate]),
    ).toEqual([
      ['overdue-jobs', 2, { is: 'late' }],
      ['overdue-jobs', 1, { is: 'held', by: [{ name: 'example.com/x', count: 1 }] }],
    ])
  })

  it('calls a volume that does not say since when it is released as old as itself', () => {
    const released = [hoursBefore(2), hoursBefore(900)].map(
      (createdMs): ReleasedVolume => ({
        ...{
          volume: 'pv',
          claim: 'shop/data',
          storageClass: null,
          reclaimPolicy: 'Retain',
          action: 'retain',
          capacityBytes: GiB,
        },
        ...{
          driver: null,
          handle: null,
          volumeType: null,
          isBeingDeleted: false,
          sinceMs: null,
          createdMs,
        },
      }),
    )
    const cluster = exampleCluster({ volumes: { released, held: [], retainedEphemeral: [] } })
    expect(rowOf(cluster, 'released-volumes')).toMatchObject({
      count: 2,
      young: 1,
      oldestMs: null,
      bytes: GiB,
    })
  })

  it('parts objects with an owner in another namespace by what becomes of them, and is late where one should have gone', () => {
    const misplaced = (
      hoursAgo: number,
      fate: MisplacedFate,
    ): OwnerGarbage['misplaced'][number] => ({
      ...{
        kind: 'Job',
        namespace: 'shop',
        count: 2,
        names: ['a', 'b'],
        createdMs: hoursBefore(hoursAgo),
      },
      ...{ owner: 'Deployment cart', is: 'other-namespace', fate },
    })
    const row = (kind: GarbageRowKind, ...of: OwnerGarbage['misplaced']) =>
      rowOf(
        exampleCluster({
          owners: { dangling: [], unserved: [], misplaced: of, blocked: [], orphaned: [] },
        }),
        kind,
      )
    const [young, old, stays] = [
      misplaced(1, 'delete'),
      misplaced(30, 'delete'),
      misplaced(30, 'remove-reference'),
    ]
    expect(row('foreign-owners', young, stays)).toMatchObject({ count: 2, fate: { is: 'itself' } })
    expect(row('foreign-owners', young, old)).toMatchObject({ count: 4, fate: { is: 'late' } })
    expect(row('foreign-owners', misplaced(30, 'may-delete'))).toMatchObject({
      count: 2,
      fate: { is: 'itself' },
    })
    expect(row('foreign-references', old, stays)).toMatchObject({ count: 2, fate: { is: 'with' } })
    expect(row('foreign-owners', stays)).toBeUndefined()
  })

  it('does not call a disk nobody’s while a volume that was not read may name it', () => {
    const unattached = [
      {
        volumeId: 'vol-1',
        capacityBytes: GiB,
        volumeType: 'gp3',
        iops: null,
        throughputMiBps: null,
        volume: null,
        zone: null,
        createdMs: null,
      },
    ]
    const fate = (areVolumesKnown: boolean) =>
      rowOf(exampleCluster({ disks: { unattached, areVolumesKnown } }), 'unattached-disks')?.fate.is
    expect([fate(true), fate(false)]).toEqual(['never', 'unknown'])
  })
})

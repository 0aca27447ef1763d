/** Sections on owners, finalizers, volumes, certificate requests and the account: what they keep of objects as they come. */
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { ClusterRecord, NodeRecord, ObjectsRecord } from '#model/input/record.ts'
import { openClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { takeRecord } from '#test/at-the-door.ts'

const at = '2026-11-21T00:00:00Z'
const before = '2026-11-01T00:00:00Z'
const objects = (resource: string, ...items: RawObject[]): ObjectsRecord => ({
  kind: 'Objects',
  cluster: 'c',
  resource,
  items,
})
const object = (name: string, metadata: RawObject = {}, more: RawObject = {}): RawObject => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, creationTimestamp: before, ...metadata },
  ...more,
})
const owned = (kind: string, name: string, uid = `uid-${name}`) => ({
  ownerReferences: [
    { apiVersion: 'apps/v1', kind, name, uid, controller: true, blockOwnerDeletion: true },
  ],
})
const node = (
  name: string,
  ready: string,
  providerID: string,
  pods: RawObject[] = [],
): NodeRecord => ({
  ...{ kind: 'Node', cluster: 'c', pods: pods as NodeRecord['pods'] },
  node: {
    metadata: { name, uid: `uid-${name}` },
    spec: { providerID },
    status: { conditions: [{ type: 'Ready', status: ready, lastTransitionTime: before }] },
  },
})

function predictionOf(...records: (ClusterRecord | NodeRecord | ObjectsRecord)[]) {
  const replay = openClusterReplay()
  for (const record of records) takeRecord(replay, record)
  const [found] = replay.close(at)
  if (!found) throw new Error('no prediction')
  return found
}

describe('owners', () => {
  const sets = (...names: string[]) =>
    names.map(name => object(name, owned('Deployment', 'cart', 'uid-old')))

  it('are missing only if the whole list of their kind was read', () => {
    const dangling = predictionOf(
      objects('deployments.apps', object('cart')),
      objects('replicasets.apps', ...sets('b', 'a', 'c')),
    ).owners?.dangling
    expect(dangling).toEqual([
      {
        ...{
          kind: 'ReplicaSet',
          namespace: 'shop',
          count: 3,
          names: ['a', 'b', 'c'],
          createdMs: Date.parse(before),
        },
        ...{ owner: 'Deployment cart', isReplaced: true, confidence: 'certain' },
      },
    ])
    const brokenOff: ClusterRecord = {
      kind: 'Cluster',
      cluster: 'c',
      errors: [{ what: 'deployments.apps', message: 'broke off' }],
    }
    const cut = predictionOf(
      brokenOff,
      objects('deployments.apps'),
      objects('replicasets.apps', ...sets('a')),
    )
    expect(cut.owners?.dangling).toEqual([])
    expect(cut.doubts.owners).toEqual(['deployments.apps: broke off'])
    expect(predictionOf(objects('replicasets.apps', ...sets('a'))).owners?.dangling).toEqual([])
  })

  it.each([
    ['right', 'renamed', 'other-kind'],
    ['renamed', 'other-kind', 'right'],
  ])('are looked up by kind and name, whatever else has their UID: %s, %s, %s', (...names) => {
    const owners = {
      right: owned('Deployment', 'cart'),
      renamed: owned('Deployment', 'basket', 'uid-cart'),
      'other-kind': owned('StatefulSet', 'cart', 'uid-cart'),
    }
    const lists = [objects('deployments.apps', object('cart')), objects('statefulsets.apps')]
    const found = predictionOf(
      ...lists,
      objects(
        'replicasets.apps',
        ...names.map(name => object(name, owners[name as keyof typeof owners])),
      ),
    ).owners
    const sorted = found?.dangling
      .map(({ names: [name], count, owner }) => `${name} ${count} ${owner}`)
      .toSorted()
    expect(sorted).toEqual(['other-kind 1 StatefulSet cart', 'renamed 1 Deployment basket'])
  })

  it('of pods are never missing, but a Terminating pod keeps its owner', () => {
    const going = { deletionTimestamp: before, finalizers: ['foregroundDeletion'] }
    const pods = [
      object('p', { ...owned('ReplicaSet', 'r'), deletionTimestamp: before }),
      object('q', owned('ReplicaSet', 'gone')),
    ]
    const { owners } = predictionOf(
      node('n', 'True', '', pods),
      objects('replicasets.apps', object('r', going)),
    )
    expect(owners?.dangling).toEqual([])
    expect(owners?.blocked).toMatchObject([
      { kind: 'ReplicaSet', name: 'r', dependents: [{ kind: 'Pod', names: ['p'], count: 1 }] },
    ])
  })

  describe('of which there are too many to be kept by name', () => {
    const of = (apiVersion: string, kind: string, name: string, uid = `uid-${name}`) => ({
      ownerReferences: [{ apiVersion, kind, name, uid }],
    })
    const claims = objects(
      'persistentvolumeclaims',
      ...[
        object('of-gone-pod', of('v1', 'Pod', 'gone')),
        object('of-new-pod', of('v1', 'Pod', 'there', 'uid-before')),
        object('of-pod', of('v1', 'Pod', 'there')),
        object('of-homeless-pod', of('v1', 'Pod', 'homeless')),
        object('of-gone-job', of('batch/v1', 'Job', 'gone')),
        object('of-job', of('batch/v1', 'Job', 'import')),
        object('of-owned-job', of('batch/v1', 'Job', 'nightly-1')),
        object('of-going-job', of('batch/v1', 'Job', 'going')),
        object('of-gone-set', of('apps/v1', 'ReplicaSet', 'gone')),
      ],
    )
    const going = { deletionTimestamp: before, finalizers: ['x/y'] }
    const jobs = [
      object('import'),
      object('nightly-1', of('batch/v1', 'CronJob', 'nightly')),
      object('going', going),
    ]
    const pods = [object('there', owned('ReplicaSet', 'set'))]
    const lists = [
      objects('pods', object('homeless')),
      objects('jobs.batch', ...jobs),
      objects('replicasets.apps'),
      claims,
    ]
    const found = (...more: NodeRecord[]) => predictionOf(...more, ...lists).owners
    const names = (dangling: { names: readonly string[]; confidence: string }[] | undefined) =>
      dangling?.map(({ names: [name], confidence }) => [name, confidence])

    it('are missing if all lists were read and no object has their name and UID', () => {
      const owners = found(node('n', 'True', '', pods))
      expect(names(owners?.dangling.slice())).toEqual([
        ['of-gone-pod', 'likely'],
        ['of-new-pod', 'likely'],
        ['of-gone-job', 'certain'],
        ['of-gone-set', 'certain'],
      ])
    })

    it('are unknown, with a doubt, if the pods of a node were not read', () => {
      const { pods: _, ...unread } = node('m', 'True', '')
      const { owners, doubts } = predictionOf(node('n', 'True', '', pods), unread, ...lists)
      expect(names(owners?.dangling.slice())?.map(([name]) => name)).toEqual([
        'of-gone-job',
        'of-gone-set',
      ])
      expect(doubts.owners).toMatchSnapshot()
    })
  })

  it('wait only for dependents that block the deletion', () => {
    const going = { deletionTimestamp: before, finalizers: ['foregroundDeletion'] }
    const unblocking = (of: ReturnType<typeof owned>) => ({
      ownerReferences: of.ownerReferences.map(reference => ({
        ...reference,
        blockOwnerDeletion: false,
      })),
    })
    const ofCart = owned('Deployment', 'cart')
    const sets = [
      object('a-free', unblocking(ofCart)),
      object('b-block', ofCart),
      object('c-block', ofCart),
    ]
    const ofJob = {
      ownerReferences: owned('Job', 'import').ownerReferences.map(each => ({
        ...each,
        apiVersion: 'batch/v1',
      })),
    }
    const pods = [
      object('free', unblocking(ofJob)),
      object('runs', ofJob),
      object('other', owned('ReplicaSet', 'b-block')),
    ]
    const { owners } = predictionOf(
      node('n', 'True', '', pods),
      objects('cronjobs.batch', object('alone', going)),
      objects('jobs.batch', object('import', going)),
      objects('deployments.apps', object('cart', going), object('kept')),
      objects('replicasets.apps', ...sets),
    )
    const dependents = owners?.blocked.map(({ kind, dependents }) => [
      kind,
      dependents.map(each => `${each.kind} ${each.names.join()}`),
    ])
    expect(Object.fromEntries(dependents ?? [])).toEqual({
      CronJob: [],
      Job: ['Pod runs'],
      Deployment: ['ReplicaSet b-block,c-block'],
    })
    expect(owners).toMatchObject({ dangling: [] })
  })

  it('of static pods and leases are left to the kubelet', () => {
    const mirror = object('static', owned('Node', 'other'))
    expect(
      predictionOf(node('n', 'True', '', [mirror]), objects('jobs.batch', mirror)).owners,
    ).toMatchObject({ dangling: [], orphaned: [] })
  })

  it.each([
    [
      'replicasets.apps',
      { annotations: { 'deployment.kubernetes.io/revision': '3' } },
      'Deployment',
    ],
    [
      'jobs.batch',
      { annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': at } },
      'CronJob',
    ],
    ['pods', { labels: { 'pod-template-hash': '5f7d' } }, 'ReplicaSet'],
    [
      'pods',
      { labels: { 'controller-revision-hash': '84b5d', 'pod-template-generation': '1' } },
      'DaemonSet',
    ],
    [
      'pods',
      {
        labels: { 'controller-revision-hash': '84b5d', 'statefulset.kubernetes.io/pod-name': 'a' },
      },
      'StatefulSet',
    ],
    ['pods', { labels: { 'controller-revision-hash': '84b5d' } }, null],
    ['controllerrevisions.apps', {}, 'StatefulSet or DaemonSet'],
    ['replicasets.apps', {}, null],
  ])('have let go of what they made in %s: %j by %s', (resource, metadata, controllerKind) => {
    const orphaned = predictionOf(
      objects(resource, object('a', metadata), object('b', { ...metadata, ...owned('X', 'x') })),
    ).owners?.orphaned
    expect(orphaned?.map(each => [each.name, each.controllerKind])).toEqual(
      controllerKind === null ? [] : [['a', controllerKind]],
    )
  })
})

describe('finalizers', () => {
  const held = { deletionTimestamp: before, finalizers: ['karpenter.sh/termination'] }
  const karpenter = (replicas: number) => object('karpenter', {}, { spec: { replicas } })
  it.each([
    ['there', [objects('deployments.apps', karpenter(2)), objects('statefulsets.apps')]],
    ['stopped', [objects('deployments.apps', karpenter(0)), objects('statefulsets.apps')]],
    ['absent', [objects('deployments.apps'), objects('statefulsets.apps')]],
    ['unknown', [objects('deployments.apps')]],
  ])('whose controller is %s', (state, lists) => {
    const found = predictionOf(...lists, objects('cronjobs.batch', object('c', held))).finalizers
      ?.held
    expect(found?.flatMap(({ finalizers }) => finalizers)).toEqual([
      { finalizer: 'karpenter.sh/termination', controller: 'Karpenter', state },
    ])
  })

  const chart = (name: string, label: string, replicas = 2) =>
    object(name, { labels: { 'app.kubernetes.io/name': label } }, { spec: { replicas } })
  it.each([
    [
      'called after its release',
      'karpenter.sh/termination',
      chart('prod-karpenter', 'karpenter'),
      'there',
    ],
    [
      'called after a release that has its name',
      'karpenter.sh/termination',
      chart('karpenter-prod', 'karpenter'),
      'there',
    ],
    [
      'called otherwise, but for its label',
      'karpenter.sh/termination',
      chart('kp', 'karpenter'),
      'there',
    ],
    [
      'called after its release, and stopped',
      'karpenter.sh/termination',
      chart('prod-karpenter', 'karpenter', 0),
      'stopped',
    ],
    [
      'perhaps what has its name',
      'karpenter.sh/termination',
      chart('karpenter-exporter', 'exporter'),
      'unknown',
    ],
    [
      'cert-manager of a release',
      'acme.cert-manager.io/finalizer',
      chart('cm-cert-manager', 'cert-manager'),
      'there',
    ],
    [
      'not its webhook for certain',
      'acme.cert-manager.io/finalizer',
      chart('cert-manager-webhook', 'webhook'),
      'unknown',
    ],
    [
      'nothing that is there',
      'acme.cert-manager.io/finalizer',
      chart('prod-karpenter', 'karpenter'),
      'absent',
    ],
  ])('whose controller is %s', (_, finalizer, workload, state) => {
    const lists = [objects('deployments.apps', workload), objects('statefulsets.apps')]
    const [held] =
      predictionOf(
        ...lists,
        objects(
          'cronjobs.batch',
          object('c', { deletionTimestamp: before, finalizers: [finalizer] }),
        ),
      ).finalizers?.held ?? []
    expect(held?.finalizers.map(each => each.state)).toEqual([state])
  })

  it('hold a Job whose time to live is not over, too', () => {
    const job = (name: string, status: RawObject) =>
      object(name, held, { spec: { ttlSecondsAfterFinished: 2_592_000 }, status })
    const finished = {
      conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: before }],
      completionTime: before,
    }
    const found = predictionOf(objects('jobs.batch', job('ended', finished), job('runs', {})))
    expect(found.finalizers?.held.map(({ name, expiresMs }) => [name, expiresMs])).toEqual([
      ['ended', Date.parse(before) + 2_592_000_000],
      ['runs', null],
    ])
  })

  it('may be removed by Auto Mode controllers, which run outside the cluster', () => {
    const autoMode: ClusterRecord = {
      kind: 'Cluster',
      cluster: 'c',
      eks: { computeConfig: { enabled: true } },
      errors: [],
    }
    const lists = [objects('deployments.apps'), objects('statefulsets.apps')]
    const found = predictionOf(autoMode, ...lists, objects('cronjobs.batch', object('c', held)))
      .finalizers?.held
    expect(found?.[0]?.finalizers[0]?.state).toBe('unknown')
  })
})

describe('instances', () => {
  const instance = (InstanceId: string) => ({
    InstanceId,
    State: { Name: 'running' },
    LaunchTime: '2026-11-01T00:00:00.000Z',
  })
  it('are compared with nodes by provider id; Ready nodes, Fargate and self-managed machines are left out', () => {
    const { instances } = predictionOf(
      node('a', 'Unknown', 'aws:///us-east-1a/i-0aaaaaaaaaaaaaaa1'),
      node('b', 'True', 'aws:///us-east-1a/i-0aaaaaaaaaaaaaaa2'),
      node('c', 'Unknown', 'aws:///us-east-1a/i-0aaaaaaaaaaaaaaa3'),
      node('d', 'Unknown', 'aws:///us-east-1a/0123/fargate-ip-10-0-0-1.ec2.internal'),
      node('mi-0123456789abcdef0', 'Unknown', 'eks-hybrid:///us-east-1/c/mi-0123456789abcdef0'),
      objects(
        'instances.ec2.amazonaws.com',
        instance('i-0aaaaaaaaaaaaaaa3'),
        instance('i-0aaaaaaaaaaaaaaa4'),
      ),
    )
    expect(instances?.withoutInstance).toEqual([
      { node: 'a', instanceId: 'i-0aaaaaaaaaaaaaaa1', sinceMs: Date.parse(before) },
    ])
  })

  it('are known in a cluster without nodes if the list was read', () => {
    const left = objects('instances.ec2.amazonaws.com', instance('i-0aaaaaaaaaaaaaaa4'))
    expect(predictionOf(left).instances).toBeNull()
    const found = predictionOf(objects('nodes'), left)
    expect(found.instances?.withoutInstance).toEqual([])
    expect(found.doubts.pods).toBeUndefined()
  })

  it('say nothing where not all nodes are known', () => {
    const brokenOff: ClusterRecord = {
      kind: 'Cluster',
      cluster: 'c',
      errors: [{ what: 'nodes', message: 'broke off' }],
    }
    const found = predictionOf(
      brokenOff,
      node('a', 'Unknown', ''),
      objects('instances.ec2.amazonaws.com', instance('i-0aaaaaaaaaaaaaaa4')),
    )
    expect([found.instances, found.missing.instances]).toEqual([null, ['nodes: broke off']])
  })
})

it('a volume whose claim has just gone is not called released before the controller says so', () => {
  const volume = (phase: string, metadata: RawObject = {}) =>
    object(
      'pv',
      { namespace: undefined, ...metadata },
      { spec: { claimRef: { namespace: 'shop', name: 'x', uid: 'u' } }, status: { phase } },
    )
  const lists = (...of: Parameters<typeof volume>) =>
    predictionOf(objects('persistentvolumeclaims'), objects('persistentvolumes', volume(...of)))
  expect(lists('Bound').volumes?.released).toEqual([])
  expect(lists('Released').volumes?.released).toMatchObject([
    { volume: 'pv', claim: 'shop/x', action: 'retain', capacityBytes: null, isBeingDeleted: false },
  ])
  expect(lists('Released', { deletionTimestamp: before }).volumes?.released).toMatchObject([
    { isBeingDeleted: true },
  ])
})

it('a request that the cleaner would take only now is not overdue yet', () => {
  const denied = (lastUpdateTime: string) =>
    object('csr', {}, { status: { conditions: [{ type: 'Denied', lastUpdateTime }] } })
  const overdue = (time: string) =>
    predictionOf(objects('certificatesigningrequests.certificates.k8s.io', denied(time)))
      .certificates?.requests[0]?.overdue
  expect(overdue('2026-11-20T21:00:01Z')).toBeNull()
  expect(overdue('2026-11-20T20:59:59Z')).toBe('denied-past-deadline')
})

describe('orphans', () => {
  it.each([
    ['pods', { status: { phase: 'Succeeded' } }, 0],
    ['pods', { status: { phase: 'Failed' } }, 0],
    ['pods', { status: { phase: 'Running' } }, 1],
    ['pods', {}, 1],
    ['replicasets.apps', { spec: { replicas: 3 } }, 3],
    ['replicasets.apps', {}, null],
  ])('among %s %j want so many pods: %s', (resource, more, replicas) => {
    const marks = {
      labels: { 'pod-template-hash': '5f7d' },
      annotations: { 'deployment.kubernetes.io/revision': '3' },
    }
    expect(
      predictionOf(objects(resource, object('a', marks, more))).owners?.orphaned,
    ).toMatchObject([{ name: 'a', replicas }])
  })
})

describe('finished Jobs', () => {
  const status = { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: before }] }
  const reference = (kind: string, controller?: boolean) => ({
    apiVersion: 'x/v1',
    kind,
    name: 'x',
    uid: kind,
    controller,
  })
  it.each([
    [[], null],
    [[reference('JobSet', true)], 'JobSet'],
    [[reference('Queue'), reference('JobSet', true)], 'JobSet'],
    [[reference('Queue')], 'Queue'],
  ])('of owners %j go with one', (ownerReferences, kind) => {
    const { jobs } = predictionOf(
      objects('cronjobs.batch'),
      objects('jobs.batch', object('j', { ownerReferences }, { status })),
    )
    expect(jobs?.finished.map(({ controller }) => controller?.kind ?? null)).toEqual([kind])
  })
})

describe('leases that were not renewed', () => {
  it('are as old as they are made', () => {
    const lease = object('ip-1', { namespace: 'kube-node-lease' })
    const renewed = object(
      'ip-2',
      { namespace: 'kube-node-lease' },
      { spec: { renewTime: '2026-11-02T00:00:00Z', leaseDurationSeconds: 40 } },
    )
    const { leases } = predictionOf(
      node('n', 'True', ''),
      objects('leases.coordination.k8s.io', lease, renewed),
    )
    expect(leases?.nodes.map(({ node, renewedMs }) => [node, renewedMs])).toEqual([
      ['ip-1', Date.parse(before)],
      ['ip-2', Date.parse('2026-11-02T00:00:00Z')],
    ])
  })
})

describe('disks', () => {
  const disk = {
    VolumeId: 'vol-1',
    Size: 10,
    VolumeType: 'io2',
    Iops: 64_000,
    State: 'available',
    CreateTime: before,
  }
  const volume = (phase: string, lastPhaseTransitionTime?: string) =>
    object(
      'pv',
      {},
      { spec: { csi: { volumeHandle: 'vol-1' } }, status: { phase, lastPhaseTransitionTime } },
    )
  it.each([
    ['Available', undefined, Date.parse(before)],
    ['Available', '2026-11-20T00:00:00Z', Date.parse('2026-11-20T00:00:00Z')],
    ['Bound', undefined, null],
    ['Released', undefined, null],
  ])('of a volume that is %s since %s', (phase, since, createdMs) => {
    const { disks } = predictionOf(
      objects('volumes.ec2.amazonaws.com', disk),
      objects('persistentvolumes', volume(phase, since)),
    )
    expect(disks?.unattached).toMatchObject(
      createdMs === null ? [] : [{ volumeId: 'vol-1', iops: 64_000, volume: 'pv', createdMs }],
    )
  })
})

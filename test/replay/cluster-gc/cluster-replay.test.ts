import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { HeldFinalizer } from '#model/cluster-garbage.ts'
import type { ClusterRecord, NodeRecord, ObjectsRecord } from '#model/input/record.ts'
import { openClusterReplay } from '#replay/cluster-gc/cluster-replay.ts'
import { takeRecord } from '#test/at-the-door.ts'

const at = '2026-11-21T00:00:00Z'
const objects = (resource: string, ...items: RawObject[]): ObjectsRecord => ({
  kind: 'Objects',
  cluster: 'c',
  resource,
  items,
})
const cluster = (more: Partial<ClusterRecord> = {}): ClusterRecord => ({
  kind: 'Cluster',
  cluster: 'c',
  eks: null,
  errors: [],
  ...more,
})
const node = (name: string, pods: RawObject[] | null, more: RawObject = {}): NodeRecord => ({
  ...{ kind: 'Node', cluster: 'c' },
  node: { metadata: { name, uid: `uid-${name}` }, ...more },
  pods: pods as NodeRecord['pods'],
})
const pod = (name: string, status: RawObject, more: RawObject = {}): RawObject => ({
  metadata: { namespace: 'shop', name, uid: name, ...more },
  status,
})
const lease = (name: string): RawObject => ({
  metadata: { namespace: 'kube-node-lease', name },
  spec: { renewTime: '2026-10-01T00:00:00.000000Z', leaseDurationSeconds: 40 },
})

function predictions(...records: (ClusterRecord | NodeRecord | ObjectsRecord)[]) {
  const replay = openClusterReplay()
  for (const record of records) takeRecord(replay, record)
  return replay.close(at)
}

describe('a cluster', () => {
  it('that was not searched has no prediction', () => {
    expect(
      predictions(
        cluster(),
        node('a', [pod('p', { phase: 'Failed' })]),
        objects('events'),
        objects('nodepools.karpenter.sh', {}),
      ),
    ).toEqual([])
  })

  it('says of each section what is missing, or what is open', () => {
    const errors = [
      { what: 'jobs.batch' as const, message: 'refused' },
      { what: 'leases.coordination.k8s.io' as const, message: 'broke off' },
      { what: 'events' as const, message: 'too many' },
    ]
    const [found] = predictions(
      cluster({ errors }),
      objects('cronjobs.batch'),
      objects('leases.coordination.k8s.io', lease('x')),
      objects('pods'),
      node('a', null),
    )
    expect(found).toMatchObject({
      jobs: null,
      missing: { jobs: ['jobs.batch: refused'] },
      doubts: {
        leases: ['leases.coordination.k8s.io: broke off'],
        pods: ['the pods of 1 of its nodes could not be read'],
      },
      resources: { 'cronjobs.batch': null, 'jobs.batch': 'jobs.batch: refused', pods: null },
    })
    expect(found?.missing).not.toHaveProperty('pods')
  })

  it('says what was lost of a page, also if its record comes later', () => {
    const errors = [{ what: 'pods' as const, message: 'cut' }]
    const page = { ...objects('pods', pod('p', { phase: 'Failed' })), errors }
    const [found] = predictions(page, cluster(), node('a', []))
    expect(found).toMatchObject({
      doubts: { pods: ['pods: cut'] },
      resources: { pods: 'pods: cut' },
    })
  })

  it.each([
    ['whose nodes were all read', cluster(), [node('a', [])], 'leftover'],
    [
      'whose list of nodes broke off',
      cluster({ errors: [{ what: 'nodes' as const, message: 'cut' }] }),
      [node('a', [])],
      'unknown',
    ],
    ['of which no node was read', cluster(), [], 'unknown'],
  ] as const)('%s: a lease without a node', (_, record, nodes, state) => {
    const [found] = predictions(
      record,
      ...nodes,
      objects('leases.coordination.k8s.io', lease('gone')),
    )
    expect(found?.leases?.nodes).toMatchObject([{ node: 'gone', state }])
  })
})

describe('the control plane', () => {
  const kubelet = node('a', [], { status: { nodeInfo: { kubeletVersion: 'v1.34.1' } } })
  const server = (gitVersion: string) => objects('serverversions', { gitVersion })
  const approved = { type: 'Approved', status: 'True', lastUpdateTime: '2026-11-16T20:00:00Z' }
  const request = {
    metadata: { name: 'csr', creationTimestamp: '2026-11-16T20:00:00Z' },
    spec: {},
    status: { conditions: [approved] },
  }
  const requests = objects('certificatesigningrequests.certificates.k8s.io', request)

  it.each([
    [
      'EKS says',
      [cluster({ eks: { version: '1.33' } }), kubelet, server('v1.36.0')],
      { version: '1.33', isAssumed: false },
      true,
    ],
    [
      'the API server says',
      [cluster(), kubelet, server('v1.36.0')],
      { version: 'v1.36.0', isAssumed: false },
      false,
    ],
    ['its newest kubelet has', [cluster(), kubelet], { version: 'v1.34.1', isAssumed: true }, true],
    [
      'its newest kubelet has, where the API server talks nonsense',
      [kubelet, server('odd')],
      { version: 'v1.34.1', isAssumed: true },
      true,
    ],
    ['no record states: the newest', [cluster()], { version: null, isAssumed: true }, false],
  ] as const)('has the version that %s', (_, records, controlPlane, isNeverCollected) => {
    const [found] = predictions(...records, requests)
    expect(found?.controlPlane).toEqual(controlPlane)
    expect(found?.certificates?.requests).toMatchObject([{ isNeverCollected }])
    expect(Object.keys(found?.resources ?? {})).toEqual([
      'certificatesigningrequests.certificates.k8s.io',
    ])
  })
})

describe('pods', () => {
  const deleted = { deletionTimestamp: '2026-11-20T00:00:00Z', finalizers: ['example.com/hold'] }

  it('come with their nodes and by themselves, each counted once, and of live ones nothing is kept', () => {
    const failed = pod('failed', { phase: 'Failed', reason: 'Evicted' })
    const [found] = predictions(
      cluster(),
      node('a', [failed, pod('live', { phase: 'Running' }), pod('odd', {})]),
      objects(
        'pods',
        failed,
        pod('other', { phase: 'Succeeded' }),
        pod('pending', { phase: 'Pending' }),
      ),
    )
    // A pod without a phase counts as finished, as upstream has it.
    expect(found?.pods?.terminated.map(({ name }) => name).toSorted()).toEqual([
      'failed',
      'odd',
      'other',
    ])
  })

  it.each([
    ['on a node that is gone', { nodeName: 'b' }, 'gone', true],
    ['on a node that is ready', { nodeName: 'a' }, 'ready', false],
    ['on a node that is not', { nodeName: 'down' }, 'not-ready', false],
    ['on no node', { nodeName: '' }, 'none', true],
  ])('in deletion %s', (_, spec, nodeState, isTakenByPodGc) => {
    const status = (ready: string) => ({
      status: { conditions: [{ type: 'Ready', status: ready }] },
    })
    const owners = {
      ownerReferences: [
        { kind: 'StatefulSet', name: 'cart', uid: 'u', apiVersion: 'apps/v1', controller: true },
      ],
    }
    const hanging = { ...pod('p', { phase: 'Running' }, { ...deleted, ...owners }), spec }
    const [found] = predictions(
      cluster(),
      node('a', [], status('True')),
      node('down', [], status('Unknown')),
      objects('pods', hanging),
    )
    expect(found?.pods?.terminating).toEqual([
      {
        namespace: 'shop',
        name: 'p',
        controller: { kind: 'StatefulSet', name: 'cart' },
        node: spec.nodeName || null,
        sinceMs: Date.parse(deleted.deletionTimestamp),
        finalizers: [{ finalizer: 'example.com/hold', controller: null, state: 'unknown' }],
        nodeState,
        isTakenByPodGc,
        isLetGo: false,
      },
    ])
  })

  it.each([
    ['Running', 30, false],
    ['Running', 0, true],
    ['Succeeded', 30, false],
    ['Succeeded', 0, true],
    ['Succeeded', undefined, true],
    ['Failed', undefined, true],
    ['Running', undefined, false],
  ])(
    '%s, in deletion with a grace period of %s s: let go by their kubelet is %s',
    (phase, deletionGracePeriodSeconds, isLetGo) => {
      const hanging = {
        ...pod('p', { phase }, { ...deleted, deletionGracePeriodSeconds }),
        spec: { nodeName: 'a' },
      }
      const [found] = predictions(cluster(), node('a', [hanging]), objects('pods'))
      expect(found?.pods?.terminating).toMatchObject([{ isLetGo }])
    },
  )

  it('and volumes name the controller that should remove a finalizer', () => {
    const spec = { nodeName: 'a' }
    const ofJob = {
      ...pod(
        'p',
        { phase: 'Failed' },
        { ...deleted, finalizers: ['batch.kubernetes.io/job-tracking'] },
      ),
      spec,
    }
    const volume = {
      metadata: {
        name: 'pv',
        ...deleted,
        finalizers: ['external-attacher/ebs-csi-aws-com', 'external-attacher/efs'],
      },
    }
    const claim = {
      metadata: {
        name: 'c',
        namespace: 'shop',
        ...deleted,
        finalizers: ['kubernetes.io/pvc-protection'],
      },
    }
    const driver = {
      metadata: { name: 'ebs-csi-controller', namespace: 'kube-system' },
      spec: { replicas: 2 },
    }
    const [found] = predictions(
      ...[
        cluster(),
        node('a', [ofJob]),
        objects('pods'),
        objects('deployments.apps', driver),
        objects('statefulsets.apps'),
      ],
      ...[
        objects('storageclasses.storage.k8s.io'),
        objects('persistentvolumeclaims', claim),
        objects('persistentvolumes', volume),
      ],
    )
    const states = (held: readonly { finalizers: readonly HeldFinalizer[] }[] = []) =>
      held.flatMap(({ finalizers }) =>
        finalizers.map(({ controller, state }) => [controller, state]),
      )
    expect(states(found?.pods?.terminating)).toEqual([['the Job controller', 'control-plane']])
    expect(states(found?.volumes?.held)).toMatchSnapshot()
  })

  it('are counted against EKS’s threshold, or upstream’s as an assumption', () => {
    const three = ['a', 'b', 'c'].map(name => pod(name, { phase: 'Succeeded' }))
    const eks = {
      kubeControllerManagerConfig: { podGcControllerConfig: { terminatedPodGcThreshold: 2 } },
    }
    expect(predictions(cluster({ eks }), objects('pods', ...three))[0]?.pods).toMatchObject({
      threshold: { pods: 2, isAssumed: false },
      excess: 1,
    })
    expect(predictions(cluster(), objects('pods', ...three))[0]?.pods).toMatchObject({
      threshold: { pods: 12_500, isAssumed: true },
      excess: 0,
    })
  })
})

describe('jobs', () => {
  const done = { type: 'Complete', status: 'True', lastTransitionTime: '2026-11-20T00:00:00Z' }
  const job = (name: string, spec: RawObject, more: RawObject = {}): RawObject => ({
    metadata: { namespace: 'batch', name, uid: name, ...more },
    spec,
    status: { conditions: [done] },
  })

  it('are kept when they have finished or wait, with the moment at which they expire', () => {
    const running = { metadata: { namespace: 'batch', name: 'running' }, spec: {}, status: {} }
    const waiting = {
      metadata: { namespace: 'batch', name: 'waiting' },
      spec: { suspend: true },
      status: {},
    }
    const [found] = predictions(
      cluster(),
      objects('cronjobs.batch'),
      objects('jobs.batch', job('done', { ttlSecondsAfterFinished: 60 }), running, waiting),
    )
    expect(found?.jobs?.finished).toMatchObject([
      {
        name: 'done',
        expiresMs: Date.parse('2026-11-20T00:01:00Z'),
        ttlSeconds: 60,
        outcome: 'Complete',
      },
    ])
  })

  it('of a CronJob are counted against its limits', () => {
    const owner = {
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid: 'cron', controller: true },
      ],
    }
    const cron = {
      metadata: { namespace: 'batch', name: 'nightly', uid: 'cron' },
      spec: { successfulJobsHistoryLimit: 1 },
    }
    const [found] = predictions(
      cluster(),
      objects('jobs.batch', job('1', {}, owner), job('2', {}, owner)),
      objects('cronjobs.batch', cron),
    )
    expect(found?.jobs?.cronJobs).toMatchObject([
      {
        name: 'nightly',
        successful: { limit: 1, count: 2, excess: 1 },
        failed: { limit: 1, count: 0, excess: 0 },
      },
    ])
  })
})

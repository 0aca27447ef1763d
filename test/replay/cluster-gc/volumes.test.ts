import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { claimProtection, isPodTerminated, volumeProtection } from '#replay/cluster-gc/claims.ts'
import { type Claimants, syncVolumes } from '#replay/cluster-gc/volumes.ts'
import { manifestOf, objectOf } from '#test/at-the-door.ts'

const claimRef = { namespace: 'apps', name: 'data', uid: 'claim' }
const claim = (
  uid = 'claim',
  volumeName: string | undefined = undefined,
  metadata: object = {},
) => ({ metadata: { namespace: 'apps', name: 'data', uid, ...metadata }, spec: { volumeName } })
const deletionTimestamp = '2025-01-01T00:00:00Z'

interface VolumeSpec {
  policy?: string
  source?: string
  annotations?: object
  phase?: string
  metadata?: object
  spec?: object
}
const volume = ({
  policy,
  source = 'csi',
  annotations = {},
  phase,
  metadata,
  spec,
}: VolumeSpec = {}) => ({
  metadata: { name: 'pv', annotations, ...metadata },
  spec: { claimRef, persistentVolumeReclaimPolicy: policy, [source]: {}, ...spec },
  status: { phase },
})
const provisionedBy = (driver: string) => ({ 'pv.kubernetes.io/provisioned-by': driver })
const synced = (given: unknown, claimants: Partial<Claimants> = {}, version = 'v1.37.0') =>
  syncVolumes(
    [objectOf('persistentvolumes', given)],
    { claims: [], pods: [], ...claimants },
    featuresOf(version),
  )[0]

describe('a volume that is not released', () => {
  it.each([
    {
      title: 'has no claim',
      given: volume({ spec: { claimRef: undefined } }),
      claims: [],
      phase: 'Available',
    },
    {
      title: 'is reserved for a claim',
      given: volume({ spec: { claimRef: { ...claimRef, uid: undefined } } }),
      claims: null,
      phase: 'Available',
    },
    { title: 'waits for its claim to bind', given: volume(), claims: [claim()], phase: null },
    { title: 'is bound', given: volume(), claims: [{}, claim('claim', 'pv')], phase: 'Bound' },
  ])('$title: $phase', ({ given, claims, phase }) => {
    expect(synced(given, { claims })).toEqual({
      volume: 'pv',
      released: 'no',
      phase,
      action: 'none',
      certainty: 'certain',
    })
  })

  it('may be anything while claims are not known', () => {
    expect(synced(volume(), { claims: null })).toEqual({
      volume: 'pv',
      released: 'unknown',
      phase: null,
      action: 'unknown',
      certainty: 'possible',
    })
  })

  it('is not told where it is none', () => {
    expect(synced({ spec: {} })).toBeUndefined()
  })
})

describe('a released volume', () => {
  it.each([
    {
      title: 'whose claim is gone',
      claims: [
        claim('claim', 'pv', { name: 'other' }),
        claim('claim', 'pv', { namespace: 'other' }),
      ],
      released: 'claim-gone',
    },
    {
      title: 'whose claim is another one now',
      claims: [claim('new', 'pv')],
      released: 'claim-other-uid',
    },
  ])('$title is retained', ({ claims, released }) => {
    expect(synced(volume(), { claims })).toEqual({
      volume: 'pv',
      released,
      phase: 'Released',
      action: 'retain',
      certainty: 'certain',
    })
  })

  it.each([
    {
      policy: 'Delete',
      annotations: provisionedBy('ebs.csi.aws.com'),
      action: 'leave-to-driver',
      phase: 'Released',
      certainty: 'certain',
    },
    {
      policy: 'Delete',
      annotations: undefined,
      action: 'unknown',
      phase: null,
      certainty: 'possible',
    },
    {
      policy: 'Delete',
      annotations: {},
      action: 'unbind',
      phase: 'Available',
      certainty: 'certain',
    },
    {
      policy: 'Retain',
      annotations: provisionedBy('ebs.csi.aws.com'),
      action: 'unbind',
      phase: 'Available',
      certainty: 'certain',
    },
  ])(
    'whose claim is bound elsewhere, $policy, annotations $annotations: $action',
    ({ policy, annotations, action, phase, certainty }) => {
      const given = volume({ policy, metadata: { annotations } })
      expect(synced(given, { claims: [claim('claim', 'other-pv')] })).toEqual({
        volume: 'pv',
        released: 'claim-bound-elsewhere',
        phase,
        action,
        certainty,
      })
    },
  )

  it.each([
    { title: 'Retain', given: { policy: 'Retain' }, action: 'retain', phase: 'Released' },
    { title: 'no policy', given: {}, action: 'retain', phase: 'Released' },
    { title: 'a policy that is none', given: { policy: 'Keep' }, action: 'fail', phase: 'Failed' },
    {
      title: 'Delete, of a driver',
      given: { policy: 'Delete', annotations: provisionedBy('ebs.csi.aws.com') },
      action: 'leave-to-driver',
      phase: 'Released',
    },
    {
      title: 'Delete, again after a failure',
      given: { policy: 'Delete', phase: 'Failed' },
      action: 'leave-to-driver',
      phase: 'Failed',
    },
    {
      title: 'Delete, migrated',
      given: {
        policy: 'Delete',
        source: 'awsElasticBlockStore',
        annotations: { 'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com' },
      },
      action: 'leave-to-driver',
      phase: 'Released',
    },
    {
      title: 'Delete, to be migrated',
      given: {
        policy: 'Delete',
        source: 'awsElasticBlockStore',
        annotations: provisionedBy('kubernetes.io/aws-ebs'),
      },
      action: 'leave-to-driver',
      phase: 'Released',
    },
    {
      title: 'Delete, hostPath',
      given: { policy: 'Delete', source: 'hostPath' },
      action: 'delete',
      phase: 'Released',
    },
    {
      title: 'Delete, hostPath provisioned',
      given: {
        policy: 'Delete',
        source: 'hostPath',
        annotations: provisionedBy('kubernetes.io/host-path'),
      },
      action: 'delete',
      phase: 'Released',
    },
    {
      title: 'Delete, hostPath of a driver',
      given: {
        policy: 'Delete',
        source: 'hostPath',
        annotations: provisionedBy('rancher.io/local-path'),
      },
      action: 'leave-to-driver',
      phase: 'Released',
    },
    {
      title: 'Delete, nfs',
      given: { policy: 'Delete', source: 'nfs' },
      action: 'fail',
      phase: 'Failed',
    },
    {
      title: 'Delete, local',
      given: { policy: 'Delete', source: 'local' },
      action: 'fail',
      phase: 'Failed',
    },
    {
      title: 'Delete, iscsi',
      given: { policy: 'Delete', source: 'iscsi' },
      action: 'fail',
      phase: 'Failed',
    },
    {
      title: 'Delete, fc',
      given: { policy: 'Delete', source: 'fc' },
      action: 'fail',
      phase: 'Failed',
    },
    {
      title: 'Recycle, nfs',
      given: { policy: 'Recycle', source: 'nfs' },
      action: 'recycle',
      phase: 'Released',
    },
    {
      title: 'Recycle, hostPath',
      given: { policy: 'Recycle', source: 'hostPath', phase: 'Failed' },
      action: 'recycle',
      phase: 'Failed',
    },
    { title: 'Recycle, csi', given: { policy: 'Recycle' }, action: 'fail', phase: 'Failed' },
  ])('with $title: $action', ({ given, action, phase }) => {
    expect(synced(volume(given))).toEqual({
      volume: 'pv',
      released: 'claim-gone',
      phase,
      action,
      certainty: 'certain',
    })
  })

  it.each([
    { title: 'csi', given: { source: 'csi' }, action: 'leave-to-driver', certainty: 'certain' },
    { title: 'hostPath', given: { source: 'hostPath' }, action: 'delete', certainty: 'possible' },
    { title: 'nfs', given: { source: 'nfs' }, action: 'fail', certainty: 'possible' },
    {
      title: 'a plugin of the past',
      given: { source: 'rbd', metadata: { annotations: {} } },
      action: 'fail',
      certainty: 'possible',
    },
    {
      title: 'a provisioner of the past',
      given: { source: 'rbd', metadata: { annotations: provisionedBy('kubernetes.io/rbd') } },
      action: 'fail',
      certainty: 'possible',
    },
    {
      title: 'a hostPath of another provisioner',
      given: { source: 'hostPath', metadata: { annotations: provisionedBy('kubernetes.io/rbd') } },
      action: 'fail',
      certainty: 'possible',
    },
  ])(
    'without annotations that tell, $title: $action is $certainty',
    ({ given, action, certainty }) => {
      expect(
        synced(volume({ policy: 'Delete', metadata: { annotations: undefined }, ...given })),
      ).toMatchObject({ action, certainty })
    },
  )

  it.each([{ version: 'v1.29.0', action: 'leave-to-driver' }])(
    '$version on a CSI volume without a provisioner: $action',
    ({ version, action }) => {
      expect(synced(volume({ policy: 'Delete' }), {}, version)).toMatchObject({
        action,
        certainty: 'certain',
      })
      expect(
        synced(
          volume({ policy: 'Delete', annotations: provisionedBy('ebs.csi.aws.com') }),
          {},
          version,
        ),
      ).toMatchObject({ action: 'leave-to-driver' })
    },
  )

  it.each([
    { version: 'v1.30.0', action: 'nothing-while-deleted' },
    { version: 'v1.31.0', action: 'delete' },
  ])('$version on a volume whose object is being deleted: $action', ({ version, action }) => {
    expect(
      synced(
        volume({ policy: 'Delete', source: 'hostPath', metadata: { deletionTimestamp } }),
        {},
        version,
      ),
    ).toMatchObject({ action, phase: 'Released' })
    expect(synced(volume({ policy: 'Delete', source: 'hostPath' }), {}, version)).toMatchObject({
      action: 'delete',
    })
  })

  describe('to be recycled', () => {
    const recyclable = volume({ policy: 'Recycle', source: 'nfs' })
    const user = (phase: string, namespace = 'apps') => ({
      metadata: { namespace, name: 'p' },
      spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
      status: { phase },
    })

    it.each([
      {
        title: 'the user of its claim is unknown',
        claimants: { pods: null },
        action: 'recycle',
        certainty: 'possible',
      },
      {
        title: 'a pod uses its claim',
        claimants: { pods: [user('Running')] },
        action: 'wait-for-pods',
        certainty: 'certain',
      },
      {
        title: 'a pod that has finished used it',
        claimants: { pods: [user('Succeeded')] },
        action: 'recycle',
        certainty: 'certain',
      },
      {
        title: 'a pod elsewhere uses a claim called alike',
        claimants: { pods: [user('Running', 'other')] },
        action: 'recycle',
        certainty: 'certain',
      },
      {
        title: 'a pod uses the new claim of that name',
        claimants: { claims: [claim('new')], pods: [user('Running')] },
        action: 'recycle',
        certainty: 'certain',
      },
    ])('when $title: $action', ({ claimants, action, certainty }) => {
      expect(synced(recyclable, claimants)).toMatchObject({ action, certainty, phase: 'Released' })
    })
  })
})

describe('claimProtection', () => {
  const finalizers = ['kubernetes.io/pvc-protection', 'example.com/backup']
  const held = claim('claim', 'pv', { deletionTimestamp, finalizers })
  const pod = (
    name: string,
    source: object,
    metadata: object = {},
    nodeName: string | undefined = 'n1',
  ) => ({
    metadata: { namespace: 'apps', name, uid: `uid-${name}`, ...metadata },
    spec: { nodeName, volumes: [null, { name: 'v', emptyDir: {} }, { name: 'data', ...source }] },
    status: { phase: 'Succeeded' },
  })
  const uses = { persistentVolumeClaim: { claimName: 'data' } }
  const users = (pods: unknown[] | null, given: unknown = held) =>
    claimProtection([objectOf('persistentvolumeclaims', given)], pods?.map(manifestOf) ?? null)[0]
      ?.usedBy

  it('is by every scheduled pod that names the claim, even one that has finished', () => {
    expect(claimProtection([{}, held], [manifestOf(pod('done', uses))])).toEqual([
      {
        object: 'apps/data',
        isBeingDeleted: true,
        usedBy: ['apps/done'],
        finalizers: [
          { finalizer: finalizers[0], isReady: false },
          { finalizer: finalizers[1], isReady: null },
        ],
      },
    ])
    expect(claimProtection([claim('claim', 'pv', { finalizers })], [])).toMatchObject([
      { isBeingDeleted: false, usedBy: [], finalizers: [{ isReady: true }, { isReady: null }] },
    ])
    expect(claimProtection([held], null)).toMatchObject([
      { usedBy: null, finalizers: [{ isReady: null }, { isReady: null }] },
    ])
  })

  it.each([
    { title: 'is not scheduled', given: pod('p', uses, {}, ''), expected: [] },
    {
      title: 'is scheduled nowhere known',
      given: {
        metadata: { namespace: 'apps', name: 'p' },
        spec: { volumes: [{ name: 'v', ...uses }] },
      },
      expected: [],
    },
    { title: 'is elsewhere', given: pod('p', uses, { namespace: 'other' }), expected: [] },
    {
      title: 'uses another claim',
      given: pod('p', { persistentVolumeClaim: { claimName: 'other' } }),
      expected: [],
    },
    {
      title: 'is killed already',
      given: pod('p', uses, { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
      expected: ['apps/p'],
    },
    { title: 'is none', given: 'pod', expected: [] },
  ])('by a pod that $title: $expected', ({ given, expected }) => {
    expect(users([given])).toEqual(expected)
  })

  it('names a pod once that uses the claim twice', () => {
    const twice = pod('p', uses)
    expect(
      users([
        {
          ...twice,
          spec: { ...twice.spec, volumes: [...twice.spec.volumes, { name: 'again', ...uses }] },
        },
      ]),
    ).toEqual(['apps/p'])
  })

  describe('of an ephemeral volume', () => {
    const owned = (uid: string) =>
      claim('claim', 'pv', {
        name: 'p-data',
        ownerReferences: [{ kind: 'Pod', name: 'p', uid, controller: true }],
      })
    const ephemeral = { ephemeral: {} }
    it.each([
      { title: 'its pod runs', given: pod('p', ephemeral), uid: 'uid-p', expected: ['apps/p'] },
      {
        title: 'another pod controls it',
        given: pod('p', ephemeral),
        uid: 'uid-former',
        expected: [],
      },
      {
        title: 'its pod is being deleted',
        given: pod('p', ephemeral, { deletionTimestamp, deletionGracePeriodSeconds: 30 }),
        uid: 'uid-p',
        expected: ['apps/p'],
      },
      {
        title: 'its pod is being deleted, the way is unknown',
        given: pod('p', ephemeral, { deletionTimestamp }),
        uid: 'uid-p',
        expected: ['apps/p'],
      },
      {
        title: 'the kubelet is done with its pod',
        given: pod('p', ephemeral, { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
        uid: 'uid-p',
        expected: [],
      },
      {
        title: 'its pod only ran without grace',
        given: pod('p', ephemeral, { deletionGracePeriodSeconds: 0 }),
        uid: 'uid-p',
        expected: ['apps/p'],
      },
    ])('when $title: $expected', ({ given, uid, expected }) => {
      expect(users([given], owned(uid))).toEqual(expected)
    })
  })
})

describe('volumeProtection', () => {
  it.each([
    { phase: 'Bound', usedBy: ['apps/data'], isReady: false },
    { phase: 'Released', usedBy: [], isReady: true },
  ])('in phase $phase', ({ phase, usedBy, isReady }) => {
    const given = volume({
      phase,
      metadata: {
        finalizers: [
          'kubernetes.io/pv-protection',
          'external-provisioner.volume.kubernetes.io/finalizer',
        ],
      },
    })
    expect(volumeProtection(given)).toEqual({
      object: 'pv',
      isBeingDeleted: false,
      usedBy,
      finalizers: [
        { finalizer: 'kubernetes.io/pv-protection', isReady },
        { finalizer: 'external-provisioner.volume.kubernetes.io/finalizer', isReady: null },
      ],
    })
    expect(volumeProtection({})).toBeNull()
  })

  it('names no claim where there is none', () => {
    expect(
      volumeProtection({ metadata: { name: 'pv' }, status: { phase: 'Bound' } }),
    ).toMatchObject({ usedBy: ['/'], finalizers: [] })
  })
})

describe('isPodTerminated', () => {
  const running = { state: { running: {} } }
  const waiting = { state: { waiting: {} } }
  const terminated = { state: { terminated: {} } }
  it.each([
    {
      title: 'has failed',
      given: { metadata: { name: 'p' }, status: { phase: 'Failed', containerStatuses: [running] } },
      expected: true,
    },
    {
      title: 'has succeeded',
      given: { metadata: { name: 'p' }, status: { phase: 'Succeeded' } },
      expected: true,
    },
    {
      title: 'runs nothing, but is not being deleted',
      given: {
        metadata: { name: 'p' },
        status: { phase: 'Running', containerStatuses: [terminated] },
      },
      expected: false,
    },
    {
      title: 'runs nothing',
      given: {
        metadata: { name: 'p', deletionTimestamp },
        status: { containerStatuses: [terminated, waiting, null] },
      },
      expected: true,
    },
    {
      title: 'runs a container',
      given: {
        metadata: { name: 'p', deletionTimestamp },
        status: { containerStatuses: [terminated, running] },
      },
      expected: false,
    },
    {
      title: 'runs an init container',
      given: {
        metadata: { name: 'p', deletionTimestamp },
        status: { initContainerStatuses: [running] },
      },
      expected: false,
    },
    {
      title: 'runs an ephemeral container',
      given: {
        metadata: { name: 'p', deletionTimestamp },
        status: { ephemeralContainerStatuses: [running] },
      },
      expected: false,
    },
    { title: 'is none', given: null, expected: false },
  ])('of one that $title: $expected', ({ given, expected }) => {
    expect(isPodTerminated(manifestOf(given))).toBe(expected)
  })
})

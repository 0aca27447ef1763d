import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { parseMetadata } from '#replay/cluster-gc/section.ts'
import {
  claimsByKey,
  claimUsers,
  releasedAction,
  volumeUsers,
} from '#replay/cluster-gc/sections/volumes.ts'
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
const actionOf = (given: unknown, claims: object[] = [], version = 'v1.37.0') =>
  releasedAction(
    objectOf('persistentvolumes', given),
    claimsByKey(claims.map(each => objectOf('persistentvolumeclaims', each))),
    featuresOf(version),
  )

describe('a volume that is not released', () => {
  it.each([
    { title: 'has no claim', given: volume({ spec: { claimRef: undefined } }), claims: [] },
    {
      title: 'is reserved for a claim',
      given: volume({ spec: { claimRef: { ...claimRef, uid: undefined } } }),
      claims: [],
    },
    { title: 'waits for its claim to bind', given: volume(), claims: [claim()] },
    { title: 'is bound', given: volume(), claims: [{}, claim('claim', 'pv')] },
    { title: 'has no name', given: { spec: {} }, claims: [] },
  ])('$title', ({ given, claims }) => {
    expect(actionOf(given, claims)).toBeNull()
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
    },
    { title: 'whose claim is another one now', claims: [claim('new', 'pv')] },
  ])('$title is retained', ({ claims }) => {
    expect(actionOf(volume(), claims)).toBe('retain')
  })

  it.each([
    { policy: 'Delete', annotations: provisionedBy('ebs.csi.aws.com'), action: 'leave-to-driver' },
    { policy: 'Delete', annotations: undefined, action: 'other' },
    { policy: 'Delete', annotations: {}, action: 'other' },
    { policy: 'Retain', annotations: provisionedBy('ebs.csi.aws.com'), action: 'other' },
  ])(
    'whose claim is bound elsewhere, $policy, annotations $annotations: $action',
    ({ policy, annotations, action }) => {
      const given = volume({ policy, metadata: { annotations } })
      expect(actionOf(given, [claim('claim', 'other-pv')])).toBe(action)
    },
  )

  const aws = 'awsElasticBlockStore'
  it.each([
    { title: 'Retain', given: { policy: 'Retain' }, action: 'retain' },
    { title: 'no policy', given: {}, action: 'retain' },
    { title: 'a policy that is none', given: { policy: 'Keep' }, action: 'fail' },
    {
      title: 'Delete, of a driver',
      given: { policy: 'Delete', annotations: provisionedBy('ebs.csi.aws.com') },
      action: 'leave-to-driver',
    },
    {
      title: 'Delete, again after a failure',
      given: { policy: 'Delete', phase: 'Failed' },
      action: 'leave-to-driver',
    },
    {
      title: 'Delete, migrated',
      given: {
        policy: 'Delete',
        source: aws,
        annotations: { 'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com' },
      },
      action: 'leave-to-driver',
    },
    {
      title: 'Delete, to be migrated',
      given: { policy: 'Delete', source: aws, annotations: provisionedBy('kubernetes.io/aws-ebs') },
      action: 'leave-to-driver',
    },
    { title: 'Delete, hostPath', given: { policy: 'Delete', source: 'hostPath' }, action: 'other' },
    {
      title: 'Delete, hostPath provisioned',
      given: {
        policy: 'Delete',
        source: 'hostPath',
        annotations: provisionedBy('kubernetes.io/host-path'),
      },
      action: 'other',
    },
    {
      title: 'Delete, hostPath of a driver',
      given: {
        policy: 'Delete',
        source: 'hostPath',
        annotations: provisionedBy('rancher.io/local-path'),
      },
      action: 'leave-to-driver',
    },
    {
      title: 'Delete, hostPath of a provisioner of the past',
      given: {
        policy: 'Delete',
        source: 'hostPath',
        annotations: provisionedBy('kubernetes.io/rbd'),
      },
      action: 'fail',
    },
    { title: 'Delete, nfs', given: { policy: 'Delete', source: 'nfs' }, action: 'fail' },
    { title: 'Delete, local', given: { policy: 'Delete', source: 'local' }, action: 'fail' },
    { title: 'Recycle, nfs', given: { policy: 'Recycle', source: 'nfs' }, action: 'other' },
    {
      title: 'Recycle, hostPath',
      given: { policy: 'Recycle', source: 'hostPath', phase: 'Failed' },
      action: 'other',
    },
    { title: 'Recycle, csi', given: { policy: 'Recycle' }, action: 'fail' },
  ])('with $title: $action', ({ given, action }) => {
    expect(actionOf(volume(given))).toBe(action)
  })

  it.each([
    { version: 'v1.30.0', action: 'other' },
    { version: 'v1.31.0', action: 'leave-to-driver' },
  ])('$version on a volume whose object is being deleted: $action', ({ version, action }) => {
    const deleted = volume({ policy: 'Delete', metadata: { deletionTimestamp } })
    expect(actionOf(deleted, [], version)).toBe(action)
    expect(actionOf(volume({ policy: 'Delete' }), [], version)).toBe('leave-to-driver')
  })
})

describe('the users of a claim', () => {
  const held = claim('claim', 'pv', { deletionTimestamp })
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
  const users = (pods: unknown[], given: unknown = held) => {
    const metadata = parseMetadata(objectOf('persistentvolumeclaims', given))
    if (metadata === null) throw new Error('the claim has no name')
    return claimUsers(pods.map(manifestOf))(metadata)
  }

  it('are all scheduled pods that name the claim, even one that has finished', () => {
    expect(users([pod('done', uses)])).toEqual(['apps/done'])
    expect(users([])).toEqual([])
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

describe('the users of a volume', () => {
  it.each([
    { phase: 'Bound', usedBy: ['apps/data'] },
    { phase: 'Released', usedBy: [] },
  ])('in phase $phase', ({ phase, usedBy }) => {
    expect(volumeUsers(volume({ phase }))).toEqual(usedBy)
  })
})

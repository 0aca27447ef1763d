/** The scenario `garbage`: volumes, certificate requests, owners and finalizers, each case beside its healthy twin. */

import type { RawObject } from '#base/raw-object.ts'
import {
  bareDeployment,
  bareReplicaSet,
  certificateRequestObject,
  claimObject,
  volumeObject,
} from '#lab/nodes/leftover-objects.ts'
import { objectUid } from '#lab/nodes/object-metadata.ts'
import { nodeNameOf } from '#lab/nodes/placement.ts'
import { fixedObjects, type ObjectSource } from './scenario.ts'

const deployment = (name: string, uid?: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name,
  ...(uid && { uid }),
})
const ofJob = (name: string) => ({ apiVersion: 'batch/v1', kind: 'Job', name })
const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', name })

const claims = (at: string): RawObject[] => [
  // The pod `worker-9` holds it, and does not go.
  claimObject(at, {
    namespace: 'queue',
    name: 'spool',
    storageClass: 'gp3',
    volume: 'pvc-0004',
    deletedHoursAgo: 60,
  }),
  claimObject(at, {
    namespace: 'queue',
    name: 'kept-spool',
    storageClass: 'gp3',
    volume: 'pvc-0005',
    deletedHoursAgo: 0.5,
  }),
  // Of a pod and of a Job that are gone.
  claimObject(at, {
    namespace: 'stray',
    name: 'scratch-of-pod',
    storageClass: 'gp3',
    owner: pod('build-1'),
  }),
  claimObject(at, {
    namespace: 'stray',
    name: 'scratch-of-job',
    storageClass: 'gp3',
    owner: ofJob('build-2'),
  }),
  claimObject(at, {
    namespace: 'legacy',
    name: 'kept-of-pod',
    storageClass: 'gp3',
    owner: pod('kept-free'),
  }),
  claimObject(at, {
    namespace: 'batch',
    name: 'kept-of-job',
    storageClass: 'gp3',
    owner: ofJob('kept-by-time'),
  }),
  claimObject(at, {
    namespace: 'tenant',
    name: 'kept-own',
    storageClass: 'gp3',
    owner: deployment('kept-front'),
  }),
]

const volumes = (at: string): RawObject[] => [
  volumeObject(at, {
    ...{
      name: 'pvc-0001',
      claim: { namespace: 'archive', name: 'films-0' },
      phase: 'Released',
      phaseHoursAgo: 960,
    },
    ...{ reclaimPolicy: 'Retain', capacity: '500Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa1' },
  }),
  volumeObject(at, {
    ...{
      name: 'kept-just-released',
      claim: { namespace: 'archive', name: 'films-1' },
      phase: 'Released',
      phaseHoursAgo: 2,
    },
    ...{ reclaimPolicy: 'Retain', capacity: '500Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa2' },
  }),
  // Somebody has deleted it, and its driver has not let go of it.
  volumeObject(at, {
    ...{
      name: 'pvc-0008',
      claim: { namespace: 'archive', name: 'films-2' },
      phase: 'Released',
      phaseHoursAgo: 960,
    },
    ...{ reclaimPolicy: 'Retain', capacity: '500Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa8' },
    ...{ deletedHoursAgo: 200, finalizers: ['external-attacher/ebs-csi-aws-com'] },
  }),
  // Somebody has cleared its claim, and no other has come.
  volumeObject(at, {
    ...{ name: 'pvc-0009', phase: 'Available', phaseHoursAgo: 960 },
    ...{ reclaimPolicy: 'Retain', capacity: '50Gi', volumeId: 'vol-0bbbbbbbbbbbbbbb4' },
  }),
  volumeObject(at, {
    ...{ name: 'kept-for-a-claim', phase: 'Available', phaseHoursAgo: 2 },
    ...{ reclaimPolicy: 'Retain', capacity: '50Gi', volumeId: 'vol-0bbbbbbbbbbbbbbb5' },
  }),
  // Its driver has not deleted it.
  volumeObject(at, {
    ...{
      name: 'pvc-0003',
      claim: { namespace: 'scratch', name: 'tmp-1' },
      phase: 'Released',
      phaseHoursAgo: 90,
    },
    ...{ reclaimPolicy: 'Delete', capacity: '20Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa3' },
  }),
  volumeObject(at, {
    ...{
      name: 'kept-being-deleted',
      claim: { namespace: 'scratch', name: 'tmp-2' },
      phase: 'Released',
      phaseHoursAgo: 0.05,
    },
    ...{ reclaimPolicy: 'Delete', capacity: '20Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa6' },
  }),
  volumeObject(at, {
    ...{
      name: 'pvc-0004',
      claim: { namespace: 'queue', name: 'spool' },
      phase: 'Bound',
      phaseHoursAgo: 400,
    },
    ...{ reclaimPolicy: 'Delete', capacity: '20Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa4' },
  }),
  volumeObject(at, {
    ...{
      name: 'pvc-0005',
      claim: { namespace: 'queue', name: 'kept-spool' },
      phase: 'Bound',
      phaseHoursAgo: 400,
    },
    ...{ reclaimPolicy: 'Delete', capacity: '20Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa5' },
  }),
  // Deleted before its claim, which keeps it.
  volumeObject(at, {
    ...{
      name: 'pvc-0006',
      claim: { namespace: 'ci', name: 'build-7-scratch' },
      phase: 'Bound',
      phaseHoursAgo: 400,
      deletedHoursAgo: 60,
    },
    ...{ reclaimPolicy: 'Retain', capacity: '20Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa6' },
  }),
  volumeObject(at, {
    ...{
      name: 'kept-bound',
      claim: { namespace: 'ci', name: 'kept-build-8-scratch' },
      phase: 'Bound',
      phaseHoursAgo: 400,
      deletedHoursAgo: 0.5,
    },
    ...{ reclaimPolicy: 'Delete', capacity: '20Gi', volumeId: 'vol-0aaaaaaaaaaaaaaa7' },
  }),
]

const certificateRequests = (at: string): RawObject[] => {
  const requestor = `system:node:${nodeNameOf('10.0.7.12')}`
  const nodesTwin = `system:node:${nodeNameOf('10.0.7.11')}`
  return [
    certificateRequestObject(at, { name: 'csr-4x2lp', requestor, createdHoursAgo: 5 }),
    certificateRequestObject(at, {
      name: 'kept-csr-new',
      requestor: nodesTwin,
      createdHoursAgo: 0.05,
    }),
    // Its node has asked again since, and got it.
    certificateRequestObject(at, {
      name: 'kept-csr-before',
      requestor: nodesTwin,
      createdHoursAgo: 6,
    }),
    certificateRequestObject(at, {
      name: 'csr-9k3vd',
      requestor,
      createdHoursAgo: 31,
      answered: { as: 'Denied', hoursAgo: 30 },
    }),
    certificateRequestObject(at, {
      ...{
        name: 'csr-issued',
        requestor,
        createdHoursAgo: 31,
        answered: { as: 'Approved', hoursAgo: 30 },
        isIssued: true,
      },
    }),
    certificateRequestObject(at, {
      ...{
        name: 'kept-csr-issued',
        requestor: nodesTwin,
        createdHoursAgo: 1,
        answered: { as: 'Approved', hoursAgo: 0.5 },
        isIssued: true,
      },
    }),
    certificateRequestObject(at, {
      ...{
        name: 'kept-csr-denied',
        requestor: nodesTwin,
        createdHoursAgo: 1,
        answered: { as: 'Denied', hoursAgo: 0.5 },
      },
    }),
  ]
}

export const leftoverDeployments = (at: string): RawObject[] => [
  // Nobody is there to take this away.
  bareDeployment(at, {
    namespace: 'edge',
    name: 'proxy',
    deletedHoursAgo: 70,
    finalizers: ['service.k8s.aws/resources'],
  }),
  bareDeployment(at, {
    namespace: 'edge',
    name: 'kept-proxy',
    deletedHoursAgo: 0.2,
    finalizers: ['service.k8s.aws/resources'],
  }),
  bareDeployment(at, {
    namespace: 'legacy',
    name: 'portal',
    deletedHoursAgo: 50,
    finalizers: ['foregroundDeletion'],
  }),
  bareDeployment(at, {
    namespace: 'legacy',
    name: 'kept-portal',
    deletedHoursAgo: 0.1,
    finalizers: ['foregroundDeletion'],
  }),
  bareDeployment(at, { namespace: 'tenant', name: 'kept-front' }),
  bareDeployment(at, { namespace: 'stray', name: 'api', createdHoursAgo: 300 }),
]

export const leftoverReplicaSets = (at: string): RawObject[] => [
  bareReplicaSet(at, { namespace: 'legacy', name: 'portal-1', owner: deployment('portal') }),
  // Nobody waits for it.
  bareReplicaSet(at, {
    namespace: 'legacy',
    name: 'kept-portal-0',
    owner: { ...deployment('portal'), isFree: true },
  }),
  bareReplicaSet(at, {
    namespace: 'legacy',
    name: 'kept-portal-1',
    owner: deployment('kept-portal'),
  }),
  // Of the Deployment that was there before the one of this name.
  bareReplicaSet(at, {
    namespace: 'stray',
    name: 'api-old',
    owner: deployment('api', objectUid('Deployment', { namespace: 'stray', name: 'api before' })),
  }),
  // Of one that is gone, and nobody has its name.
  bareReplicaSet(at, { namespace: 'stray', name: 'web-lost', owner: deployment('web') }),
  // The UID is right, the name is not: it is by that that an owner is looked up.
  bareReplicaSet(at, {
    namespace: 'stray',
    name: 'api-renamed',
    createdHoursAgo: 299,
    owner: deployment('apis', objectUid('Deployment', { namespace: 'stray', name: 'api' })),
  }),
  bareReplicaSet(at, {
    namespace: 'stray',
    name: 'kept-api-new',
    createdHoursAgo: 299,
    owner: deployment('api'),
  }),
  bareReplicaSet(at, { namespace: 'canary', name: 'web-1' }),
  bareReplicaSet(at, { namespace: 'canary', name: 'kept-web-2', createdHoursAgo: 1 }),
]

export const leftoverObjects: Record<string, ObjectSource> = {
  persistentvolumeclaims: fixedObjects(claims),
  persistentvolumes: fixedObjects(volumes),
  'certificatesigningrequests.certificates.k8s.io': fixedObjects(certificateRequests),
}

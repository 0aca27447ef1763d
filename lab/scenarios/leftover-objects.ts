/** The scenario `garbage`: volumes, certificate requests, namespaces, owners and finalizers, each case beside its healthy twin. */
import {
  bareDeployment,
  bareReplicaSet,
  certificateRequestObject,
  claimObject,
  namespaceObject,
  storageClassObject,
  volumeObject,
} from '#lab/nodes/leftover-objects.ts'
import { metadataOf, type Named, objectUid } from '#lab/nodes/object-metadata.ts'
import { nodeNameOf } from '#lab/nodes/placement.ts'
import type { RawObject } from '#model/record.ts'
import { fixedObjects, type InstalledResource, type ObjectSource } from './scenario.ts'

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
  claimObject(at, {
    namespace: 'ci',
    name: 'build-7-scratch',
    storageClass: 'keep',
    volume: 'pvc-0006',
    createdHoursAgo: 2,
    owner: pod('build-7'),
  }),
  claimObject(at, {
    namespace: 'ci',
    name: 'kept-build-8-scratch',
    storageClass: 'gp3',
    volume: 'kept-bound',
    createdHoursAgo: 2,
    owner: pod('build-8'),
  }),
  // Of a class that keeps, but somebody has set its own volume to Delete; and the other way round.
  claimObject(at, {
    ...{
      namespace: 'ci',
      name: 'kept-build-9-scratch',
      storageClass: 'keep',
      volume: 'kept-set-to-delete',
    },
    ...{ createdHoursAgo: 2, owner: pod('build-9') },
  }),
  claimObject(at, {
    ...{
      namespace: 'ci-nightly',
      name: 'build-10-scratch',
      storageClass: 'gp3',
      volume: 'pvc-0010',
    },
    ...{ createdHoursAgo: 2, owner: pod('build-10') },
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
  // Another owner of it is there.
  claimObject(at, {
    ...{ namespace: 'tenant', name: 'spare', storageClass: 'gp3', owner: deployment('kept-front') },
    alsoOwnedBy: deployment(
      'checkout',
      objectUid('Deployment', { namespace: 'shop', name: 'checkout' }),
    ),
  }),
  claimObject(at, {
    namespace: 'tenant',
    name: 'kept-own',
    storageClass: 'gp3',
    owner: deployment('kept-front'),
  }),
  // Its owner lives, in another namespace.
  claimObject(at, {
    ...{ namespace: 'tenant', name: 'cache', storageClass: 'gp3' },
    owner: deployment('checkout', objectUid('Deployment', { namespace: 'shop', name: 'checkout' })),
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
  volumeObject(at, {
    ...{
      name: 'kept-set-to-delete',
      claim: { namespace: 'ci', name: 'kept-build-9-scratch' },
      phase: 'Bound',
      phaseHoursAgo: 2,
    },
    ...{
      reclaimPolicy: 'Delete',
      storageClass: 'keep',
      capacity: '20Gi',
      volumeId: 'vol-0aaaaaaaaaaaaaaa9',
    },
  }),
  volumeObject(at, {
    ...{
      name: 'pvc-0010',
      claim: { namespace: 'ci-nightly', name: 'build-10-scratch' },
      phase: 'Bound',
      phaseHoursAgo: 2,
    },
    ...{
      reclaimPolicy: 'Retain',
      storageClass: 'gp3',
      capacity: '20Gi',
      volumeId: 'vol-0aaaaaaaaaaaaaab0',
    },
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

const namespaces = (at: string): RawObject[] => [
  namespaceObject(at, {
    name: 'old-monitoring',
    deletedHoursAgo: 60,
    holds: {
      NamespaceDeletionDiscoveryFailure: {
        reason: 'DiscoveryFailed',
        message:
          'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: custom.metrics.k8s.io/v1beta1: stale GroupVersion discovery: custom.metrics.k8s.io/v1beta1',
      },
    },
  }),
  // What is left of it nobody lists.
  namespaceObject(at, {
    name: 'old-web',
    deletedHoursAgo: 70,
    holds: {
      NamespaceContentRemaining: {
        reason: 'SomeResourcesRemain',
        message: 'Some resources are remaining: sites.web.example.com has 1 resource instances',
      },
      NamespaceFinalizersRemaining: {
        reason: 'SomeFinalizersRemain',
        message:
          'Some content in the namespace has finalizers remaining: web.example.com/unpublish in 1 resource instances',
      },
    },
  }),
  namespaceObject(at, { name: 'kept-going-now', deletedHoursAgo: 0.05 }),
  namespaceObject(at, { name: 'shop' }),
]

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
  // Blogs are gone with their CustomResourceDefinition; Sites are there.
  bareDeployment(at, {
    namespace: 'pages',
    name: 'render-blog',
    owner: { apiVersion: 'web.example.com/v1', kind: 'Blog', name: 'news' },
  }),
  bareDeployment(at, {
    namespace: 'pages',
    name: 'kept-render-site',
    owner: { apiVersion: 'web.example.com/v1', kind: 'Site', name: 'kept-home' },
  }),
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

/** Of the Deployment `portal`, or of one that was called so before. */
function ofPortal(at: string, name: string, owner: string): RawObject {
  const uid = objectUid('Deployment', { namespace: 'legacy', name: owner })
  return {
    metadata: metadataOf('ConfigMap', at, {
      namespace: 'legacy',
      name,
      owner: deployment('portal', uid),
    }),
    data: { token: 'lab-secret-data' },
  }
}

export const leftoverObjects: Record<string, ObjectSource> = {
  'storageclasses.storage.k8s.io': fixedObjects(at => [
    storageClassObject(at, 'gp3', 'Delete'),
    storageClassObject(at, 'keep', 'Retain'),
    // What stands in no namespace cannot be owned by what stands in one.
    storageClassObject(at, 'of-checkout', 'Delete', deployment('checkout')),
    storageClassObject(at, 'kept-of-shop', 'Delete', {
      apiVersion: 'v1',
      kind: 'Namespace',
      name: 'shop',
      uid: objectUid('Namespace', { namespace: '', name: 'shop' }),
    }),
  ]),
  persistentvolumeclaims: fixedObjects(claims),
  persistentvolumes: fixedObjects(volumes),
  'certificatesigningrequests.certificates.k8s.io': fixedObjects(certificateRequests),
  namespaces: fixedObjects(namespaces),
  configmaps: fixedObjects(at => [
    ofPortal(at, 'render-1', 'portal before'),
    ofPortal(at, 'kept-render-2', 'portal'),
  ]),
  secrets: fixedObjects(at => [
    {
      metadata: metadataOf('Secret', at, { namespace: 'legacy', name: 'kept-token' }),
      data: { token: 'bGFiLXNlY3JldC1kYXRh' },
    },
  ]),
}

const siteObject = (at: string, site: Named): RawObject => ({
  metadata: {
    ...metadataOf('Site', at, site),
    annotations: { 'example.com/token': 'lab-secret-site' },
  },
  spec: { password: 'lab-secret-site' },
})

/** Of groups that nothing lists unless somebody asks for it; who would take that finalizer away nobody knows. */
export const installedResources: readonly InstalledResource[] = [
  {
    ...{
      group: 'web.example.com',
      version: 'v1',
      plural: 'sites',
      kind: 'Site',
      isNamespaced: true,
    },
    objects: fixedObjects(at => [
      siteObject(at, {
        namespace: 'old-web',
        name: 'front',
        deletedHoursAgo: 70,
        finalizers: ['web.example.com/unpublish'],
      }),
      siteObject(at, {
        namespace: 'pages',
        name: 'kept-leaving',
        deletedHoursAgo: 0.2,
        finalizers: ['web.example.com/unpublish'],
      }),
      siteObject(at, {
        namespace: 'pages',
        name: 'kept-home',
        finalizers: ['web.example.com/unpublish'],
      }),
    ]),
  },
  {
    ...{
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      plural: 'nodes',
      kind: 'NodeMetrics',
      isNamespaced: false,
      isStored: false,
    },
    objects: fixedObjects(() => []),
  },
]

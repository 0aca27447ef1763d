/** Volumes, claims, certificate requests, namespaces and bare workloads as the API server lists them. Upstream: api/core/v1, api/storage/v1, api/certificates/v1, api/apps/v1. */
import type { RawObject } from '#base/raw-object.ts'
import { hoursBefore, metadataOf, type Named, objectUid } from './object-metadata.ts'

type ClusterScoped = Omit<Named, 'namespace'>

interface ClaimProfile extends Named {
  storageClass: string
  /** Absent: it is not bound. */
  volume?: string
}

export const claimObject = (at: string, claim: ClaimProfile): RawObject => ({
  metadata: metadataOf('PersistentVolumeClaim', at, {
    finalizers: ['kubernetes.io/pvc-protection'],
    ...claim,
  }),
  spec: {
    storageClassName: claim.storageClass,
    resources: { requests: { storage: '20Gi' } },
    ...(claim.volume && { volumeName: claim.volume }),
  },
  status: { phase: claim.volume ? 'Bound' : 'Pending' },
})

interface VolumeProfile extends ClusterScoped {
  /** Absent: no claim has had it. */
  claim?: { namespace: string; name: string }
  phase: 'Available' | 'Bound' | 'Released'
  phaseHoursAgo: number
  reclaimPolicy: 'Delete' | 'Retain'
  /** The one that says so, unless said. */
  storageClass?: string
  capacity: string
  /** Of EBS. */
  volumeId: string
}

export function volumeObject(at: string, volume: VolumeProfile): RawObject {
  const { claim, phase, phaseHoursAgo, reclaimPolicy, storageClass, capacity, volumeId } = volume
  return {
    metadata: {
      ...metadataOf('PersistentVolume', at, {
        namespace: '',
        finalizers: ['kubernetes.io/pv-protection'],
        ...volume,
      }),
      annotations: {
        'pv.kubernetes.io/provisioned-by': 'ebs.csi.aws.com',
        'example.com/token': 'lab-secret-volume',
      },
    },
    spec: {
      capacity: { storage: capacity },
      ...(claim && {
        claimRef: {
          ...claim,
          kind: 'PersistentVolumeClaim',
          uid: objectUid('PersistentVolumeClaim', claim),
        },
      }),
      csi: { driver: 'ebs.csi.aws.com', volumeHandle: volumeId, fsType: 'ext4' },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass ?? (reclaimPolicy === 'Retain' ? 'keep' : 'gp3'),
    },
    status: { phase, lastPhaseTransitionTime: hoursBefore(at, phaseHoursAgo) },
  }
}

interface CertificateRequestProfile extends ClusterScoped {
  requestor: string
  /** Absent: nobody has answered. */
  answered?: { as: 'Approved' | 'Denied'; hoursAgo: number }
  /** Its signer has signed it. */
  isIssued?: true
}

export function certificateRequestObject(
  at: string,
  request: CertificateRequestProfile,
): RawObject {
  const { requestor, answered, isIssued } = request
  const time = answered && hoursBefore(at, answered.hoursAgo)
  return {
    metadata: metadataOf('CertificateSigningRequest', at, { namespace: '', ...request }),
    spec: {
      signerName: 'kubernetes.io/kubelet-serving',
      username: requestor,
      request: 'bGFiLXNlY3JldC1yZXF1ZXN0',
      usages: ['digital signature', 'server auth'],
    },
    status: answered
      ? {
          conditions: [
            {
              type: answered.as,
              status: 'True',
              reason: 'Answered',
              lastUpdateTime: time,
              lastTransitionTime: time,
            },
          ],
          ...(isIssued && {
            certificate: Buffer.from(
              '-----BEGIN CERTIFICATE-----\nlab-secret-certificate\n-----END CERTIFICATE-----\n',
            ).toString('base64'),
          }),
        }
      : {},
  }
}

const counts = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, observedGeneration: 1 }

/** Without its ReplicaSets. */
export const bareDeployment = (at: string, deployment: Named): RawObject => ({
  metadata: {
    ...metadataOf('Deployment', at, deployment),
    generation: 1,
    annotations: { 'deployment.kubernetes.io/revision': '1' },
  },
  spec: { replicas: 1, revisionHistoryLimit: 10 },
  status: counts,
})

/** Of a Deployment, as its revision says, whoever owns it now. */
export const bareReplicaSet = (at: string, replicaSet: Named): RawObject => ({
  metadata: {
    ...metadataOf('ReplicaSet', at, replicaSet),
    generation: 1,
    annotations: { 'deployment.kubernetes.io/revision': '1' },
  },
  spec: { replicas: 1 },
  status: counts,
})

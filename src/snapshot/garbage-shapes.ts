/** Fields that are kept of objects that may be garbage: their identity, their owners, how they ended. */
import type { GarbageObjects } from '#model/input/cluster-objects.ts'
import { list, type ShapeOf } from '#model/input/shape.ts'

export const ownerReferences = list({
  apiVersion: 'text',
  kind: 'text',
  name: 'text',
  uid: 'text',
  controller: 'boolean',
  blockOwnerDeletion: 'boolean',
})
const metadata = {
  name: 'text',
  namespace: 'text',
  uid: 'text',
  generation: 'integer',
  creationTimestamp: 'text',
  deletionTimestamp: 'text',
  deletionGracePeriodSeconds: 'integer',
  finalizers: list('text'),
  ownerReferences,
} as const
/** Annotations of Deployments and their ReplicaSets. */
const revision = { 'deployment.kubernetes.io/revision': 'text' } as const
/** Annotation of the Jobs of CronJobs. Upstream: pkg/apis/batch/v1 CronJobScheduledTimestampAnnotation, since 1.32. */
const scheduled = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': 'text' } as const
/** Helm's recommended labels: the name of the software, independent of the release. */
const chartName = { 'app.kubernetes.io/name': 'text' } as const
/** Labels that controllers set on their pods. Upstream: pkg/apis/apps/types.go, pkg/apis/batch/types.go, pkg/apis/extensions DaemonSetTemplateGenerationKey */
const madeBy = {
  'pod-template-hash': 'text',
  'batch.kubernetes.io/controller-uid': 'text',
  'apps.kubernetes.io/pod-index': 'text',
  'statefulset.kubernetes.io/pod-name': 'text',
  'pod-template-generation': 'text',
} as const
/** Annotations that name the creator and the deleter of a volume. Upstream: pkg/controller/volume/persistentvolume/volume AnnDynamicallyProvisioned, AnnMigratedTo. */
const provisioning = {
  'pv.kubernetes.io/provisioned-by': 'text',
  'pv.kubernetes.io/migrated-to': 'text',
} as const
const conditions = list({
  type: 'text',
  status: 'text',
  reason: 'text',
  lastTransitionTime: 'text',
  lastUpdateTime: 'text',
})
const containerStatuses = list({
  name: 'text',
  state: { terminated: { reason: 'text', exitCode: 'integer', finishedAt: 'text' } },
})
const replicaCounts = {
  replicas: 'integer',
  updatedReplicas: 'integer',
  availableReplicas: 'integer',
  observedGeneration: 'integer',
} as const

/** One shape for each resource of `GarbageObjects`. */
export const garbageShapes: {
  readonly [Resource in keyof GarbageObjects]: ShapeOf<GarbageObjects[Resource]>
} = {
  pods: {
    metadata: { ...metadata, labels: madeBy },
    spec: {
      nodeName: 'text',
      volumes: list({ name: 'text', persistentVolumeClaim: { claimName: 'text' }, ephemeral: {} }),
    },
    status: { phase: 'text', reason: 'text', startTime: 'text', containerStatuses },
  },
  'jobs.batch': {
    metadata: { ...metadata, annotations: scheduled },
    spec: { ttlSecondsAfterFinished: 'integer' },
    status: { startTime: 'text', completionTime: 'text', conditions },
  },
  'cronjobs.batch': {
    metadata,
    spec: {
      schedule: 'text',
      successfulJobsHistoryLimit: 'integer',
      failedJobsHistoryLimit: 'integer',
    },
  },
  'leases.coordination.k8s.io': {
    metadata,
    spec: { holderIdentity: 'text', leaseDurationSeconds: 'integer', renewTime: 'text' },
  },
  'deployments.apps': {
    metadata: { ...metadata, annotations: revision, labels: chartName },
    spec: { replicas: 'integer' },
    status: replicaCounts,
  },
  'replicasets.apps': {
    metadata: { ...metadata, annotations: revision },
    spec: { replicas: 'integer' },
    status: replicaCounts,
  },
  'statefulsets.apps': {
    metadata: { ...metadata, labels: chartName },
    spec: { replicas: 'integer' },
    status: { currentRevision: 'text', updateRevision: 'text', observedGeneration: 'integer' },
  },
  'daemonsets.apps': { metadata },
  persistentvolumeclaims: {
    metadata,
    spec: { storageClassName: 'text', volumeName: 'text' },
    status: { phase: 'text' },
  },
  persistentvolumes: {
    metadata: { ...metadata, annotations: provisioning },
    spec: {
      capacity: { storage: 'text' },
      claimRef: { namespace: 'text', name: 'text', uid: 'text' },
      persistentVolumeReclaimPolicy: 'text',
      storageClassName: 'text',
      // The kind of source decides who deletes the volume.
      csi: { driver: 'text', volumeHandle: 'text', volumeAttributes: { type: 'text' } },
      awsElasticBlockStore: { volumeID: 'text' },
      hostPath: {},
      nfs: {},
      local: {},
      iscsi: {},
      fc: {},
    },
    status: { phase: 'text', lastPhaseTransitionTime: 'text' },
  },
  'certificatesigningrequests.certificates.k8s.io': {
    metadata,
    spec: { signerName: 'text', username: 'text' },
    status: { conditions, certificate: 'text' },
  },
  'volumes.ec2.amazonaws.com': {
    VolumeId: 'text',
    Size: 'integer',
    VolumeType: 'text',
    Iops: 'integer',
    Throughput: 'integer',
    State: 'text',
    CreateTime: 'text',
    AvailabilityZone: 'text',
  },
  'instances.ec2.amazonaws.com': { InstanceId: 'text' },
  serverversions: { major: 'text', minor: 'text', gitVersion: 'text' },
  'controllerrevisions.apps': {
    metadata: { ...metadata, labels: { 'controller-revision-hash': 'text' } },
  },
}

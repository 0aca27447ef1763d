/** What is kept of the objects that are looked through for garbage: who they are, who owns them, how they ended. */
import { list, type Shape, text } from './shape.ts'

const metadata = {
  name: 'text',
  namespace: 'text',
  uid: 'text',
  generation: true,
  creationTimestamp: 'text',
  deletionTimestamp: 'text',
  deletionGracePeriodSeconds: true,
  finalizers: list('text'),
  ownerReferences: list({
    apiVersion: true,
    kind: true,
    name: true,
    uid: true,
    controller: true,
    blockOwnerDeletion: true,
  }),
} as const
/** Of Deployments and their ReplicaSets. */
const revision = { 'deployment.kubernetes.io/revision': 'text' } as const
/** Of the Jobs of CronJobs. Upstream: pkg/apis/batch/v1 CronJobScheduledTimestampAnnotation, since 1.32. */
const scheduled = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': 'text' } as const
/** By which a chart says what it runs, whatever it is called there. */
const chartName = { 'app.kubernetes.io/name': 'text' } as const
/** What controllers put on their pods. Upstream: pkg/apis/apps/types.go, pkg/apis/batch/types.go, pkg/apis/extensions DaemonSetTemplateGenerationKey */
const madeBy = {
  'pod-template-hash': 'text',
  'batch.kubernetes.io/controller-uid': 'text',
  'apps.kubernetes.io/pod-index': 'text',
  'statefulset.kubernetes.io/pod-name': 'text',
  'pod-template-generation': 'text',
} as const
/** Who made a volume, and who is to delete it. Upstream: pkg/controller/volume/persistentvolume/volume AnnDynamicallyProvisioned, AnnMigratedTo. */
const provisioning = {
  'pv.kubernetes.io/provisioned-by': 'text',
  'pv.kubernetes.io/migrated-to': 'text',
} as const
/** A namespace says there which objects and which API groups hold it. */
const messageLength = 1000
const conditions = list({
  type: 'text',
  status: 'text',
  reason: 'text',
  lastTransitionTime: 'text',
  lastUpdateTime: 'text',
})
const containerStatuses = list({
  name: 'text',
  state: { terminated: { reason: 'text', exitCode: true, finishedAt: 'text' } },
})
const replicaCounts = {
  replicas: true,
  updatedReplicas: true,
  availableReplicas: true,
  observedGeneration: true,
} as const

const stateful: Shape = {
  metadata,
  spec: { replicas: true },
  status: { currentRevision: 'text', updateRevision: 'text', observedGeneration: true },
}

export const garbageShapes: Readonly<Record<string, Shape>> = {
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
    spec: { ttlSecondsAfterFinished: true },
    status: { startTime: 'text', completionTime: 'text', conditions },
  },
  'cronjobs.batch': {
    metadata,
    spec: { schedule: 'text', successfulJobsHistoryLimit: true, failedJobsHistoryLimit: true },
  },
  'leases.coordination.k8s.io': {
    metadata,
    spec: { holderIdentity: 'text', leaseDurationSeconds: true, renewTime: 'text' },
  },
  'deployments.apps': {
    metadata: { ...metadata, annotations: revision, labels: chartName },
    spec: { replicas: true },
    status: replicaCounts,
  },
  'replicasets.apps': {
    metadata: { ...metadata, annotations: revision },
    spec: { replicas: true },
    status: replicaCounts,
  },
  'statefulsets.apps': { ...stateful, metadata: { ...metadata, labels: chartName } },
  'daemonsets.apps': stateful,
  'storageclasses.storage.k8s.io': { metadata, provisioner: 'text', reclaimPolicy: 'text' },
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
      // Which source it is decides who deletes it.
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
  namespaces: {
    metadata,
    spec: { finalizers: list('text') },
    status: {
      phase: 'text',
      conditions: list({
        type: 'text',
        status: 'text',
        reason: 'text',
        message: text(messageLength),
        lastTransitionTime: 'text',
      }),
    },
  },
  'volumes.ec2.amazonaws.com': {
    VolumeId: 'text',
    Size: true,
    VolumeType: 'text',
    Iops: true,
    Throughput: true,
    State: 'text',
    CreateTime: 'text',
    AvailabilityZone: 'text',
  },
  'instances.ec2.amazonaws.com': {
    InstanceId: 'text',
    InstanceType: 'text',
    State: { Name: 'text' },
    LaunchTime: 'text',
    PrivateDnsName: 'text',
  },
  serverversions: { major: 'text', minor: 'text', gitVersion: 'text' },
  apiresourcelists: {
    groupVersion: 'text',
    resources: list({ name: 'text', namespaced: true, kind: 'text', verbs: list('text') }),
  },
  configmaps: { metadata },
  secrets: { metadata },
  'controllerrevisions.apps': {
    metadata: { ...metadata, labels: { 'controller-revision-hash': 'text' } },
  },
}

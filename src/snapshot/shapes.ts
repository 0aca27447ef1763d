/** Fields that are kept of each kind of answer: those that rules and replays read, in the API's own names. */

import { isRawObject } from '#base/raw-object.ts'
import {
  eventShape,
  type GarbageObjects,
  type KubernetesNode,
  type KubernetesPod,
} from '#model/input/record.ts'
import { list, type Shape, type ShapeOf, text } from '#model/input/shape.ts'

const ownerReferences = list({
  apiVersion: 'text',
  kind: 'text',
  name: 'text',
  uid: 'text',
  controller: 'boolean',
  blockOwnerDeletion: 'boolean',
})

const resources = { requests: 'quantities', limits: 'quantities' } as const
/** Lines of a termination message that are kept. Other lines can hold anything, also data of users. */
const isOfSpace = (line: string) =>
  /no space left on device|workers are out of shared memory|\bENOSPC\b|too many open files, watch\b|\b(?:inotify|fsnotify|directory watch)\b.{0,200}(?:too many open files|reached)/i.test(
    line,
  )
const containerState = {
  running: { startedAt: 'text' },
  waiting: { reason: 'text', message: 'text' },
  terminated: {
    exitCode: 'number',
    signal: 'number',
    reason: 'text',
    message: text(1000, isOfSpace),
    startedAt: 'text',
    finishedAt: 'text',
    containerID: 'text',
  },
} as const
const containerStatus = {
  name: 'text',
  image: 'text',
  imageID: 'text',
  containerID: 'text',
  started: 'boolean',
  restartCount: 'number',
  state: containerState,
  lastState: containerState,
  resources,
  allocatedResources: 'quantities',
} as const
const probe = { periodSeconds: 'number', initialDelaySeconds: 'number' } as const
const container = {
  name: 'text',
  image: 'text',
  resources,
  restartPolicy: 'text',
  volumeMounts: list({ name: 'text', mountPath: 'text', readOnly: 'boolean' }),
  startupProbe: probe,
  readinessProbe: probe,
} as const
const metadata = {
  name: 'text',
  namespace: 'text',
  uid: 'text',
  generateName: 'text',
  labels: 'texts',
  creationTimestamp: 'text',
  deletionTimestamp: 'text',
  deletionGracePeriodSeconds: 'number',
  finalizers: list('text'),
  ownerReferences,
} as const
/** Where the pod came from, and whether it mirrors a static pod. Upstream: pkg/kubelet/types/pod_update.go */
const podAnnotations = {
  'kubernetes.io/config.mirror': 'text',
  'kubernetes.io/config.source': 'text',
} as const

/** Whether the pod is ready, what disrupted it, and what is not met. The others say of nearly each pod that it started. */
const isReadCondition = (raw: unknown) =>
  isRawObject(raw) &&
  (raw.type === 'Ready' || raw.type === 'DisruptionTarget' || raw.status !== 'True')

export const podShape: ShapeOf<KubernetesPod> = {
  metadata: { ...metadata, annotations: podAnnotations },
  spec: {
    nodeName: 'text',
    priority: 'number',
    priorityClassName: 'text',
    restartPolicy: 'text',
    schedulerName: 'text',
    overhead: 'quantities',
    resources,
    terminationGracePeriodSeconds: 'number',
    tolerations: list({ key: 'text', operator: 'text', value: 'text', effect: 'text' }),
    containers: list(container),
    initContainers: list(container),
    ephemeralContainers: list(container),
    hostIPC: 'boolean',
    imagePullSecrets: list({ name: 'text' }),
    volumes: list({
      name: 'text',
      emptyDir: { medium: 'text', sizeLimit: 'quantity' },
      hostPath: { path: 'text', type: 'text' },
      configMap: { name: 'text' },
      gitRepo: {},
      persistentVolumeClaim: { claimName: 'text' },
      image: { reference: 'text' },
      ephemeral: {},
    }),
  },
  status: {
    phase: 'text',
    reason: 'text',
    message: 'text',
    qosClass: 'text',
    startTime: 'text',
    resize: 'text',
    conditions: list(
      { type: 'text', status: 'text', reason: 'text', lastTransitionTime: 'text' },
      isReadCondition,
    ),
    containerStatuses: list(containerStatus),
    initContainerStatuses: list(containerStatus),
    ephemeralContainerStatuses: list(containerStatus),
  },
}

/** The node class when Karpenter created the node. Upstream: karpenter-provider-aws pkg/apis/v1/labels.go */
const nodeClassAnnotations = {
  'karpenter.k8s.aws/ec2nodeclass-hash': 'text',
  'karpenter.k8s.aws/ec2nodeclass-hash-version': 'text',
} as const
export const nodeShape: ShapeOf<KubernetesNode> = {
  metadata: { ...metadata, annotations: nodeClassAnnotations },
  spec: {
    providerID: 'text',
    unschedulable: 'boolean',
    taints: list({ key: 'text', value: 'text', effect: 'text', timeAdded: 'text' }),
  },
  status: {
    capacity: 'texts',
    allocatable: 'texts',
    conditions: list({
      type: 'text',
      status: 'text',
      reason: 'text',
      message: 'text',
      lastHeartbeatTime: 'text',
      lastTransitionTime: 'text',
    }),
    nodeInfo: {
      bootID: 'text',
      containerRuntimeVersion: 'text',
      kernelVersion: 'text',
      kubeletVersion: 'text',
      operatingSystem: 'text',
      osImage: 'text',
    },
    images: list({ names: list('text'), sizeBytes: 'number' }),
    addresses: list({ type: 'text', address: 'text' }),
  },
}

/** User data holds secrets, so it must arrive here as kubelet settings only. */
export const launchTemplateShape: Shape = {
  launchTemplateId: 'text',
  launchTemplateName: 'text',
  versionNumber: 'number',
  volumes: list({ deviceName: 'text', sizeGiB: 'number' }),
  // withoutTemplateSecrets in secrets.ts cuts the settings.
  kubelet: true,
}

/** Annotations of Deployments and their ReplicaSets, and of volumes. */
const controllerAnnotations = {
  'deployment.kubernetes.io/revision': 'text',
  'pv.kubernetes.io/migrated-to': 'text',
  'pv.kubernetes.io/provisioned-by': 'text',
} as const
const otherShape: Shape = {
  metadata: { ...metadata, annotations: controllerAnnotations },
  spec: true,
  status: true,
  type: true,
  reason: true,
  /** A field of ControllerRevisions. */
  revision: true,
}
/** Fields that show a pending deletion. */
const deletion = { deletionTimestamp: 'text', finalizers: list('text') } as const
const requirements = list({ key: 'text', operator: 'text', values: list('text') })
const disruptionBudgetShape: Shape = {
  metadata: {
    name: 'text',
    namespace: 'text',
    uid: 'text',
    creationTimestamp: 'text',
    ...deletion,
  },
  spec: { selector: { matchLabels: 'texts', matchExpressions: requirements } },
  status: { disruptionsAllowed: true },
}

const named = {
  name: 'text',
  uid: 'text',
  creationTimestamp: 'text',
  ...deletion,
  labels: 'texts',
} as const
const nodeClassRef = { group: 'text', kind: 'text', name: 'text' } as const
/** Karpenter's v1, and v1beta1, where the pool has the kubelet settings. Auto Mode's pools have the same kind. */
const nodePoolShape: Shape = {
  metadata: named,
  spec: {
    disruption: true,
    template: {
      metadata: { labels: 'texts' },
      spec: { nodeClassRef, kubelet: true, requirements },
    },
  },
}
const nodeClassShape: Shape = {
  metadata: { ...named, annotations: nodeClassAnnotations },
  spec: {
    amiFamily: 'text',
    amiSelectorTerms: list({
      alias: 'text',
      id: 'text',
      name: 'text',
      owner: 'text',
      tags: 'texts',
    }),
    blockDeviceMappings: list({
      deviceName: 'text',
      rootVolume: 'boolean',
      ebs: { volumeSize: 'quantity', volumeType: 'text', iops: true, throughput: true },
    }),
    ephemeralStorage: { size: 'text', iops: true, throughput: true },
    instanceStorePolicy: 'text',
    kubelet: true,
    // withoutNodeClassSecrets in secrets.ts cuts the user data to kubelet settings.
    userData: true,
  },
}
const nodeClassShapes: Readonly<Record<string, Shape>> = {
  'nodepools.karpenter.sh': nodePoolShape,
  'ec2nodeclasses.karpenter.k8s.aws': nodeClassShape,
  'nodeclasses.eks.amazonaws.com': nodeClassShape,
}

export const isEvents = (resource: string) =>
  resource === 'events' || resource.startsWith('events.')
const isDisruptionBudget = (resource: string) => resource === 'poddisruptionbudgets.policy'
/** Whether the shape names every kept field. */
export const isWhollyNamed = (resource: string) =>
  isDisruptionBudget(resource) || isGarbage(resource)
const isGarbage = (resource: string): resource is keyof GarbageObjects =>
  Object.hasOwn(garbageShapes, resource)
export const isNodeClass = (resource: string) => Object.hasOwn(nodeClassShapes, resource)

/** The shape for a resource. Of Secrets and ConfigMaps only identity and owners are kept. @param resource `plural` or `plural.group` */
export function objectShape(resource: string): Shape {
  if (isEvents(resource)) return eventShape
  if (isDisruptionBudget(resource)) return disruptionBudgetShape
  if (isGarbage(resource)) return garbageShapes[resource]
  return (isNodeClass(resource) && nodeClassShapes[resource]) || otherShape
}

/* Fields that are kept of objects that may be garbage: their identity, their owners, how they ended. */

const garbageMetadata = {
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
/** One shape for each resource of `GarbageObjects`. */
export const garbageShapes: {
  readonly [Resource in keyof GarbageObjects]: ShapeOf<GarbageObjects[Resource]>
} = {
  pods: {
    metadata: { ...garbageMetadata, labels: madeBy },
    spec: {
      nodeName: 'text',
      volumes: list({ name: 'text', persistentVolumeClaim: { claimName: 'text' }, ephemeral: {} }),
      containers: list({ resources: { requests: 'quantities' } }),
    },
    status: {
      phase: 'text',
      reason: 'text',
      conditions: list({ message: 'text' }),
      containerStatuses,
    },
  },
  'jobs.batch': {
    metadata: { ...garbageMetadata, annotations: scheduled },
    spec: { ttlSecondsAfterFinished: 'integer' },
    status: { conditions },
  },
  'cronjobs.batch': {
    metadata: garbageMetadata,
    spec: {
      schedule: 'text',
      successfulJobsHistoryLimit: 'integer',
      failedJobsHistoryLimit: 'integer',
    },
  },
  'leases.coordination.k8s.io': {
    metadata: garbageMetadata,
    spec: { leaseDurationSeconds: 'integer', renewTime: 'text' },
  },
  'deployments.apps': {
    metadata: { ...garbageMetadata, annotations: revision, labels: chartName },
    spec: { replicas: 'integer' },
  },
  'replicasets.apps': {
    metadata: { ...garbageMetadata, annotations: revision },
    spec: { replicas: 'integer' },
  },
  'statefulsets.apps': {
    metadata: { ...garbageMetadata, labels: chartName },
    spec: { replicas: 'integer' },
  },
  'daemonsets.apps': { metadata: garbageMetadata },
  persistentvolumeclaims: {
    metadata: garbageMetadata,
    spec: { storageClassName: 'text', volumeName: 'text' },
    status: { phase: 'text' },
  },
  persistentvolumes: {
    metadata: { ...garbageMetadata, annotations: provisioning },
    spec: {
      capacity: { storage: 'text' },
      claimRef: { namespace: 'text', name: 'text', uid: 'text' },
      persistentVolumeReclaimPolicy: 'text',
      storageClassName: 'text',
      // The kind of source decides who deletes the volume.
      csi: { driver: 'text', volumeHandle: 'text', volumeAttributes: { type: 'text' } },
      awsElasticBlockStore: { volumeID: 'text' },
      hostPath: { path: 'text' },
      nfs: {},
      local: { path: 'text' },
    },
    status: { phase: 'text', lastPhaseTransitionTime: 'text' },
  },
  'certificatesigningrequests.certificates.k8s.io': {
    metadata: garbageMetadata,
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
  },
  'instances.ec2.amazonaws.com': { InstanceId: 'text', PrivateDnsName: 'text' },
  serverversions: { major: 'text', minor: 'text', gitVersion: 'text' },
  'controllerrevisions.apps': {
    metadata: { ...garbageMetadata, labels: { 'controller-revision-hash': 'text' } },
  },
}

/** Fields that are kept of each kind of answer: those that rules and replays read, in the API's own names. */

import { isRawObject } from '#base/raw-object.ts'
import { eventShape } from '#model/input/cluster-input.ts'
import type { GarbageObjects } from '#model/input/cluster-objects.ts'
import type { KubernetesNode, KubernetesPod } from '#model/input/kubernetes.ts'
import { list, type Shape, type ShapeOf } from '#model/input/shape.ts'
import { garbageShapes, ownerReferences } from './garbage-shapes.ts'

const resources = { requests: 'quantities', limits: 'quantities' } as const
const containerState = {
  running: { startedAt: 'text' },
  waiting: { reason: 'text', message: 'text' },
  terminated: {
    exitCode: 'number',
    signal: 'number',
    reason: 'text',
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
const probe = {
  periodSeconds: 'number',
  failureThreshold: 'number',
  initialDelaySeconds: 'number',
} as const
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
const isReadCondition = (raw: unknown): boolean =>
  isRawObject(raw) &&
  (raw.type === 'Ready' || raw.type === 'DisruptionTarget' || raw.status !== 'True')

export const podShape: ShapeOf<KubernetesPod> = {
  metadata: { ...metadata, annotations: podAnnotations },
  spec: {
    nodeName: 'text',
    priority: 'number',
    priorityClassName: 'text',
    restartPolicy: 'text',
    runtimeClassName: 'text',
    hostNetwork: 'boolean',
    overhead: 'quantities',
    resources,
    terminationGracePeriodSeconds: 'number',
    tolerations: list({ key: 'text', operator: 'text', value: 'text', effect: 'text' }),
    containers: list(container),
    initContainers: list(container),
    ephemeralContainers: list(container),
    imagePullSecrets: list({ name: 'text' }),
    volumes: list({
      name: 'text',
      emptyDir: { medium: 'text', sizeLimit: 'quantity' },
      hostPath: { path: 'text', type: 'text' },
      configMap: { name: 'text' },
      gitRepo: {},
      persistentVolumeClaim: { claimName: 'text' },
      image: { reference: 'text', pullPolicy: 'text' },
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
      architecture: 'text',
      bootID: 'text',
      containerRuntimeVersion: 'text',
      kernelVersion: 'text',
      kubeProxyVersion: 'text',
      kubeletVersion: 'text',
      machineID: 'text',
      operatingSystem: 'text',
      osImage: 'text',
      systemUUID: 'text',
    },
    images: list({ names: list('text'), sizeBytes: 'number' }),
    addresses: list({ type: 'text', address: 'text' }),
  },
}

export const eksShape: Shape = {
  name: 'text',
  arn: 'text',
  id: 'text',
  createdAt: true,
  version: 'text',
  platformVersion: 'text',
  status: 'text',
  endpoint: 'text',
  certificateAuthority: { data: 'text' },
  tags: 'texts',
  health: true,
  accessConfig: true,
  computeConfig: true,
  storageConfig: true,
  upgradePolicy: true,
  kubernetesNetworkConfig: true,
  resourcesVpcConfig: true,
  remoteNetworkConfig: true,
  outpostConfig: true,
  connectorConfig: { provider: 'text' },
  controlPlaneScalingConfig: true,
  kubeControllerManagerConfig: true,
  kubeApiServerConfig: { eventTtl: true },
  zonalShiftConfig: true,
  deletionProtection: true,
  logging: true,
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
const disruptionBudgetShape: Shape = {
  metadata: {
    name: 'text',
    namespace: 'text',
    uid: 'text',
    creationTimestamp: 'text',
    ...deletion,
  },
  spec: {
    minAvailable: true,
    maxUnavailable: true,
    selector: {
      matchLabels: 'texts',
      matchExpressions: list({ key: 'text', operator: 'text', values: list('text') }),
    },
    unhealthyPodEvictionPolicy: 'text',
  },
  status: {
    disruptionsAllowed: true,
    currentHealthy: true,
    desiredHealthy: true,
    expectedPods: true,
  },
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
      spec: { nodeClassRef, kubelet: true, expireAfter: 'text', terminationGracePeriod: 'text' },
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
      ssmParameter: 'text',
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

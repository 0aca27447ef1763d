/** What of each kind of answer is kept: what rules and replays read, in the API's own names. */
import { garbageShapes } from './garbage-shapes.ts'
import { list, type Shape, text } from './shape.ts'

const resources = { requests: true, limits: true } as const
const containerState = {
  running: { startedAt: true },
  waiting: { reason: true, message: true },
  terminated: {
    exitCode: true,
    signal: true,
    reason: true,
    startedAt: true,
    finishedAt: true,
    containerID: true,
  },
} as const
const containerStatus = {
  name: 'text',
  image: 'text',
  imageID: 'text',
  containerID: true,
  ready: true,
  started: true,
  restartCount: true,
  state: containerState,
  lastState: containerState,
  resources,
  allocatedResources: true,
} as const
const container = {
  name: 'text',
  image: 'text',
  imagePullPolicy: true,
  resources,
  restartPolicy: true,
  volumeMounts: list({ name: true, mountPath: true }),
  startupProbe: { periodSeconds: true, failureThreshold: true, initialDelaySeconds: true },
  readinessProbe: { periodSeconds: true, failureThreshold: true, initialDelaySeconds: true },
} as const
const metadata = {
  name: 'text',
  namespace: 'text',
  uid: 'text',
  generateName: 'text',
  labels: 'texts',
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
/** Upstream: pkg/kubelet/types/pod_update.go: where the pod came from, and whether it is the mirror of a static one. */
const podAnnotations = {
  'kubernetes.io/config.mirror': 'text',
  'kubernetes.io/config.source': 'text',
} as const

export const podShape: Shape = {
  metadata: { ...metadata, annotations: podAnnotations },
  spec: {
    nodeName: true,
    priority: true,
    priorityClassName: true,
    restartPolicy: true,
    runtimeClassName: true,
    hostNetwork: true,
    overhead: true,
    resources,
    terminationGracePeriodSeconds: true,
    tolerations: list(true),
    containers: list(container),
    initContainers: list(container),
    ephemeralContainers: list(container),
    imagePullSecrets: list({ name: true }),
    volumes: list({
      name: true,
      emptyDir: { medium: true, sizeLimit: true },
      hostPath: { path: true, type: true },
      configMap: { name: true },
      gitRepo: {},
      persistentVolumeClaim: { claimName: true },
      image: { reference: true, pullPolicy: true },
      ephemeral: {},
    }),
  },
  status: {
    phase: 'text',
    reason: true,
    message: true,
    qosClass: true,
    startTime: true,
    resize: true,
    conditions: list({ type: true, status: true, reason: true, lastTransitionTime: true }),
    containerStatuses: list(containerStatus),
    initContainerStatuses: list(containerStatus),
    ephemeralContainerStatuses: list(containerStatus),
  },
}

/** The node class as it was when Karpenter made the node. Upstream: karpenter-provider-aws pkg/apis/v1/labels.go */
const nodeClassAnnotations = {
  'karpenter.k8s.aws/ec2nodeclass-hash': 'text',
  'karpenter.k8s.aws/ec2nodeclass-hash-version': 'text',
} as const
export const nodeShape: Shape = {
  metadata: { ...metadata, annotations: nodeClassAnnotations },
  spec: {
    providerID: 'text',
    unschedulable: true,
    taints: list({ key: true, value: true, effect: true, timeAdded: true }),
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
    nodeInfo: 'texts',
    images: list({ names: list('text'), sizeBytes: true }),
    addresses: list({ type: true, address: true }),
  },
}

const memory = {
  time: true,
  availableBytes: true,
  usageBytes: true,
  workingSetBytes: true,
  rssBytes: true,
} as const
const filesystem = {
  time: true,
  availableBytes: true,
  capacityBytes: true,
  usedBytes: true,
  inodesFree: true,
  inodes: true,
  inodesUsed: true,
} as const
export const summaryShape: Shape = {
  node: {
    nodeName: true,
    startTime: true,
    systemContainers: list({ name: true, startTime: true, memory }),
    memory,
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
    rlimit: { time: true, maxpid: true, curproc: true },
  },
  pods: list({
    podRef: { name: true, namespace: true, uid: true },
    startTime: true,
    containers: list({ name: true, startTime: true, memory, rootfs: filesystem, logs: filesystem }),
    memory,
    volume: list({ ...filesystem, name: true, pvcRef: { name: true, namespace: true } }),
    'ephemeral-storage': filesystem,
    process_stats: { process_count: true },
  }),
}

export const nodegroupShape: Shape = {
  nodegroupName: 'text',
  nodegroupArn: 'text',
  clusterName: 'text',
  version: 'text',
  releaseVersion: 'text',
  amiType: 'text',
  capacityType: 'text',
  status: 'text',
  createdAt: true,
  instanceTypes: list('text'),
  scalingConfig: true,
  updateConfig: true,
  diskSize: true,
  labels: 'texts',
  taints: list(true),
  tags: 'texts',
  launchTemplate: { id: 'text', name: 'text', version: 'text' },
  nodeRepairConfig: true,
  warmPoolConfig: true,
  resources: { autoScalingGroups: list({ name: 'text' }) },
  health: true,
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
/** User data holds secrets; only its kubelet settings may come this far. */
export const launchTemplateShape: Shape = {
  launchTemplateId: 'text',
  launchTemplateName: 'text',
  versionNumber: true,
  // cutSettings in secrets.ts
  kubelet: true,
}

const criMetadata = { name: true, attempt: true, uid: true, namespace: true } as const
const criFilesystems = list({
  timestamp: true,
  fsId: { mountpoint: true },
  usedBytes: { value: true },
  inodesUsed: { value: true },
})
export const runtimeShape: Shape = {
  images: list({
    id: 'text',
    repoTags: list('text'),
    repoDigests: list('text'),
    size: true,
    pinned: true,
  }),
  containers: list({
    id: 'text',
    podSandboxId: 'text',
    metadata: criMetadata,
    image: { image: 'text', userSpecifiedImage: 'text' },
    imageRef: 'text',
    imageId: 'text',
    state: true,
    createdAt: true,
    labels: 'texts',
  }),
  sandboxes: list({
    id: 'text',
    metadata: criMetadata,
    state: true,
    createdAt: true,
    labels: 'texts',
    runtimeHandler: 'text',
  }),
  imageFs: { imageFilesystems: criFilesystems, containerFilesystems: criFilesystems },
}
/** Beside these Bottlerocket's `settings.kubernetes` has keys, certificates and tokens. */
const bottlerocketSettings: Shape = Object.fromEntries(
  `allowed-unsafe-sysctls cloud-provider cluster-dns-ip cluster-domain cluster-name container-log-max-files container-log-max-size
   container-log-max-workers container-log-monitor-interval cpu-cfs-quota-enforced cpu-manager-policy cpu-manager-reconcile-period event-burst
   event-qps eviction-hard eviction-max-pod-grace-period eviction-soft eviction-soft-grace-period hostname-override ids-per-pod
   image-gc-high-threshold-percent image-gc-low-threshold-percent image-maximum-gc-age image-minimum-gc-age kube-api-burst kube-api-qps
   kube-reserved log-level max-parallel-image-pulls max-pods memory-manager-policy memory-manager-reserved-memory node-ip pod-pids-limit
   registry-burst registry-qps reserved-cpus seccomp-default server-tls-bootstrap shutdown-grace-period
   shutdown-grace-period-for-critical-pods single-process-oom-kill standalone-mode system-reserved topology-manager-policy
   topology-manager-scope`
    .split(/\s+/)
    .map(name => [name, true] as const),
)
/** Beside these `settings.container-runtime` has nothing that a rule reads. */
const containerRuntimeSettings = {
  'concurrent-download-chunk-size': true,
  'enable-unprivileged-icmp': true,
  'enable-unprivileged-ports': true,
  'max-concurrent-downloads': true,
  'max-container-log-line-size': true,
  snapshotter: 'text',
} as const
const logFile = { path: 'text', bytes: true, modifiedAt: 'text' } as const
export const hostShape: Shape = {
  schema: 'text',
  kubelet: {
    startedAt: 'text',
    commandLine: list('text'),
    files: list({ path: 'text', role: 'text', sha256: 'text', content: true }),
  },
  filesystems: list({
    role: 'text',
    device: 'text',
    mount: 'text',
    capacityBytes: true,
    availableBytes: true,
    inodes: true,
    inodesFree: true,
  }),
  containerd: {
    sandboxImage: 'text',
    snapshotter: 'text',
    discardUnpackedLayers: true,
    mirrors: list({ registry: 'text', server: 'text', hosts: list('text') }),
  },
  /** Settings as declared, of a node whose files nobody sees. */
  bottlerocket: {
    kubernetes: bottlerocketSettings,
    containerRuntime: containerRuntimeSettings,
    containerRegistry: { mirrors: true },
    os: 'texts',
  },
  /** A file has an entry for each of its blocks, and one for what stands outside of them. */
  logrotate: list({ path: 'text', sha256: 'text', modifiedAt: true, directives: true }),
  logrotateRuns: {
    by: true,
    schedule: 'text',
    last: 'text',
    also: list({ by: true, schedule: 'text' }),
    unsure: true,
  },
  journald: { limits: 'texts', diskUsage: 'text' },
  /** Files of container logs; `rotatedByOthers` are those whose names the kubelet does not give. */
  logs: {
    files: true,
    bytes: true,
    biggest: list(logFile),
    rotatedByKubelet: { files: true, bytes: true },
    rotatedByOthers: { files: true, bytes: true, sample: list(logFile) },
  },
  kernel: {
    release: 'text',
    cmdline: 'text',
    cgroupVersion: true,
    memoryCgroups: true,
    dyingMemoryCgroups: true,
  },
  /** Names of the folders in the kubelet's `podLogsDir`. */
  podLogDirectories: list('text'),
  logLines: list('text'),
  unread: list({ what: 'text', why: 'text' }),
}
export const knownShape: Shape = {
  kubeletStartedAt: 'text',
  images: list({ id: 'text', firstDetected: true, lastUsed: true }),
}

/** Of deployments and their ReplicaSets; of volumes. */
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
  /** Of a ControllerRevision. */
  revision: true,
}
/** Upstream: pkg/apis/core/validation/events.go NoteLengthLimit; older events have no limit. */
const messageMaxLength = 1024
const involvedObject = {
  apiVersion: 'text',
  kind: 'text',
  namespace: 'text',
  name: 'text',
  uid: 'text',
  fieldPath: 'text',
} as const
const eventShape: Shape = {
  metadata: { name: 'text', namespace: 'text', uid: 'text', creationTimestamp: 'text' },
  involvedObject,
  regarding: involvedObject,
  reason: 'text',
  message: text(messageMaxLength),
  note: text(messageMaxLength),
  type: 'text',
  count: true,
  firstTimestamp: 'text',
  lastTimestamp: 'text',
  eventTime: 'text',
  series: { count: true, lastObservedTime: 'text' },
  source: { component: 'text', host: 'text' },
  deprecatedCount: true,
  deprecatedFirstTimestamp: 'text',
  deprecatedLastTimestamp: 'text',
  deprecatedSource: { component: 'text', host: 'text' },
  reportingComponent: 'text',
  reportingInstance: 'text',
}

/** What holds an object that was deleted. */
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
/** Karpenter's v1, and v1beta1, whose kubelet settings stand in the pool; Auto Mode's pools are of the same kind. */
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
      rootVolume: true,
      ebs: { volumeSize: true, volumeType: 'text', iops: true, throughput: true },
    }),
    ephemeralStorage: { size: 'text', iops: true, throughput: true },
    instanceStorePolicy: 'text',
    kubelet: true,
    // withoutNodeClassSecrets in secrets.ts
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
/** Whether of its objects every field that is kept is named. */
export const isWhollyNamed = (resource: string) =>
  isDisruptionBudget(resource) || Object.hasOwn(garbageShapes, resource)
export const isNodeClass = (resource: string) => Object.hasOwn(nodeClassShapes, resource)

/** Of Secrets and ConfigMaps only who they are and who owns them. @param resource `plural` or `plural.group` */
export function objectShape(resource: string): Shape {
  if (isEvents(resource)) return eventShape
  if (isDisruptionBudget(resource)) return disruptionBudgetShape
  if (Object.hasOwn(garbageShapes, resource)) return garbageShapes[resource] ?? otherShape
  return (isNodeClass(resource) && nodeClassShapes[resource]) || otherShape
}

/** Fields that are kept of each kind of answer: those that rules and replays read, in the API's own names. */
import type { GarbageObjects } from '#model/input/cluster-objects.ts'
import type { KubernetesNode, KubernetesPod } from '#model/input/kubernetes.ts'
import type {
  AttachedVolume,
  Host,
  KnownImages,
  Runtime,
  Summary,
} from '#model/input/node-input.ts'
import { garbageShapes } from './garbage-shapes.ts'
import { list, type Shape, type ShapeOf, text } from './shape.ts'

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
  ownerReferences: list({
    apiVersion: 'text',
    kind: 'text',
    name: 'text',
    uid: 'text',
    controller: 'boolean',
    blockOwnerDeletion: 'boolean',
  }),
} as const
/** Where the pod came from, and whether it mirrors a static pod. Upstream: pkg/kubelet/types/pod_update.go */
const podAnnotations = {
  'kubernetes.io/config.mirror': 'text',
  'kubernetes.io/config.source': 'text',
} as const

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
    conditions: list({ type: 'text', status: 'text', reason: 'text', lastTransitionTime: 'text' }),
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

const memory = {
  time: 'text',
  availableBytes: 'statistic',
  usageBytes: 'number',
  workingSetBytes: 'statistic',
} as const
const filesystem = {
  time: 'text',
  availableBytes: 'statistic',
  capacityBytes: 'statistic',
  usedBytes: 'statistic',
  inodesFree: 'number',
  inodes: 'number',
  inodesUsed: 'statistic',
} as const
/** What a pod uses. The rest repeats the node's disk, and nothing reads it. */
const ofPod = {
  memory: { workingSetBytes: 'statistic' },
  filesystem: { usedBytes: 'statistic', inodesUsed: 'statistic' },
} as const
export const summaryShape: ShapeOf<Summary> = {
  node: {
    nodeName: 'text',
    startTime: 'text',
    systemContainers: list({ name: 'text', startTime: 'text', memory }),
    memory,
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
    rlimit: { time: 'text', maxpid: 'number', curproc: 'number' },
  },
  pods: list({
    podRef: { name: 'text', namespace: 'text', uid: 'text' },
    containers: list({
      name: 'text',
      startTime: 'text',
      memory: ofPod.memory,
      rootfs: ofPod.filesystem,
      logs: ofPod.filesystem,
    }),
    memory: ofPod.memory,
    volume: list({
      ...ofPod.filesystem,
      capacityBytes: 'statistic',
      name: 'text',
      pvcRef: { name: 'text', namespace: 'text' },
    }),
    'ephemeral-storage': ofPod.filesystem,
    process_stats: { process_count: 'statistic' },
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
  diskSize: 'number',
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
/** User data holds secrets, so it must arrive here as kubelet settings only. */
export const launchTemplateShape: Shape = {
  launchTemplateId: 'text',
  launchTemplateName: 'text',
  versionNumber: 'number',
  volumes: list({ deviceName: 'text', sizeGiB: 'number' }),
  // withoutTemplateSecrets in secrets.ts cuts the settings.
  kubelet: true,
}

const criMetadata = { name: 'text', attempt: 'number', uid: 'text', namespace: 'text' } as const
const criFilesystems = list({
  timestamp: 'amount',
  fsId: { mountpoint: 'text' },
  usedBytes: { value: 'amount' },
  inodesUsed: { value: 'amount' },
})
export const runtimeShape: ShapeOf<Runtime> = {
  images: list({
    id: 'text',
    repoTags: list('text'),
    repoDigests: list('text'),
    size: 'amount',
    pinned: 'boolean',
  }),
  containers: list({
    id: 'text',
    podSandboxId: 'text',
    metadata: criMetadata,
    image: { image: 'text', userSpecifiedImage: 'text' },
    imageRef: 'text',
    imageId: 'text',
    state: 'text',
    createdAt: 'amount',
    labels: 'texts',
  }),
  sandboxes: list({
    id: 'text',
    metadata: criMetadata,
    state: 'text',
    createdAt: 'amount',
    labels: 'texts',
    runtimeHandler: 'text',
  }),
  imageFs: { imageFilesystems: criFilesystems, containerFilesystems: criFilesystems },
}
/** The other keys of Bottlerocket's `settings.kubernetes` include keys, certificates and tokens. */
const bottlerocketSettings: Readonly<Record<string, Shape>> = Object.fromEntries(
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
/** No rule reads the other keys of `settings.container-runtime`. */
const containerRuntimeSettings = {
  'concurrent-download-chunk-size': true,
  'enable-unprivileged-icmp': true,
  'enable-unprivileged-ports': true,
  'max-concurrent-downloads': true,
  'max-container-log-line-size': true,
  snapshotter: 'text',
} as const
const logFile = { path: 'text', bytes: 'number', modifiedAt: 'text' } as const
export const hostShape: ShapeOf<Host> = {
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
    capacityBytes: 'number',
    usedBytes: 'number',
    availableBytes: 'number',
    inodes: 'number',
    inodesFree: 'number',
  }),
  containerd: {
    sandboxImage: 'text',
    snapshotter: 'text',
    discardUnpackedLayers: 'boolean',
    mirrors: list({ registry: 'text', server: 'text', hosts: list('text') }),
  },
  /** Declared settings of a Bottlerocket node, whose files cannot be read. */
  bottlerocket: {
    kubernetes: bottlerocketSettings,
    containerRuntime: containerRuntimeSettings,
    containerRegistry: { mirrors: true },
    os: 'texts',
  },
  /** Each block of a file has an entry. The lines outside the blocks share one entry. */
  logrotate: list({ path: 'text', sha256: 'text', modifiedAt: 'text?', directives: 'map' }),
  logrotateRuns: {
    by: 'text?',
    schedule: 'text',
    last: 'text',
    also: list({ by: 'text?', schedule: 'text' }),
    unsure: 'text?',
  },
  cleaners: list({ path: 'text', command: 'text' }),
  journald: { limits: 'texts', diskUsage: 'text' },
  /** Files of container logs. `rotatedByOthers`: names that the kubelet does not give. */
  logs: {
    files: 'number',
    bytes: 'number',
    biggest: list(logFile),
    rotatedByKubelet: { files: 'number', bytes: 'number' },
    rotatedByOthers: { files: 'number', bytes: 'number', sample: list(logFile) },
  },
  kernel: {
    release: 'text',
    cmdline: 'text',
    cgroupVersion: 'number',
    memoryCgroups: 'number',
    dyingMemoryCgroups: 'number',
  },
  /** Names of the folders in the kubelet's `podLogsDir`. */
  podLogDirectories: list('text'),
  logLines: list('text'),
  diskUse: {
    folders: list({
      holder: 'text',
      path: 'text',
      on: 'text',
      bytes: 'number',
      inodes: 'number',
      pod: 'text',
    }),
    inside: list({ path: 'text', bytes: 'number' }),
    layers: list({ use: 'text', key: 'text', bytes: 'number', inodes: 'number' }),
    processes: list({
      on: 'text',
      pid: 'number',
      command: 'text',
      pod: 'text',
      files: 'number',
      bytes: 'number',
    }),
    devices: list({ name: 'text', bytes: 'number', model: 'text', isUsed: 'boolean' }),
    snapshots: list({ use: 'text', count: 'number', bytes: 'number', inodes: 'number' }),
    orphans: list({ path: 'text', bytes: 'number' }),
    deletedFiles: list({ on: 'text', files: 'number', bytes: 'number' }),
    brokenLinks: 'number',
    missed: 'number',
  },
  unread: list({ what: 'text', why: 'text' }),
}
export const knownShape: ShapeOf<KnownImages> = {
  kubeletStartedAt: 'text',
  images: list({ id: 'text', firstDetected: 'text?', lastUsed: 'text?' }),
}

export const volumeShape: ShapeOf<AttachedVolume> = {
  VolumeId: 'text',
  Size: 'integer',
  VolumeType: 'text',
  Iops: 'integer',
  Device: 'text',
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
  count: 'integer',
  firstTimestamp: 'text',
  lastTimestamp: 'text',
  eventTime: 'text',
  series: { count: 'integer', lastObservedTime: 'text' },
  source: { component: 'text', host: 'text' },
  deprecatedCount: 'integer',
  deprecatedFirstTimestamp: 'text',
  deprecatedLastTimestamp: 'text',
  deprecatedSource: { component: 'text', host: 'text' },
  reportingComponent: 'text',
  reportingInstance: 'text',
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

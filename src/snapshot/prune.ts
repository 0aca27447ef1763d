/**
 * What of a record is kept: only what rules and replays read, in the API's own names. It is a list of what stays, so that a secret (an environment
 * variable, an annotation, a termination message) is left out without anyone having to think of it.
 */
import type { KubernetesNode } from '#model/kubernetes.ts'
import { type ClusterRecord, isRawObject, type NodeRecord, type ObjectsRecord, type RawObject, type SnapshotRecord } from '#model/record.ts'

/** `true` keeps a value whole, `text` only a string, `texts` only a map of strings; an object keeps these fields, `List` the items of a list. */
type Shape = true | 'text' | 'texts' | List | { readonly [field: string]: Shape }

class List {
  readonly item: Shape
  constructor(item: Shape) {
    this.item = item
  }
}
const list = (item: Shape) => new List(item)

const resources = { requests: true, limits: true } as const
const containerState = {
  running: { startedAt: true },
  waiting: { reason: true, message: true },
  terminated: { exitCode: true, signal: true, reason: true, startedAt: true, finishedAt: true, containerID: true },
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
  ownerReferences: list({ apiVersion: true, kind: true, name: true, uid: true, controller: true, blockOwnerDeletion: true }),
} as const
/** Upstream: pkg/kubelet/types/pod_update.go: where the pod came from, and whether it is the mirror of a static one. */
const podAnnotations = { 'kubernetes.io/config.mirror': 'text', 'kubernetes.io/config.source': 'text' } as const

const podShape: Shape = {
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

const nodeShape: Shape = {
  metadata,
  spec: { providerID: 'text', unschedulable: true, taints: list({ key: true, value: true, effect: true, timeAdded: true }) },
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

const memory = { time: true, availableBytes: true, usageBytes: true, workingSetBytes: true, rssBytes: true } as const
const filesystem = {
  time: true,
  availableBytes: true,
  capacityBytes: true,
  usedBytes: true,
  inodesFree: true,
  inodes: true,
  inodesUsed: true,
} as const
const summaryShape: Shape = {
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

/** Undefined where the value is not of the shape: what rules read has the type that the API gives it, or is absent. */
function keep(value: unknown, shape: Shape): unknown {
  if (shape === true) return value
  if (shape === 'text') return typeof value === 'string' ? value : undefined
  if (shape === 'texts') return isRawObject(value) ? Object.fromEntries(Object.entries(value).filter(isTextEntry)) : undefined
  if (shape instanceof List) {
    const { item } = shape
    return Array.isArray(value) ? value.map(entry => keep(entry, item)).filter(entry => entry !== undefined) : undefined
  }
  if (!isRawObject(value)) return undefined
  const kept: RawObject = {}
  for (const [field, inner] of Object.entries(shape)) {
    const entry = Object.hasOwn(value, field) ? keep(value[field], inner) : undefined
    if (entry !== undefined) kept[field] = entry
  }
  return kept
}

const isTextEntry = ([, value]: [string, unknown]) => typeof value === 'string'

const nodegroupShape: Shape = {
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
  launchTemplate: true,
  nodeRepairConfig: true,
  warmPoolConfig: true,
  resources: { autoScalingGroups: list({ name: 'text' }) },
  health: true,
}
const eksShape: Shape = {
  name: 'text',
  arn: 'text',
  id: 'text',
  createdAt: true,
  version: 'text',
  platformVersion: 'text',
  status: 'text',
  endpoint: 'text',
  certificateAuthority: true,
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
const launchTemplateShape: Shape = {
  launchTemplateId: 'text',
  launchTemplateName: 'text',
  versionNumber: true,
  kubelet: { config: true, flags: list('text'), source: 'text' },
}

const criMetadata = { name: true, attempt: true, uid: true, namespace: true } as const
const criFilesystems = list({
  timestamp: true,
  fsId: { mountpoint: true },
  usedBytes: { value: true },
  inodesUsed: { value: true },
})
const runtimeShape: Shape = {
  images: list({ id: 'text', repoTags: list('text'), repoDigests: list('text'), size: true, pinned: true }),
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
  sandboxes: list({ id: 'text', metadata: criMetadata, state: true, createdAt: true, labels: 'texts', runtimeHandler: 'text' }),
  imageFs: { imageFilesystems: criFilesystems, containerFilesystems: criFilesystems },
}
const hostShape: Shape = {
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
  containerd: { sandboxImage: 'text', snapshotter: 'text', discardUnpackedLayers: true, mirrors: list(true) },
  logrotate: list({ path: 'text', sha256: 'text', directives: true }),
  kernel: { release: 'text', cmdline: 'text', cgroupVersion: true, memoryCgroups: true, dyingMemoryCgroups: true },
  logLines: list('text'),
  unread: list({ what: 'text', why: 'text' }),
}
const knownShape: Shape = { kubeletStartedAt: 'text', images: list({ id: 'text', firstDetected: true, lastUsed: true }) }

/** The kubelet's own environment files carry flags; whatever else stands there is nobody's business. */
const kubeletVariable = /KUBELET/
const secretWord = /token|password|passwd|secret|credential|authorization|private[-_]?key/i

/** `--token=…` keeps its name and loses its value, wherever flags stand in a text. A path or a file is no secret: `--token-auth-file=…` stays. */
const withoutFlagSecrets = (text: string) =>
  text.replace(/(--[\w-]+)([= ])(\S+)/g, (whole, flag: string, between: string, value: string) =>
    secretWord.test(flag) && !/(file|path|dir|ttl|mode|refresh|rotate[\w-]*)$/i.test(flag) && !value.startsWith('--')
      ? `${flag}${between}(removed)`
      : whole,
  )

function withoutHostSecrets(host: unknown): unknown {
  if (!isRawObject(host) || !isRawObject(host.kubelet)) return host
  const { commandLine, files } = host.kubelet
  const kubelet = {
    ...host.kubelet,
    ...(Array.isArray(commandLine) && { commandLine: withoutArgumentSecrets(commandLine.map(String)) }),
    ...(Array.isArray(files) && { files: files.map(withoutFileSecrets) }),
  }
  const logLines = Array.isArray(host.logLines) && { logLines: host.logLines.map(line => withoutFlagSecrets(String(line))) }
  return { ...host, kubelet, ...logLines }
}

/** A flag and its value may be two arguments. */
const withoutArgumentSecrets = (commandLine: string[]) =>
  withoutFlagSecrets(commandLine.map(argument => argument.replaceAll(' ', '\u0000')).join(' '))
    .split(' ')
    .map(argument => argument.replaceAll('\u0000', ' '))

function withoutFileSecrets(file: unknown): unknown {
  if (!isRawObject(file)) return file
  const { role, content } = file
  if (role !== 'environment') return { ...file, content: withoutSecrets(content) }
  if (typeof content === 'string') {
    const lines = content.split('\n').filter(line => kubeletVariable.test(line.split('=')[0] ?? ''))
    return { ...file, content: lines.map(withoutFlagSecrets).join('\n') }
  }
  if (!isRawObject(content)) return { ...file, content: null }
  const kept = Object.entries(content).filter(([name]) => kubeletVariable.test(name))
  return { ...file, content: Object.fromEntries(kept.map(([name, value]) => [name, withoutFlagSecrets(String(value))])) }
}

/** A header that the kubelet sends with its static pod requests may carry a token; the rest is what objects and containers hide their secrets in. */
const secretFields = new Set([
  'staticPodURLHeader',
  'annotations',
  'args',
  'binaryData',
  'command',
  'data',
  'env',
  'envFrom',
  'managedFields',
  'stringData',
])

/** A raw object without the fields that may hold a secret, at any depth. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isRawObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !secretFields.has(field))
      .map(([field, inner]) => [field, withoutSecrets(inner)]),
  )
}

/** Of Secrets and ConfigMaps only who they are and who owns them. */
const objectShape = (resource: string): Shape =>
  resource === 'secrets' || resource === 'configmaps' ? { metadata } : { metadata, spec: true, status: true, type: true, reason: true }
const eventShape: Shape = {
  metadata,
  involvedObject: true,
  regarding: true,
  reason: 'text',
  message: 'text',
  note: 'text',
  type: 'text',
  count: true,
  firstTimestamp: true,
  lastTimestamp: true,
  eventTime: true,
  series: true,
}

/** The record as it is written to a snapshot and as every later stage sees it; the same for a live fleet and a snapshot read back. Pruning twice changes nothing. */
export function prune<R extends SnapshotRecord>(record: R): R {
  if (record.kind === 'Node') return pruneNode(record) as R
  if (record.kind === 'Cluster') return pruneCluster(record) as R
  if (record.kind === 'Objects') return pruneObjects(record) as R
  return record
}

function pruneObjects({ kind, cluster, resource, items }: ObjectsRecord): ObjectsRecord {
  const shape = resource === 'events' || resource.startsWith('events.') ? eventShape : objectShape(resource)
  return { kind, cluster, resource, items: items.map(item => withoutSecrets(keep(item, shape)) as RawObject) }
}

function pruneCluster({ kind, cluster, eks, nodegroups, launchTemplates, errors }: ClusterRecord): ClusterRecord {
  return {
    kind,
    cluster,
    ...given('eks', eks, eksShape),
    ...given('nodegroups', nodegroups, list(nodegroupShape)),
    ...given('launchTemplates', launchTemplates, list(launchTemplateShape)),
    errors: errors ?? [],
  }
}

/** Absent stays absent, null stays null. */
function given<Key extends string>(key: Key, value: unknown, shape: Shape, clean: (kept: unknown) => unknown = kept => kept) {
  return (value === undefined ? {} : { [key]: value === null ? null : clean(keep(value, shape)) }) as Partial<Record<Key, never>>
}

function pruneNode(record: NodeRecord): NodeRecord {
  const { kind, cluster, at, node, configz, summary, pods, runtime, host, known, errors } = record
  return {
    kind,
    cluster,
    at,
    node: keep(node, nodeShape) as KubernetesNode,
    ...given('configz', configz, { kubeletconfig: true }, withoutSecrets),
    ...given('summary', summary, summaryShape),
    ...given('pods', pods, list(podShape)),
    ...given('runtime', runtime, runtimeShape),
    ...given('host', host, hostShape, withoutHostSecrets),
    ...given('known', known, knownShape),
    errors: errors ?? [],
  }
}

/**
 * What of a record is kept: only what rules and replays read, in the API's own names. It is a list of what stays, so that a secret (an environment
 * variable, an annotation, a termination message) is left out without anyone having to think of it.
 */
import type { KubernetesNode, KubernetesPod } from '#model/kubernetes.ts'
import { isRawObject, type NodeRecord, type RawObject, type SnapshotRecord } from '#model/record.ts'

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

/** A header that the kubelet sends with its static pod requests may carry a token; everything else of a KubeletConfiguration is settings and paths. */
const secretFields = new Set(['staticPodURLHeader', 'env', 'envFrom', 'managedFields'])

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

const cleaned = (value: RawObject | null | undefined) => (value ? (withoutSecrets(value) as RawObject) : value)

/** The record as it is written to a snapshot and as every later stage sees it; the same for a live fleet and a snapshot read back. Pruning twice changes nothing. */
export function prune<R extends SnapshotRecord>(record: R): R {
  if (record.kind === 'Node') return pruneNode(record) as R
  if (record.kind === 'Objects') return { ...record, items: record.items.map(item => withoutSecrets(item) as RawObject) }
  return record
}

function pruneNode(record: NodeRecord): NodeRecord {
  const { kind, cluster, at, node, configz, summary, pods, runtime, host, known, errors } = record
  return {
    kind,
    cluster,
    at,
    node: keep(node, nodeShape) as KubernetesNode,
    ...(configz === undefined ? {} : { configz: cleaned(configz) }),
    ...(summary === undefined ? {} : { summary: keep(summary, summaryShape) as RawObject | null }),
    ...(pods === undefined ? {} : { pods: pods?.map(pod => keep(pod, podShape) as KubernetesPod) ?? null }),
    ...(runtime === undefined ? {} : { runtime: cleaned(runtime) }),
    ...(host === undefined ? {} : { host: cleaned(host) }),
    ...(known === undefined ? {} : { known }),
    errors: errors ?? [],
  }
}

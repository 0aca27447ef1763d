/**
 * Data read of one node. snapshot/node-input.ts parses it once; replay, judge and remediate read only the result. A field has the type that
 * its shape keeps, or is absent. Kubernetes, CRI and kubelet objects keep their API's field names.
 */

import type { RunningConfiguration } from '#model/kubelet/configuration.ts'
import type { KubernetesNode, KubernetesPod } from './kubernetes.ts'
import type { ReadMode } from './read-mode.ts'
import type { ReadError } from './record.ts'
import { list, type Shape, type Shaped } from './shape.ts'

type Item<Items extends readonly unknown[] | undefined> = NonNullable<Items>[number]

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
/** Answer of `/stats/summary`. A statistic of -1: the answer had no number there. */
export const summaryShape = {
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
} as const

export type Summary = Shaped<typeof summaryShape>
export type MemoryStats = Shaped<typeof memory>
export type FilesystemStats = Shaped<typeof filesystem>
export type PodSummary = Item<Summary['pods']>
export type ContainerSummary = Item<PodSummary['containers']>

const criMetadata = { name: 'text', attempt: 'number', uid: 'text', namespace: 'text' } as const
const criFilesystems = list({
  timestamp: 'amount',
  fsId: { mountpoint: 'text' },
  usedBytes: { value: 'amount' },
  inodesUsed: { value: 'amount' },
})
/** Images, containers and sandboxes as `crictl` prints them. An int64 is text, or a number if a tool parsed the text. */
export const runtimeShape = {
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
} as const

export type Runtime = Shaped<typeof runtimeShape>
export type RuntimeImage = Item<Runtime['images']>
export type RuntimeContainer = Item<Runtime['containers']>
export type RuntimeSandbox = Item<Runtime['sandboxes']>

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
/** The node's own report on its machine: the answer of the inspect document, without secrets. */
export const hostShape = {
  schema: 'text',
  kubelet: {
    startedAt: 'text',
    commandLine: list('text'),
    files: list({
      path: 'text',
      role: 'text',
      /** SHA-256 in hex. */
      sha256: 'text',
      /** Fields of a configuration; lines or variables of an environment file; null: not read. */
      content: true,
    }),
  },
  filesystems: list({
    role: 'text',
    device: 'text',
    mount: 'text',
    capacityBytes: 'number',
    /** Used bytes, without the blocks that are reserved for root. */
    usedBytes: 'number',
    /** Negative if root has used its reserved blocks. */
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
  /** One entry per block of a file, and one for the directives outside blocks. `modifiedAt`: RFC 3339; null: unknown. */
  logrotate: list({ path: 'text', sha256: 'text', modifiedAt: 'text?', directives: 'map' }),
  /** What starts logrotate. `by` null: no active timer and no cron job. `unsure` null: nothing else starts logrotate. */
  logrotateRuns: {
    by: 'text?',
    schedule: 'text',
    last: 'text',
    also: list({ by: 'text?', schedule: 'text' }),
    unsure: 'text?',
  },
  /** Commands of root's crontabs, of scripts that cron starts and of local units that may delete images. Empty: none. */
  cleaners: list({ path: 'text', command: 'text' }),
  journald: { limits: 'texts', diskUsage: 'text' },
  /** Files of container logs. `rotatedByOthers`: rotated files with names that the kubelet does not use. */
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
  /** Disk space as `du`, `ctr` and /proc show it. */
  diskUse: {
    /** `on`: nodefs or imagefs; absent: neither. The size of a folder includes its subfolders. `pod`: UID of the pod that mounts the folder. */
    folders: list({
      holder: 'text',
      path: 'text',
      on: 'text',
      bytes: 'number',
      inodes: 'number',
      pod: 'text',
    }),
    /** The largest log folders of containers, and the largest volumes' folders, of pods. */
    inside: list({ path: 'text', bytes: 'number' }),
    /** The largest writable layers, `running` or `dead`. `key`: id of the container. */
    layers: list({ use: 'text', key: 'text', bytes: 'number', inodes: 'number' }),
    /** The processes that hold most of the deleted files. `pod`: UID in the process's cgroup. */
    processes: list({
      on: 'text',
      pid: 'number',
      command: 'text',
      pod: 'text',
      files: 'number',
      bytes: 'number',
    }),
    /** Block devices. `isUsed`: mounted, swap, or part of another device. */
    devices: list({ name: 'text', bytes: 'number', model: 'text', isUsed: 'boolean' }),
    /** Snapshots of containerd by use (`SnapshotUse`). */
    snapshots: list({ use: 'text', count: 'number', bytes: 'number', inodes: 'number' }),
    /** Folders of pods and of pod logs whose pod has no sandbox. */
    orphans: list({ path: 'text', bytes: 'number' }),
    /** Files that are deleted and still open. */
    deletedFiles: list({ on: 'text', files: 'number', bytes: 'number' }),
    /** Number of broken links, older than 10 minutes, in the folders of container logs. */
    brokenLinks: 'number',
    /** Number of the fixed measurements that failed. */
    missed: 'number',
  },
  unread: list({ what: 'text', why: 'text' }),
} as const
export type Host = Shaped<typeof hostShape>
export type HostFile = Item<NonNullable<Host['kubelet']>['files']>
export type HostLogrotate = Item<Host['logrotate']>
export type HostLog = Shaped<typeof logFile>
export type HostDiskUse = NonNullable<Host['diskUse']>
export type MeasuredFolder = Item<HostDiskUse['folders']>

/** Times that the kubelet keeps in memory and that a snapshot can contain. Null: not since the kubelet's start. */
export const knownShape = {
  kubeletStartedAt: 'text',
  images: list({ id: 'text', firstDetected: 'text?', lastUsed: 'text?' }),
} as const
export type KnownImages = Shaped<typeof knownShape>

/** An EBS volume of the node, from EC2 DescribeVolumes. `Size` in GiB; `Device`: `/dev/xvda`. */
export const volumeShape = {
  VolumeId: 'text',
  Size: 'integer',
  VolumeType: 'text',
  Iops: 'integer',
  Device: 'text',
} as const
export type AttachedVolume = Shaped<typeof volumeShape>

/** Data of one node. Null: not read. `errors` has the reason if a collector tried to read it. */
export interface NodeInput {
  kind: 'Node'
  cluster: string
  /** RFC 3339: this node's "now"; null: the snapshot's. */
  at: string | null
  mode: ReadMode
  node: KubernetesNode
  configuration: RunningConfiguration | null
  summary: Summary | null
  pods: readonly KubernetesPod[] | null
  runtime: Runtime | null
  host: Host | null
  known: KnownImages | null
  volumes: readonly AttachedVolume[] | null
  errors: readonly ReadError[]
}

/**
 * What was read of one node, parsed once (snapshot/node-input.ts). Replay, judge and remediate read only this: a field has its type, or is
 * absent. Kubernetes, CRI and kubelet objects keep their API's own field names.
 */
import type { EbsVolume } from './cluster-objects.ts'
import type { RunningConfiguration } from './kubelet-configuration.ts'
import type { KubernetesNode, KubernetesPod } from './kubernetes.ts'
import type { ReadMode } from './read-mode.ts'
import type { RawObject, ReadError } from './record.ts'

/** Of `/stats/summary`. A statistic of -1: something else than a number was there. */
export interface Summary {
  node?: {
    nodeName?: string
    startTime?: string
    systemContainers?: SystemContainer[]
    memory?: MemoryStats
    fs?: FilesystemStats
    runtime?: { imageFs?: FilesystemStats; containerFs?: FilesystemStats }
    rlimit?: { time?: string; maxpid?: number; curproc?: number }
  }
  pods?: PodSummary[]
}

export interface SystemContainer {
  name?: string
  startTime?: string
  memory?: MemoryStats
}

export interface MemoryStats {
  time?: string
  availableBytes?: number
  usageBytes?: number
  workingSetBytes?: number
  rssBytes?: number
}

export interface FilesystemStats {
  time?: string
  availableBytes?: number
  capacityBytes?: number
  usedBytes?: number
  inodesFree?: number
  inodes?: number
  inodesUsed?: number
}

export interface PodSummary {
  podRef?: { name?: string; namespace?: string; uid?: string }
  startTime?: string
  containers?: ContainerSummary[]
  memory?: MemoryStats
  volume?: (FilesystemStats & { name?: string; pvcRef?: { name?: string; namespace?: string } })[]
  'ephemeral-storage'?: FilesystemStats
  process_stats?: { process_count?: number }
}

export interface ContainerSummary {
  name?: string
  startTime?: string
  memory?: MemoryStats
  rootfs?: FilesystemStats
  logs?: FilesystemStats
}

/** As `crictl` prints images, containers and sandboxes: an int64 is text, or a number where a tool has parsed it. */
export interface Runtime {
  images?: RuntimeImage[]
  containers?: RuntimeContainer[]
  sandboxes?: RuntimeSandbox[]
  imageFs?: { imageFilesystems?: CriFilesystem[]; containerFilesystems?: CriFilesystem[] }
}

export interface RuntimeImage {
  id?: string
  repoTags?: string[]
  repoDigests?: string[]
  size?: string | number
  pinned?: boolean
}

interface CriMetadata {
  name?: string
  attempt?: number
  uid?: string
  namespace?: string
}

export interface RuntimeContainer {
  id?: string
  podSandboxId?: string
  metadata?: CriMetadata
  image?: { image?: string; userSpecifiedImage?: string }
  imageRef?: string
  imageId?: string
  state?: string
  createdAt?: string | number
  labels?: Record<string, string>
}

export interface RuntimeSandbox {
  id?: string
  metadata?: CriMetadata
  state?: string
  createdAt?: string | number
  labels?: Record<string, string>
  runtimeHandler?: string
}

interface CriFilesystem {
  timestamp?: string | number
  fsId?: { mountpoint?: string }
  usedBytes?: { value?: string | number }
  inodesUsed?: { value?: string | number }
}

/** What the node itself reports of its machine: the answer of the inspect document, without its secrets. */
export interface Host {
  schema?: string
  kubelet?: { startedAt?: string; commandLine?: string[]; files?: HostFile[] }
  filesystems?: HostFilesystem[]
  containerd?: {
    sandboxImage?: string
    snapshotter?: string
    discardUnpackedLayers?: boolean
    mirrors?: { registry?: string; server?: string; hosts?: string[] }[]
  }
  /** Settings as declared, of a node whose files cannot be read. */
  bottlerocket?: {
    kubernetes?: RawObject
    containerRuntime?: RawObject
    containerRegistry?: { mirrors?: unknown }
    os?: Record<string, string>
  }
  /** One entry for each block of a file, and one for the directives outside of blocks. */
  logrotate?: HostLogrotate[]
  /** `by` null: no timer is active and no cron job calls it. `unsure` null: nothing else starts it. */
  logrotateRuns?: {
    by?: string | null
    schedule?: string
    last?: string
    also?: { by?: string | null; schedule?: string }[]
    unsure?: string | null
  }
  journald?: { limits?: Record<string, string>; diskUsage?: string }
  /** Files of container logs. `rotatedByOthers`: those whose names the kubelet does not give. */
  logs?: {
    files?: number
    bytes?: number
    biggest?: HostLog[]
    rotatedByKubelet?: { files?: number; bytes?: number }
    rotatedByOthers?: { files?: number; bytes?: number; sample?: HostLog[] }
  }
  kernel?: {
    release?: string
    cmdline?: string
    cgroupVersion?: number
    memoryCgroups?: number
    dyingMemoryCgroups?: number
  }
  /** Names of the folders in the kubelet's `podLogsDir`. */
  podLogDirectories?: string[]
  logLines?: string[]
  /** Disk space as `du`, `ctr` and /proc show it. */
  diskUse?: HostDiskUse
  unread?: { what?: string; why?: string }[]
}

export interface HostFile {
  path?: string
  role?: string
  /** Hex. */
  sha256?: string
  /** Fields of a configuration; lines or variables of an environment file; null: not read. */
  content?: unknown
}

export interface HostDiskUse {
  /** `on`: nodefs or imagefs; absent: neither. A folder holds those below it, too. */
  folders?: MeasuredFolder[]
  /** Snapshots of containerd, by what they are for: see `SnapshotUse`. */
  snapshots?: { use?: string; count?: number; bytes?: number; inodes?: number }[]
  /** Folders of pods, and of their logs, that have no sandbox. */
  orphans?: { path?: string; bytes?: number }[]
  /** Files that are deleted and still open. */
  deletedFiles?: { on?: string; files?: number; bytes?: number }[]
  /** Links older than 10 minutes in the folders of container logs that lead nowhere. */
  brokenLinks?: number
  /** Number of the fixed measurements that failed. */
  missed?: number
}

export interface MeasuredFolder {
  holder?: string
  path?: string
  on?: string
  bytes?: number
  inodes?: number
}

export interface HostFilesystem {
  role?: string
  device?: string
  mount?: string
  capacityBytes?: number
  /** Without the blocks that are reserved for root. */
  usedBytes?: number
  /** Below zero where root has used what is reserved for it. */
  availableBytes?: number
  inodes?: number
  inodesFree?: number
}

export interface HostLogrotate {
  path?: string
  sha256?: string
  /** RFC 3339; null: not known. */
  modifiedAt?: string | null
  directives?: RawObject
}

export interface HostLog {
  path?: string
  bytes?: number
  modifiedAt?: string
}

/** Times that the kubelet keeps in memory and a snapshot may carry. Null: not since its start. */
export interface KnownImages {
  kubeletStartedAt?: string
  images?: { id?: string; firstDetected?: string | null; lastUsed?: string | null }[]
}

/** An EBS volume of the node. */
export interface AttachedVolume
  extends Pick<EbsVolume, 'VolumeId' | 'Size' | 'VolumeType' | 'Iops'> {
  /** `/dev/xvda`. */
  Device?: string
}

/** Null: not read. `errors` has the reason if a collector tried. */
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

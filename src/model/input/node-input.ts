/**
 * Data read of one node. snapshot/node-input.ts parses it once; replay, judge and remediate read only the result. Each field has its type, or is
 * absent. Kubernetes, CRI and kubelet objects keep their API's field names.
 */

import type { RawObject } from '#base/raw-object.ts'
import type { RunningConfiguration } from '#model/kubelet/configuration.ts'
import type { EbsVolume } from './cluster-objects.ts'
import type { KubernetesNode, KubernetesPod } from './kubernetes.ts'
import type { ReadMode } from './read-mode.ts'
import type { ReadError } from './record.ts'

/** Answer of `/stats/summary`. A statistic of -1: the answer had no number there. */
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

/** Images, containers and sandboxes as `crictl` prints them. An int64 is text, or a number if a tool parsed the text. */
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

/** The node's own report on its machine: the answer of the inspect document, without secrets. */
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
  /** Declared settings of a Bottlerocket node, whose files cannot be read. */
  bottlerocket?: {
    kubernetes?: RawObject
    containerRuntime?: RawObject
    containerRegistry?: { mirrors?: unknown }
    os?: Record<string, string>
  }
  /** One entry per block of a file, and one for the directives outside blocks. */
  logrotate?: HostLogrotate[]
  /** What starts logrotate. `by` null: no active timer and no cron job. `unsure` null: nothing else starts logrotate. */
  logrotateRuns?: {
    by?: string | null
    schedule?: string
    last?: string
    also?: { by?: string | null; schedule?: string }[]
    unsure?: string | null
  }
  /** Commands of root's crontabs, of scripts that cron starts and of local units that may delete images. Empty: none. */
  cleaners?: { path?: string; command?: string }[]
  journald?: { limits?: Record<string, string>; diskUsage?: string }
  /** Files of container logs. `rotatedByOthers`: rotated files with names that the kubelet does not use. */
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
  /** SHA-256 in hex. */
  sha256?: string
  /** Fields of a configuration; lines or variables of an environment file; null: not read. */
  content?: unknown
}

export interface HostDiskUse {
  /** `on`: nodefs or imagefs; absent: neither. The size of a folder includes its subfolders. */
  folders?: MeasuredFolder[]
  /** Snapshots of containerd by use (`SnapshotUse`). */
  snapshots?: { use?: string; count?: number; bytes?: number; inodes?: number }[]
  /** Folders of pods and of pod logs whose pod has no sandbox. */
  orphans?: { path?: string; bytes?: number }[]
  /** The largest log folders of containers, and the largest volumes' folders, of pods. */
  inside?: { path?: string; bytes?: number }[]
  /** The largest writable layers, `running` or `dead`. `key`: id of the container. */
  layers?: { use?: string; key?: string; bytes?: number; inodes?: number }[]
  /** The processes that hold most of the deleted files. `pod`: UID in the process's cgroup. */
  processes?: {
    on?: string
    pid?: number
    command?: string
    pod?: string
    files?: number
    bytes?: number
  }[]
  /** Block devices. `isUsed`: mounted, swap, or part of another device. */
  devices?: { name?: string; bytes?: number; model?: string; isUsed?: boolean }[]
  /** Files that are deleted and still open. */
  deletedFiles?: { on?: string; files?: number; bytes?: number }[]
  /** Number of broken links, older than 10 minutes, in the folders of container logs. */
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
  /** UID of the pod that mounts the folder. */
  pod?: string
}

export interface HostFilesystem {
  role?: string
  device?: string
  mount?: string
  capacityBytes?: number
  /** Used bytes, without the blocks that are reserved for root. */
  usedBytes?: number
  /** Negative if root has used its reserved blocks. */
  availableBytes?: number
  inodes?: number
  inodesFree?: number
}

export interface HostLogrotate {
  path?: string
  sha256?: string
  /** RFC 3339; null: unknown. */
  modifiedAt?: string | null
  directives?: RawObject
}

export interface HostLog {
  path?: string
  bytes?: number
  modifiedAt?: string
}

/** Times that the kubelet keeps in memory and that a snapshot can contain. Null: not since the kubelet's start. */
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

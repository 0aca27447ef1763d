/** Predicted acts of the upstream kubelet on one node (the contract `highwater.prediction/1`, per node). Bytes, inodes and pids are plain counts. */

import type { Quantity } from '#base/go/quantity.ts'
import { controllerOf, type KubernetesPod } from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'

export type Signal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'containerfs.available'
  | 'containerfs.inodesFree'
  | 'pid.available'

/** Signals whose thresholds can be set. The kubelet adds the others. Upstream: pkg/kubelet/eviction/api/types.go. */
export const settableSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
] as const satisfies Signal[]

/** The eviction manager's observation of one signal. Upstream: pkg/kubelet/eviction/types.go signalObservation. */
export interface Observation {
  available: number
  capacity: number
  /** RFC 3339 time of the statistics. Null: the statistics have no time. */
  time: string | null
}

/**
 * `quantity`: bytes or a count; `percentage`: upstream's float32, a fraction of 1 (`10%` is 0.10000000149011612, `nan%` is NaN); `text`: the configured
 * text. Upstream: eviction/api/types.go ThresholdValue.
 */
export type ThresholdValue =
  | { quantity: Quantity; text: string }
  | { percentage: number; text: string }

/** One parsed threshold. Upstream: eviction/api/types.go Threshold. */
export interface Threshold {
  signal: Signal
  operator: 'LessThan'
  value: ThresholdValue
  /** 0: the threshold is hard, even in `evictionSoft`. */
  gracePeriodMs: number
  minReclaim: ThresholdValue | null
}

/**
 * Source of a threshold's value. `configured`: an unknown place sets the value; `no file`: without a configuration file there are no defaults;
 * `earlier files`: files as they were at the kubelet's start, because the present files have another value;
 * `kubelet`: the kubelet derives it from another threshold (allocatable memory from memory, containerfs from the filesystem that holds it).
 */
export type ThresholdSource =
  | 'upstream default'
  | 'AMI default'
  | 'file'
  | 'drop-in'
  | 'flag'
  | 'configured'
  | 'no file'
  | 'earlier files'
  | 'kubelet'

export interface ThresholdOrigin {
  source: ThresholdSource
  /** `likely`: the source has that value, and no data contradicts the source. */
  certainty: 'certain' | 'likely'
  /** Path of the file or drop-in. Null: the source is neither. */
  path: string | null
}

/** A default threshold that this kubelet does not apply, and the source that removed the default. */
export interface LostThreshold {
  signal: string
  value: string
  by: ThresholdOrigin
}

/** A threshold compared with this node's observation. Null, never 0: not observed, so unknown. */
export interface EvaluatedThreshold {
  signal: Signal
  operator: 'LessThan'
  /** As configured. */
  value: string
  resolved: number | null
  hard: boolean
  gracePeriodMs: number
  minReclaim: string
  met: boolean | null
  /** available − resolved: negative when met. */
  margin: number | null
  /** Always present in a node's prediction. */
  origin?: ThresholdOrigin
}

export interface FilesystemState {
  capacityBytes: number | null
  availableBytes: number | null
  /** As image GC computes it: 100 − floor(available × 100 / capacity). */
  usedPercent: number | null
  inodes: number | null
  inodesFree: number | null
}

/**
 * `shared`: nodefs, imagefs and containerfs are one filesystem; `imagefs`: the runtime has its own filesystem; `split`: images have their own, and
 * containers are on nodefs. The API exposes no device ids, so a shared layout is `likely` unless data from the node itself confirms it.
 */
export type FilesystemLayout = 'shared' | 'imagefs' | 'split'

export interface Filesystems {
  nodefs: FilesystemState | null
  imagefs: FilesystemState | null
  containerfs: FilesystemState | null
  layout: FilesystemLayout | null
  layoutCertainty: 'certain' | 'likely' | null
}

/** Two parts of one pool take free space from each other: equal to so much, at different sizes. */
const poolTolerance = { available: 1e-4, size: 0.01 }

/**
 * Whether nodefs and imagefs are parts of one pool, as datasets of ZFS are: they have the same space left at different sizes. The size of each is
 * what it holds and what the pool has left, so it shrinks as others write, and its used share says little. Source: openzfs zfs_vfsops.c zfs_statvfs
 */
export function areOfOnePool({ nodefs, imagefs, layout }: Filesystems): boolean {
  const [size, ofImages] = [nodefs?.capacityBytes ?? 0, imagefs?.capacityBytes ?? 0]
  const [left, other] = [nodefs?.availableBytes ?? 0, imagefs?.availableBytes ?? 0]
  return (
    layout === 'imagefs' &&
    Math.min(left, other, size, ofImages) > 0 &&
    Math.abs(left - other) <= poolTolerance.available * left &&
    Math.abs(size - ofImages) > poolTolerance.size * size
  )
}

/** Whether an act happens in every case that the observed facts permit (`certain`), or only in some (`possible`). */
export type Certainty = 'certain' | 'possible'

export interface ImageDeletion {
  /** The CRI id if known, else the first name. */
  image: string
  names: string[]
  sizeBytes: number | null
  /**
   * Number of these images that certainly go first. Equal ranks: upstream has no order among these images. Null: the image's own times are too open to
   * place it; the ranks of the others hold without it.
   */
  rank: number | null
  reason: 'age' | 'space'
  certainty: Certainty
}

export interface KeptImage {
  image: string
  reason: 'in-use' | 'pinned' | 'too-young' | 'not-needed' | 'unknown'
}

/** One image-GC round at this moment. Upstream: pkg/kubelet/images/image_gc_manager.go GarbageCollect. */
export interface ImageGcPrediction {
  /** False when `imageGCHighThresholdPercent` 100 stops the loop. */
  enabled: boolean
  highThresholdPercent: number
  lowThresholdPercent: number
  /** Null, like `usagePercent`, `bytesUntilTrigger` and `bytesToFree`: the image filesystem was not observed. */
  triggered: boolean | null
  usagePercent: number | null
  /** Bytes that can be written before image GC is triggered; 0: it is triggered. */
  bytesUntilTrigger: number | null
  /** Image GC starts above this used percentage. Null: image GC never starts. */
  startsAboveUsedPercent: number | null
  /** Image GC starts below this number of available bytes. Null: image GC never starts, or the capacity is unknown. */
  startsBelowAvailableBytes: number | null
  /** Bytes to free until the low threshold. Negative: usage is below the low threshold already, but the kubelet still deletes one image. */
  bytesToFree: number | null
  /** Deletions for space reach the low threshold, by the kubelet's image sizes. Null, like `freedBytes` and `shortfallBytes`: unknown. */
  reachesLow: boolean | null
  freedBytes: number | null
  shortfallBytes: number | null
  /** Of all images that a round might delete, whatever the thresholds, as the CRI counts them. Null: not all images or sizes are known. */
  deletableBytes: number | null
  /** Upstream's error text, if the round certainly ends in an error. */
  error: string | null
  /** Null, like `kept`: no list of images was read, and the round might delete images. */
  deletions: ImageDeletion[] | null
  kept: KeptImage[] | null
}

/** An observed signal. The fields named bytes hold a count for signals of inodes and pids. */
export interface ObservedSignal {
  availableBytes: number
  capacityBytes: number
  time: string | null
}

/** A pod and its rank in upstream's order of eviction under one signal. */
export interface RankedPod {
  namespace: string
  name: string
  /** 0 is evicted first. Equal ranks: upstream has no order among these pods. */
  rank: number
  qos: string
  priority: number
  /** Bytes, inodes or processes. Null: the kubelet has no statistics of the pod and ranks it first (memory, disk). */
  usage: number | null
  request: number
  /** Reason for the rank, for people. */
  reason: string
}

export interface Ranking {
  signal: Signal
  pods: RankedPod[]
}

export interface PodName {
  namespace: string
  name: string
}

export interface Victim extends PodName {
  certainty: Certainty
}

export interface ProtectedPod extends PodName {
  reason: 'static' | 'critical' | 'mirror'
}

/** One pass of the eviction manager at this moment. Upstream: pkg/kubelet/eviction/eviction_manager.go synchronize. */
export interface EvictionPrediction {
  signals: Partial<Record<Signal, ObservedSignal>>
  thresholds: EvaluatedThreshold[]
  /** Defaults that this configuration removes. A default that it turns off (`0%`) does not count. */
  lost: LostThreshold[]
  /** Node conditions that the kubelet reports after the pass: `DiskPressure`, … */
  conditions: string[]
  /** Signals that the pass acts on. Several: upstream picks any of them. None: the pass does nothing. */
  actsOn: Signal[]
  /** Resources that the kubelet reclaims before it evicts, in its order, for any signal of `actsOn`. */
  nodeReclaim: ('containers' | 'images')[]
  /** Images that node-level reclaim deletes, if it deletes unused images. Null: the node's images are unknown. */
  imageDeletions: ImageDeletion[] | null
  /** One ranking for each signal with a threshold, met or not. Null, like `victims` and `protected`: pods or statistics are unknown. */
  rankings: Ranking[] | null
  /** Pods that this pass evicts, including pods over their storage limits. */
  victims: Victim[] | null
  /** Pods that upstream never evicts. */
  protected: ProtectedPod[] | null
  /** Upstream's error text if the running threshold maps cannot be parsed. `thresholds` is then empty. */
  error: string | null
}

export interface ContainerRemoval {
  kind: 'container' | 'sandbox' | 'logDirectory'
  /** The CRI id, or the name of a log directory. */
  id: string
  namespace: string | null
  pod: string | null
  /** Null for sandboxes and log directories. */
  container: string | null
}

/** A pod over one of its own limits. Every pass evicts such a pod, even without pressure. Upstream: eviction_manager.go localStorageEviction. */
export interface LocalStorageEviction extends PodName {
  limit: 'emptyDir' | 'pod' | 'container'
  /** Name of the volume, the container, or (limit `pod`) the pod. */
  what: string
  usedBytes: number
  limitBytes: number
}

export interface OomScore {
  namespace: string
  pod: string
  container: string
  qos: string
  oomScoreAdj: number
}

/** Canonical quantity by resource name; null: a required input is unknown. `matchesNode`: whether the node reports the same quantities. */
export type AllocatablePrediction = Record<string, string | boolean | null> & {
  matchesNode: boolean | null
}

export interface OverRequest {
  resource: string
  requested: string
  allocatable: string
}

/** Changes on a node under another kubelet minor. */
export interface KubeletUpgrade {
  from: string | null
  to: string
  /** Upstream's error texts if the new kubelet would not start: refused fields, removed flags, cgroup v1. */
  errors: string[]
  /**
   * Source of `errors` and `changedSettings`. `configz`: the files were not read, so the running configuration, as if its default values were unset.
   * Null: neither was read, so whether the new kubelet starts is unknown.
   */
  basis: 'files' | 'configz' | null
  /** Settings that differ although the files are the same: changed defaults, fields that the new kubelet drops. A key of a map follows a dot. */
  changedSettings: ChangedSetting[]
  /** Oldest first. */
  changedBehaviors: ChangedBehavior[]
  /** Feature gates whose effective state differs. */
  changedGates: ChangedSetting[]
  /** Signals whose order of eviction differs. Null: pods or their statistics were not read. */
  changedOrders: Signal[] | null
}

/** What a minor does differently with the same settings. */
export interface ChangedBehavior {
  minor: number
  what: string
}

export interface ChangedSetting {
  field: string
  /** Null: not set. */
  before: unknown
  after: unknown
}

/** Disk space, or a number of inodes. */
export interface SpaceBounds {
  least: number
  likely: number
  most: number
}

/**
 * An event on a node whose disk or memory fills. `atMs` is the likely time after the prediction's `at`; `earliestMs` and `latestMs` are its bounds.
 * `certain`: the event happens in every case that the known facts permit.
 */
export type TimelineEvent = {
  atMs: number
  earliestMs: number
  latestMs: number
  certainty: Certainty
} & TimelineDetail

export type TimelineDetail =
  | {
      event: 'imageGC'
      detail: {
        images: string[]
        bytesToFree: number
        /** Listed sizes of the images deleted for space, as the kubelet counts. */
        freedBytes: number
        /** Bytes freed on the disk. */
        frees: SpaceBounds
        error: string | null
      }
    }
  | { event: 'condition'; detail: { condition: string; status: boolean } }
  | {
      event: 'reclaim'
      detail: {
        signal: Signal
        containers: number
        images: string[]
        /** Bytes or inodes freed on the disk. */
        frees: SpaceBounds
        isEnough: boolean
      }
    }
  | {
      event: 'evict'
      detail: PodName & {
        signal: string
        freedBytes: number
        freedInodes: number
        freedMemoryBytes: number
        freedProcesses: number
      }
    }
  | { event: 'recovered'; detail: { availableBytes: number } }
  /** `filesystem`: a name in `--fill`. */
  | { event: 'full'; detail: { filesystem: string } }

/**
 * The kubelet's verdict on the node's files at its next start. `errors` empty: the kubelet would start.
 * The running configuration cannot show this, because the kubelet never reloads its files. Upstream: pkg/kubelet/apis/config/validation ValidateKubeletConfiguration
 * and the construction-time checks of eviction maps.
 */
export interface NextStartPrediction {
  /** Paths of the files read: the main file, then the drop-ins in merge order. */
  files: string[]
  errors: string[]
  /** Image-GC percentage of the merged files, here and below. Null: the files could not be merged. */
  imageGCHighThresholdPercent: number | null
  imageGCLowThresholdPercent: number | null
  /** Null: the files could not be merged. */
  settings: StartSettings | null
}

/** The configuration of the kubelet's next start, and the file or flag that sets each value. */
export interface StartSettings {
  configuration: KubeletConfiguration
  /** The configuration before flags are applied. */
  withoutFlags: KubeletConfiguration
  /** Settings by path, in the kubelet's order. Each key of a map has its own path (`evictionHard.nodefs.available`). */
  said: Record<string, SaidSetting[]>
  /** Keys that the kubelet drops without an error. */
  ignored: IgnoredSetting[]
  /** Configuration files that the kubelet does not read. */
  unread: UnreadFile[]
  /** False: the flags are unknown and might set any value. */
  isCommandLineKnown: boolean
}

export interface SaidSetting {
  by: 'file' | 'drop-in' | 'flag'
  /** Path of the file, or name of the flag. */
  where: string
  /** Value as written. Null removes the earlier value. */
  value: unknown
}

export interface IgnoredSetting {
  file: string
  key: string
  value: unknown
  /** Field that the key sets or was meant to set. Null: no field is similar. */
  field: string | null
  /** `minor`: this kubelet does not know the field. */
  why: 'misspelt' | 'case' | 'minor' | 'unknown'
}

export interface UnreadFile {
  path: string
  /** `folder`: not in the kubelet's drop-in folder; `name`: not *.conf; `minor`: this kubelet reads no drop-ins; `other`: `--config` names another file. */
  why: 'folder' | 'name' | 'minor' | 'other'
  /** Values by path, without nulls. */
  values: Record<string, unknown>
}

/** Missing data, and its effect on the prediction. */
export interface Unknown {
  what: string
  /** Part of the prediction that is null for this reason; `victims`: victims are only possible. */
  part?: 'configuration' | 'imageGC' | 'nextStart' | 'victims'
  effect: string
}

export interface NodePrediction {
  cluster: string
  node: string
  kubeletVersion: string | null
  at: string
  filesystems: Filesystems
  imageGC: ImageGcPrediction | null
  eviction: EvictionPrediction | null
  /** The periodic removal of dead containers. Null, like `localStorageEvictions`, `oomScores` and `allocatable`: a required input was not read. */
  containerGC: { removals: ContainerRemoval[] } | null
  localStorageEvictions: LocalStorageEviction[] | null
  /** Pods that use most of one of their own limits, and are not over it. Absent: none, or unknown. */
  nearOwnLimits?: LocalStorageEviction[]
  oomScores: OomScore[] | null
  allocatable: AllocatablePrediction | null
  /** Resources of which the active pods request more than is allocatable, with canonical quantities. Absent: none, or unknown. */
  overRequested?: OverRequest[]
  /** Configuration computed from files and flags, if only these were read: the prediction is based on it. Absent: based on the running configuration. */
  configurationOnDisk?: KubeletConfiguration
  /** Upstream's errors if a kubelet would not start with the requested configuration. Absent: no configuration requested. */
  refusals?: string[]
  /** Null: the node's files were not read. */
  nextStart: NextStartPrediction | null
  /** Present only if a filling disk was requested. Null: an input is unknown. */
  timeline?: TimelineEvent[] | null
  /** Present with `--kubelet`. The rest of the prediction is then for that version. */
  upgrade?: KubeletUpgrade
  /** Null: no filesystem has a known size. */
  ledger: NodeLedger | null
  unknowns: Unknown[]
}

/* Use of a node's disks by holder (the contract `highwater.ledger/1`, a part of the node's prediction). Bytes are disk space, not file lengths. */

/**
 * `not-images`: bytes of the runtime that its images and its running containers cannot hold, if the node did not list its snapshots;
 * `unread`: used space that no measurement covers. `not-explained`: the rest after all measurements succeeded.
 */
export type DiskHolder =
  | 'images-in-use'
  | 'images-unused'
  | 'images-pinned'
  | 'images'
  | 'not-images'
  | 'image-content'
  | 'leftover-snapshots'
  | 'other-namespaces'
  | 'writable-layers'
  | 'dead-containers'
  | 'container-logs'
  | 'log-debris'
  | 'pod-volumes'
  | 'memory-volumes'
  /** In folders of pods and in no volume. */
  | 'pod-folders'
  /** In folders of containers, for volumes that their images declare. Neither kubelet nor runtime counts them. */
  | 'image-volumes'
  /** hostPath and local volumes of pods. */
  | 'host-path'
  | 'local-volumes'
  | 'orphaned-pods'
  | 'kubelet'
  | 'journal'
  | 'host-logs'
  | 'core-dumps'
  | 'package-caches'
  | 'temporary-files'
  | 'other-runtime'
  | 'system'
  /** A folder that no other line explains. */
  | 'unknown-folder'
  | 'deleted-open-files'
  | 'reserved-blocks'
  | 'unread'
  | 'not-explained'

export type LedgerSource =
  | 'stats summary'
  | 'crictl'
  | 'ctr'
  | 'du'
  | '/proc'
  | 'df'
  /** Computed: the used bytes minus the other lines. */
  | 'rest'

export interface LedgerLine {
  holder: DiskHolder
  bytes: number
  /** Bounds of `bytes`. `highBytes` can exceed the used bytes if readings of different moments disagree. */
  lowBytes: number
  highBytes: number
  /** Null: unknown. These inodes are then part of the rest. */
  inodes: number | null
  source: LedgerSource
}

/** The lines' bytes add up to exactly `usedBytes`: capacity minus available bytes, as image GC counts. */
export interface FilesystemLedger {
  filesystem: 'nodefs' | 'imagefs'
  capacityBytes: number
  usedBytes: number
  /** Null: the filesystem has no inode table, or its inodes were not read. */
  usedInodes: number | null
  lines: LedgerLine[]
}

export type HolderOwner =
  /** `workload`: `Kind name` of the controller, for a ReplicaSet of its Deployment. Null: no controller. */
  | {
      kind: 'container'
      namespace: string
      pod: string
      container: string
      workload: string | null
    }
  /** `volume`: its name in the pod. Null: the whole pod. */
  | { kind: 'pod'; namespace: string; pod: string; workload: string | null; volume: string | null }
  /** `namespace` and `pod` null: a process of the host, or of a pod that the API does not list for this node. */
  | { kind: 'process'; command: string; pid: number; namespace: string | null; pod: string | null }
  /** `workloads`: `namespace/Kind name`, sorted, at most five. `isInUse` null: not every container was read. `isEvicted`: a pod that the kubelet evicted here runs it. */
  | {
      kind: 'image'
      reference: string
      workloads: string[]
      isInUse: boolean | null
      isEvicted?: true
      /** Of an image that no container uses: whose ended pods ran it here, or who runs another version of it. Absent: not known. */
      lastUsers?: string[]
    }

export type PodHolder = Extract<HolderOwner, { kind: 'pod' }>
export type ContainerHolder = Extract<HolderOwner, { kind: 'container' }>

export const podOwner = (pod: KubernetesPod, volume: string | null): PodHolder => ({
  kind: 'pod',
  ...placeInCluster(pod),
  volume,
})

export const containerOwner = (pod: KubernetesPod, container: string): ContainerHolder => ({
  kind: 'container',
  ...placeInCluster(pod),
  container,
})

function placeInCluster(pod: KubernetesPod) {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  return { namespace, pod: name, workload: controllerOf(pod) }
}

/** One part of a holder, with owner and place. */
export interface HolderPart {
  holder: DiskHolder
  /** `memory`: a volume in memory, which is part of no filesystem's ledger. */
  filesystem: 'nodefs' | 'imagefs' | 'memory'
  /** Bounds; equal if measured. `highBytes` null: no upper bound. */
  lowBytes: number
  highBytes: number | null
  /** Null: unknown. */
  inodes: number | null
  /** Absolute folder or file on the node. Null: not one place. */
  place: string | null
  /** Null: no owner in the cluster, or not known. */
  owner: HolderOwner | null
  /** Of local PersistentVolumes: their claims as `namespace/name`, at most three. Absent: not known. */
  claims?: string[]
}

/** Local storage of pods. */
export interface DiskUse {
  bytes: number
  layerBytes: number
  logBytes: number
  volumeBytes: number
  /** Request and limit of `ephemeral-storage`; null: no container sets one. */
  requestBytes: number | null
  limitBytes: number | null
}

export interface PodDiskUse extends DiskUse {
  namespace: string
  name: string
  /** `Kind name` of the controller; for a ReplicaSet, of its Deployment. Null: no controller. */
  owner: string | null
}

/** The pods of one owner, or of one namespace, on this node. */
export interface GroupDiskUse extends DiskUse {
  namespace: string
  /** `Kind name` of the owner; `Pod name` for a pod without a controller. Null: the whole namespace. */
  owner: string | null
  pods: number
}

/** @param pods number of pods that the use is of */
export function addUse(sum: GroupDiskUse, use: DiskUse, pods: number) {
  sum.pods += pods
  sum.bytes += use.bytes
  sum.layerBytes += use.layerBytes
  sum.logBytes += use.logBytes
  sum.volumeBytes += use.volumeBytes
  sum.requestBytes = sumOfSet(sum.requestBytes, use.requestBytes)
  sum.limitBytes = sumOfSet(sum.limitBytes, use.limitBytes)
}

const sumOfSet = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : a + b

/** Bytes that can be freed without harm to running pods, and bytes that cannot be used. Null: unknown. */
export interface Freeable {
  /** Unpacked and packed layers of all unused images, at most: the most that lower thresholds can free. */
  unusedImageBytes: number | null
  /** The part that the kubelet deletes now, under pressure or by a round of image GC that is due, at most. Absent: none, or unknown. */
  deletedNow?: { why: 'pressure' | 'image-gc'; bytes: number }
  deadContainerBytes: number | null
  /** Bytes of logs and folders of deleted pods. Leftover snapshots are not freeable: only a new node is without them. */
  debrisBytes: number | null
  /** Available bytes below the highest hard threshold: the kubelet evicts before pods can use them. */
  unusableBytes: number | null
}

/** An EBS volume. Null: EC2 does not report it. */
export interface NodeVolume {
  volumeId: string | null
  /** `/dev/xvda`. */
  device: string | null
  /** `gp3`. */
  type: string | null
  sizeBytes: number | null
  iops: number | null
}

/** Share of its volume that a filesystem has. Partitions and metadata take the rest. */
export const shareOfVolume = { least: 0.85, most: 1.02 }

export const hasVolumeSize = (capacityBytes: number, sizeBytes: number) =>
  capacityBytes >= shareOfVolume.least * sizeBytes &&
  capacityBytes <= shareOfVolume.most * sizeBytes

/** Owners that a ledger lists at most. */
export const listedOwners = 5

export interface NodeLedger {
  schema: 'highwater.ledger/1'
  /** Whether nodefs is imagefs too. False: it is not, or is not known to be. */
  isShared: boolean
  filesystems: FilesystemLedger[]
  /** At most five of a holder and filesystem, largest first. Only pods that the API lists for this node are owners. */
  parts: HolderPart[]
  /** Up to five pods, largest first. Empty: there are no statistics of pods. */
  pods: PodDiskUse[]
  /** Up to five owners, largest first. */
  owners: GroupDiskUse[]
  /** Up to twenty namespaces, largest first. */
  namespaces: GroupDiskUse[]
  freeable: Freeable
  /** Up to eight volumes, sorted by device. Null: not read. Empty: EC2 lists no volume. */
  volumes: NodeVolume[] | null
  /** Why the volumes were not read. Null: they were read, or EC2 was not queried. */
  volumesUnread: string | null
}

type ImageOwner = Extract<HolderOwner, { kind: 'image' }>

/** What the report shows of a node's disks. */
export interface DiskLedger extends Omit<NodeLedger, 'parts'> {
  /** The images that can be the largest, largest first. Absent: none of a GiB. */
  images?: (Pick<ImageOwner, 'reference' | 'workloads' | 'isInUse' | 'lastUsers'> &
    Record<'lowBytes' | 'highBytes', number>)[]
}

const shownImages = 5
const leastImageBytes = 2 ** 30

export function shownLedger({ parts, ...ledger }: NodeLedger): DiskLedger {
  const images = parts
    .flatMap(({ owner, lowBytes, highBytes }) => {
      if (owner?.kind !== 'image' || (highBytes ?? lowBytes) < leastImageBytes) return []
      const { kind: _, isEvicted: __, ...image } = owner
      return [{ ...image, lowBytes, highBytes: highBytes ?? lowBytes }]
    })
    .toSorted((a, b) => b.highBytes - a.highBytes)
    .slice(0, shownImages)
  return { ...ledger, ...(images.length > 0 && { images }) }
}

export const fullestOf = (disks: readonly FilesystemLedger[]): FilesystemLedger | undefined =>
  disks.toSorted((a, b) => b.usedBytes / b.capacityBytes - a.usedBytes / a.capacityBytes)[0]

/** Share of the used bytes below which a holder is rounding. */
const leastHeld = 0.0001

/** The lines of the holders that a person is shown. */
export const heldLines = ({ lines, usedBytes }: FilesystemLedger): LedgerLine[] =>
  lines.filter(({ highBytes }) => highBytes >= leastHeld * usedBytes)

/* Signals that thresholds watch. On a shared disk, a threshold on a signal of nodefs also watches the signal of imagefs, and vice versa. */

export type NodeCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

/** Upstream: pkg/kubelet/eviction/helpers.go signalToNodeCondition. */
export function conditionOf(signal: Signal): NodeCondition {
  if (signal === 'memory.available' || signal === 'allocatableMemory.available')
    return 'MemoryPressure'
  return signal === 'pid.available' ? 'PIDPressure' : 'DiskPressure'
}

/** A threshold of 0 (`0.0%`) parses but is never met. */
export const canBeMet = ({ resolved }: EvaluatedThreshold) => resolved !== 0

/** Signals of nodefs and imagefs that watch the same thing where both are one filesystem. */
const sisters: Record<string, Signal> = {
  'nodefs.available': 'imagefs.available',
  'nodefs.inodesFree': 'imagefs.inodesFree',
  'imagefs.available': 'nodefs.available',
  'imagefs.inodesFree': 'nodefs.inodesFree',
}

export const sisterSignal = (signal: string): Signal | null => sisters[signal] ?? null

/** What a signal observes: a disk or its inodes, memory or process ids. */
export function resourceOf(signal: Signal, layout: Filesystems['layout']): string {
  const condition = conditionOf(signal)
  if (condition !== 'DiskPressure') return condition
  const [disk, unit = ''] = signal.split('.')
  if (layout === 'shared') return unit
  const ofContainers = layout === 'imagefs' ? 'imagefs' : 'nodefs'
  return `${disk === 'containerfs' ? ofContainers : disk} ${unit}`
}

/** Whether a hard or soft threshold watches `signal` or, on a shared disk, its sister. Null: the answer depends on the unknown layout. */
export function isWatched(
  signal: string,
  thresholds: EvaluatedThreshold[],
  layout: Filesystems['layout'],
): boolean | null {
  const watchedSignals = new Set<string>(
    thresholds.filter(canBeMet).map(threshold => threshold.signal),
  )
  if (watchedSignals.has(signal)) return true
  const sister = sisterSignal(signal)
  if (sister === null || !watchedSignals.has(sister)) return false
  return layout === null ? null : layout === 'shared'
}

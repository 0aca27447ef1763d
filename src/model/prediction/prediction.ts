/** Predicted acts of the upstream kubelet on one node (the contract `highwater.prediction/1`, per node). Bytes, inodes and pids are plain counts. */

import type { Quantity } from '#base/go/quantity.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { NodeLedger } from '#model/prediction/disk-ledger.ts'

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

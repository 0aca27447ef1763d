/** What the upstream kubelet would do with one node's state (the contract `highwater.prediction/1`, per node). Bytes, inodes and pids are plain counts. */
import type { NodeLedger } from './disk-ledger.ts'
import type { KubeletConfiguration } from './kubelet-configuration.ts'
import type { Quantity } from './quantity.ts'

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

/** What the eviction manager sees of one signal. Upstream: pkg/kubelet/eviction/types.go signalObservation. */
export interface Observation {
  available: number
  capacity: number
  /** RFC 3339 time of the statistics; null when they carry none. */
  time: string | null
}

/**
 * `quantity` in bytes or counts; `percentage` is upstream's float32 of 1, not of 100 (`10%` reads 0.10000000149011612, `nan%` reads NaN); `text` is as
 * configured. Upstream: eviction/api/types.go ThresholdValue.
 */
export type ThresholdValue =
  | { quantity: Quantity; text: string }
  | { percentage: number; text: string }

/** One parsed threshold. Upstream: eviction/api/types.go Threshold. */
export interface Threshold {
  signal: Signal
  operator: 'LessThan'
  value: ThresholdValue
  /** 0 means hard, in either map. */
  gracePeriodMs: number
  minReclaim: ThresholdValue | null
}

/**
 * What gave a threshold its value. `configured`: someone, it is not known where; `no file`: without a configuration file there are no defaults;
 * `earlier files`: files as they were when the kubelet started, for now they come to something else;
 * `kubelet`: the kubelet itself, by another threshold (allocatable memory by memory, containerfs by the filesystem it lies on).
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
  /** `likely`: it has that value, and no data contradicts it. */
  certainty: 'certain' | 'likely'
  /** The path of the file or drop-in; else null. */
  path: string | null
}

/** A default of this kubelet that does not run, and what took it away. */
export interface LostThreshold {
  signal: string
  value: string
  by: ThresholdOrigin
}

/** A threshold against this node's observation. Null: not observed, so not known (never 0). */
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
  /** In a node's prediction always. */
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
 * `shared`: nodefs, imagefs and containerfs are one filesystem; `imagefs`: the runtime has its own; `split`: images have their own, containers live on nodefs.
 * Device ids are not exposed by the API, so a shared layout is `likely` unless the node itself said so.
 */
export type FilesystemLayout = 'shared' | 'imagefs' | 'split'

export interface Filesystems {
  nodefs: FilesystemState | null
  imagefs: FilesystemState | null
  containerfs: FilesystemState | null
  layout: FilesystemLayout | null
  layoutCertainty: 'certain' | 'likely' | null
}

/** Of an act under all that cannot be observed: it happens in every case, or in some. */
export type Certainty = 'certain' | 'possible'

export interface ImageDeletion {
  /** The CRI id where known, else the first name. */
  image: string
  names: string[]
  sizeBytes: number | null
  /** Place in upstream's order, from 0; equal only where upstream has no order among these; null where what cannot be observed decides it. */
  rank: number | null
  reason: 'age' | 'space'
  certainty: Certainty
}

export interface KeptImage {
  image: string
  reason: 'in-use' | 'pinned' | 'too-young' | 'sandbox' | 'not-needed' | 'unknown'
}

/** One image-GC round at this moment. Upstream: pkg/kubelet/images/image_gc_manager.go GarbageCollect. */
export interface ImageGcPrediction {
  /** False when `imageGCHighThresholdPercent` 100 stops the loop. */
  enabled: boolean
  highThresholdPercent: number
  lowThresholdPercent: number
  /** Null with the three below when the image filesystem was not observed. */
  triggered: boolean | null
  usagePercent: number | null
  /** Bytes that may still be written before the trigger; 0 when triggered. */
  bytesUntilTrigger: number | null
  /** Image GC starts above this used percentage; null: it never starts. */
  startsAboveUsedPercent: number | null
  /** Image GC starts with fewer available bytes than this; null: it never starts, or the capacity is not known. */
  startsBelowAvailableBytes: number | null
  /** Below 0 if more than the low threshold is available already: one image is deleted all the same. */
  bytesToFree: number | null
  /** By the kubelet's counting of image sizes, for space alone. Null, with the two around it: not determined by what is known of the images. */
  reachesLow: boolean | null
  freedBytes: number | null
  shortfallBytes: number | null
  /** Upstream's, where the round surely ends in one. */
  error: string | null
  /** Null, with `kept`: no list of images was read, and some may go. */
  deletions: ImageDeletion[] | null
  kept: KeptImage[] | null
}

/** An observation in the public prediction. Inodes and pids use the same fields as bytes. */
export interface ObservedSignal {
  availableBytes: number
  capacityBytes: number
  time: string | null
}

/** A pod in upstream's order of eviction under one signal. */
export interface RankedPod {
  namespace: string
  name: string
  /** From 0, first to be evicted; equal only where upstream has no order among these. */
  rank: number
  qos: string
  priority: number
  /** Bytes, inodes or processes; null: the kubelet has no statistics of it, which ranks it first (memory, disk). */
  usage: number | null
  request: number
  /** The reason for its rank, for people. */
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
  /** Defaults that this configuration took away; off (`0%`) is not lost. */
  lost: LostThreshold[]
  /** What the kubelet then reports: `DiskPressure`, … */
  conditions: string[]
  /** Several: upstream picks any of them; none: the pass does nothing. */
  actsOn: Signal[]
  /** What the kubelet collects before it evicts, in its order, whichever of `actsOn` it picks. */
  nodeReclaim: ('containers' | 'images')[]
  /** The images that go where node-level reclaim deletes unused ones. Null: images are not known. */
  imageDeletions: ImageDeletion[] | null
  /** One for every signal with a threshold, met or not. Null, as the two below: pods or statistics are not known. */
  rankings: Ranking[] | null
  /** Whom this pass evicts, those over their storage limits included. */
  victims: Victim[] | null
  /** Whom upstream never evicts. */
  protected: ProtectedPod[] | null
  /** Upstream's text where the running maps would not even parse; thresholds are then empty. */
  error: string | null
}

export interface ContainerRemoval {
  kind: 'container' | 'sandbox' | 'logDirectory'
  /** The CRI id; of a log directory its name. */
  id: string
  namespace: string | null
  pod: string | null
  /** Null for sandboxes and log directories. */
  container: string | null
}

/** A pod over one of its own limits: evicted by every pass, pressure or not. Upstream: eviction_manager.go localStorageEviction. */
export interface LocalStorageEviction extends PodName {
  limit: 'emptyDir' | 'pod' | 'container'
  /** The volume or the container; of a pod's limit its name. */
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

/** By resource name the canonical quantity, and whether the node reports the same; null: something that decides it is not known. */
export type AllocatablePrediction = Record<string, string | boolean | null> & {
  matchesNode: boolean | null
}

/** What another kubelet minor changes on a node. */
export interface KubeletUpgrade {
  from: string | null
  to: string
  /** Upstream's texts with which the new kubelet would not start: refused fields, removed flags, cgroup v1. */
  errors: string[]
  /** False: the files were not read, so the running configuration was validated. */
  isFromFiles: boolean
  /** Settings that come out different with the same files: defaults, fields that it drops. */
  changedSettings: ChangedSetting[]
  /** Feature gates by their state in use. */
  changedGates: ChangedSetting[]
  /** Signals under which the order of eviction differs. Null: pods or their statistics were not read. */
  changedOrders: Signal[] | null
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
 * What happens on a node that fills. `atMs`, `earliestMs` and `latestMs` count from the prediction's `at`: the likely time and its bounds.
 * `certain`: it happens in every case that the known facts permit.
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
        /** As the kubelet counts: listed sizes of images that went for space. */
        freedBytes: number
        /** On the disk. */
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
        /** On the disk. */
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
 * What the kubelet would say to the files on the node's disk at its next start: `errors` empty means that it would start.
 * A running configuration cannot show this: the kubelet never reloads. Upstream: pkg/kubelet/apis/config/validation ValidateKubeletConfiguration
 * and the construction-time checks of eviction maps.
 */
export interface NextStartPrediction {
  /** Paths read, main file first, then drop-ins in the order of their merge. */
  files: string[]
  errors: string[]
  /** The image-GC percentages that the files come to; null where they could not be merged. */
  imageGCHighThresholdPercent: number | null
  imageGCLowThresholdPercent: number | null
  /** Null where they could not be merged. */
  settings: StartSettings | null
}

/** The configuration of the kubelet's next start, and the file or flag that sets each value. */
export interface StartSettings {
  configuration: KubeletConfiguration
  /** Before the flags. */
  withoutFlags: KubeletConfiguration
  /** By path, keys of maps each by their own (`evictionHard.nodefs.available`), in the kubelet's order. */
  said: Record<string, SaidSetting[]>
  /** Keys that the kubelet drops in silence. */
  ignored: IgnoredSetting[]
  /** Files beside those it reads. */
  unread: UnreadFile[]
  /** Without it a flag may say anything. */
  isCommandLineKnown: boolean
}

export interface SaidSetting {
  by: 'file' | 'drop-in' | 'flag'
  /** Path of the file; the flag. */
  where: string
  /** As written; null takes away what was there before. */
  value: unknown
}

export interface IgnoredSetting {
  file: string
  key: string
  value: unknown
  /** That it sets, or was meant to set; null: none is like it. */
  field: string | null
  /** `minor`: this kubelet does not know the field. */
  why: 'misspelt' | 'case' | 'minor' | 'unknown'
}

export interface UnreadFile {
  path: string
  /** `folder`: it lies in none that the kubelet is given, `name`: not *.conf, `minor`: this kubelet reads no drop-ins, `other`: `--config` names another. */
  why: 'folder' | 'name' | 'minor' | 'other'
  /** By path; nulls left out. */
  values: Record<string, unknown>
}

/** What could not be computed, and what that does to the answer. */
export interface Unknown {
  what: string
  /** The part of the prediction that it makes null. */
  part?: 'configuration' | 'imageGC' | 'nextStart'
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
  /** The periodic pass over dead containers. Null, as the four below: what it depends on was not read. */
  containerGC: { removals: ContainerRemoval[] } | null
  localStorageEvictions: LocalStorageEviction[] | null
  oomScores: OomScore[] | null
  allocatable: AllocatablePrediction | null
  /** What its files and flags come to, where only they were read: then all of this rests on it. Absent: on what runs. */
  configurationOnDisk?: KubeletConfiguration
  /** Upstream's errors if a kubelet would not start with the requested configuration. Absent: no configuration requested. */
  refusals?: string[]
  /** Null where the node's files were not read. */
  nextStart: NextStartPrediction | null
  /** Only if a filling disk was requested. Null: an input is unknown. */
  timeline?: TimelineEvent[] | null
  /** With `--kubelet`: the rest of the prediction is of that version. */
  upgrade?: KubeletUpgrade
  /** Null: the size of no filesystem is known. */
  ledger: NodeLedger | null
  unknowns: Unknown[]
}

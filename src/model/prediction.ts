/** What the upstream kubelet would do with one node's state (the contract `highwater.prediction/1`, per node). Bytes, inodes and pids are plain counts. */
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
export type ThresholdValue = { quantity: Quantity; text: string } | { percentage: number; text: string }

/** One parsed threshold. Upstream: eviction/api/types.go Threshold. */
export interface Threshold {
  signal: Signal
  operator: 'LessThan'
  value: ThresholdValue
  /** 0 means hard, whichever map it stands in. */
  gracePeriodMs: number
  minReclaim: ThresholdValue | null
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

/** One image-GC round at this moment. Upstream: pkg/kubelet/images/image_gc_manager.go GarbageCollect. */
export interface ImageGcPrediction {
  /** False when `imageGCHighThresholdPercent` 100 stops the loop. */
  enabled: boolean
  highThresholdPercent: number
  lowThresholdPercent: number
  /** Null with the four below when the image filesystem was not observed. */
  triggered: boolean | null
  usagePercent: number | null
  /** Bytes that may still be written before the trigger; 0 when triggered. */
  bytesUntilTrigger: number | null
  bytesToFree: number | null
  error: string | null
}

export interface EvictionPrediction {
  signals: Partial<Record<Signal, Observation>>
  thresholds: EvaluatedThreshold[]
  /** Upstream's text where the running maps would not even parse; thresholds are then empty. */
  error: string | null
}

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
}

/** What could not be computed, and what that does to the answer. */
export interface Unknown {
  what: string
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
  /** Null where the node's files were not read. */
  nextStart: NextStartPrediction | null
  unknowns: Unknown[]
}

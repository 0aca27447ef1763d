/** What a timeline goes by. */
import type { Observation, Signal } from '#model/prediction.ts'
import type { Fill } from '#model/what-if.ts'
import type { EvictionConfig } from '#replay/eviction/config.ts'
import type { DiskLayout } from '#replay/eviction/layout.ts'
import type { NodeCondition } from '#replay/eviction/signals.ts'
import type { TimeBounds } from '#replay/image-gc/known-times.ts'
import type { ImageGcPolicy } from '#replay/image-gc/policy.ts'
import type { FreedBy } from '#replay/image-gc/unpacked-bytes.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod } from '#replay/pods/pod.ts'
import type { PodStatsIndex } from '#replay/pods/pod-stats.ts'

/** Stands for dead containers that only eviction's container GC removes. */
export const deadUser = ''

/** Stands for dead containers that the container GC of every minute removes. */
export const expiringUser = ' '

export interface TimelineImage {
  id: string
  sizeBytes: number
  /** Null: unknown. */
  isPinned: boolean | null
  /** Used by something that no eviction ends. Null: unknown. */
  isHeld: boolean | null
  /** `namespace/name` of the pods whose containers use it, `deadUser`, `expiringUser`. */
  pods: readonly string[]
  /** Null: the kubelet has not listed it yet. */
  firstDetectedMs: number | null
  firstDetectedLatestMs: number
  lastUsedMs: number
}

export interface TimelineInput {
  startMs: number
  kubelet: Kubelet
  eviction: EvictionConfig
  /** Null: the loop does not run; eviction deletes by `minimumAgeMs` alone. */
  imageGc: ImageGcPolicy | null
  evictionImageGc: ImageGcPolicy
  layout: DiskLayout
  observations: Partial<Record<Signal, Observation>>
  fills: readonly Fill[]
  pods: readonly Pod[]
  podStats: PodStatsIndex
  images: readonly TimelineImage[]
  freedBy: FreedBy
  /** What eviction's container GC would remove at first. */
  deadContainers: number
  /** When the loop of image GC began. */
  beganGcMs: number
  /** Null: unknown. */
  gcLoopStart: TimeBounds | null
  /** What the node reports at the start. */
  conditions: readonly NodeCondition[]
}

/** The input of a timeline. */

import type { Fill } from '#model/plan/what-if.ts'
import type { NodeCondition, Observation, Signal } from '#model/prediction/prediction.ts'
import type { DiskLayout } from '#replay/eviction/observations.ts'
import type { EvictionConfig } from '#replay/eviction/thresholds.ts'
import type { ImageGcPolicy } from '#replay/image-gc/round.ts'
import type { FreedBy } from '#replay/image-gc/unpacked-bytes.ts'
import type { Kubelet } from '#replay/kubelet.ts'
import type { Pod } from '#replay/pods/pod.ts'
import type { PodStatsIndex } from '#replay/pods/pod-stats.ts'
import type { TimeBounds } from '#replay/times.ts'

/** Stands for dead containers that only eviction's container GC removes. */
export const deadUser = ''

/** Stands for dead containers that the container GC of every minute removes. */
export const expiringUser = ' '

export interface TimelineImage {
  id: string
  sizeBytes: number
  /** Null: unknown. */
  isPinned: boolean | null
  /** True: a user that no eviction ends uses the image. Null: unknown. */
  isHeld: boolean | null
  /** Users of the image: pods as `namespace/name`, `deadUser`, `expiringUser`. */
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
  /** Null: the loop does not run. Eviction then uses only `minimumAgeMs`. */
  imageGc: ImageGcPolicy | null
  evictionImageGc: ImageGcPolicy
  layout: DiskLayout
  observations: Partial<Record<Signal, Observation>>
  fills: readonly Fill[]
  /** Only the first assumption is followed, so the events have no bounds. */
  isLikelyCourse: boolean
  pods: readonly Pod[]
  podStats: PodStatsIndex
  images: readonly TimelineImage[]
  freedBy: FreedBy
  /** Number of containers that eviction's first container GC would remove. */
  deadContainers: number
  /** When the image GC loop began, in ms since 1970. */
  beganGcMs: number
  /** Null: unknown. */
  gcLoopStart: TimeBounds | null
  /** Conditions that the node reports at the start. */
  conditions: readonly NodeCondition[]
}

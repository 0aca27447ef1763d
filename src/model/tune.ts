/** What `highwater tune --format json` prints (`highwater.tune/1`). */

import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { DurableFix, NodeSample } from './finding.ts'

export const tuneSettings = ['today', 'vendor', 'upstream', 'recommended', 'stricter'] as const
/**
 * `today`: as it runs; `vendor`: the AMI's defaults; `upstream`: the kubelet's; `recommended`: today's with the fixes of all rules on image GC and
 * eviction; `stricter`: the same with image GC 10 percentage points earlier.
 */
export type TuneSetting = (typeof tuneSettings)[number]

export type TunedConfiguration = Pick<
  KubeletConfiguration,
  'imageGCHighThresholdPercent' | 'imageGCLowThresholdPercent' | 'evictionHard'
>

/** One setting on all nodes of the group; counts are those of a day at each node's growth, by the likely course of events. */
export interface TuneRow {
  setting: TuneSetting
  /** Of the first node. `isAlike`: of all nodes. */
  configuration: TunedConfiguration
  isAlike: boolean
  /** Number of nodes by what acts first within the day. */
  first: { imageGC: number; eviction: number; nothing: number }
  /** Rounds that delete an image. */
  imageGCs: number
  /** Bytes that deletions of images free on the disks. */
  deletedBytes: number
  /** Of the deleted images, the packed bytes of those that pods use on other nodes of the group. */
  pulledAgainBytes: number
  evictions: number
  diskPressureMinutes: number
  /** Below the highest eviction threshold of each disk. Null: unknown of every node. */
  unusableBytes: number | null
}

export interface TuneDocument {
  schema: 'highwater.tune/1'
  takenAt: string
  group: string
  /** Clusters with nodes of the group. */
  clusters: string[]
  nodes: number
  /** Nodes without measured growth: in no count of a day. */
  unmeasured: NodeSample
  /** Sum of the growth of the measured nodes. */
  bytesPerHour: number
  rows: TuneRow[]
  /** Fields that the recommendation changes, as `FIELD=VALUE` for `plan --set`. Empty: today's setting is the recommended one. */
  changes: string[]
  /** Percentages of image GC that were not recommended: on this node it would start now, and could not end. Null: none. */
  leftOut: { high: number; low: number; node: string } | null
  durable: DurableFix[]
  inputErrors: string[]
}

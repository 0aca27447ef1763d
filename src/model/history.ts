/** History of past runs in a store: findings with their first days, facts per node and day, and numbers per cluster over time. */

import type { AmiFamily, NodeIdentity, ReadMode, Subject } from '#model/input/record.ts'
import type { ComparedFinding, ComparedRun, Ending, MetNode } from './delta.ts'
import type { Coverage, CoverageState, FindingsDocument, Grade, Severity } from './finding.ts'
import type { FilesystemLayout } from './prediction.ts'

/** Dates are days in UTC, YYYY-MM-DD. */
export interface RememberedFinding extends ComparedFinding {
  /** First day since which the finding has been open without a break. */
  since: string
  /** Last day it was seen. Earlier than the run's day if this run could not decide. */
  lastSeen: string
}

export interface PastFinding
  extends Pick<
    RememberedFinding,
    'id' | 'rule' | 'cluster' | 'subject' | 'title' | 'severity' | 'since' | 'lastSeen'
  > {
  ended: Ending
  /** Day of the first run without the finding. */
  on: string
}

/** If a finding with such an ending appears again, it counts as returned. */
export const isRepaired = ({ ended }: PastFinding) => ended === 'fixed' || ended === 'replaced'

/** One run of the whole fleet, with which the next run compares itself (`history/runs/<runId>.json.gz`). */
export interface RememberedRun {
  schema: 'highwater.history/1'
  runId: string
  document: Pick<FindingsDocument, 'run' | 'clusters' | 'unknowns' | 'notAudited'> & {
    findings: RememberedFinding[]
    waived: RememberedFinding[]
  }
  nodes: MetNode[]
  ruleErrors: NonNullable<ComparedRun['ruleErrors']>
  past: PastFinding[]
  /** Last reading of each cluster. */
  readings: ClusterReading[]
}

export interface ClusterReading {
  cluster: string
  /** Place whose clusters were enumerated at the last reading. Null: the operator named the cluster, or a snapshot was read. */
  scope: string | null
  /** Day of the last reading. */
  on: string
  /** The run did not include the cluster. Its state is carried over from an earlier run. */
  isCarried: boolean
}

interface RememberedFilesystem {
  capacityBytes: number | null
  availableBytes: number | null
  inodes: number | null
  inodesFree: number | null
}

/** Readings of a machine's disks since its start: oldest first, at most 9 in 8 days. A new start or a new disk size begins a new series. */
export interface FillSeries {
  bootId: string
  layout: FilesystemLayout
  nodefsCapacityBytes: number | null
  /** Null: imagefs is nodefs, or its capacity is unknown. */
  imagefsCapacityBytes: number | null
  readings: FillReading[]
  /** RFC 3339: evictions of pods that runs of the same time saw, by time; at most 9. */
  evictedAt: string[]
}

/** Used bytes are capacity minus available bytes, as image GC counts. Null: not read, or imagefs is nodefs. */
export interface FillReading {
  /** RFC 3339. */
  at: string
  nodefsUsedBytes: number | null
  imagefsUsedBytes: number | null
}

/** Maximum number of happenings that a node keeps. */
export const mostHappenings = 24

/** Something that happened on a node between two runs. `refused`: the kubelet did not admit the pod. */
export interface Happening {
  /** RFC 3339. */
  at: string
  what: 'evicted' | 'refused' | 'image-gc-failed' | 'image-deleted' | 'condition' | 'reboot'
  /** `namespace/name` of a pod; a condition; an image; the node. */
  subject: string
  /** Text of the kubelet. */
  message: string
  /** Of a condition. Absent: not a condition. */
  status?: 'True' | 'False' | 'Unknown'
  /** Scarce resource of an eviction, as the kubelet names it. Absent: the pod exceeded its own limit, or the resource is unknown. */
  resource?: string
}

/** Whether a node may have had more than its record keeps. */
export const areHappeningsCut = (happened: readonly Happening[] | undefined): boolean =>
  happened?.length === mostHappenings

/** An image: the end of its name, its size in bytes by the CRI, and the day since which no container was seen to use the image (null: used; absent: unknown). */
export type RememberedImage = [string, number, (string | null)?]

/** A release that is gone from a node which lists another one of its image: the end of its name, and its size in bytes by the CRI. */
export type PastRelease = [string, number]

/** A round of image GC, or all rounds between two readings. Null bytes are unknown. */
export interface ReclaimRound {
  /** RFC 3339: when the kubelet began the round, or the time of the later reading. */
  at: string
  /** Bytes that the kubelet wanted to free. */
  wantedBytes: number | null
  /** Bytes of the deleted images, by their sizes in the CRI. */
  countedBytes: number | null
  /** Decrease of used bytes on the disk: freed bytes minus bytes written in the meantime. */
  freedBytes: number | null
  /** Value that the replay predicted for `countedBytes`. */
  predictedBytes: number | null
}

/** Readings that explain a later eviction. */
export type EvictionBasis = Pick<NodeFacts, 'at' | 'thresholds' | 'held' | 'firstVictims'>

/**
 * A line of `history/nodes/<cluster>/<day>.ndjson.gz`: facts of one node from the last reading of
 * that day. At most 4,096 bytes.
 */
export interface NodeFacts {
  node: string
  /** RFC 3339. */
  at: string
  runId: string
  group: Subject
  coverage: CoverageState
  mode: ReadMode
  kubeletVersion: string | null
  instanceType: string | null
  amiFamily: AmiFamily
  layout: FilesystemLayout | null
  nodefs: RememberedFilesystem | null
  /** Null: imagefs is nodefs, or unknown; `layout` says which. */
  imagefs: RememberedFilesystem | null
  imageGC: {
    enabled: boolean
    highThresholdPercent: number
    lowThresholdPercent: number
    usagePercent: number | null
    bytesUntilTrigger: number | null
    /** Bytes that the next round counts as freed. Null: no round is due, or the bytes are unknown. */
    predictedBytes: number | null
  } | null
  /** `margin`: available − threshold, in bytes, inodes or pids; null: not observed. */
  thresholds: { signal: string; value: string; hard: boolean; margin: number | null }[] | null
  /** Disk usage in this and earlier readings. Null: the node's start is unknown, or no disk was ever read. */
  fill: FillSeries | null
  /** Events that all runs of the day found, by time. */
  happened: Happening[]
  /** Rounds of image GC, by time; the last six. */
  rounds: ReclaimRound[]
  /** The largest images, largest first. */
  images: RememberedImage[]
  /** The last ones, latest last. Absent: none. */
  pastReleases?: PastRelease[]
  /** Day since which readings show which images are in use. Null: no reading did. */
  imagesSince: string | null
  /** What holds most bytes on the node's disks, largest first. */
  held: { filesystem: string; holder: string; bytes: number }[]
  /** Pods that the kubelet would evict first for memory and disk, in its order. Absent signal: unknown. */
  firstVictims: { signal: string; pods: string[] }[]
  /** The last three readings of the day that an eviction followed, by time. */
  beforeEvictions: EvictionBasis[]
  /** Rules that fail on the node, waived findings included. */
  rules: string[]
  /** What could not be read, and why; empty: nothing was missed. */
  missed: string
  /** Number of rules and thresholds that are left out for lack of room. */
  leftOut: number
}

/** The last reading of a node by an earlier run. */
export type NodeBefore = Pick<
  NodeFacts,
  'at' | 'images' | 'pastReleases' | 'imagesSince' | 'rounds' | 'imageGC' | 'fill' | 'happened'
>

/** Null: no earlier run read the node, or its history could not be read. */
export type EarlierNodes = (node: {
  cluster: string
  identity: Pick<NodeIdentity, 'name'>
}) => NodeBefore | null

export interface Spread {
  min: number
  median: number
  max: number
}

/** A nodegroup or nodepool on one day. Nodes without a group share one point of kind `Node`. */
export interface GroupPoint {
  kind: Subject['kind']
  name: string
  nodes: number
  /** Number of nodes whose image filesystem is known. */
  known: number
  /** Used percent of the image filesystem. Null: known of no node. */
  usedPercent: Spread | null
  /** Number of nodes on which image GC is due or less than 5 percentage points away. Null: known of no node. */
  nearImageGc: number | null
  /** Bytes until image GC on the node that is nearest to it. */
  imageGcHeadroomBytes: number | null
}

/** Sums over the observed rounds of image GC in one cluster whose bytes are known. */
export interface ReclaimSum {
  rounds: number
  countedBytes: number
  freedBytes: number
  /** Difference between predicted and counted bytes, in percent of the counted bytes. Null: no round was predicted. */
  errorPercent: number | null
}

export interface TrendPoint {
  day: string
  runId: string
  grade: Grade | null
  coverage: Coverage
  /** Number of open findings. */
  findings: Record<Severity, number>
  groups: GroupPoint[]
  /** Null: no round of image GC was observed. */
  imageGc: ReclaimSum | null
  /** Number of groups left out. The largest groups are kept. */
  groupsLeftOut: number
}

/** `history/trends/<cluster>.json.gz`: one point per day, from the day's last run. */
export interface ClusterTrend {
  schema: 'highwater.trend/1'
  cluster: string
  points: TrendPoint[]
}

/** What `highwater history NODE` prints as JSON. */
export interface NodeHistory {
  schema: 'highwater.node-history/1'
  node: string
  clusters: {
    cluster: string
    /** Whether the last run of the whole fleet met the node. Null: there is no such run, or it did not include the cluster. */
    isPresent: boolean | null
    /** Growth up to the node's last reading. Empty: the history has no reading of its disks. */
    growth: NodeGrowth
    days: (NodeFacts & { day: string })[]
  }[]
}

/** `imagefs` is present only if it is a separate disk. */
export type NodeGrowth = Partial<Record<'nodefs' | 'imagefs', ObservedGrowth | UnseenGrowth>>

/**
 * Growth of one disk between consecutive readings. Each value is a mean over hours or days. Bytes that come and go between two readings are not seen, so
 * a disk might fill faster than `max`.
 */
export interface ObservedGrowth {
  isSeen: true
  /** Growth in intervals between readings without a fall in usage; never negative. The median is weighted by the intervals' length. */
  bytesPerHour: Spread
  /** Time from the first reading to the last. */
  overMs: number
  readings: number
  /** Number of intervals in which usage fell. Growth in these intervals is unknown. */
  falls: number
}

/** `first`: no earlier reading since the node's start with this disk size; `few`: too few readings; `near`: readings over too short a time; `emptier`: usage rose too rarely. */
export interface UnseenGrowth {
  isSeen: false
  why: 'first' | 'few' | 'near' | 'emptier'
  readings: number
}

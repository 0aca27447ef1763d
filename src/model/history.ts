/** What a store remembers of runs that are over: findings with their first days, a few facts of each node and day, and numbers of each cluster over time. */

import type { ComparedFinding, ComparedRun, MetNode } from './delta.ts'
import type { Coverage, CoverageState, FindingsDocument, Grade, Severity } from './finding.ts'
import type { AmiFamily } from './node-identity.ts'
import type { FilesystemLayout } from './prediction.ts'
import type { ReadMode } from './read-mode.ts'
import type { Subject } from './subject.ts'

/** Dates are days in UTC, YYYY-MM-DD. */
export interface RememberedFinding extends ComparedFinding {
  /** First day of the finding's present stretch. */
  since: string
  /** Last day it was seen. Earlier than the run's day if this run could not decide. */
  lastSeen: string
}

/** How a finding ended. `replaced`: its nodes are gone, and others of their group are without it; `gone`: with all of its nodes; `moved`: another finding reports the same nodes. */
export type Ending = 'fixed' | 'replaced' | 'gone' | 'moved'

export interface PastFinding
  extends Pick<
    RememberedFinding,
    'id' | 'rule' | 'cluster' | 'subject' | 'title' | 'severity' | 'since' | 'lastSeen'
  > {
  ended: Ending
  /** The day of the run that found it ended. */
  on: string
}

/** One whole run as the next one compares itself with it (`history/runs/<runId>.json.gz`). */
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
  /** Of each cluster that is in it. Runs of older versions have none. */
  readings: ClusterReading[]
}

export interface ClusterReading {
  cluster: string
  /** The place that was enumerated when the cluster was read last. Null: the operator named the cluster, or its snapshot was read. */
  scope: string | null
  /** The day on which it was read last. */
  on: string
  /** It was not in that run: what is known of it stands as it was. */
  isCarried: boolean
}

interface RememberedFilesystem {
  capacityBytes: number | null
  availableBytes: number | null
  inodes: number | null
  inodesFree: number | null
}

/** Readings of the disks of one machine since it was started, oldest first, at most 9 of at most 8 days. Another start or another size begins anew. */
export interface FillSeries {
  bootId: string
  layout: FilesystemLayout
  nodefsCapacityBytes: number | null
  /** Null where it is nodefs, or not known. */
  imagefsCapacityBytes: number | null
  readings: FillReading[]
}

/** Used is capacity without what is available, as image GC counts it. Null: not read, or the disk is the other one. */
export interface FillReading {
  /** RFC 3339. */
  at: string
  nodefsUsedBytes: number | null
  imagefsUsedBytes: number | null
}

/** Something that happened on a node between two runs. */
export interface Happening {
  /** RFC 3339. */
  at: string
  what: 'evicted' | 'image-gc-failed' | 'image-deleted' | 'condition' | 'reboot'
  /** `namespace/name` of a pod; a condition; an image; the node. */
  subject: string
  /** The kubelet's own words. */
  message: string
  /** What was low when a pod was evicted, as the kubelet names it; absent: a limit of the pod's own, or not known. */
  resource?: string
}

/** An image: the end of its name, its size by the CRI in bytes, and since which day no container was seen to use it (null: used; absent: not known). */
export type RememberedImage = [string, number, (string | null)?]

/** A round of image GC, or all rounds between two readings. Bytes; null: not known. */
export interface ReclaimRound {
  /** RFC 3339: when the kubelet began it, or the later of two readings. */
  at: string
  /** What the kubelet wanted to free. */
  wantedBytes: number | null
  /** The images that it deleted, by their sizes in the CRI. */
  countedBytes: number | null
  /** By how much the disk became emptier: what was freed, less what was written in the meantime. */
  freedBytes: number | null
  /** What replay had predicted for `countedBytes`. */
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
    /** What the next round counts as freed; null: none is due, or that is not known. */
    predictedBytes: number | null
  } | null
  /** `margin`: available − threshold, in bytes, inodes or pids; null: not observed. */
  thresholds: { signal: string; value: string; hard: boolean; margin: number | null }[] | null
  /** How full its disks were, in this reading and earlier ones; null: not known since when it runs, or no disk was ever read. */
  fill: FillSeries | null
  /** By time, those of all runs of the day. */
  happened: Happening[]
  /** Rounds of image GC, by time; the last six. */
  rounds: ReclaimRound[]
  /** The largest images, largest first. */
  images: RememberedImage[]
  /** What held the most on its disks, largest first. */
  held: { filesystem: string; holder: string; bytes: number }[]
  /** Pods that the kubelet would have evicted first for memory and for disk, in its order. Absent signal: not known. */
  firstVictims: { signal: string; pods: string[] }[]
  /** Earlier readings of the day after which a pod was evicted, by time; the last three. */
  beforeEvictions: EvictionBasis[]
  /** Rules that fail on it, waived ones included. */
  rules: string[]
  /** What could not be read, and why; empty: nothing was missed. */
  missed: string
  /** How many rules or thresholds had no room. */
  leftOut: number
}

/** The least, the middle and the greatest. */
export interface Spread {
  min: number
  median: number
  max: number
}

/** A nodegroup or nodepool on one day; nodes without one together, as kind `Node`. */
export interface GroupPoint {
  kind: Subject['kind']
  name: string
  nodes: number
  /** Of how many of them the image filesystem is known. */
  known: number
  /** Of the image filesystem, as image GC counts it. Null: of none. */
  usedPercent: Spread | null
  /** Nodes on which image GC is due, or less than 5 points of use away. Null: of none is that known. */
  nearImageGc: number | null
  /** Bytes until image GC, on the node that is nearest. */
  imageGcHeadroomBytes: number | null
}

/** Observed rounds of image GC in one cluster, summed up where the bytes are known. */
export interface ReclaimSum {
  rounds: number
  countedBytes: number
  freedBytes: number
  /** Difference between predicted and counted bytes, in percent of the counted ones; null: no round was predicted. */
  errorPercent: number | null
}

export interface TrendPoint {
  day: string
  runId: string
  grade: Grade | null
  coverage: Coverage
  /** Open ones. */
  findings: Record<Severity, number>
  groups: GroupPoint[]
  /** Null: no round of image GC was observed. */
  imageGc: ReclaimSum | null
  /** Groups beyond those that are kept: the largest are. */
  groupsLeftOut: number
}

/** `history/trends/<cluster>.json.gz`: a point a day, the last run of it. */
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
    cluster: string /** Whether the last whole run met it; null: there is none. */
    isPresent: boolean | null
    /** Up to its last reading; empty: none of its disks is remembered. */
    growth: NodeGrowth
    days: (NodeFacts & { day: string })[]
  }[]
}

/** `imagefs` only where it is a disk of its own. */
export type NodeGrowth = Partial<Record<'nodefs' | 'imagefs', ObservedGrowth | UnseenGrowth>>

/**
 * What readings of one disk tell of its growth, from one to the next. It is a mean over hours or days: what comes and goes between two readings is not
 * seen, so a disk may fill faster than the fastest of them.
 */
export interface ObservedGrowth {
  isSeen: true
  /** Of the stretches between readings in which the disk did not become emptier; never below 0. The median is weighted by their length. */
  bytesPerHour: Spread
  /** From the first reading to the last. */
  overMs: number
  readings: number
  /** Number of intervals in which usage fell: the growth within them is unknown. */
  falls: number
}

/** `first`: no earlier reading since the node started, or none of a disk of this size; `few`, `near`: of too few moments, or over too short a time; `emptier`: hardly ever did it grow. */
export interface UnseenGrowth {
  isSeen: false
  why: 'first' | 'few' | 'near' | 'emptier'
  readings: number
}

/** What the report is made of: the findings document, and a compact view of every node. */

import type { Delta } from './delta.ts'
import type { NodeLedger } from './disk-ledger.ts'
import type {
  CoverageState,
  Finding,
  FindingsDocument,
  NotAudited,
  OutcomeCounts,
  Severity,
  UnknownOutcome,
} from './finding.ts'
import type { GarbageOverview } from './garbage-overview.ts'
import type {
  ClusterTrend,
  Happening,
  NodeGrowth,
  PastFinding,
  ReclaimRound,
  RememberedFinding,
  RememberedImage,
  TrendPoint,
} from './history.ts'
import type { NodeIdentity } from './node-identity.ts'
import type { ReportedPlan } from './plan.ts'
import type {
  EvictionPrediction,
  Filesystems,
  ImageGcPrediction,
  PodName,
  Signal,
  ThresholdOrigin,
} from './prediction.ts'
import type { ReadMode } from './read-mode.ts'
import type { ReadError } from './record.ts'
import type { RunState } from './remediation.ts'
import type { Subject } from './subject.ts'

export interface AuditedNode {
  cluster: string
  identity: NodeIdentity
  at: string
  mode: ReadMode
  coverage: CoverageState
  errors: ReadError[]
  prediction: AuditedPrediction
  /** What the rules came to on it: they add up to its cluster's, but for the rules on the cluster itself. */
  outcomes: OutcomeCounts
  /** Observed growth per filesystem, or why it is unknown. Absent: there is no history of nodes. */
  growth?: NodeGrowth
  /** Absent: the size of no filesystem is known. */
  ledger?: NodeLedger
  /** Absent: nothing is known to have happened. */
  happened?: Happening[]
  /** Observed rounds of image GC, by time. */
  rounds?: ReclaimRound[]
  images?: RememberedImage[]
}

/** What the report shows of a prediction: of pods and images only a few names stay, so that memory does not grow with them. */
export interface AuditedPrediction {
  filesystems: Filesystems
  imageGC: Omit<ImageGcPrediction, 'deletions' | 'kept'> | null
  eviction:
    | (Pick<EvictionPrediction, 'signals' | 'thresholds' | 'lost' | 'error'> & {
        firstVictims: FirstVictims[] | null
      })
    | null
  settings: AuditedSettings
}

/** Order of eviction under one signal, without pods that are never evicted. */
export interface FirstVictims {
  signal: Signal
  /** Up to three; equal ranks where upstream has no order among them. */
  pods: (PodName & { rank: number })[]
  /** How many pods rank as the first does. */
  alike: number
}

export const imageGcFields = [
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'imageMinimumGCAge',
  'imageMaximumGCAge',
] as const

export interface ImageGcSetting {
  field: (typeof imageGcFields)[number]
  /** As configured; null: this kubelet has no such setting. */
  value: string | null
  preset: string
  origin: ThresholdOrigin
}

/** A threshold that is written down and does not run (`0%`). */
export interface OffThreshold {
  signal: string
  hard: boolean
  value: string
}

/** What a node is set to, beside its thresholds. Nodes that are set alike share one object. */
export interface AuditedSettings {
  /** What files and flags come to: what runs was not read. */
  isOnDisk: boolean
  /** `1.34`; null: not known. */
  kubeletMinor: string | null
  /** The minor whose defaults these are, where the kubelet's own are not known. */
  borrowedMinor: string | null
  /** The minor, if its replay was not compared with upstream's answers. */
  unprovedMinor?: string
  /** The hard thresholds that such a kubelet gives itself, by signal; null: its minor is not known. */
  hardDefaults: Record<string, string> | null
  off: OffThreshold[]
  /** In the order of `imageGcFields`; null: not known. */
  imageGC: ImageGcSetting[] | null
  /** Why one of the two is not known. */
  missing: { eviction?: string; imageGC?: string }
}

export interface AuditReport {
  document: FindingsDocument
  /** The owner of this part of the fleet; absent: the whole fleet. */
  owner?: string
  nodes: AuditedNode[]
  /** The disk-usage percent at which the team's alert fires (policy). */
  alertPercent: number
  /** The second level of the alert; absent: there is none. */
  criticalAlertPercent?: number
  /** Absent: none requested. */
  plan?: ReportedPlan
  /** Absent: there is no bucket that remediation writes to. */
  notices?: RemediationNotices
  assumptions: Assumptions
  /** Absent or null: nothing is known of a run before. */
  before?: RunBefore | null
  /** How the clusters went, up to this run; absent: nothing is remembered. */
  trends?: ReportedTrend[]
  /** Titles that findings of each rule can have, by rule and key; `usual`: its `docs.title`. */
  ruleTitles?: RuleTitles
  /** Tags of clusters and nodegroups, if known. */
  tags?: ResourceTags[]
  /** Findings without an owner, if the policy has owners. Absent: each has one. */
  ownerless?: Finding[]
  /** Cluster garbage per searched cluster; absent: no cluster was searched. */
  garbage?: GarbageOverview[]
}

export type RuleTitles = Record<string, Record<string, string>>

/** What is taken for granted where nothing was observed (policy). */
export interface Assumptions {
  /** A disk grows by this part of its capacity in one period of image GC. */
  growthPercent: number
  imageGcPeriodMs: number
  /** Disk that thresholds keep free is stranded from this part of it and this size on, both. */
  strandedPercent: number
  strandedBytes: number
  /** Price of an EBS volume (policy, else the list price of gp3). */
  usdPerGiBMonth: number
  /** An image without a container for so many days is idle. */
  idleImageDays: number
}

export interface ResourceTags {
  cluster: string
  /** Null: the cluster's own. */
  nodegroup: string | null
  tags: Record<string, string>
  /** A nodepool, or a node without a group: the entry has its labels only. */
  group?: Pick<Subject, 'kind' | 'name'>
  /** Kubernetes labels that EKS gives the nodes of the nodegroup, or that all nodes of `group` have. */
  labels?: Record<string, string>
}

/**
 * One point per day; the last is this run's. Grade, findings and omissions are null if the report
 * covers only a part of the cluster.
 */
export interface ReportedTrend extends Pick<ClusterTrend, 'cluster'> {
  points: (Pick<TrendPoint, 'day' | 'grade' | 'groups'> & {
    findings: TrendPoint['findings'] | null
    groupsLeftOut: number | null
  })[]
}

export interface HiddenFinding
  extends Pick<
    RememberedFinding,
    'id' | 'rule' | 'cluster' | 'subject' | 'title' | 'severity' | 'nodes' | 'since' | 'lastSeen'
  > {
  /** The last run could decide it. */
  isNew: boolean
  /** For people: what was not read, and why. */
  why: string[]
}

export interface AbsentCluster {
  cluster: string
  /** Of each finding that was open there. */
  severities: Severity[]
  /** The run before met it, in the place that this run has enumerated, too. */
  isNew: boolean
}

/** The previous run, for the report. */
export interface RunBefore {
  /** RFC 3339: when its nodes were read. */
  takenAt: string
  /** All that changed since. */
  delta: Delta
  /** Findings of that run that are no longer there. */
  ended: PastFinding[]
  /** What that run could not decide or did not audit, in clusters of this run, and this one no longer says. */
  closed: { unknowns: UnknownOutcome[]; notAudited: NotAudited[] }
  /** Open findings of earlier runs that could not be checked today. */
  hidden: HiddenFinding[]
  /** Clusters of earlier runs that this run did not find, and that are not known to be deleted. */
  absent: AbsentCluster[]
  /** Findings of this run that had ended, and how and when they had. */
  returned: Pick<PastFinding, 'id' | 'since' | 'ended' | 'on'>[]
  /** Nodes that were read less completely than in the last run, or are new and not completely read. `node` null: the whole cluster. */
  unread: { cluster: string; node: string | null; hasCome: boolean }[]
}

/** One run of remediation in the last week, from its sealed journal. */
export interface ReportedRun {
  /** Its id. */
  run: string
  state: RunState
  /** What the plan changes: nodes, or objects that it deletes. */
  what: 'nodes' | 'objects'
  planned: number
  changed: number
  failed: number
  rolledBack: number
  clusters: string[]
  /** Approvers in order: name and ARN. The seal of each approval was valid. */
  approvedBy: string[]
  /** RFC 3339. */
  startedAt: string
  /** RFC 3339; null: it is not at its end. */
  endedAt: string | null
  /** RFC 3339: its last change that was noted. */
  at: string
  /** The object that has all of it. */
  place: string
}

/** What remediation has left for the reports. */
export interface RemediationNotices {
  /** The last begun first. */
  runs: ReportedRun[]
  /** Objects without a valid seal, one sentence each, for people. */
  refused: string[]
}

/** One file of the report, as formats make it and channels deliver it. */
export interface RenderedFile {
  name: string
  contentType: string
  body: string
}

/** What became of one channel: `location` null when it failed, `error` says why in a paragraph. `link`: where a reader opens the report, if anywhere. */
export interface Delivery {
  channel: string
  location: string | null
  link: string | null
  error: string | null
}

/** The e-mail of one run: what the channel `ses` sends and the folder keeps as `email.html` and `email.txt`. */
export interface RenderedMail {
  subject: string
  html: string
  text: string
  /** The same in a few lines, for messengers: at most 3,000 characters. */
  brief: string
}

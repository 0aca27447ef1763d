/** Input of the report: the findings document, and a compact view of every node. */

import type { NodeIdentity, ReadError, ReadMode, Subject } from '#model/input/record.ts'
import type { NextUpgrade } from '#model/upgrade.ts'
import type { GarbageOverview } from './cluster-garbage.ts'
import type { Delta, FindingEvent } from './delta.ts'
import type {
  Cause,
  CoverageState,
  Finding,
  FindingsDocument,
  HolderNotes,
  NotAudited,
  OutcomeCounts,
  Severity,
  Step,
} from './finding.ts'
import type {
  ClusterTrend,
  FillSeries,
  Happening,
  NodeGrowth,
  PastFinding,
  PastRelease,
  ReclaimRound,
  RememberedFinding,
  RememberedImage,
  TrendPoint,
} from './history.ts'
import type { ReportedPlan, RunState } from './plan.ts'
import type {
  DiskLedger,
  EvictionPrediction,
  FilesystemLedger,
  Filesystems,
  ImageGcPrediction,
  ObservedSignal,
  PodName,
  Signal,
  ThresholdOrigin,
} from './prediction.ts'

export interface AuditedNode {
  cluster: string
  identity: NodeIdentity
  at: string
  /** RFC 3339: when the Node object was created. Absent: unknown. */
  joinedAt?: string
  mode: ReadMode
  coverage: CoverageState
  errors: ReadError[]
  prediction: AuditedPrediction
  /** Outcomes of the rules on the node. A cluster's outcomes are the sum over its nodes plus the rules on the cluster itself. */
  outcomes: OutcomeCounts
  /** Observed growth per filesystem, or why the growth is unknown. Absent: there is no history of nodes. */
  growth?: NodeGrowth
  /** Readings of the disks by this run and earlier ones. Absent: there is no history of nodes. */
  fill?: FillSeries
  details: () => NodeDetails
  /** Conditions of pressure that the node reports. Absent: none. */
  pressures?: { condition: string; since: string | null }[]
  /** Absent: no event is known. */
  happened?: Happening[]
  /** Observed rounds of image GC, by time. */
  rounds?: ReclaimRound[]
  images?: RememberedImage[]
  pastReleases?: PastRelease[]
  /** Absent: the kubelet is as new as its control plane, or one of the versions is unknown. */
  upgrade?: NextUpgrade
  /** Release of its managed nodegroup: `1.34.2-20251120`. Absent: it has none, or it was not read. */
  release?: string
  /** A nodegroup of the same image and minor with a newer release, the newest. Absent: none in this report. */
  newerRelease?: { release: string; cluster: string; group: Subject }
  imagesSince?: string | null
}

/** What the report shows of few nodes. It may lie in a file, so a caller reads it once. */
export interface NodeDetails {
  /** Absent: no filesystem has a known size. */
  ledger?: DiskLedger
  /** What holds each disk, and what ends it: said where no finding says it. */
  held?: HeldDisks
  /** Absent: the order of eviction is unknown. */
  firstVictims?: FirstVictims[]
  /** Workloads whose pods have images of several names. Absent: none, or there is no history of images. */
  workloads?: WorkloadImages[]
}

/** `images`: names without tags, as pods write them. */
export interface WorkloadImages {
  workload: string
  images: string[]
}

export type HeldDisks = Partial<
  Record<FilesystemLedger['filesystem'] | 'memory', { cause: Cause; steps: Step[]; seen?: string }>
>

/** A node as it was read, before rules that compare nodes have judged it. */
export type TakenNode = Omit<AuditedNode, 'outcomes'>

/** The part of a prediction that the report shows. It keeps few names of pods and images, so that memory does not grow with their number. */
export interface AuditedPrediction {
  filesystems: Filesystems
  imageGC: Omit<ImageGcPrediction, 'deletions' | 'kept'> | null
  eviction:
    | (Pick<EvictionPrediction, 'thresholds' | 'lost' | 'error'> & {
        signals: Partial<Record<Signal, Omit<ObservedSignal, 'time'>>>
      })
    | null
  settings: AuditedSettings
}

/** The prediction as a plain object: a kept one computes its parts at each reading, and JSON does not write them. */
export const plainPrediction = ({
  filesystems,
  imageGC,
  eviction,
  settings,
}: AuditedPrediction): AuditedPrediction => ({ filesystems, imageGC, eviction, settings })

/** Order of eviction under one signal, without pods that are never evicted. */
export interface FirstVictims {
  signal: Signal
  /** Up to three pods. Equal ranks: upstream has no order among these pods. */
  pods: (PodName & { rank: number })[]
  /** Number of pods with the rank of the first pod. */
  alike: number
  /** The kubelet has no statistics of the first pods, as of those that have not started, and evicts them first. */
  isUnmeasured?: true
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

/** A configured threshold that is off (`0%`). */
export interface OffThreshold {
  signal: string
  hard: boolean
  value: string
}

/** Settings of a node, without its thresholds. Nodes with equal settings share one object. */
export interface AuditedSettings {
  /** The settings are computed from files and flags, because the running configuration was not read. */
  isOnDisk: boolean
  /** `1.34`; null: unknown. */
  kubeletMinor: string | null
  /** Default hard thresholds of the kubelet's minor, by signal. Null: the minor is unknown. */
  hardDefaults: Record<string, string> | null
  off: OffThreshold[]
  /** In the order of `imageGcFields`; null: unknown. */
  imageGC: ImageGcSetting[] | null
  /** Why thresholds (`eviction`) or image-GC settings (`imageGC`) are unknown. */
  missing: { eviction?: string; imageGC?: string }
}

export interface AuditReport {
  document: FindingsDocument
  /** The owner of this part of the fleet; absent: the whole fleet. */
  owner?: string
  nodes: AuditedNode[]
  /** The disk-usage percent at which the team's alert fires (policy). */
  alertPercent: number
  /** Disk-usage percent of the alert's second level. Absent: the alert has one level. */
  criticalAlertPercent?: number
  /** The policy does not set it. */
  isAlertAssumed?: true
  /** Absent: no plan was requested. */
  plan?: ReportedPlan
  /** Absent: remediation has no bucket. */
  notices?: RemediationNotices
  assumptions: Assumptions
  /** Absent or null: no previous run is known. */
  before?: RunBefore | null
  /** Trend per cluster, up to this run. Absent: there is no history. */
  trends?: ReportedTrend[]
  /** Possible titles of findings, by rule and key. Key `usual`: the rule's `docs.title`. */
  ruleTitles?: RuleTitles
  /** Tags of clusters and nodegroups, if known. */
  tags?: ResourceTags[]
  /** Findings without an owner, if the policy has owners. Absent: every finding has an owner. */
  ownerless?: Finding[]
  /** Cluster garbage per searched cluster; absent: no cluster was searched. */
  garbage?: GarbageOverview[]
}

export type RuleTitles = Record<string, Record<string, string>>

/** Values of the policy that the report assumes where nothing was observed, and what it says of each kind of holder. */
export interface Assumptions {
  /** Growth of a disk in one period of image GC, in percent of its capacity. */
  growthPercent: number
  imageGcPeriodMs: number
  /** Price of an EBS volume: the policy's, else the list price of gp3. */
  usdPerGiBMonth: number
  /** An image without a container for so many days is idle. */
  idleImageDays: number
  /** Images unpack to at most this multiple of their listed size. */
  mostUnpacking: number
  holders: HolderNotes
}

export interface ResourceTags {
  cluster: string
  /** Null: the tags are the cluster's own. */
  nodegroup: string | null
  tags: Record<string, string>
  /** A nodepool, or a node without a group. The entry then has only labels. */
  group?: Pick<Subject, 'kind' | 'name'>
  /** Kubernetes labels that EKS gives the nodes of the nodegroup, or that all nodes of `group` have. */
  labels?: Record<string, string>
}

/**
 * One point per day; the last is this run's. Grade, findings and omissions are null if the report
 * covers only a part of the cluster.
 */
export interface ReportedTrend extends Pick<ClusterTrend, 'cluster'> {
  points: (Pick<TrendPoint, 'day' | 'grade' | 'groups' | 'imageGc'> & {
    findings: TrendPoint['findings'] | null
    groupsLeftOut: number | null
  })[]
}

export interface HiddenFinding
  extends Pick<
    RememberedFinding,
    'id' | 'rule' | 'cluster' | 'subject' | 'title' | 'severity' | 'nodes' | 'since' | 'lastSeen'
  > {
  /** True: the last run could check the finding. */
  isNew: boolean
  /** For people: the data that was not read, and why. */
  why: string[]
}

export interface AbsentCluster {
  cluster: string
  /** Severity of each finding that was open in the cluster. */
  severities: Severity[]
  /** The previous run found the cluster, and this run enumerated the same place. */
  isNew: boolean
}

/** The previous run, for the report. */
export interface RunBefore {
  /** RFC 3339: when the nodes were read. */
  takenAt: string
  /** All changes since that run. */
  delta: Delta
  /** Findings of that run that are no longer there. */
  ended: PastFinding[]
  /** Unaudited nodes and clusters of that run that are not unaudited in this run. */
  readAgain: NotAudited[]
  /** Open findings of earlier runs that could not be checked today. */
  hidden: HiddenFinding[]
  /** Clusters of earlier runs that this run did not find, and that are not known to be deleted. */
  absent: AbsentCluster[]
  /** Findings of this run that had ended before, and how and when they ended. */
  returned: Pick<PastFinding, 'id' | 'since' | 'ended' | 'on'>[]
  /** Nodes read less completely than in the last run, and new nodes (`hasCome`) not read completely. `node` null: the whole cluster. */
  unread: { cluster: string; node: string | null; hasCome: boolean }[]
}

/** The plan made beside a report. */
export interface PlanBeside {
  reported: ReportedPlan
  /** Null: the file could not be made. */
  file: RenderedFile | null
}

/** One run of remediation in the last week, from its sealed journal. */
export interface ReportedRun {
  /** Id of the run. */
  run: string
  state: RunState
  planned: number
  changed: number
  failed: number
  rolledBack: number
  clusters: string[]
  /** Approvers in order: name and ARN. The seal of each approval was valid. */
  approvedBy: string[]
  /** RFC 3339. */
  startedAt: string
  /** RFC 3339; null: the run has not ended. */
  endedAt: string | null
  /** RFC 3339: the last recorded change of the run. */
  at: string
  /** Location of the object with the whole journal. */
  place: string
}

/** Results of remediation that reports show. */
export interface RemediationNotices {
  /** Runs, the last started first. */
  runs: ReportedRun[]
  /** Objects without a valid seal, one sentence each, for people. */
  refused: string[]
}

/** One file of the report, made by a format and delivered by channels. */
export interface RenderedFile {
  name: string
  contentType: string
  body: string
}

/** Result of delivery by one channel. `location` null: the delivery failed, for the reason in `error`. `link`: URL of the report; null: there is none. */
export interface Delivery {
  channel: string
  location: string | null
  link: string | null
  error: string | null
}

/** The e-mail of one run. The channel `ses` sends it; the folder keeps it as `email.html` and `email.txt`. */
export interface RenderedMail {
  subject: string
  html: string
  text: string
  /** Short form of the mail for messengers: at most 3,000 characters. */
  brief: string
  card: MessageCard
  /** Findings that changed since the last run. */
  events: FindingEvent[]
}

/** The mail as a card of a messenger. */
export interface MessageCard {
  title: string
  /** The nodes that evict next, and what is not covered. */
  lines: string[]
  /** The worst three causes, each with its step. */
  causes: string[]
  /** Null: no site serves the report. */
  link: { text: string; url: string } | null
  /** The command that opens the report; null: none. */
  open: string | null
}

/** Result of judging a fleet by the rules (the contract `highwater.findings/1`). */

import type { Insight } from '#model/input/cluster-input.ts'
import type { ReadMode, Source, Subject } from '#model/input/record.ts'
import type { Cause, Step } from './cause.ts'

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const
export type Severity = (typeof severities)[number]

export const families = [
  'image-gc',
  'container-gc',
  'eviction',
  'reservations',
  'logs',
  'image-pull',
  'kernel',
  'drift',
  'configuration',
  'coverage',
  'cluster-gc',
] as const
export type Family = (typeof families)[number]

export type Confidence = 'certain' | 'likely' | 'possible'

/** Source of a line of evidence. Code reads this, never the wording of `what`. */
export const evidenceKinds = [
  /** A setting of the running kubelet. */
  'configz',
  /** The same setting, computed from the files and flags of a kubelet whose configz was not read. */
  'onDisk',
  /** A setting as a launch template, node class, file or flag declares it. */
  'declared',
  /** The layer in which a setting was lost or differs. */
  'layer',
  /** A key of the policy. */
  'policy',
  /** An expired waiver of the policy. */
  'waiver',
  /** The Node object. */
  'node',
  /** The kubelet's stats summary. */
  'summary',
  /** The container runtime. */
  'runtime',
  /** The node's own files, kernel and logs. */
  'host',
  /** Events of the node and its pods. */
  'event',
  /** EKS, or another object of the cluster or the account. */
  'object',
  /** Computed from other evidence, by the replay or from known facts. */
  'computed',
  /** A source that could not be read. */
  'unread',
  /** Number of places that a finding covers. */
  'places',
  /** The reason for the fix. */
  'fix',
  /** Lines that are not shown. */
  'omitted',
] as const
export type EvidenceKind = (typeof evidenceKinds)[number]

export interface Evidence {
  kind: EvidenceKind
  what: string
  value: string
  /** The exact amount, if the value is an amount of bytes. */
  bytes?: number
}

/** A rule's documentation, carried by each of its findings. */
export interface RuleDocs {
  title: string
  why: string
  fix: string
  sources: string[]
}

/** A durable fix: where it belongs, and its text. */
export interface DurableFix {
  target:
    | 'nodeadm'
    | 'launch-template'
    | 'bottlerocket'
    | 'karpenter'
    | 'eksctl'
    | 'terraform'
    | 'kops'
    | 'auto-mode'
  snippet: string
}

export interface Fix {
  /** KubeletConfiguration fields to set. */
  config: Record<string, unknown>
  durable: DurableFix[]
}

export interface NodeSample {
  count: number
  /** Node names, sorted: the first 20, or all with `--all-nodes`. */
  sample: string[]
}

export interface Finding {
  /** Stable hash of rule, cluster and subject. */
  id: string
  rule: string
  family: Family
  severity: Severity
  confidence: Confidence
  cluster: string
  subject: Subject
  nodes: NodeSample
  /** Number of subjects (such as namespaces) that a finding on a cluster covers. Absent: only its own subject. */
  places?: number
  title: string
  consequence: string
  evidence: Evidence[]
  cause: Cause
  /** One sentence that says what was observed. Absent: the title and the cause already say it. */
  seen?: string
  /** In order: what helps now, then what ends the cause. */
  steps: Step[]
  fix: Fix
  /** Day of the first run with the finding, YYYY-MM-DD. Null: there is no history. */
  since: string | null
  waived: { until: string; reason: string } | null
  docs: RuleDocs
}

export interface OutcomeCounts {
  pass: number
  fail: number
  unknown: number
  notApplicable: number
  error: number
}

/** Nodes by coverage. read: all sources of the mode; partlyRead: the Node object and another source; notRead: less. */
export interface Coverage {
  nodes: number
  read: number
  partlyRead: number
  notRead: number
  /** `lists`: garbage lists requested; `read`: lists read completely. Absent: no list was requested. */
  clusterGc?: { lists: number; read: number }
  /** Read nodes whose Node object may list only their largest images, with a runtime that was not read. Absent: none. */
  cutImageLists?: number
  /** Why upgrade insights of EKS were not read, or not all. Absent: they were read, or not requested. */
  insightsUnread?: string
}

export type Grade = 'A' | 'B' | 'C' | 'D' | 'F'

export interface ClusterResult {
  name: string
  /** Null: the cluster has no grade, for example because nothing was read. */
  grade: Grade | null
  coverage: Coverage
  outcomes: OutcomeCounts
  /** Sorted by mode. Absent: the snapshot was judged without its readings. */
  readings?: NodeReading[]
  /** Upgrade insights of EKS that do not pass, the worst first. Absent: there are none, or they were not read. */
  insights?: Insight[]
}

/** A read mode, and the nodes of a cluster read in this mode. Failures are in `coverage` and `notAudited`. */
export interface NodeReading {
  mode: ReadMode
  /** The data requested of each node. */
  sources: Source[]
  /** Rights that the mode needs, of Kubernetes (`get nodes/proxy`) and AWS (`ssm:SendCommand`). */
  rights: string[]
  /** `names` null: all nodes of the cluster that no other reading lists. */
  nodes: { count: number; names: string[] | null }
}

/** A subject that a rule could not decide, and why. */
export interface UnknownOutcome {
  rule: string
  cluster: string
  subject: Subject
  nodes: NodeSample
  reason: string
  /** If the nodes are read in mode `both`, the rule can decide. Absent: unknown whether another mode helps. */
  endedBy?: 'mode-both'
}

export const notAuditedCauses = [
  /** Clusters could not be listed, so some may be missing. */
  'clusters',
  /** The cluster or its nodes could not be listed, so nodes may be missing. */
  'nodes',
  /** Another list of the cluster could not be read. */
  'objects',
  /** The cluster is not active and lists no nodes. */
  'inactive',
  /** Too few sources of the node could be read. */
  'sources',
  /** AWS runs the kubelet of a Fargate node. */
  'fargate',
  /** Findings or other parts of the cluster are left out, because the document would be too long. */
  'length',
] as const
export type NotAuditedCause = (typeof notAuditedCauses)[number]

/** `node` null: the whole cluster. Code reads `cause`; `reason` is for people. */
export interface NotAudited {
  cluster: string
  node: string | null
  cause: NotAuditedCause
  reason: string
  /** What ended the run before this was read. */
  endedBy?: string
}

/** A waiver that needs care. `idle`: it covers no finding; `ends-soon`: within 7 days. */
export interface WaiverNotice {
  rule: string
  state: 'expired' | 'no-cluster' | 'idle' | 'ends-soon'
  match: { cluster?: string; kind?: string; namespace?: string; name?: string }
  /** Its last day, YYYY-MM-DD. */
  until: string
}

export interface RunInfo {
  /** Version of highwater. */
  version: string
  source: 'live' | 'snapshot'
  takenAt: string
  account: string | null
  region: string | null
  /** Rules that ran, by id. */
  rules: string[]
  /** Errors in the input: malformed snapshot lines, a truncated file. */
  inputErrors: string[]
  /** Number of invalid snapshot lines; nodes might be missing. Absent: no line is invalid. */
  lostLines?: number
}

/** A field to set. `path` of a map entry: `evictionHard.imagefs.available`. */
export interface CauseSetting {
  path: string
  /** Values on the nodes now. Empty: the field is unset or unknown. */
  now: string[]
  /** Values to set; the value for most nodes comes first. */
  values: { value: string; subjects: { cluster: string; subject: Subject }[] }[]
}

export interface CausePlace {
  cluster: string
  nodes: number
  subjects: Subject[]
}

/** Findings that the same change resolves. */
export interface CauseGroup {
  cause: Cause
  /** Of the worst finding first. */
  steps: Step[]
  severity: Severity
  /** Rule of the worst finding. */
  rule: string
  /** Empty if no field of the kubelet ends it. */
  settings: CauseSetting[]
  /** `ofRule`: nodes with a finding of `rule`, if the same change concerns more nodes. */
  nodes: { count: number; ofRule?: number; places: CausePlace[] }
  /** Ids of the findings, worst first. */
  findings: string[]
}

export interface FindingsDocument {
  schema: 'highwater.findings/1'
  run: RunInfo
  clusters: ClusterResult[]
  findings: Finding[]
  waived: Finding[]
  /** Worst first; each finding belongs to one cause. Only in the published document. */
  causes?: CauseGroup[]
  unknowns: UnknownOutcome[]
  notAudited: NotAudited[]
  /** Waivers that need care. Absent: no waiver does, or the run covered only a part of the fleet. */
  waiverNotices?: WaiverNotice[]
  /** Ids of findings that changed since the previous run. Empty: there is no history. */
  delta: {
    new: string[]
    resolved: string[]
    /** More severe, more certain, on more nodes, or no longer waived. Absent: there is no history. */
    worse?: string[]
    /** New findings that were resolved in an earlier run. Absent: there is no history. */
    regressed?: string[]
  }
}

export type CoverageState = 'read' | 'partlyRead' | 'notRead'

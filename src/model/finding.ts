/** What the judgement says (the contract `highwater.findings/1`). */

import type { ReadMode, Source } from './read-mode.ts'
import type { Subject } from './subject.ts'

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
  /** Computed from the others, by the replay or from known facts. */
  'computed',
  /** A source that could not be read. */
  'unread',
  /** Number of places of a finding that covers many. */
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
}

/** A rule's documentation, carried by each of its findings. */
export interface RuleDocs {
  title: string
  why: string
  fix: string
  sources: string[]
}

/** Place and text of a durable fix. */
export interface DurableFix {
  target:
    | 'nodeadm'
    | 'launch-template'
    | 'bottlerocket'
    | 'karpenter'
    | 'eksctl'
    | 'terraform'
    | 'auto-mode'
  snippet: string
}

export interface Fix {
  /** KubeletConfiguration fields to set. */
  config: Record<string, unknown>
  durable: DurableFix[]
  commands: string[]
}

export interface NodeSample {
  count: number
  /** Sorted; the first 20, or every one with `--all-nodes`. */
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
  /** Number of namespaces or other subjects that a finding on a cluster covers; absent: only its own subject. */
  places?: number
  title: string
  consequence: string
  evidence: Evidence[]
  fix: Fix
  /** YYYY-MM-DD of the first run that saw it; null without history. */
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

/** read: every source that the mode promises; partlyRead: the Node object and one more; notRead: less. */
export interface Coverage {
  nodes: number
  read: number
  partlyRead: number
  notRead: number
  /** Garbage lists that were requested, and how many were read completely. Absent: none was requested. */
  clusterGc?: { lists: number; read: number }
}

export type Grade = 'A' | 'B' | 'C' | 'D' | 'F'

export interface ClusterResult {
  name: string
  /** Null where nothing was read. */
  grade: Grade | null
  coverage: Coverage
  outcomes: OutcomeCounts
  /** Sorted by mode; absent in documents of older versions. */
  readings?: NodeReading[]
}

/** A read mode and the nodes of a cluster that were read by it. Failures are in `coverage` and `notAudited`. */
export interface NodeReading {
  mode: ReadMode
  /** The data requested of each node. */
  sources: Source[]
  /** What that needs: Kubernetes' as `get nodes/proxy`, AWS's as `ssm:SendCommand`. */
  rights: string[]
  /** `names` null: every node of the cluster that no other reading names. */
  nodes: { count: number; names: string[] | null }
}

/** What a rule could not decide, and why. */
export interface UnknownOutcome {
  rule: string
  cluster: string
  subject: Subject
  nodes: NodeSample
  reason: string
  /** Reading the nodes in mode `both` decides it; absent: not known to. */
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
] as const
export type NotAuditedCause = (typeof notAuditedCauses)[number]

/** `node` null: the whole cluster. Code reads `cause`; `reason` is for people. */
export interface NotAudited {
  cluster: string
  node: string | null
  cause: NotAuditedCause
  reason: string
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
  /** Number of snapshot lines that are no records, so nodes may be missing; absent: none. */
  lostLines?: number
}

/** `setting`: fields of KubeletConfiguration end it; `event`: something else does. */
export const causeKinds = ['setting', 'event'] as const
export type CauseKind = (typeof causeKinds)[number]

/** A field to set, `evictionHard.imagefs.available` for an entry of a map. */
export interface CauseSetting {
  path: string
  /** What the nodes run now; empty: not set, or unknown. */
  now: string[]
  /** The values to set, that of most nodes first. */
  values: { value: string; subjects: { cluster: string; subject: Subject }[] }[]
}

export interface CausePlace {
  cluster: string
  nodes: number
  subjects: Subject[]
}

/** Findings that one change ends. */
export interface Cause {
  kind: CauseKind
  severity: Severity
  /** Rule of its worst finding. */
  rule: string
  /** The nodes run the kubelet's default. */
  isDefault: boolean
  /** Empty for events. */
  settings: CauseSetting[]
  nodes: { count: number; places: CausePlace[] }
  commands: string[]
  /** Ids, worst first. */
  findings: string[]
}

export interface FindingsDocument {
  schema: 'highwater.findings/1'
  run: RunInfo
  clusters: ClusterResult[]
  findings: Finding[]
  waived: Finding[]
  /** Only in the published document: worst first, each finding in one. */
  causes?: Cause[]
  unknowns: UnknownOutcome[]
  notAudited: NotAudited[]
  /** Waivers of the policy that need care; absent: none does, or only a part of the fleet was chosen. */
  waiverNotices?: WaiverNotice[]
  /** Ids of findings against the run before; empty without history. */
  delta: {
    new: string[]
    resolved: string[]
    /** More severe, more certain or on more nodes, or no longer waived; absent without history. */
    worse?: string[]
    /** New, and there before: they had been resolved; absent without history. */
    regressed?: string[]
  }
}

export type CoverageState = 'read' | 'partlyRead' | 'notRead'

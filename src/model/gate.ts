/** What changed configuration files would do to the nodes of a snapshot (the contract `highwater.gate/1`). */

import type { Subject } from '#model/input/record.ts'
import type { NodeSample, Severity } from './finding.ts'

/** Kinds of files that set fields of a kubelet. */
export type ChangedFileKind =
  | 'KubeletConfiguration'
  | 'NodeConfig'
  | 'EC2NodeClass'
  | 'NodePool'
  | 'ClusterConfig'
  /** Sizes of volumes in a template of CloudFormation, or of Terraform. */
  | 'LaunchTemplate'
  | 'Bottlerocket'
  | 'UserData'

export const gateProblemKinds = [
  /** The file cannot be parsed. */
  'unparsed',
  /** A kubelet would not start, or the tool that reads the file refuses it. */
  'refused',
  /** A hard eviction threshold that is gone. */
  'threshold-lost',
  /** Fields that run today, and that a file in place of the kubelet's whole file does not have. */
  'settings-lost',
  /** The kubelet would evict pods at once. */
  'eviction',
  /** A new or worse finding of a rule. */
  'worse',
  /** A setting that does not reach the running kubelet. */
  'no-effect',
  /** Image GC would start at once. */
  'image-gc',
  /** A file, or the value of a setting, that may set fields of a kubelet and cannot be read. */
  'unread',
  /** A finding of a rule that ends. */
  'better',
  /** Something that a reviewer should know. */
  'note',
] as const
export type GateProblemKind = (typeof gateProblemKinds)[number]

export type GateVerdict = 'ok' | 'unread' | 'worse' | 'refused'

/** Values of a field before and after the change, each once. Null in a list: not set. */
export interface GateValues {
  before: (string | null)[]
  after: (string | null)[]
}

/** The largest threshold of a signal that, as the disks are, no node of the problem meets. */
export interface GateLimit {
  signal: string
  /** Bytes, inodes or process ids, as the signal counts. */
  available: number
  /** Of the signal's capacity, a whole number. Null: below 1 %. */
  percent: number | null
}

export interface GateInstead {
  /** By path. */
  settings: Record<string, string>
  /** Number of nodes on which these settings end the finding. */
  nodes: number
}

export interface GateProblem {
  kind: GateProblemKind
  /** Whether this alone stops the change. */
  stops: boolean
  file: string
  /** From 1. */
  line: number
  /** Of the other field, if the two of a pair are refused together. Null: one field is. */
  otherLine: number | null
  /** `evictionHard.nodefs.available`. Null: the whole file. */
  field: string | null
  /** The field's values on the nodes, at most four each. Null: the change leaves it as it is, or it is unknown. */
  values: GateValues | null
  /** The thresholds that are met at once. */
  most: GateLimit[]
  /** Settings to write in place of the field, which end the finding; at most four sets. Empty: another field ends it. */
  instead: GateInstead[]
  /** Null: no node of the snapshot is reached, or the problem is the file's own. */
  cluster: string | null
  group: Subject | null
  nodes: NodeSample
  /** Of the finding, or of the worst one that reports the same effect. Null: none does. */
  rule: string | null
  severity: Severity | null
  /** One sentence; for refusals that of upstream; for settings without effect the reason. */
  text: string
  /** What follows on the first node. Null: the sentence says all. */
  detail: string | null
}

export interface GateSetting {
  field: string
  values: GateValues
}

/** The worst first. */
export const gateEffects = ['refused', 'worse', 'unread', 'better', 'unchanged'] as const

export interface GateGroup {
  cluster: string
  group: Subject
  /** Number of its nodes that the files reach. */
  nodes: number
  /** Number of nodes by the worst effect on each. */
  refused: number
  worse: number
  /** Number of nodes not judged in full: a value, or the node's configuration, was not read. */
  unread: number
  better: number
  unchanged: number
  /** Number of nodes on which image GC, or an eviction, starts at once that does not start now. */
  imageGcs: number
  evictions: number
  /** Fields whose values on the nodes change, at most 20. Empty: none, or the values after the change are unknown. */
  settings: GateSetting[]
}

/** Files that may set fields of a kubelet, and cannot be read before they are rendered. */
export type UnreadFileKind =
  | 'Terraform'
  | 'HCL'
  | 'CDK'
  | 'CloudFormation'
  | 'program'
  | 'template'
  | 'values of a template'

export interface GateFile {
  file: string
  /** Empty: a file of another kind, which is ignored, or one that is not read. */
  kinds: ChangedFileKind[]
  /** Null: the file was read. */
  unread: UnreadFileKind | null
  /** Number of nodes of the snapshot that the file reaches. */
  nodes: number
  /** How the nodes were found, or why the file is ignored or not read. */
  reach: string
}

export interface GateDocument {
  schema: 'highwater.gate/1'
  version: string
  /** RFC 3339: when the snapshot was taken. */
  takenAt: string
  verdict: GateVerdict
  /** Whether another version of the files was compared, or the running configuration. */
  comparedWith: 'base' | 'running'
  files: GateFile[]
  groups: GateGroup[]
  /** Worst first. */
  problems: GateProblem[]
  /** Rules whose findings get worse, and that a waiver of the policy silences. */
  waived: string[]
}

/** Result of judging a fleet by the rules (the contract `highwater.findings/1`). */

import type { Insight, ReadMode, Source, Subject } from '#model/input/record.ts'
import type { DiskHolder, HolderOwner } from './prediction.ts'

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

/* Why a finding is there, and what ends it, as values. Texts are made from them in `report`. */

/** Low and high bound; equal if measured. `high` null: no upper bound is known. */
export interface Amount {
  unit: 'bytes' | 'inodes' | 'pids'
  low: number
  high: number | null
}

/** Where a setting is written. `declaration`: launch template, node class or NodeConfig. */
export type SettingLayer =
  | 'kubelet'
  | 'runtime'
  | 'logrotate'
  | 'workload'
  | 'image'
  | 'declaration'
  | 'policy'
  | 'control-plane'

export type WorldEvent =
  | 'agent-reports'
  | 'cgroup-v1'
  | 'claim-full'
  | 'foreign-cleaner'
  | 'gc-fails'
  | 'growth'
  | 'image-missing'
  | 'images-of-machine-image'
  | 'kernel-memory-cgroups'
  | 'kubelet-restarts'
  | 'leftover-objects'
  | 'memory-outside-pods'
  | 'no-space-elsewhere'
  | 'not-restarted'
  | 'pods-evicted'
  | 'pressure-repeats'
  | 'pressure-stays'
  | 'processes-outside-pods'
  | 'pull-fails'
  | 'read-only'
  | 'registry-rate-limit'
  | 'registry-unreachable'
  | 'slow-runtime'
  | 'version-skew'
  | 'volume-fails'

/** `unsupported`: no mode can read it on this kind of node. `not-asked`: the mode does not read it. `incomplete`: the answer came, and lacks it. */
export type UnreadReason =
  | 'not-asked'
  | 'forbidden'
  | 'refused'
  | 'agent-lost'
  | 'cut'
  | 'incomplete'
  | 'timeout'
  | 'no-image-filesystem'
  | 'unmeasured'
  | 'unreachable'
  | 'unsupported'
  | 'other'

/** In place of a field: the files of the kubelet, of which it runs none yet. */
export const wholeFile = 'configuration'

/** A setting in a layer. `fields`: the first is the one that counts; fields that are set together follow. */
export interface SettingCause {
  kind: 'setting'
  layer: SettingLayer
  fields: string[]
  /** The nodes run the kubelet's default. */
  isDefault: boolean
}

/**
 * What frees bytes without a person. `image-deletion`: they go with their image, in use or not. `pod-deletion`: only when the pod's object
 * is gone, eviction included. `process-end`: when the process closes the file. `nothing`: no act of kubelet, runtime or API server does.
 */
export type FreedBy =
  | 'image-gc'
  | 'image-deletion'
  | 'container-gc'
  | 'pod-deletion'
  | 'process-end'
  | 'nothing'

/** Of a kind of holder, for a person. `restart`: of the container, the kubelet or the runtime. */
export interface HolderNote {
  writer: string
  notFreedBy: readonly ('image-gc' | 'container-gc' | 'pod-deletion' | 'restart')[]
}

export type HolderNotes = Readonly<Record<DiskHolder, HolderNote>>

/** What holds a disk. `memory`: a volume in memory. */
export interface HolderCause {
  kind: 'holder'
  holder: DiskHolder
  filesystem: 'nodefs' | 'imagefs' | 'memory'
  freedBy: FreedBy
  amount: Amount
  /** Null: no owner in the cluster, or see `owners`. */
  owner: HolderOwner | null
  /** Why a holder of workloads has no owner here: none of many holds much, several share the folder, or the owner is not known. */
  owners?: 'many' | 'several' | 'unknown'
  /** Absolute folder or file on the node, or a namespace of containerd. Null: not one place. */
  place: string | null
  /** Of local PersistentVolumes: their claims as `namespace/name`, at most three. */
  claims?: string[]
  /** What the owner, or the place without an owner, holds of the amount in bytes. Absent: nearly all of it, or unknown. */
  largestBytes?: number
  /** Of `largestBytes`, what the volume holds that `owner` names. Absent: all of it. */
  volumeBytes?: number
  /** Owners that hold such bytes, at least: the largest of them are counted. Absent: one holds half, or unknown. */
  ownerCount?: number
  /** Another holder or owner of about as much of the disk. Of the same holder, it is a part of `amount`. */
  also?: HolderCause
}

export interface DeviceCause {
  kind: 'device'
  /** `own-partition`: a logical volume of the image, which no boot grows. */
  what:
    | 'too-small'
    | 'uncounted'
    | 'below-peers'
    | 'wrong-volume'
    | 'unused-disk'
    | 'unmeasured'
    | 'not-grown'
    | 'own-partition'
    | 'differs'
  /** `/dev/xvda`. Null: unknown. */
  device: string | null
  /** Null: not declared, or unknown. */
  declaredBytes: number | null
  /** Of `below-peers`: the measured median of the larger ones. */
  peerBytes?: number
  actualBytes: number | null
}

export type Cause =
  | SettingCause
  | HolderCause
  | DeviceCause
  /** `subject`: a registry, a program, a kind of object. `bytes`: what it holds of memory. */
  | { kind: 'world'; event: WorldEvent; subject: string | null; bytes?: number }
  /** `place`: the file that was edited. Null: several, or unknown. */
  | { kind: 'hand-edit'; place: string | null }
  /** `source`: what was not read. */
  | { kind: 'unread'; source: string; reason: UnreadReason }

/** `ask-owner`: only the owner of the workload or the program can do it. */
export type StepKind = 'set' | 'free' | 'resize' | 'replace' | 'ask-owner' | 'read-more'

export type StepActionId =
  /** The sentence of the rule's own documentation. */
  | 'advice'
  | 'ask-owner'
  | 'attach-volume'
  | 'await-replacement'
  | 'check-instance'
  | 'check-rotation'
  | 'clean-claim'
  | 'clean-in-pod'
  | 'clean-namespace'
  | 'clean-objects'
  | 'clean-with-owner'
  | 'compact-datastore'
  | 'count-storage'
  | 'correct-file'
  | 'create-group'
  | 'declare-size'
  | 'delete-place'
  | 'delete-pod'
  | 'delete-pod-folder'
  | 'drain'
  | 'drop-idle-log-blocks'
  | 'empty-log'
  | 'end-pod'
  | 'end-crash-loop'
  | 'enlarge-node-class'
  | 'expand-claim'
  | 'find-container'
  | 'find-crash'
  | 'find-writer'
  | 'grant-pull'
  | 'grant-rights'
  | 'grow-partition'
  | 'import-image'
  | 'import-sandbox'
  | 'larger-disk'
  | 'larger-instance'
  | 'list-deletions'
  | 'list-memory'
  | 'list-processes'
  | 'look-in-volume'
  | 'look-on-host'
  | 'look-on-node'
  | 'look-under-mounts'
  | 'limit-processes'
  | 'map-volume'
  | 'mount-shared-memory'
  | 'move-into-volume'
  | 'move-kubelet-root'
  | 'move-to-volume'
  | 'open-port'
  | 'pin-images'
  | 'provide-image'
  | 'prune-dead-containers'
  | 'prune-by-runtime'
  | 'prune-docker'
  | 'prune-images'
  | 'prune-in-image'
  | 'prune-volumes'
  | 'raise-kernel-limit'
  | 'raise-process-limit'
  | 'raise-memory-volume'
  | 'raise-volume-limit'
  | 'read-again'
  | 'read-devices'
  | 'read-journal'
  | 'read-limits'
  | 'read-on-node'
  | 'read-pods'
  | 'read-snapshots'
  | 'read-pull-events'
  | 'reboot'
  | 'replace-failed-disk'
  | 'replace-host-path'
  | 'replace-node'
  | 'request-less'
  | 'restart-agent'
  | 'restart-daemon'
  | 'restart-kubelet'
  | 'restart-pod'
  | 'restart-process'
  | 'set-discard-unpacked'
  | 'set-ephemeral-storage'
  | 'set-fields'
  | 'set-log-files'
  | 'set-memory'
  | 'set-root-volume'
  | 'set-volume-limit'
  | 'spare-disk'
  | 'spread-pods'
  | 'unset-root-volume'
  | 'upgrade-group'
  | 'upgrade-runtime'
  | 'use-instance-store'
  | 'use-other-disk'
  | 'vacuum-journal'

export type StepSite = Pick<
  StepAction,
  'owner' | 'place' | 'source' | 'bytes' | 'usdPerMonth' | 'most'
>

/** Names that the text of a step shows. */
export const mostNames = 3

/** What to do, with its values. */
export interface StepAction {
  id: StepActionId
  /** Who has to act, or whose data it is about. */
  owner?: HolderOwner
  /** Folder, file, device, or a namespace of containerd. */
  place?: string
  /** The nodes that need it, at most 20, if others of the finding do not. */
  nodes?: string[]
  /** If there are several such folders: the largest, the first is `place`. */
  folders?: string[]
  /** KubeletConfiguration fields or settings of another layer. */
  fields?: string[]
  /** Images that the node must keep. */
  images?: string[]
  /** Folders of the node that pods can write, as `/tmp (Deployment shop/api)`. */
  mounts?: string[]
  /** There are more than `mounts` has. */
  hasMoreMounts?: true
  /** Where a running container of the owner's pod sees the data; no `path`: unknown. `place`: the same on the node; null: unknown. */
  inside?: { container: string; path?: string; place: string | null }
  /** Names of the owner's pods that hold much of it, the largest first. */
  pods?: string[]
  /** Pods, as `namespace/name`, that end for good, and pods whose emptyDir data is deleted. Absent: unknown. */
  lost?: { pods: string[]; data: string[] }
  /** What is scarce. Absent: bytes. */
  unit?: 'inodes'
  /** What declares the size of the volume: `EC2NodeClass default`. Of one that fails: its CSI driver. */
  source?: string
  /** Karpenter replaces the nodes of the changed node class by itself. */
  rollsOut?: true
  /** What holds the disk is not known well: it is measured before this. */
  isUnsure?: boolean
  /** Too few inodes or process ids are free for a new threshold. */
  isShort?: true
  /** Bytes to request, to allow, to free, or of a new volume. */
  bytes?: number
  /** A podPidsLimit that does not suffice. Absent: a step before sets one that does. */
  above?: number
  /** A podPidsLimit to set. */
  limit?: number
  /** More US dollars a month for each node, by the list price of us-east-1. */
  usdPerMonth?: number
  /** If a step of several nodes has a different amount for each: the largest. `bytes` and `usdPerMonth` are then the smallest. */
  most?: { bytes: number; usdPerMonth?: number }
  /** If owner, place or source of a step are not the same for all nodes: the first 20 of them, each with its own amount. The step itself then has none of the three, and the amounts of all. */
  each?: StepSite[]
  /** The kubelet's own words. */
  message?: string
  /** Which of its forms the step has. Absent: the usual one. */
  variant?: StepVariant
}

/**
 * `first`: pulls fail in the cluster. `requested`: it uses no more than it requests. `processes`: it has too many. `idle`: the kubelet may not act. `hung`: a runtime may hang. `secret`: the pod brings credentials. `deleted`: image GC deleted the image. `hidden`: a mount may hide it. `local`: no registry has it. `pool`: the runtime's thin pool, or parts of one pool. `memory`: a filesystem in memory.
 * `policy`: instanceStorePolicy of a node class; `nvme`: of one that may have instance types without NVMe disks. `limit`: the pod has a limit, which is too small. `needed`: tries before this were evicted. `growing`: it writes steadily. `data`: each pod has its own. `scratch`: its data has a claim. `critical`: the kubelet evicts no such pod. `declared`: its image declares the volume. `crashing`: no container of the pod runs. `last`: if the steps before it end nothing. `finished`: the pods have ended. `logrotate`, `auditd`, `writer`: what rotates a log. The others: what fails at a volume.
 */
export type StepVariant =
  | 'first'
  | 'requested'
  | 'processes'
  | 'idle'
  | 'secret'
  | 'deleted'
  | 'hung'
  | 'memory'
  | 'datasets'
  | 'image'
  | 'lines'
  | 'pool'
  | 'policy'
  | 'nvme'
  | 'limit'
  | 'needed'
  | 'growing'
  | 'data'
  | 'scratch'
  | 'critical'
  | 'declared'
  | 'crashing'
  | 'last'
  | 'logrotate'
  | 'auditd'
  | 'kubelet'
  | 'writer'
  | 'slots'
  | 'elsewhere'
  | 'controller'
  | 'driver'
  | 'filesystem'
  | 'hidden'
  | 'finished'
  | 'local'
  | 'other'

/** What a command does as it stands. `reads`: it changes nothing on a node or in a cluster. `plans`: it writes a plan on the user's machine. */
export type CommandEffect = 'reads' | 'plans' | 'changes' | 'restarts' | 'replaces'

export interface StepCommand {
  /** The cluster. */
  place: string
  command: string
  effect: CommandEffect
  /** Number of nodes that it restarts or replaces. Absent: none, or unknown. */
  nodes?: number
  /** Number of pods that it restarts. Absent: none, or unknown. */
  pods?: number
}

export interface Step {
  kind: StepKind
  action: StepAction
  /** In order. Empty: no command can do it. */
  commands: StepCommand[]
  /** `all`: the failing ends; `part`: it ends only with the other steps; `nothing`: the step shows more. */
  ends: 'all' | 'part' | 'nothing'
  disturbs: 'nothing' | 'pods' | 'kubelet-restart' | 'node-replaced'
}

/* A cluster's grade: the severity of its worst open finding, and the share of nodes that the finding concerns. */

/** The grade of a cluster whose worst open finding has this severity. */
export const gradeBySeverity: Record<Severity, Grade> = {
  info: 'A',
  low: 'B',
  medium: 'C',
  high: 'D',
  critical: 'F',
}

/** A severity costs one step less (but never gives A) if all open findings of this or a worse severity concern a smaller share of the nodes. */
export const smallShare = 0.1

/** If a smaller share of outcomes is decided, only D or F is given: the undecided rest might be worse. */
const leastDecided = 1 / 3

const steps: Grade[] = ['A', 'B', 'C', 'D', 'F']

export interface OpenFinding {
  severity: Severity
  /** All nodes that the finding concerns. Empty: it concerns the cluster itself. */
  nodes: readonly string[]
}

type JudgedOutcomes = Pick<OutcomeCounts, 'pass' | 'fail' | 'unknown' | 'error'>

/**
 * Grade of a cluster. Null if nothing was read, if no rule applied, or if too few outcomes were
 * decided for a grade better than D. An incomplete list of nodes (`isListCut`) counts as undecided.
 * Waived findings are not `open` and do not count. Coverage is reported beside the grade.
 */
export function gradeOf(
  open: readonly OpenFinding[],
  coverage: Coverage,
  { pass, fail, unknown, error }: JudgedOutcomes,
  isListCut = false,
): Grade | null {
  const decided = pass + fail
  if (coverage.read + coverage.partlyRead === 0 || decided === 0) return null
  const concerned = new Set<string>()
  let isWhole = false
  let cost = 0
  // Worst first: the nodes of a finding count for every lighter severity as well.
  for (const severity of severities) {
    const found = open.filter(finding => finding.severity === severity)
    for (const { nodes } of found) {
      isWhole ||= nodes.length === 0
      for (const node of nodes) concerned.add(node)
    }
    const step = steps.indexOf(gradeBySeverity[severity])
    const isSmall = !isWhole && concerned.size < smallShare * coverage.nodes
    if (found.length > 0) cost = Math.max(cost, isSmall && step > 1 ? step - 1 : step)
  }
  const isDecided = !isListCut && decided >= leastDecided * (decided + unknown + error)
  return isDecided || cost >= steps.indexOf('D') ? (steps[cost] ?? null) : null
}

/** What a plan of remediation says (the contract `highwater.plan/1`), and the approval that names it (`highwater.approval/1`). */

import type { DurableFix } from './finding.ts'
import type { AmiFamily } from './node-identity.ts'
import type { ReadMode } from './read-mode.ts'
import type { RawObject } from './record.ts'
import type { Subject } from './subject.ts'

/** What of a cluster's own objects a plan may delete, once it is that old. Absent: none of them. */
export const deletionKinds = [
  'nodeLeases',
  'failedPods',
  'finishedJobs',
  'releasedVolumes',
] as const
export type DeletionKind = (typeof deletionKinds)[number]

export const planSchema = 'highwater.plan/1'
export const approvalSchema = 'highwater.approval/1'

/**
 * How a node takes a change: a file swapped, a NodeConfig piece, a drop-in, Bottlerocket's settings, a log rotation file, an image pulled and pinned.
 */
export const planMethods = [
  'kubelet-file',
  'nodeadm',
  'drop-in',
  'bottlerocket',
  'sync-file',
  'pull-image',
] as const
export type PlanMethod = (typeof planMethods)[number]
/** Whether the kubelet starts anew by it. */
export const restartsKubelet = (method: PlanMethod): boolean =>
  method !== 'sync-file' && method !== 'pull-image'

/** What a node's kubelet does with what is there now. Null: not known. */
export interface NodeState {
  /** Eviction comes before image GC, as the rule eviction-before-image-gc means it. */
  evictsBeforeImageGc: boolean | null
  /** Image GC is due at this moment. */
  imageGcDue: boolean | null
  /** Upper bound of the bytes that the next image GC frees, as the kubelet counts them; 0: none is due. */
  freedBytesAtMost: number | null
  /** Eviction signals whose threshold is met, and `allocatable.memory` where the pods' requests of it do not fit: some are refused at a start. */
  evictsNow: string[] | null
}

/** Images that image GC may delete at once, and which pods would pull again. */
export interface Pulls {
  registry: string
  images: number
  /** What the registry gives without credentials, to all nodes behind one address; null: no limit is known. */
  limit: { pulls: number; hours: number } | null
}

/** Number of planned nodes in the cohort, by effect. `unknown`: the effect could not be predicted. */
export interface CohortCounts {
  evictFirst: number
  imageGcDue: number
  freedBytesAtMost: number
  evictNow: number
  unknown: number
}

export interface CohortEffect {
  before: CohortCounts
  after: CohortCounts
  /** What image GC at once may have pulled again. */
  pulls: Pulls[]
  text: string
}

/** What the restart of the kubelets does to the pods of a cohort, all its planned nodes together. */
export interface Blast {
  pods: number
  /** Ready pods that turn NotReady until they have been probed again. */
  notReadyPods: number
  /** Pods that are the only one of their owner. */
  singletons: { count: number; sample: string[] }
  /** Budgets of these that allow no further disruption; null: not read. */
  budgetsAtLimit: { count: number; sample: string[] } | null
  /** Containers whose startup probe runs again. */
  startupProbes: number
  /** Images whose times of first sight and last use are forgotten. */
  imagesForgotten: number
  /** Nodes whose pods were not read. */
  unreadNodes: number
  text: string
}

/** A file of logrotate, the same for all nodes of a cohort. */
export interface CohortFile {
  path: string
  sha256: string
}

/** An image that is pinned under the name that pods use; where it is missing it is pulled from the source. */
export interface CohortImage {
  name: string
  source: string
}

/** Nodes of one group, image and kubelet minor that get the same change. */
export interface PlanCohort {
  id: string
  cluster: string
  group: Subject
  amiFamily: AmiFamily
  /** `1.34`. */
  kubeletVersion: string
  /** Merge patch (RFC 7386) of the running KubeletConfiguration: null removes a key. */
  fields: RawObject
  /** What is written in place of fields, which then are none. */
  file?: CohortFile
  /** Likewise. */
  image?: CohortImage
  /** Ids of the findings that propose it; empty: the operator requested it. */
  findings: string[]
  /** Nodes that the change is meant for; of these `planned` have a step, the others stand under never or refused. */
  nodes: number
  planned: number
  effect: CohortEffect
  durable: DurableFix[]
  blast: Blast
}

/** `imageGCHighThresholdPercent`, `evictionHard.imagefs.available`; value null: it must be gone. */
export interface ExpectedSetting {
  field: string
  value: unknown
}

/**
 * When a change has done what it is for: the kubelet's own image GC has made room, or there was time enough for it. Then the old file is put back, byte
 * for byte, and the kubelet starts once more.
 */
export interface StepEnd {
  kind: 'image-gc'
  /** Of the image filesystem, as image GC counts it. */
  usedPercentAtMost: number
  /** After the kubelet has started with the change. */
  atMostMs: number
  /** What no container uses and nothing pins: more is not deleted, however long it takes. */
  imagesAtMost: number
  bytesAtMost: number
}

export interface PlanStep {
  cluster: string
  node: string
  instanceId: string
  cohort: string
  method: PlanMethod
  /** Of the file; of an image the name that pods use. */
  path: string
  /** Hex, or `absent`. Of an image it is of one line: its name, and `pinned` or `unpinned`. */
  oldSha256: string
  newSha256: string
  /** Hash after a rollback if it differs from `oldSha256`: Bottlerocket keeps settings that were unset before, with the values that ran. */
  backSha256?: string
  /**
   * The whole new file. For Bottlerocket `{"back":{…},"set":{…}}`: the new settings, and the values
   * that a rollback sets because they were unset. For an image
   * `{"name":…,"pinned":true,"source":…}`.
   */
  content: string
  /** What ends the change on this node by itself. */
  lastsUntil: 'reboot' | 'replacement'
  /** What the running configuration must show afterwards. */
  expect: ExpectedSetting[]
  /** What it must show again after a rollback. */
  expectBack: ExpectedSetting[]
  /** The rest of the configuration, by field: a digest of each, 16 hex characters. Absent: it was not read. */
  others?: Record<string, string>
  /** `disk`: `others` is what files, drop-ins and flags come to (mode ssm). Absent: it is what the kubelet runs with. */
  othersOn?: 'disk'
  kubeletStartedAt: string | null
  before: NodeState
  after: NodeState
  /** Absent: the change stays. */
  until?: StepEnd
}

/** A node that is left alone, and why. */
export interface LeftAlone {
  cluster: string
  node: string
  why: string
}

/** A change that the plan describes and does not run: an operator makes it, with a reboot. */
export interface ManualChange {
  cluster: string
  group: Subject
  amiFamily: AmiFamily
  /** Ids of the findings that propose it. */
  findings: string[]
  title: string
  /** In the order in which they are to be changed. */
  nodes: string[]
  /** Commands and what to look at, line by line, for one node after the other. */
  steps: string[]
  /** What makes it last where the nodes come from. */
  durable: string
}

/** An object of a cluster that goes, by the Kubernetes API and nothing else. */
export interface PlannedDeletion {
  cluster: string
  kind: DeletionKind
  /** `plural` or `plural.group`. */
  resource: string
  /** Null: it has none. */
  namespace: string | null
  name: string
  /** An object with the same name and another UID is another object and stays. */
  uid: string
  /** From the snapshot, if present: an object that changed since then is kept. */
  resourceVersion: string | null
  why: string
  ageSeconds: number
}

/** What a plan of deletions does not say. */
export interface NotDeleted {
  cluster: string
  resource: string
  why: string
}

/** What the plan was made from. */
export interface PlannedSnapshot {
  takenAt: string
  account: string | null
  region: string | null
  /** How each changed cluster was read: `apply` and `verify` read it so again. Absent: by mode `proxy`. */
  modes?: Record<string, ReadMode>
}

export interface Plan {
  schema: typeof planSchema
  /** The first 16 characters of the digest. */
  id: string
  /** SHA-256 of the document without digest and id, as canonical JSON. */
  digest: string
  /** RFC 3339: the snapshot's time. */
  createdAt: string
  snapshot: PlannedSnapshot
  cohorts: PlanCohort[]
  /** By cluster and node. */
  steps: PlanStep[]
  /** Nodes that nothing is ever written to: their fix is the durable text. */
  never: LeftAlone[]
  refused: LeftAlone[]
  /** What else is wanted of nodes that have a step: a plan changes one thing on each, and the next one the next. Absent: nothing. */
  later?: LeftAlone[]
  /** Absent: nothing. */
  manual?: ManualChange[]
  /** Oldest first; such a plan changes no node. Absent: none requested. */
  deletions?: PlannedDeletion[]
  /** Absent: nothing. */
  notDeleted?: NotDeleted[]
  /** Nodes that already run with all of it. */
  unchanged: number
  /** `cluster/node`; one node of each cohort first. */
  waves: string[][]
}

export interface ApprovalOptions {
  /** New thresholds may act at once on what is on the nodes now. */
  allowActAtOnce: boolean
}

export interface Approval {
  schema: typeof approvalSchema
  /** The plan's digest. */
  plan: string
  /** Name of the approver, as given. */
  by: string
  /** Who that is to AWS STS (an ARN) or to the machine: verified when the approval was sealed. By the policy: who approved the policy. */
  identity: string
  /** RFC 3339, both; it holds from the one until before the other. */
  at: string
  until: string
  options: ApprovalOptions
}

/** Held in memory. */
export interface HeldApproval extends Approval {
  /** The text that its approver sealed, and that the journal keeps; absent: a run that goes on by the journal alone is refused. */
  sealed?: string
}

/** Its seal was checked. */
export type OpenedApproval = Required<HeldApproval>

/** For people. */
export const approverOf = ({ by, identity }: Pick<Approval, 'by' | 'identity'>): string =>
  `${by} (${identity})`

/** What a report says of the plan that was made with it. */
export type ReportedPlan =
  | {
      state: 'made'
      id: string
      digest: string
      /** With a step. */
      nodes: number
      waves: number
      never: number
      refused: number
      unchanged: number
      /** The line that approves it. */
      command: string
    }
  | { state: 'failed'; why: string }

/** Whether the change, besides image GC, makes this kubelet evict at once. */
export const actsAtOnce = ({ before, after }: Pick<PlanStep, 'before' | 'after'>): boolean =>
  (after.evictsNow ?? []).some(signal => !before.evictsNow?.includes(signal))

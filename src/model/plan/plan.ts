/** A remediation plan (the contract `highwater.plan/1`), and the approval of a plan (`highwater.approval/1`). */

import type { RawObject } from '#base/raw-object.ts'
import type { DurableFix } from '#model/finding/finding.ts'
import type { AmiFamily, ReadMode, Subject } from '#model/input/record.ts'

export const planSchema = 'highwater.plan/1'
export const approvalSchema = 'highwater.approval/1'

/**
 * How a node gets a change: a replaced file, a part of a NodeConfig, a drop-in, Bottlerocket settings, a log rotation file, a pulled and pinned image.
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

interface MethodFacts {
  /** What the method changes. A change of the kubelet's configuration restarts the kubelet. */
  changes: 'configuration' | 'logrotate' | 'image'
  /** A step's content and hashes are those of the file at its path. Else the hashes are those of a state that the content leads to. */
  isFile: boolean
}

const configurationFile: MethodFacts = { changes: 'configuration', isFile: true }

export const methodFacts: Readonly<Record<PlanMethod, MethodFacts>> = {
  'kubelet-file': configurationFile,
  nodeadm: configurationFile,
  'drop-in': configurationFile,
  bottlerocket: { changes: 'configuration', isFile: false },
  'sync-file': { changes: 'logrotate', isFile: true },
  'pull-image': { changes: 'image', isFile: false },
}

export const restartsKubelet = (method: PlanMethod) =>
  methodFacts[method].changes === 'configuration'

/** Behavior of a node's kubelet with the present images and pods. Null: unknown. */
export interface NodeState {
  /** Eviction starts before image GC, as the rule eviction-before-image-gc defines. */
  evictsBeforeImageGc: boolean | null
  /** Image GC is due at this moment. */
  imageGcDue: boolean | null
  /** Upper bound of the bytes that the next image GC frees, as the kubelet counts them; 0: none is due. */
  freedBytesAtMost: number | null
  /** Eviction signals with a met threshold. `allocatable.memory`: the pods' memory requests do not fit, so a restarted kubelet refuses some pods. */
  evictsNow: string[] | null
}

/** Images that image GC might delete at once and that pods would pull again. */
export interface Pulls {
  registry: string
  images: number
  /** Registry's limit of pulls without credentials, for all nodes behind one address. Null: no limit is known. */
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
  /** Images that pods might pull again after an immediate image GC. */
  pulls: Pulls[]
  text: string
}

/** Effect of the kubelet restarts on the pods of a cohort, summed over its planned nodes. */
export interface Blast {
  pods: number
  /** Ready pods that become NotReady until their next successful probe. */
  notReadyPods: number
  /** Pods that are the only one of their owner. */
  singletons: { count: number; sample: string[] }
  /** PodDisruptionBudgets of these pods that allow no further disruption. Null: not read. */
  budgetsAtLimit: { count: number; sample: string[] } | null
  /** Containers whose startup probe runs again. */
  startupProbes: number
  /** Images whose first-detected and last-used times the kubelet forgets. */
  imagesForgotten: number
  /** Nodes whose pods were not read. */
  unreadNodes: number
  text: string
}

/** A logrotate file, the same on all nodes of a cohort. */
export interface CohortFile {
  path: string
  sha256: string
}

/** An image that is pinned under the name that pods use. If the image is missing, the node pulls it from `source`. */
export interface CohortImage {
  name: string
  source: string
}

/** Nodes of one group, AMI family and kubelet minor that get the same change. */
export interface PlanCohort {
  id: string
  cluster: string
  group: Subject
  amiFamily: AmiFamily
  /** `1.34`. */
  kubeletVersion: string
  /** Merge patch (RFC 7386) of the running KubeletConfiguration: null removes a key. */
  fields: RawObject
  /** File to write. `fields` is then empty. */
  file?: CohortFile
  /** Image to pin. `fields` is then empty. */
  image?: CohortImage
  /** Ids of the findings that propose the change. Empty: the operator requested the change. */
  findings: string[]
  /** Number of nodes that the change is for. `planned` of them have a step; the others are in `never` or `refused`. */
  nodes: number
  planned: number
  effect: CohortEffect
  durable: DurableFix[]
  blast: Blast
}

/** `field`: `imageGCHighThresholdPercent`, `evictionHard.imagefs.available`. `value` null: the field must be absent. */
export interface ExpectedSetting {
  field: string
  value: unknown
}

/**
 * End of a temporary change: the kubelet's own image GC has freed enough space, or its time is over. The old file is then restored, byte for byte, and the
 * kubelet restarts once more.
 */
export interface StepEnd {
  kind: 'image-gc'
  /** The change ends at this used percent of the image filesystem, as image GC counts it. */
  usedPercentAtMost: number
  /** The change ends this long after the kubelet started with the change. */
  atMostMs: number
  /** Number of unused images that are not pinned: image GC deletes no more, however long the change lasts. */
  imagesAtMost: number
  bytesAtMost: number
}

export interface PlanStep {
  cluster: string
  node: string
  instanceId: string
  cohort: string
  method: PlanMethod
  /** Path of the file, or the name of an image that pods use. */
  path: string
  /** Hash of the file in hex, or `absent`. For an image: hash of one line with its name and `pinned` or `unpinned`. */
  oldSha256: string
  newSha256: string
  /** Hash after a rollback if it differs from `oldSha256`. Bottlerocket then keeps formerly unset settings with the values that ran. */
  backSha256?: string
  /**
   * The whole new file. For Bottlerocket `{"back":{…},"set":{…}}`: the new settings, and the values
   * that a rollback sets because they were unset. For an image
   * `{"name":…,"pinned":true,"source":…}`.
   */
  content: string
  /** Event that ends the change on this node without remediation. */
  lastsUntil: 'reboot' | 'replacement'
  /** Settings that the running configuration must show after the change. */
  expect: ExpectedSetting[]
  /** Settings that the running configuration must show after a rollback. */
  expectBack: ExpectedSetting[]
  /** Digests of all other fields of the configuration, by field: 16 hex characters each. Absent: not read. */
  others?: Record<string, string>
  /** `disk`: `others` is computed from files, drop-ins and flags (mode ssm). Absent: `others` is the running configuration. */
  othersOn?: 'disk'
  kubeletStartedAt: string | null
  before: NodeState
  after: NodeState
  /** Absent: the change stays. */
  until?: StepEnd
}

/** A node that the plan does not change, and why. */
export interface LeftAlone {
  cluster: string
  node: string
  why: string
}

/** The snapshot that the plan was made from. */
export interface PlannedSnapshot {
  takenAt: string
  account: string | null
  region: string | null
  /** Read mode of each changed cluster. `apply` and `verify` use the same mode. Absent: mode `proxy`. */
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
  /** Steps, sorted by cluster and node. */
  steps: PlanStep[]
  /** Nodes that plans never write to. Their fix is the durable text. */
  never: LeftAlone[]
  refused: LeftAlone[]
  /** Further changes for nodes that have a step. A plan makes one change per node; a later plan makes the next. Absent: none. */
  later?: LeftAlone[]
  /** Number of nodes that already run with all changes. */
  unchanged: number
  /** Nodes of each wave as `cluster/node`. The first wave has one node of each cohort. */
  waves: string[][]
}

export interface ApprovalOptions {
  /** Permit new thresholds to evict or to delete images at once. */
  allowActAtOnce: boolean
}

export interface Approval {
  schema: typeof approvalSchema
  /** The plan's digest. */
  plan: string
  /** Name of the approver, as given. */
  by: string
  /** The approver's identity by AWS STS (an ARN) or by the machine, verified at sealing. Approval by the policy: who approved the policy. */
  identity: string
  /** RFC 3339, like `until`. The approval is valid from `at` until before `until`. */
  at: string
  until: string
  options: ApprovalOptions
}

/** An approval held in memory. */
export interface HeldApproval extends Approval {
  /** Text that the approver sealed; the journal keeps it. Absent: a run that continues from the journal alone is refused. */
  sealed?: string
}

/** An approval whose seal was checked. */
export type OpenedApproval = Required<HeldApproval>

/** Name and identity of the approver, for people. */
export const approverOf = ({ by, identity }: Pick<Approval, 'by' | 'identity'>) =>
  `${by} (${identity})`

/** The plan that was made with a report, or why planning failed. */
export type ReportedPlan =
  | {
      state: 'made'
      id: string
      digest: string
      /** Number of nodes with a step. */
      nodes: number
      waves: number
      never: number
      refused: number
      unchanged: number
      /** Command line that approves the plan. */
      command: string
    }
  | { state: 'failed'; why: string }

/** Whether the change makes this kubelet evict at once on a further signal. Image GC does not count. */
export const actsAtOnce = ({ before, after }: Pick<PlanStep, 'before' | 'after'>) =>
  (after.evictsNow ?? []).some(signal => !before.evictsNow?.includes(signal))

/** Names a step in the waves of its plan, and in journals. */
export const stepKey = ({ cluster, node }: Pick<PlanStep, 'cluster' | 'node'>) =>
  `${cluster}/${node}`

/** A remediation plan (the contract `highwater.plan/1`), its approval (`highwater.approval/1`), and its run (`highwater.remediation/1`). */

import { amountOrNull } from '#base/go/quantity.ts'
import { OperatorError } from '#base/operator-error.ts'
import type { RawObject } from '#base/raw-object.ts'
import type { AmiFamily, ReadMode, Selection, Subject } from '#model/input/record.ts'
import type { DurableFix } from './finding.ts'

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

/* State and report of a remediation run, node by node (the contract `highwater.remediation/1`). */

export const remediationSchema = 'highwater.remediation/1'
export const verificationSchema = 'highwater.verification/1'

/**
 * Progress of a node in a run, in order.
 * `sending`: recorded before the command is sent. A run that died in this state sends the command again; the node applies it once.
 * `returning`: a temporary change has reached its end, and the old file is being restored as planned; `pruned`: the restored state was confirmed.
 * `restored`: the node itself restored its files, byte for byte; `rolled-back`: this run rolled it back.
 * `skipped`: nothing was sent, the node had the new file already, or its instance is gone with the change; `failed`: nothing was changed; `broken`: the node might not be healthy and needs a person.
 */
export const stepStates = [
  'pending',
  'sending',
  'sent',
  'applied',
  'verified',
  'returning',
  'pruned',
  'restored',
  'rolled-back',
  'skipped',
  'failed',
  'broken',
] as const
export type StepState = (typeof stepStates)[number]

/** Answer of an SSM document that changes a node (`highwater.apply/1`). */
export interface ApplyAnswer {
  run: string
  action: 'check' | 'apply' | 'rollback'
  instanceId: string
  outcome: 'ready' | 'applied' | 'unchanged' | 'restored' | 'refused' | 'failed' | 'broken'
  reason: string | null
  oldSha256: string | null
  newSha256: string | null
  presentSha256: string | null
  kubelet: {
    active: boolean | null
    startedAtBefore: string | null
    startedAtAfter: string | null
    healthz: string | null
  } | null
  steps: string[]
}

/** Result of comparing a node, read anew, with the settings that its step expects. */
export type Verification = { state: 'verified' } | { state: 'not-yet' | 'wrong'; why: string }

/** Output of `highwater verify` (the contract `highwater.verification/1`). */
export interface VerificationReport {
  schema: typeof verificationSchema
  /** The plan's digest. */
  plan: string
  counts: { verified: number; notYet: number; wrong: number }
  /** Results by cluster and node, in the plan's order. */
  nodes: ({ cluster: string; node: string } & Verification)[]
}

/** One node's entry in the journal of a run. */
export interface StepEntry {
  cluster: string
  node: string
  instanceId: string
  /** Index in the plan's waves. */
  wave: number
  state: StepState
  /** Reason, for people; null: the state needs no reason. */
  why: string | null
  /** Why the step is rolled back, without what came of it. Absent: it is not. */
  cause?: string
  commandIds: string[]
  /** The last answer; null: no answer yet. */
  answer: ApplyAnswer | null
  /** `namespace/name` of pods that were ready before the change; null: not read. */
  readyPods: string[] | null
  /** Used bytes of the image filesystem before a change that prunes images; null: not read. */
  usedBytesBefore?: number | null
  /** After a rollback: whether a new reading confirmed that the node runs as before. */
  seenBack?: boolean
  /** RFC 3339: when the node reached each state. */
  at: Partial<Record<StepState, string>>
}

/** `paused`: the run continues on request; `stopped`: the run does not continue. */
export const runStates = ['running', 'paused', 'stopped', 'done', 'rolled-back'] as const
export type RunState = (typeof runStates)[number]

/** One run: a plan that is being applied. A plan has exactly one run, so a repeated request continues the same run. */
export interface RemediationRun {
  schema: typeof remediationSchema
  /** The plan's id. Nodes identify the run by it. */
  run: string
  /** The plan's digest. */
  plan: string
  approvedBy: string
  /** Further approvers who resumed the run, in order. Absent: it was not resumed. */
  resumedBy?: string[]
  startedAt: string
  endedAt: string | null
  state: RunState
  /** Why the run is not running; null: the state needs no reason. */
  why: string | null
  /** Checks that were skipped before nodes were changed, one sentence per cluster. Absent: none. */
  unasked?: string[]
  /** UID of the namespace kube-system, by cluster name in the plan. The cluster's lease is named after the UID. */
  clusters: Record<string, string>
  /** `cluster/node` of nodes that are not healthy after the rollback. Absent: none. */
  notBack?: string[]
  steps: StepEntry[]
  /** Nodes in the plan's `never` and `refused`. */
  leftAlone: LeftAlone[]
}

/* Assumptions for a prediction: another moment, another configuration, a disk that fills. */

const fillTargets = [
  'nodefs',
  'imagefs',
  'containerfs',
  'nodefs.inodes',
  'imagefs.inodes',
  'containerfs.inodes',
  'memory',
  'pids',
] as const

/** What fills: bytes of a filesystem, its inodes, memory of pods, processes. */
export type FillTarget = (typeof fillTargets)[number]
export type FilesystemName = Extract<FillTarget, 'nodefs' | 'imagefs' | 'containerfs'>

export interface Fill {
  target: FillTarget
  /** Bytes, inodes or processes. */
  perSecond: number
}

/** An assumed value of one field of the running configuration, as if always set. Undefined: the field is unset. */
export interface ConfigurationChange {
  /** Path from the top of the configuration: `['evictionHard', 'nodefs.available']`. */
  path: readonly string[]
  value: unknown
}

export interface WhatIf {
  /** RFC 3339; null: the node's own now. The state as read lasts until then, except that container GC runs every minute. */
  at: string | null
  changes: readonly ConfigurationChange[]
  fills: readonly Fill[]
  /** The timeline has the likely course only: no bounds, and all its events count as certain. */
  isLikelyCourse?: boolean
  /** Steps that timelines may still take: each one takes its own away. Absent: any number. */
  budget?: { steps: number }
  /** Another kubelet version. Absent: the node's own. */
  kubelet?: string
}

export const asItIs: WhatIf = { at: null, changes: [], fills: [] }

/** `1.35` or `v1.35.4`. @throws OperatorError */
export function parseKubeletVersion(text: string) {
  const [, release, patch = '.0'] = /^v?(1\.\d{1,3})(\.\d{1,3})?$/.exec(text) ?? []
  if (release === undefined)
    throw new OperatorError(`${text} is no kubelet version: write it like 1.35 or v1.35.4`)
  return `v${release}${patch}`
}

const fillForm = /^([\w.]+)=([^/\s]+)\/s$/

/** `nodefs=50Mi/s`. @throws OperatorError */
export function parseFill(text: string): Fill {
  const [, name, rate = ''] = fillForm.exec(text) ?? []
  const target = fillTargets.find(known => known === name)
  if (target === undefined)
    throw new OperatorError(
      `A fill is written WHAT=QUANTITY/s, like nodefs=50Mi/s, of ${fillTargets.join(', ')}; not ${text}`,
    )
  const perSecond = rateOf(rate)
  if (perSecond === null)
    throw new OperatorError(
      `${text} fills by no positive quantity: write one as Kubernetes does, like 50Mi/s or 1.5Gi/s`,
    )
  return { target, perSecond }
}

function rateOf(text: string) {
  const bytes = amountOrNull(text)
  return bytes !== null && bytes > 0 && Number.isSafeInteger(bytes) ? bytes : null
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Whether the text is an RFC 3339 time that exists in the calendar. */
export const isMoment = (text: string) => timeForm.test(text) && !Number.isNaN(Date.parse(text))

/** An RFC 3339 time. @throws OperatorError */
export function parseMoment(text: string) {
  if (!isMoment(text))
    throw new OperatorError(`${text} is no time: write it as RFC 3339, like 2026-11-21T08:30:00Z`)
  return text
}

/* Request and response of the function `remediate`. */

/** Make a plan and store it in the bucket. */
export interface PlanningRequest {
  action: 'plan'
  selection: Selection
  /** Rule and finding ids. If both and `changes` are empty, the plan covers every finding whose fix it may apply. */
  rules: string[]
  findings: string[]
  changes: ConfigurationChange[]
  allowActAtOnce: boolean
  /** `live`: read the fleet anew; `latest`: use the snapshot of the last scheduled audit in the bucket. */
  source: 'live' | 'latest'
}

/** Apply a plan from the bucket with its approval. If the plan has a run already, continue the run. */
export interface ApplyRequest {
  action: 'apply'
  /** The plan's digest. */
  plan: string
  /** True: skip nodes that changed since the plan. False: such a node refuses the plan. */
  skipChanged: boolean
}

/** Continue a run. `run` null: continue every unfinished run. */
export interface ResumeRequest {
  action: 'resume'
  run: string | null
}

export interface RollbackRequest {
  action: 'rollback'
  run: string
  /** Continue the rollback even if it makes more nodes worse than the policy permits. */
  despiteErrors: boolean
}

export type RemediationRequest = PlanningRequest | ApplyRequest | ResumeRequest | RollbackRequest

/** Size of a plan. */
export interface PlanCounts {
  cohorts: number
  /** Nodes with a step. */
  nodes: number
  waves: number
  never: number
  refused: number
  unchanged: number
  /** Number of refused nodes whose only reason is missing data. */
  unread: number
}

export interface PlanAnswer {
  action: 'plan'
  id: string
  digest: string
  /** Location of the plan. */
  location: string
  counts: PlanCounts
  /** Invalid snapshot lines, and clusters that could not be read. */
  inputErrors: string[]
  /** Null: not approved yet. */
  approvedBy: string | null
  /** What to do next, or why the policy does not approve it. */
  next: string
}

/** Outcome of one run. `refused`: the run did not continue now, for the reason in `why`. */
export interface RanOne {
  id: string
  state: RunState | 'refused'
  why: string | null
  /** Number of nodes by state. */
  nodes: Partial<Record<StepState, number>>
  next: string
}

export interface RunAnswered extends RanOne {
  action: 'apply' | 'resume' | 'rollback'
  digest: string
  approvedBy: string
}

export interface ResumedAnswer {
  action: 'resume'
  /** Runs that were unfinished, and runs of plans that the policy approved. */
  runs: RanOne[]
  /** For people: objects refused for an invalid seal and not reported before. If there is one, the function fails. */
  unsealed: string[]
}

export type RemediationAnswer = PlanAnswer | RunAnswered | ResumedAnswer

/** The contract of a rule. A rule reads one node's prediction, or the facts of peers, and yields failings. `judge.ts` makes the outcome. */

import type { Command } from '#judge/garbage/kubectl.ts'
import {
  type ClusterContext,
  isImageListCut,
  isSourceExpected,
  type Need,
  type NodeContext,
  type NodeSubject,
} from '#judge/subject/node-subject.ts'
import type { ClusterNeed, ClusterPrediction, GarbageFate } from '#model/cluster-garbage.ts'
import type {
  Cause,
  Confidence,
  DeviceCause,
  Evidence,
  EvidenceKind,
  Family,
  RuleDocs,
  SettingCause,
  SettingLayer,
  Severity,
  StepAction,
  StepActionId,
  WorldEvent,
} from '#model/finding.ts'
import type { GateProblemKind } from '#model/gate.ts'
import type { Subject } from '#model/input/record.ts'
import type { ClusterGarbagePolicy, Policy } from '#model/policy.ts'
import { bytes, shorten } from './text.ts'

export type {
  ClusterContext,
  NodeContext,
  NodeEvent,
  NodeSubject,
} from '#judge/subject/node-subject.ts'
export {
  bytes,
  counted,
  nameLength,
  percent,
  placedPod,
  plural,
  podName,
  shorten,
  shortName,
  shortPodName,
  span,
} from './text.ts'
export { isImageListCut, isSourceExpected }

export type Satisfied<Needed extends Need> = Omit<NodeSubject, Needed> & {
  [Key in Needed]: NonNullable<NodeSubject[Key]>
}

export interface Failing {
  /** What the kubelet will do, and when. */
  consequence: string
  /** One sentence that says what was observed. The other values of the cause do not contain it. */
  seen?: string
  evidence: Evidence[]
  /** Default: the rule's own severity. */
  severity?: Severity
  /** Default: `certain`. */
  confidence?: Confidence
  /** KubeletConfiguration fields that end the failing. */
  fix?: { config: Record<string, unknown> }
  /** Default: the rule's own cause. */
  cause?: Cause
  /** In order. Default: to set the fields of `fix`, else the rule's own steps. */
  steps?: readonly StepAction[]
  /** Default: `docs.title`. */
  title?: string
  /** It has a finding of its own beside that of the rule's other failings on the node: another cause. */
  isApart?: true
}

/** The consequence of what was seen: that sentence, and what follows from it. */
export const seenFirst = (seen: string, then = ''): Pick<Failing, 'seen' | 'consequence'> => ({
  seen,
  consequence: then === '' ? seen : `${seen} ${then}`,
})

/** Why something could not be decided. Alone it makes the outcome unknown; beside a failing it is ignored. */
export interface Undecided {
  unknown: string
}

interface RuleHead {
  /** Names the bad state. Must be unique and stable; a renamed rule needs an alias. */
  id: string
  /** The folder of the rule's file. */
  family: Family
  severity: Severity
  /** The usual cause of its failings. */
  cause: Cause
  /** Steps that end a failing without fields to set. Default: the advice of `docs`. */
  steps?: readonly StepActionId[]
  docs: RuleDocs
  /** The effect at rollout that its findings report. Default: `worse`. */
  effect?: GateProblemKind
  /** Keys of highwater.yaml that `judge` reads. Cluster rules get `clusterGarbage` alone. */
  policy?: readonly (keyof Policy)[]
  /** Titles that a finding may have instead of `docs.title`, by the key that translations use. */
  titles?: Readonly<Record<string, string>>
}

interface WithImages {
  /** The images of a node that the step `pin-images` pulls and pins. The subject has all `needs`. */
  images?(subject: NodeSubject, policy: Policy): readonly string[]
}

export interface NodeRule extends RuleHead, WithImages {
  kind: 'node'
  needs: readonly Need[]
  appliesTo(subject: NodeSubject): boolean
  /** The subject must have all `needs`. */
  judge(subject: NodeSubject, policy: Policy): Iterable<Failing | Undecided>
}

export interface CohortMember<Fact> {
  node: string
  fact: Fact
}

type CohortYield = { nodes: string[] } & ({ failing: Failing } | Undecided)

/**
 * A rule that compares the nodes of one nodegroup or nodepool after all were seen. A fact is compact, plain JSON. Only the fact
 * of a node is kept, and equal facts are kept once.
 */
export interface CohortRule extends RuleHead {
  kind: 'cohort'
  needs: readonly Need[]
  appliesTo(subject: NodeSubject): boolean
  /** Divides a nodegroup further: only nodes with equal results are compared. */
  cohort(subject: NodeSubject): string
  fact(subject: NodeSubject): unknown
  /** Whether a node without peers can be judged, because the policy has the wanted value. Default: false. */
  judgesAlone?(policy: Policy): boolean
  judge(
    members: CohortMember<unknown>[],
    policy: Policy,
    context: ClusterContext,
  ): Iterable<CohortYield>
}

/** A fact, and the number of nodes in a nodegroup or nodepool that have it. */
export interface FactOfGroup<Fact> {
  fact: Fact
  nodes: number
}

/**
 * A rule that compares a node with cluster data (events, launch templates, node classes) after everything was read. What the rule
 * needs of the node is kept as a fact, as in `CohortRule`.
 */
export interface ContextRule extends RuleHead, WithImages {
  kind: 'context'
  needs: readonly Need[]
  appliesTo(subject: NodeSubject): boolean
  fact(subject: NodeSubject): unknown
  /**
   * Judges a node whose needs are missing, from the cluster's data alone. Without a failing, the outcome stays.
   * @param applies false: `appliesTo` returned false
   */
  judgeUnread?(context: NodeContext, applies: boolean): Iterable<Failing>
  /** What `judge` needs of all nodes in a nodegroup or nodepool. Called at most once for each, with the context of any of its nodes. */
  ofGroup?(facts: readonly FactOfGroup<unknown>[], context: NodeContext): unknown
  /** @param group returns `ofGroup` of the node's nodegroup or nodepool, its own fact included */
  judge(
    fact: unknown,
    context: NodeContext,
    policy: Policy,
    group: () => unknown,
  ): Iterable<Failing | Undecided>
}

/** The machine-readable part of an evidence line, used to aggregate the line over many namespaces. */
export interface ClusterEvidence extends Evidence {
  /** `what` is a reason; this is the number of objects with that reason. */
  reasonCount?: number
  /** Number of objects by text. */
  shares?: ReadonlyMap<string, number>
  /** The earliest time. */
  since?: { firstMs: number; at: string }
  /** Amounts that add up over places; `textOf` formats the sum. */
  total?: { amounts: readonly number[]; textOf(amounts: readonly number[]): string }
  /** Named objects, with or without a namespace. */
  names?: readonly { name: string }[]
}

/** Garbage of one subject, a namespace or the cluster. Never one failing per object. */
export interface ClusterFailing extends Omit<Failing, 'fix' | 'evidence' | 'cause' | 'steps'> {
  evidence: ClusterEvidence[]
  subject: Subject
  /** Number of objects. `noun`: the name of one object, such as `pod`. */
  count: number
  noun: string
  /** The number of subjects that a merged failing on the cluster covers. */
  places?: number
  /** Capacity and cost of disks; null: unknown. */
  size?: { bytes: number | null; monthlyUsd: number | null }
  /** All nodes, if the objects are nodes. */
  nodes?: readonly string[]
  /** Shell commands that end the failing. Use `kubectl` of kubectl.ts, which quotes arguments. */
  commands: Command[]
}

/** A rule on the garbage predicted from a cluster's own objects. Runs after everything was read. */
export interface ClusterRule extends RuleHead {
  kind: 'cluster'
  needs: readonly ClusterNeed[]
  /** What happens to the objects if no operator acts. */
  fate: GarbageFate
  /** The prediction must have all `needs`. */
  judge(
    cluster: ClusterPrediction,
    policy: ClusterGarbagePolicy,
  ): Iterable<ClusterFailing | Undecided>
}

/** Rules with one outcome per node. */
export type RuleOfNodes = NodeRule | CohortRule | ContextRule

export type Rule = RuleOfNodes | ClusterRule

/** @param what for kind `configz` only the setting's path; the judgement adds whether configz or the disk has it */
export const line = (kind: EvidenceKind, what: string, value: string | number | boolean) => ({
  kind,
  what,
  value: shorten(String(value)),
})

/** A line with an amount: rounded in its text, exact in `bytes`. */
export const bytesLine = (kind: EvidenceKind, what: string, count: number) => ({
  ...line(kind, what, bytes(count)),
  bytes: count,
})

/** The lines that exist: `condition && line(…)` omits a line. */
export const lines = <Line extends Evidence>(
  ...found: (Line | false | 0 | '' | null | undefined)[]
): Line[] => found.filter(each => typeof each === 'object' && each !== null)

/** A rule as its file writes it. `docs` has its own fields, and `judge` gets a subject with all `needs`. */
type Definition<Kind extends Rule, Needed, Judge, Fact = never> = Omit<
  Kind,
  'kind' | 'docs' | 'family' | 'needs' | 'judge' | 'appliesTo' | 'fact' | 'ofGroup' | 'cause'
> &
  RuleDocs & {
    /** Default: none. */
    needs?: readonly Needed[]
    judge: Judge
  } & Fact

/** Default: applies to every node. Called before the needs are checked. */
interface OfNode {
  family: Family
  cause: Cause
  appliesTo?(subject: NodeSubject): boolean
}

interface WithFact<Needed extends Need, Fact> extends OfNode {
  fact(subject: Satisfied<Needed>): Fact
}

type Yields<Item> = Iterable<Item | Undecided>

const defineRule = (
  { title, why, fix, sources, ...rule }: RuleDocs & object,
  kind: Rule['kind'],
): object => ({
  needs: [],
  appliesTo: () => true,
  ...rule,
  docs: { title, why, fix, sources },
  kind,
})

export const nodeRule = <Needed extends Need = never>(
  rule: Definition<
    NodeRule,
    Needed,
    (subject: Satisfied<Needed>, policy: Policy) => Yields<Failing>,
    OfNode
  >,
) => defineRule(rule, 'node') as NodeRule

export const cohortRule = <Needed extends Need, Fact>(
  rule: Definition<
    CohortRule,
    Needed,
    (
      members: CohortMember<Fact>[],
      policy: Policy,
      context: ClusterContext,
    ) => Iterable<CohortYield>,
    WithFact<Needed, Fact>
  >,
) => defineRule(rule, 'cohort') as CohortRule

export const contextRule = <Needed extends Need, Fact, Group = undefined>(
  rule: Definition<
    ContextRule,
    Needed,
    (fact: Fact, context: NodeContext, policy: Policy, group: () => Group) => Yields<Failing>,
    WithFact<Needed, Fact> & {
      ofGroup?(facts: readonly FactOfGroup<Fact>[], context: NodeContext): Group
    }
  >,
) => defineRule(rule, 'context') as ContextRule

type SatisfiedCluster<Needed extends ClusterNeed> = Omit<ClusterPrediction, Needed> & {
  [Key in Needed]: NonNullable<ClusterPrediction[Key]>
}

export const clusterRule = <Needed extends ClusterNeed>(
  rule: Definition<
    ClusterRule,
    Needed,
    (cluster: SatisfiedCluster<Needed>, policy: ClusterGarbagePolicy) => Yields<ClusterFailing>,
    unknown
  >,
) =>
  ({
    ...defineRule(rule, 'cluster'),
    family: 'cluster-gc',
    cause: worldCause('leftover-objects', rule.id),
    steps: ['clean-objects'],
  }) as unknown as ClusterRule

/** `appliesTo` of rules about Linux alone. */
export const isLinux = ({ identity }: NodeSubject) => identity.operatingSystem === 'linux'

/** `appliesTo` of rules on what only a measurement on the node shows. @param part of it that is needed */
export const canMeasure =
  (part?: 'devices' | 'snapshots') =>
  ({ host, ...subject }: NodeSubject) => {
    if (!host) return isSourceExpected(subject, 'host')
    return (part ? host.diskUse?.[part] : host.diskUse) !== undefined
  }

/* Causes. Settings that are set together are one setting, so that their findings have one cause. */

export const settingIn = (layer: SettingLayer, ...fields: string[]): SettingCause => ({
  kind: 'setting',
  layer,
  fields,
  isDefault: false,
})

export const kubeletSetting = (...fields: string[]): SettingCause => settingIn('kubelet', ...fields)

export const imageGcThresholds = kubeletSetting(
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
)
export const hardThresholds = kubeletSetting('evictionHard')
export const reservations = kubeletSetting(
  'kubeReserved',
  'systemReserved',
  'enforceNodeAllocatable',
)
export const logRotation = kubeletSetting('containerLogMaxSize', 'containerLogMaxFiles')

/** What happened in the world, and to what. */
export const worldCause = (event: WorldEvent, subject: string | null = null): Cause => ({
  kind: 'world',
  event,
  subject,
})

/** Of a node whose kubelet posts no status. What ends the other gaps does not end it. */
export const silence = 'status'

export const isSilence = (cause: Cause | undefined) =>
  cause?.kind === 'unread' && cause.source === silence

export const deviceCause = (
  what: DeviceCause['what'],
  { device = null, declaredBytes = null, actualBytes = null, ...more }: Partial<DeviceCause> = {},
): DeviceCause => ({ ...more, kind: 'device', what, device, declaredBytes, actualBytes })

/** The contract of a rule: it reads one node's prediction, or the facts of peers, and yields what is wrong. `judge.ts` makes the outcome. */

import type { ClusterNeed, ClusterPrediction } from '#model/cluster-garbage.ts'
import type {
  Confidence,
  Evidence,
  EvidenceKind,
  Family,
  RuleDocs,
  Severity,
} from '#model/finding.ts'
import type { GarbageFate } from '#model/garbage-overview.ts'
import type { Policy } from '#model/policy.ts'
import type { Subject } from '#model/subject.ts'
import type { ClusterContext, NodeContext } from './cluster-facts.ts'
import type { Need, NodeSubject } from './node-subject.ts'
import { bounded } from './text.ts'

export type Satisfied<Needed extends Need> = Omit<NodeSubject, Needed> & {
  [Key in Needed]: NonNullable<NodeSubject[Key]>
}

export interface Failing {
  /** What the kubelet will do, and when. */
  consequence: string
  evidence: Evidence[]
  /** The rule's own unless said. */
  severity?: Severity
  /** `certain` unless said. */
  confidence?: Confidence
  /** KubeletConfiguration fields that end it. */
  fix?: { config: Record<string, unknown> }
  /** `docs.title` unless said. */
  title?: string
}

/** Why something could not be decided. Alone it makes the outcome unknown; beside a failing it is ignored. */
export interface Undecided {
  unknown: string
}

interface RuleHead {
  /** Names the bad state. Stable: unique, and renamed only with an alias. */
  id: string
  /** The folder of its file. */
  family: Family
  severity: Severity
  docs: RuleDocs
  /** Keys of highwater.yaml that `judge` reads. All cluster rules read `clusterGarbage`. */
  policy?: readonly (keyof Policy)[]
  /** Titles that a finding may have instead of `docs.title`, by a key that translations use. */
  titles?: Readonly<Record<string, string>>
}

export interface NodeRule extends RuleHead {
  kind: 'node'
  needs: readonly Need[]
  appliesTo(subject: NodeSubject): boolean
  /** Call it only with a subject that has all `needs`. */
  judge(subject: NodeSubject, policy: Policy): Iterable<Failing | Undecided>
}

export interface CohortMember<Fact> {
  node: string
  fact: Fact
}

type CohortYield = { nodes: string[] } & ({ failing: Failing } | Undecided)

/**
 * A rule that compares the nodes of one nodegroup or nodepool when all have been seen. A fact is compact, plain JSON: it is all
 * that stays of a node, and equal facts are kept once.
 */
export interface CohortRule extends RuleHead {
  kind: 'cohort'
  needs: readonly Need[]
  appliesTo(subject: NodeSubject): boolean
  /** Divides a nodegroup further: only nodes with the same answer are compared. */
  cohort(subject: NodeSubject): string
  fact(subject: NodeSubject): unknown
  /** Whether a node without peers can be judged: if the policy has the wanted value. False by default. */
  judgesAlone?(policy: Policy): boolean
  judge(
    members: CohortMember<unknown>[],
    policy: Policy,
    context: ClusterContext,
  ): Iterable<CohortYield>
}

/** A fact, and on how many nodes of a nodegroup or nodepool it holds. */
export interface FactOfGroup<Fact> {
  fact: Fact
  nodes: number
}

/**
 * A rule that sees a node beside what its cluster says of it (events, launch templates, node classes), when all has been read. What it
 * needs of the node stays as a fact, as above.
 */
export interface ContextRule extends RuleHead {
  kind: 'context'
  needs: readonly Need[]
  appliesTo(subject: NodeSubject): boolean
  fact(subject: NodeSubject): unknown
  /**
   * Judges a node whose needs are missing by the cluster's data alone. If nothing is yielded, the outcome stays.
   * @param applies false: `appliesTo` returned false
   */
  judgeUnread?(context: NodeContext, applies: boolean): Iterable<Failing>
  /** @param group every node of its nodegroup or nodepool that has a fact, itself among them */
  judge(
    fact: unknown,
    context: NodeContext,
    policy: Policy,
    group: readonly FactOfGroup<unknown>[],
  ): Iterable<Failing | Undecided>
}

/** The machine-readable part of an evidence line, used to aggregate the line over many namespaces. */
export interface ClusterEvidence extends Evidence {
  /** `what` is a reason, and so many objects have it. */
  reasonCount?: number
  /** Number of objects by text. */
  shares?: ReadonlyMap<string, number>
  /** The earliest time. */
  since?: { firstMs: number; at: string }
  /** Amounts that add up, place by place; `textOf` makes the value. */
  total?: { amounts: readonly number[]; textOf(amounts: readonly number[]): string }
  /** Names without a namespace, or with it. */
  names?: readonly { name: string }[]
}

/** Garbage of one subject: a namespace, or the cluster. Never one for each object. */
export interface ClusterFailing extends Omit<Failing, 'fix' | 'evidence'> {
  evidence: ClusterEvidence[]
  subject: Subject
  /** How many objects, and what one of them is called: `pod`. */
  count: number
  noun: string
  /** The number of subjects that a failing on the cluster stands for. */
  places?: number
  /** Capacity and cost of disks; null: unknown. */
  size?: { bytes: number | null; monthlyUsd: number | null }
  /** All nodes, if the objects are nodes. */
  nodes?: readonly string[]
  /** Shell commands that end it; `kubectl` of kubectl.ts quotes arguments. */
  commands: string[]
}

/** A rule that reads what the control plane's collectors leave of a cluster's own objects, when all has been read. */
export interface ClusterRule extends RuleHead {
  kind: 'cluster'
  needs: readonly ClusterNeed[]
  /** What happens to the objects without an operator's action. */
  fate: GarbageFate
  /** Call it only with a prediction that has all `needs`. */
  judge(cluster: ClusterPrediction, policy: Policy): Iterable<ClusterFailing | Undecided>
}

/** Rules with one outcome per node. */
export type RuleOfNodes = NodeRule | CohortRule | ContextRule

export type Rule = RuleOfNodes | ClusterRule

/** @param what for kind `configz` only the path of the setting: the judgement adds whether configz or the disk has it */
export const line = (
  kind: EvidenceKind,
  what: string,
  value: string | number | boolean,
): Evidence => ({ kind, what, value: bounded(String(value)) })

/** The lines that are there: `condition && line(…)` leaves one out. */
export const lines = <Line extends Evidence>(
  ...found: (Line | false | 0 | '' | null | undefined)[]
): Line[] => found.filter(each => typeof each === 'object' && each !== null)

/** A rule as its file writes it: `docs` are fields of its own, and `judge` gets a subject that has all `needs`. */
type Definition<Kind extends Rule, Needed, Judge, Fact = never> = Omit<
  Kind,
  'kind' | 'docs' | 'family' | 'needs' | 'judge' | 'appliesTo' | 'fact'
> &
  RuleDocs & { needs: readonly Needed[]; judge: Judge } & Fact

/** Every node by default. Called before the needs are checked. */
interface OfNode {
  family: Family
  appliesTo?(subject: NodeSubject): boolean
}

interface WithFact<Needed extends Need, Fact> extends OfNode {
  fact(subject: Satisfied<Needed>): Fact
}

type Yields<Item> = Iterable<Item | Undecided>

const defined = (
  { title, why, fix, sources, ...rule }: RuleDocs & object,
  kind: Rule['kind'],
): object => ({ appliesTo: () => true, ...rule, docs: { title, why, fix, sources }, kind })

export const nodeRule = <Needed extends Need = never>(
  rule: Definition<
    NodeRule,
    Needed,
    (subject: Satisfied<Needed>, policy: Policy) => Yields<Failing>,
    OfNode
  >,
) => defined(rule, 'node') as NodeRule

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
) => defined(rule, 'cohort') as CohortRule

export const contextRule = <Needed extends Need, Fact>(
  rule: Definition<
    ContextRule,
    Needed,
    (
      fact: Fact,
      context: NodeContext,
      policy: Policy,
      group: readonly FactOfGroup<Fact>[],
    ) => Yields<Failing>,
    WithFact<Needed, Fact>
  >,
) => defined(rule, 'context') as ContextRule

type SatisfiedCluster<Needed extends ClusterNeed> = Omit<ClusterPrediction, Needed> & {
  [Key in Needed]: NonNullable<ClusterPrediction[Key]>
}

export const clusterRule = <Needed extends ClusterNeed>(
  rule: Definition<
    ClusterRule,
    Needed,
    (cluster: SatisfiedCluster<Needed>, policy: Policy) => Yields<ClusterFailing>,
    unknown
  >,
) => ({ ...defined(rule, 'cluster'), family: 'cluster-gc' }) as ClusterRule

/** Outcomes of the rules that compare nodes or need their cluster, from the facts of all nodes. */

import { type Keep, keepInMemory } from '#base/keep.ts'
import { sharedValue } from '#base/once.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { by } from '#base/text.ts'
import type { CohortRule, ContextRule, Failing, Undecided } from '#judge/rule.ts'
import {
  type ClusterContext,
  ClusterFacts,
  type JudgedNode,
  type NodeContext,
  type NodeSubject,
} from '#judge/subject/node-subject.ts'
import type { Policy } from '#model/policy.ts'
import {
  missingNeeds,
  type Outcome,
  outcomeOfYields,
  outcomeOrError,
  ruleError,
} from './outcome.ts'

/* The facts that a rule keeps of each node until all nodes have been seen. Equal facts are kept once to save memory in large fleets. */

export type KeptNode = JudgedNode & Pick<NodeSubject, 'at'>

export const keptNode = ({
  cluster,
  identity,
  at,
  isConfigurationOnDisk,
  mode,
}: NodeSubject): KeptNode => ({ cluster, identity, at, isConfigurationOnDisk, mode })

/** Reads the fact. Equal facts of nodes are one function. */
export type KeptFact = () => unknown

export interface Member {
  subject: KeptNode
  /** Null: the outcome is already settled. */
  fact: KeptFact | null
  settled: Outcome | null
  /** `CohortRule.cohort`; empty for a context rule. */
  cohort: string
}

const notApplicable: Outcome = { state: 'notApplicable' }

/** Most facts are shorter and equal on many nodes. Longer ones lie outside of memory. */
const longestKey = 640
/** Number of distinct facts of a rule that are kept once. Then most nodes have a fact of their own. */
const mostShared = 1024

/** Columns, because objects for each rule and node would add 0.8 KB to what a node keeps. */
export class FactsOfNodes {
  readonly #rule: CohortRule | ContextRule
  readonly #keep: Keep
  readonly #subjects: KeptNode[] = []
  readonly #outcomes: (KeptFact | Outcome)[] = []
  readonly #cohorts: string[] = []
  /** Facts by their JSON. */
  readonly #facts = new Map<string, KeptFact>()

  constructor(rule: CohortRule | ContextRule, keep: Keep = keepInMemory) {
    this.#rule = rule
    this.#keep = keep
  }

  take(subject: NodeSubject, kept: KeptNode = keptNode(subject)): void {
    this.#subjects.push(kept)
    this.#outcomes.push(this.#outcome(subject))
    if (this.#rule.kind === 'cohort') this.#cohorts.push(this.#rule.cohort(subject))
  }

  /** The nodes in the order in which they came. */
  members(): Member[] {
    return this.#subjects.map((subject, index) => {
      const outcome = this.#outcomes[index] as KeptFact | Outcome
      const cohort = this.#cohorts[index] ?? ''
      return typeof outcome === 'function'
        ? { subject, fact: outcome, settled: null, cohort }
        : { subject, fact: null, settled: outcome, cohort }
    })
  }

  #outcome(subject: NodeSubject): KeptFact | Outcome {
    try {
      if (!this.#rule.appliesTo(subject)) return notApplicable
      const reason = missingNeeds(this.#rule, subject)
      if (reason !== null) return sharedValue<Outcome>({ state: 'unknown', reason })
      return this.#factOf(this.#rule.fact(subject), subject)
    } catch (error) {
      return ruleError(error)
    }
  }

  #factOf(value: unknown, subject: NodeSubject): KeptFact {
    const brief = briefFact(value, subject)
    const text = JSON.stringify(brief ?? value)
    const known = this.#facts.get(text)
    if (known) return known
    const isLong = text.length > longestKey && brief === null
    if (isLong || this.#facts.size === mostShared) return this.#keep(value)
    const fact = keepInMemory(value)
    this.#facts.set(text, fact)
    return fact
  }
}

/** The fact with the key of the running values instead of them, which are by far its longest part. Null: the fact does not have them. */
function briefFact(value: unknown, subject: NodeSubject): RawObject | null {
  if (!isRawObject(value)) return null
  const values = subject.runningValues()
  const name = Object.keys(value).find(name => value[name] === values)
  return name === undefined ? null : { ...value, [name]: subject.runningKey() }
}

interface MemberOutcome {
  subject: KeptNode
  outcome: Outcome
}

export function* cohortOutcomes(
  rule: CohortRule,
  all: readonly Member[],
  policy: Policy,
  contextOf: (cluster: string) => ClusterContext = () => new ClusterFacts(),
): Iterable<MemberOutcome> {
  const judgesAlone = rule.judgesAlone?.(policy) ?? false
  const cohorts = Map.groupBy(all, ({ subject: { cluster, identity }, cohort }) =>
    JSON.stringify([cluster, identity.group.kind, identity.group.name, cohort]),
  )
  for (const [, members] of [...cohorts].toSorted(by(([key]) => key))) {
    const comparable = members
      .filter(({ fact }) => fact !== null)
      .toSorted(by(({ subject }) => subject.identity.name))
    for (const { subject, settled } of members)
      if (settled)
        yield { subject, outcome: judgesAlone ? settled : outcomeOfLoner(settled, members.length) }
    if (comparable.length === 1 && !judgesAlone)
      yield { subject: comparable[0]!.subject, outcome: withoutPeer(members.length) }
    else if (comparable.length > 0)
      yield* outcomesOfCohort(rule, comparable, policy, contextOf(comparable[0]!.subject.cluster))
  }
}

function* outcomesOfCohort(
  rule: CohortRule,
  members: readonly Member[],
  policy: Policy,
  context: ClusterContext,
): Iterable<MemberOutcome> {
  const yieldsOf = new Map<string, (Failing | Undecided)[]>()
  try {
    const facts = members.map(member => ({
      node: member.subject.identity.name,
      fact: member.fact?.(),
    }))
    for (const { nodes, ...yielded } of rule.judge(facts, policy, context))
      for (const node of nodes) {
        const said = 'failing' in yielded ? yielded.failing : yielded
        const before = yieldsOf.get(node)
        if (before) before.push(said)
        else yieldsOf.set(node, [said])
      }
  } catch (error) {
    for (const { subject } of members) yield { subject, outcome: ruleError(error) }
    return
  }
  for (const { subject } of members)
    yield {
      subject,
      outcome: outcomeOfYields(yieldsOf.get(subject.identity.name) ?? [], rule.severity),
    }
}

/** A node without peers cannot be compared, whether it was read or not. */
const outcomeOfLoner = (settled: Outcome, members: number): Outcome =>
  members === 1 && settled.state === 'unknown' ? { state: 'notApplicable' } : settled

const withoutPeer = (members: number): Outcome =>
  members === 1
    ? { state: 'notApplicable' }
    : {
        state: 'unknown',
        reason: 'none of its peers could be read, so there is nothing to compare with',
      }

export function* contextOutcomes(
  rule: ContextRule,
  members: readonly Member[],
  policy: Policy,
  contextOf: (node: KeptNode) => NodeContext,
): Iterable<MemberOutcome> {
  const groupOf = ({ subject: { cluster, identity } }: Member) =>
    `${cluster}\0${identity.group.kind}\0${identity.group.name}`
  const withFact = rule.ofGroup ? members.filter(({ fact }) => fact !== null) : []
  const groups = new Map(
    [...Map.groupBy(withFact, groupOf)].map(([key, group]) => [
      key,
      [...Map.groupBy(group, ({ fact }) => fact)].map(([fact, alike]) => ({
        fact: fact?.(),
        nodes: alike.length,
      })),
    ]),
  )
  const known = new Map<string, unknown>()
  for (const member of members) {
    const { subject, fact, settled } = member
    const outcome = outcomeOrError(() => {
      if (settled) return outcomeOfUnread(rule, settled, () => contextOf(subject))
      const context = contextOf(subject)
      const key = groupOf(member)
      const group = () => {
        if (!known.has(key)) known.set(key, rule.ofGroup?.(groups.get(key) ?? [], context))
        return known.get(key)
      }
      return outcomeOfYields(rule.judge(fact?.(), context, policy, group), rule.severity)
    })
    yield { subject, outcome }
  }
}

function outcomeOfUnread(rule: ContextRule, settled: Outcome, context: () => NodeContext) {
  if (!rule.judgeUnread || settled.state === 'error') return settled
  const failings = [...rule.judgeUnread(context(), settled.state !== 'notApplicable')]
  return failings.length === 0 ? settled : outcomeOfYields(failings, rule.severity)
}

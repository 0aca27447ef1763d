/** Outcomes of the rules that compare nodes or need their cluster, from the facts of all nodes. */

import { byText } from '#base/text/text-order.ts'
import type { CohortRule, ContextRule, Failing, Undecided } from '#judge/rule.ts'
import {
  type ClusterContext,
  ClusterFacts,
  type NodeContext,
} from '#judge/subject/cluster-facts.ts'
import type { Policy } from '#model/policy.ts'
import type { KeptNode, Member } from './facts-of-nodes.ts'
import { fromYields, type Outcome, ruleError, unlessThrown } from './outcome.ts'

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
  for (const [, members] of [...cohorts].toSorted(([a], [b]) => byText(a, b))) {
    const comparable = members
      .filter(({ fact }) => fact !== null)
      .toSorted((a, b) => byText(a.subject.identity.name, b.subject.identity.name))
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
      fact: member.fact?.read(),
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
    yield { subject, outcome: fromYields(yieldsOf.get(subject.identity.name) ?? [], rule.severity) }
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
        fact: fact?.read(),
        nodes: alike.length,
      })),
    ]),
  )
  const known = new Map<string, unknown>()
  for (const member of members) {
    const { subject, fact, settled } = member
    const outcome = unlessThrown(() => {
      if (settled) return outcomeOfUnread(rule, settled, () => contextOf(subject))
      const context = contextOf(subject)
      const key = groupOf(member)
      const group = () => {
        if (!known.has(key)) known.set(key, rule.ofGroup?.(groups.get(key) ?? [], context))
        return known.get(key)
      }
      return fromYields(rule.judge(fact?.read(), context, policy, group), rule.severity)
    })
    yield { subject, outcome }
  }
}

function outcomeOfUnread(rule: ContextRule, settled: Outcome, context: () => NodeContext) {
  if (rule.judgeUnread === undefined || settled.state === 'error') return settled
  const failings = [...rule.judgeUnread(context(), settled.state !== 'notApplicable')]
  return failings.length === 0 ? settled : fromYields(failings, rule.severity)
}

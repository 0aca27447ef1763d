import type { Policy } from '#model/policy.ts'
import { byText } from '#model/text-order.ts'
import { type ClusterContext, ClusterFacts } from './cluster-facts.ts'
import { FactsOfNodes, type KeptNode, keptNode, type Member } from './facts-of-nodes.ts'
import type { NodeSubject } from './node-subject.ts'
import { fromYields, type Outcome, ruleError } from './outcome.ts'
import type { CohortRule, Failing, Undecided } from './rule.ts'

export interface MemberOutcome {
  subject: Member['subject']
  outcome: Outcome
}

export class Cohorts {
  readonly #rule: CohortRule
  readonly #facts: FactsOfNodes
  readonly #cohorts = new Map<string, Member[]>()

  constructor(rule: CohortRule) {
    this.#rule = rule
    this.#facts = new FactsOfNodes(rule)
  }

  take(subject: NodeSubject, kept: KeptNode = keptNode(subject)): void {
    const { cluster, identity } = subject
    const { kind, name } = identity.group
    const key = JSON.stringify([cluster, kind, name, this.#rule.cohort(subject)])
    const members = this.#cohorts.get(key)
    const member = this.#facts.take(subject, kept)
    if (members) members.push(member)
    else this.#cohorts.set(key, [member])
  }

  *outcomes(
    policy: Policy,
    contextOf: (cluster: string) => ClusterContext = () => new ClusterFacts(),
  ): Iterable<MemberOutcome> {
    const judgesAlone = this.#rule.judgesAlone?.(policy) ?? false
    for (const key of [...this.#cohorts.keys()].toSorted(byText)) {
      const members = this.#cohorts.get(key) ?? []
      const comparable = members
        .filter(({ fact }) => fact !== null)
        .toSorted((a, b) => byText(a.subject.identity.name, b.subject.identity.name))
      for (const { subject, settled } of members)
        if (settled)
          yield { subject, outcome: judgesAlone ? settled : alone(settled, members.length) }
      if (comparable.length === 1 && !judgesAlone)
        yield { subject: comparable[0]!.subject, outcome: withoutPeer(members.length) }
      else if (comparable.length > 0)
        yield* this.#compared(comparable, policy, contextOf(comparable[0]!.subject.cluster))
    }
  }

  *#compared(members: Member[], policy: Policy, context: ClusterContext): Iterable<MemberOutcome> {
    const yieldsOf = new Map<string, (Failing | Undecided)[]>()
    try {
      const facts = members.map(member => ({
        node: member.subject.identity.name,
        fact: member.fact?.value,
      }))
      for (const { nodes, ...yielded } of this.#rule.judge(facts, policy, context))
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
        outcome: fromYields(yieldsOf.get(subject.identity.name) ?? [], this.#rule.severity),
      }
  }
}

/** A node without peers cannot be compared, whether it was read or not. */
const alone = (settled: Outcome, members: number): Outcome =>
  members === 1 && settled.state === 'unknown' ? { state: 'notApplicable' } : settled

const withoutPeer = (members: number): Outcome =>
  members === 1
    ? { state: 'notApplicable' }
    : {
        state: 'unknown',
        reason: 'none of its peers could be read, so there is nothing to compare with',
      }

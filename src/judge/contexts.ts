/** Runs a rule that sees each node beside what its cluster says of it, when all has been read. */
import type { Policy } from '#model/policy.ts'
import type { NodeContext } from './cluster-facts.ts'
import type { MemberOutcome } from './cohorts.ts'
import { FactsOfNodes, type Member } from './facts-of-nodes.ts'
import { fromYields, type Outcome, ruleError } from './outcome.ts'
import type { ContextRule, NodeSubject } from './rule.ts'

type ContextOf = (cluster: string, node: string) => Omit<NodeContext, 'at'>

export class Contexts {
  readonly #rule: ContextRule
  readonly #facts: FactsOfNodes
  readonly #members: Member[] = []

  constructor(rule: ContextRule) {
    this.#rule = rule
    this.#facts = new FactsOfNodes(rule)
  }

  take(subject: NodeSubject): void {
    this.#members.push(this.#facts.take(subject))
  }

  *outcomes(contextOf: ContextOf, policy: Policy): Iterable<MemberOutcome> {
    for (const member of this.#members)
      yield { subject: member.subject, outcome: member.settled ?? this.#judged(member, contextOf, policy) }
  }

  #judged(member: Member, contextOf: ContextOf, policy: Policy): Outcome {
    const { cluster, identity, at } = member.subject
    try {
      const yields = [...this.#rule.judge(this.#facts.get(member), { ...contextOf(cluster, identity.name), at }, policy)]
      return fromYields(yields, this.#rule.severity)
    } catch (error) {
      return ruleError(error)
    }
  }
}

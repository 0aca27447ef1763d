import type { Policy } from '#model/policy.ts'
import type { NodeContext } from './cluster-facts.ts'
import type { MemberOutcome } from './cohorts.ts'
import { FactsOfNodes, type KeptNode, keptNode, type Member } from './facts-of-nodes.ts'
import type { NodeSubject } from './node-subject.ts'
import { fromYields, type Outcome, unlessThrown } from './outcome.ts'
import type { ContextRule, FactOfGroup } from './rule.ts'

type ContextOf = (node: KeptNode) => NodeContext

export class Contexts {
  readonly #rule: ContextRule
  readonly #facts: FactsOfNodes
  readonly #members: Member[] = []

  constructor(rule: ContextRule) {
    this.#rule = rule
    this.#facts = new FactsOfNodes(rule)
  }

  take(subject: NodeSubject, kept: KeptNode = keptNode(subject)): void {
    this.#members.push(this.#facts.take(subject, kept))
  }

  *outcomes(contextOf: ContextOf, policy: Policy): Iterable<MemberOutcome> {
    const groups = this.#groups()
    for (const member of this.#members) {
      const context = () => contextOf(member.subject)
      const outcome = unlessThrown(() => {
        if (member.settled) return this.#unread(member.settled, context)
        const group = groups.get(groupOf(member)) ?? []
        const yields = this.#rule.judge(member.fact?.value, context(), policy, group)
        return fromYields(yields, this.#rule.severity)
      })
      yield { subject: member.subject, outcome }
    }
  }

  #groups(): Map<string, FactOfGroup<unknown>[]> {
    const known = this.#members.filter(({ fact }) => fact !== null)
    return new Map(
      [...Map.groupBy(known, groupOf)].map(([key, members]) => [
        key,
        [...Map.groupBy(members, ({ fact }) => fact)].map(([, alike]) => ({
          fact: alike[0]?.fact?.value,
          nodes: alike.length,
        })),
      ]),
    )
  }

  #unread(settled: Outcome, context: () => NodeContext): Outcome {
    if (this.#rule.judgeUnread === undefined || settled.state === 'error') return settled
    const failings = [...this.#rule.judgeUnread(context(), settled.state !== 'notApplicable')]
    return failings.length === 0 ? settled : fromYields(failings, this.#rule.severity)
  }
}

const groupOf = ({ subject: { cluster, identity } }: Member): string =>
  `${cluster}\0${identity.group.kind}\0${identity.group.name}`

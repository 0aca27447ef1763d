/** The compact facts of the nodes that a cohort rule compares when all have been seen. Equal facts are kept once. */
import type { Policy } from '#model/policy.ts'
import { missingNeeds, type Outcome, ruleError } from './outcome.ts'
import type { CohortRule, NodeSubject } from './rule.ts'
import { byText } from './text.ts'

export interface MemberOutcome {
  subject: Pick<NodeSubject, 'cluster' | 'identity'>
  outcome: Outcome
}

interface Member {
  subject: MemberOutcome['subject']
  /** Key into `facts`; null where the outcome is settled without a comparison. */
  fact: string | null
  settled: Outcome | null
}

export class Cohorts {
  readonly #rule: CohortRule
  readonly #cohorts = new Map<string, Member[]>()
  readonly #facts = new Map<string, unknown>()

  constructor(rule: CohortRule) {
    this.#rule = rule
  }

  take(subject: NodeSubject): void {
    const { cluster, identity } = subject
    const { kind, name } = identity.group
    const key = JSON.stringify([cluster, kind, name, this.#rule.cohort(subject)])
    const members = this.#cohorts.get(key)
    const member = { subject: { cluster, identity }, ...this.#fact(subject) }
    if (members) members.push(member)
    else this.#cohorts.set(key, [member])
  }

  #fact(subject: NodeSubject): Pick<Member, 'fact' | 'settled'> {
    const reason = missingNeeds(this.#rule, subject)
    if (reason !== null) return { fact: null, settled: { state: 'unknown', reason } }
    try {
      const fact = this.#rule.fact(subject)
      const key = JSON.stringify(fact)
      if (!this.#facts.has(key)) this.#facts.set(key, fact)
      return { fact: key, settled: null }
    } catch (error) {
      return { fact: null, settled: ruleError(error) }
    }
  }

  *outcomes(policy: Policy): Iterable<MemberOutcome> {
    for (const key of [...this.#cohorts.keys()].toSorted(byText)) {
      const members = this.#cohorts.get(key) ?? []
      const comparable = members
        .filter(({ fact }) => fact !== null)
        .toSorted((a, b) => byText(a.subject.identity.name, b.subject.identity.name))
      for (const { subject, settled } of members) if (settled) yield { subject, outcome: alone(settled, members.length) }
      if (comparable.length === 1) yield { subject: comparable[0]!.subject, outcome: withoutPeer(members.length) }
      else if (comparable.length > 1) yield* this.#compared(comparable, policy)
    }
  }

  *#compared(members: Member[], policy: Policy): Iterable<MemberOutcome> {
    let failingOf: Map<string, Outcome>
    try {
      const facts = members.map(({ subject, fact }) => ({ node: subject.identity.name, fact: this.#facts.get(fact ?? '') }))
      const failings = [...this.#rule.judge(facts, policy)]
      failingOf = new Map(failings.flatMap(({ nodes, failing }) => nodes.map(node => [node, { state: 'fail', failing } as const])))
    } catch (error) {
      for (const { subject } of members) yield { subject, outcome: ruleError(error) }
      return
    }
    for (const { subject } of members) yield { subject, outcome: failingOf.get(subject.identity.name) ?? { state: 'pass' } }
  }
}

/** A node without peers has nothing to be compared with, read or not. */
const alone = (settled: Outcome, members: number): Outcome =>
  members === 1 && settled.state === 'unknown' ? { state: 'notApplicable' } : settled

const withoutPeer = (members: number): Outcome =>
  members === 1
    ? { state: 'notApplicable' }
    : { state: 'unknown', reason: 'none of its peers could be read, so there is nothing to compare with' }

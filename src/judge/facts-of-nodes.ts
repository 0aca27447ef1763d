/** What a rule keeps of each node until all have been seen. Equal facts are kept once, so that a fleet of like nodes costs little. */
import { missingNeeds, type Outcome, ruleError } from './outcome.ts'
import type { CohortRule, ContextRule, NodeSubject } from './rule.ts'

/** What of a node decides where its outcome counts, and how certain it can be. */
export type JudgedNode = Pick<NodeSubject, 'cluster' | 'identity' | 'isConfigurationOnDisk'>

export interface Member {
  subject: JudgedNode & Pick<NodeSubject, 'at'>
  /** Key into the facts; null where the outcome is settled already. */
  fact: string | null
  settled: Outcome | null
}

export class FactsOfNodes {
  readonly #rule: CohortRule | ContextRule
  readonly #facts = new Map<string, unknown>()

  constructor(rule: CohortRule | ContextRule) {
    this.#rule = rule
  }

  take(subject: NodeSubject): Member {
    const { cluster, identity, at, isConfigurationOnDisk } = subject
    return { subject: { cluster, identity, at, isConfigurationOnDisk }, ...this.#fact(subject) }
  }

  get(member: Member): unknown {
    return this.#facts.get(member.fact ?? '')
  }

  #fact(subject: NodeSubject): Pick<Member, 'fact' | 'settled'> {
    try {
      if (!this.#rule.appliesTo(subject)) return { fact: null, settled: { state: 'notApplicable' } }
      const reason = missingNeeds(this.#rule, subject)
      if (reason !== null) return { fact: null, settled: { state: 'unknown', reason } }
      const fact = this.#rule.fact(subject)
      const key = JSON.stringify(fact)
      if (!this.#facts.has(key)) this.#facts.set(key, fact)
      return { fact: key, settled: null }
    } catch (error) {
      return { fact: null, settled: ruleError(error) }
    }
  }
}

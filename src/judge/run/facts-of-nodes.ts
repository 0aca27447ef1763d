/** The facts that a rule keeps of each node until all nodes have been seen. Equal facts are kept once to save memory in large fleets. */

import { hash } from 'node:crypto'
import type { CohortRule, ContextRule } from '#judge/rule.ts'
import type { JudgedNode, NodeSubject } from '#judge/subject/node-subject.ts'
import { missingNeeds, type Outcome, ruleError } from './outcome.ts'

export type KeptNode = JudgedNode & Pick<NodeSubject, 'at'>

export const keptNode = ({
  cluster,
  identity,
  at,
  isConfigurationOnDisk,
  mode,
}: NodeSubject): KeptNode => ({ cluster, identity, at, isConfigurationOnDisk, mode })

/** Equal facts of nodes are one object. */
export interface KeptFact {
  value: unknown
}

export interface Member {
  subject: KeptNode
  /** Null: the outcome is already settled. */
  fact: KeptFact | null
  settled: Outcome | null
  /** `CohortRule.cohort`; empty for a context rule. */
  cohort: string
}

const notApplicable: Outcome = { state: 'notApplicable' }

/** Most facts are shorter and equal on many nodes. A hash of each would cost more than the few texts. */
const longestKey = 640

export class FactsOfNodes {
  readonly members: Member[] = []
  readonly #rule: CohortRule | ContextRule
  /** Facts by their JSON, or by its hash if the JSON is long. */
  readonly #facts = new Map<string, KeptFact>()

  constructor(rule: CohortRule | ContextRule) {
    this.#rule = rule
  }

  take(subject: NodeSubject, kept: KeptNode = keptNode(subject)): Member {
    // No spread: it makes a larger object, and each rule keeps one per node.
    const { fact, settled } = this.#fact(subject)
    const cohort = this.#rule.kind === 'cohort' ? this.#rule.cohort(subject) : ''
    const member = { subject: kept, fact, settled, cohort }
    this.members.push(member)
    return member
  }

  #fact(subject: NodeSubject): Pick<Member, 'fact' | 'settled'> {
    try {
      if (!this.#rule.appliesTo(subject)) return { fact: null, settled: notApplicable }
      const reason = missingNeeds(this.#rule, subject)
      if (reason !== null) return { fact: null, settled: { state: 'unknown', reason } }
      const value = this.#rule.fact(subject)
      const text = JSON.stringify(value)
      const key = text.length > longestKey ? hash('sha256', text, 'base64') : text
      const fact = this.#facts.get(key) ?? { value }
      this.#facts.set(key, fact)
      return { fact, settled: null }
    } catch (error) {
      return { fact: null, settled: ruleError(error) }
    }
  }
}

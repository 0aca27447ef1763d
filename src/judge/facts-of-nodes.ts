/** The facts that a rule keeps of each node until all nodes have been seen. Equal facts are kept once to save memory in large fleets. */

import { hash } from 'node:crypto'
import type { NodeSubject } from './node-subject.ts'
import { missingNeeds, type Outcome, ruleError } from './outcome.ts'
import type { CohortRule, ContextRule } from './rule.ts'

export type JudgedNode = Pick<
  NodeSubject,
  'cluster' | 'identity' | 'isConfigurationOnDisk' | 'mode'
>

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
}

const notApplicable: Outcome = { state: 'notApplicable' }

/** Length of a SHA-256 hash in base64. */
const longestKey = 44

export class FactsOfNodes {
  readonly #rule: CohortRule | ContextRule
  /** Facts by their JSON, or by its hash if that is shorter. */
  readonly #facts = new Map<string, KeptFact>()

  constructor(rule: CohortRule | ContextRule) {
    this.#rule = rule
  }

  take(subject: NodeSubject, kept: KeptNode): Member {
    // No spread: it makes a larger object, and each rule keeps one per node.
    const { fact, settled } = this.#fact(subject)
    return { subject: kept, fact, settled }
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

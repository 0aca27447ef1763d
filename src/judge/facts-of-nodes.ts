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
}: NodeSubject): KeptNode => ({ ...{ cluster, identity, at, isConfigurationOnDisk, mode } })

export interface Member {
  subject: KeptNode
  /** Key into the facts; null: the outcome is already settled. */
  fact: string | null
  settled: Outcome | null
}

export class FactsOfNodes {
  readonly #rule: CohortRule | ContextRule
  /** Facts by hash. The hash is short, because many nodes hold it. */
  readonly #facts = new Map<string, { key: string; fact: unknown }>()

  constructor(rule: CohortRule | ContextRule) {
    this.#rule = rule
  }

  take(subject: NodeSubject, kept: KeptNode): Member {
    return { subject: kept, ...this.#fact(subject) }
  }

  get(member: Member): unknown {
    return this.#facts.get(member.fact ?? '')?.fact
  }

  #fact(subject: NodeSubject): Pick<Member, 'fact' | 'settled'> {
    try {
      if (!this.#rule.appliesTo(subject)) return { fact: null, settled: { state: 'notApplicable' } }
      const reason = missingNeeds(this.#rule, subject)
      if (reason !== null) return { fact: null, settled: { state: 'unknown', reason } }
      const fact = this.#rule.fact(subject)
      const key = hash('sha256', JSON.stringify(fact), 'base64')
      const known = this.#facts.get(key) ?? { key, fact }
      this.#facts.set(key, known)
      // The stored key, not an equal copy, saves memory.
      return { fact: known.key, settled: null }
    } catch (error) {
      return { fact: null, settled: ruleError(error) }
    }
  }
}
